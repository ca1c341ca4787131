#include "src/rtc/vendor_compiler.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <sstream>

namespace icobench {
namespace {

using gpu::compiled_kernel;
using gpu::device_error;
using gpu::kernel_source;

// Headers of the standard library that kernels include, all the same to these compilers.
constexpr const char* standard_headers[] = {"algorithm", "cstddef", "cstdint", "type_traits"};

// As a shell splits them: blanks between quotes are part of a word.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (const char c : text + ' ') {
    if (quote ? c == quote : c == '"' || c == '\'') {
      quote = quote ? 0 : c;
    } else if (c != ' ' || quote) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, ""));
    }
  }
  return words;
}

std::string text_of(const kernel_source& s) {
  std::ostringstream text;
  text << "#define ICOBENCH_AT_RUN_TIME\n"
       << "#define ICOBENCH_INDEX_BITS " << ICOBENCH_INDEX_BITS << "\n"
       << "#include <icobench/gpu/native_kernel.hpp>\n"
       << "#include <" << s.header << ">\n"
       << "using kernel = " << s.type << ";\n"
       << "static_assert(sizeof(kernel) == " << s.size << ");\n"
       << "struct bounds {\n"
       << "  static constexpr unsigned max_threads = " << s.max_threads << ";\n"
       << "  static constexpr int min_blocks = " << s.min_blocks << ";\n"
       << "};\n"
       << "extern \"C\" __global__ void __launch_bounds__(\n"
       << "    bounds::max_threads, icobench::gpu::resident_bound<bounds>())\n    "
       << compiled_kernel::name << "(const ICOBENCH_GRID_CONSTANT kernel k) {\n"
       << "  icobench::gpu::native_thread t;\n";
  if (s.constants.empty()) {
    text << "  k(t);\n}\n";
    return text.str();
  }
  text << "  kernel known = k;\n"
       << "  const auto set = [&known](unsigned number, unsigned value) {\n"
       << "    __builtin_memcpy(reinterpret_cast<char*>(&known) + 4 * number, &value, 4);\n"
       << "  };\n";
  for (const auto& [number, value] : s.constants) {
    text << "  set(" << number << ", " << value << "u);\n";
  }
  text << "  known(t);\n}\n";
  return text.str();
}

}  // namespace

std::vector<std::string> known_flags(const std::string& flags,
                                     const std::vector<build_flag>& known) {
  using form = build_flag::form;
  std::vector<std::string> result;
  const std::vector<std::string> words = words_of(flags);
  for (std::size_t n = 0; n < words.size(); ++n) {
    const std::string& word = words[n];
    std::string name = word.substr(word.starts_with("--"));
    if (name.starts_with("-fno-")) { name.erase(2, 3); }
    const auto fits = [&](const build_flag& f) {
      const bool has_values = f.form_ == form::value || f.form_ == form::list;
      return name == f.name || (f.form_ == form::joined && name.starts_with(f.name)) ||
             (has_values && name.starts_with(std::string(f.name) + "="));
    };
    const auto flag = std::find_if(known.begin(), known.end(), fits);
    if (flag == known.end()) { continue; }
    const bool whole = flag->form_ == form::alone || name != flag->name;
    if (whole && flag->form_ != form::list) {
      result.push_back(word);
      continue;
    }
    const std::string first = word.substr(0, word.find('='));
    std::string value = whole                  ? word.substr(first.size() + 1)
                        : n + 1 < words.size() ? words[++n]
                                               : "";
    switch (flag->form_) {
      case form::pair:
        result.insert(result.end(), {first, value});
        break;
      case form::joined:
        result.push_back(first + value);
        break;
      case form::value:
        result.push_back(first + "=" + value);
        break;
      case form::list:
        for (std::istringstream all(value); std::getline(all, value, ',');) {
          result.push_back(first + "=" + value);
        }
        break;
      default:
        break;
    }
  }
  return result;
}

std::string vendor_compiler::unavailable(const std::string& architecture) {
  std::call_once(loaded_, [this] { reason_ = load(); });
  return reason_.empty() ? unknown(architecture) : reason_;
}

vendor_compiler::result vendor_compiler::compile(const kernel_source& s,
                                                 const std::string& architecture) {
  if (const std::string reason = unavailable(architecture); !reason.empty()) {
    throw device_error(reason);
  }
  std::promise<result> mine;
  std::shared_future<result> compiled;
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    auto [found, added] = kernels_.try_emplace({s, architecture});
    if (added) { found->second = mine.get_future().share(); }
    compiled = found->second;
    is_new = added;
  }
  if (is_new) {
    try {
      mine.set_value(std::make_shared<const compiled_kernel>(find_or_make(s, architecture)));
    } catch (...) { mine.set_exception(std::current_exception()); }
  }
  return compiled.get();
}

vendor_compiler::functions::functions(const detail::library& l, const vendor& v) {
  const auto find = [&](auto*& function, const std::string& name) {
    function = l.find<std::remove_reference_t<decltype(*function)>>((v.prefix + name).c_str());
  };
  find(version, "Version");
  find(error_string, "GetErrorString");
  find(create, "CreateProgram");
  find(destroy, "DestroyProgram");
  find(compile, "CompileProgram");
  find(log_size, "GetProgramLogSize");
  find(log, "GetProgramLog");
  find(image_size, "Get" + v.image + "Size");
  find(image, "Get" + v.image);
}

bool vendor_compiler::functions::complete() const {
  return version && error_string && create && destroy && compile && log_size && log && image_size &&
         image;
}

// Why it cannot, else "".
std::string vendor_compiler::load() {
  const std::string nothing = "nothing is compiled at run time";
  const char* const chosen = std::getenv(vendor_.variable);
  // Never unloaded: it keeps memory for its next use.
  library_.emplace(chosen ? std::vector<const char*>{chosen} : vendor_.files, RTLD_NODELETE);
  if (!library_->loaded()) {
    return nothing + ", for want of " + vendor_.library + ": " + library_->complaint();
  }
  api_.emplace(*library_, vendor_);
  int major = 0, minor = 0;
  if (!api_->complete() || api_->version(&major, &minor) != 0) {
    return nothing + ": " + vendor_.library + " lacks functions";
  }
  version_ = vendor_.prefix + " " + std::to_string(major) + "." + std::to_string(minor) + " " +
             prepare(*library_, {major, minor});
  try {
    headers_ = header_folder::find();
    headers_hash_ = headers_.hash();
  } catch (const std::exception& error) { return nothing + ": " + error.what(); }
  return "";
}

std::vector<std::string> vendor_compiler::all_options(const std::string& architecture) const {
  std::vector<std::string> all = options();
  all.insert(all.end(), flags_.begin(), flags_.end());
  all.insert(all.end(), {"--gpu-architecture=" + target_of(architecture), "-I" + headers_.path});
  return all;
}

// All that the compiled kernel depends on.
std::string vendor_compiler::key_of(const std::string& text,
                                    const std::string& architecture) const {
  std::string key = version_ + "\ndriver " + driver_ + "\nheaders " + headers_hash_ + "\n";
  for (const std::string& option : all_options(architecture)) {
    if (!option.starts_with("-I")) { key += option + "\n"; }
  }
  return key + text;
}

compiled_kernel vendor_compiler::find_or_make(const kernel_source& s,
                                              const std::string& architecture) const {
  const std::string text = text_of(s), key = key_of(text, architecture);
  if (auto found = cache_.find(key)) { return std::move(*found); }
  compiled_kernel made = make(s, text, architecture);
  cache_.add(key, made);
  return made;
}

compiled_kernel vendor_compiler::make(const kernel_source& s, const std::string& text,
                                      const std::string& architecture) const {
  constexpr int headers = int(std::size(standard_headers));
  const std::vector<const char*> contents(headers, "#include <icobench/gpu/run_time_std.hpp>\n");
  functions::program program = nullptr;
  check(
      api_->create(&program, text.c_str(), "kernel.cu", headers, contents.data(), standard_headers),
      "make a program");
  const std::shared_ptr<void> owner(nullptr, [&](void*) { api_->destroy(&program); });
  const std::vector<std::string> words = all_options(architecture);
  std::vector<const char*> arguments;
  for (const std::string& word : words) { arguments.push_back(word.c_str()); }
  std::unique_lock<std::mutex> alone;
  if (vendor_.compiling) { alone = std::unique_lock(*vendor_.compiling); }
  const int status = api_->compile(program, int(arguments.size()), arguments.data());
  compiled_kernel made;
  std::size_t size = 0;
  check(api_->log_size(program, &size), "size of the log");
  made.log.resize(size);
  if (size > 0) { check(api_->log(program, made.log.data()), "log"); }
  made.log.resize(std::min(made.log.find('\0'), made.log.size()));
  if (status != 0) {
    throw device_error("run-time compilation of " + s.type + " from " + s.header + " for " +
                       target_of(architecture) + ": " + api_->error_string(status) + "\n" +
                       made.log);
  }
  check(api_->image_size(program, &size), "size of the image");
  made.image.resize(size);
  check(api_->image(program, made.image.data()), "image");
  describe(made);
  return made;
}

void vendor_compiler::check(int status, const char* what) const {
  if (status != 0) {
    throw device_error(std::string("run-time compilation, ") + what + ": " +
                       api_->error_string(status));
  }
}

}  // namespace icobench
