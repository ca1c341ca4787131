#include "src/run_time/nvrtc.hpp"

#include <icobench/types.hpp>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "src/bench/machine_library.hpp"

namespace icobench {
namespace {

using gpu::compiled_kernel;
using gpu::device_error;
using gpu::kernel_source;

// Headers of the standard library that kernels include, all the same to this compiler.
constexpr const char* standard_headers[] = {
    "algorithm", "array",     "charconv", "cstddef",     "cstdint",     "functional", "map",
    "memory",    "stdexcept", "string",   "string_view", "type_traits", "utility",    "vector"};

// What is called of the library: its functions return 0 or an error.
struct nvrtc_library {
  using program = void*;

  explicit nvrtc_library(const detail::library& l)
      : version(l.find<int(int*, int*)>("nvrtcVersion")),
        error_string(l.find<const char*(int)>("nvrtcGetErrorString")),
        create(l.find<int(program*, const char*, const char*, int, const char* const*,
                          const char* const*)>("nvrtcCreateProgram")),
        destroy(l.find<int(program*)>("nvrtcDestroyProgram")),
        compile(l.find<int(program, int, const char* const*)>("nvrtcCompileProgram")),
        log_size(l.find<int(program, std::size_t*)>("nvrtcGetProgramLogSize")),
        log(l.find<int(program, char*)>("nvrtcGetProgramLog")),
        image_size(l.find<int(program, std::size_t*)>("nvrtcGetCUBINSize")),
        image(l.find<int(program, char*)>("nvrtcGetCUBIN")) {}

  bool complete() const {
    return version && error_string && create && destroy && compile && log_size && log &&
           image_size && image;
  }

  int (*version)(int*, int*);
  const char* (*error_string)(int);
  int (*create)(program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*destroy)(program*);
  int (*compile)(program, int, const char* const*);
  int (*log_size)(program, std::size_t*);
  int (*log)(program, char*);
  int (*image_size)(program, std::size_t*);
  int (*image)(program, char*);
};

// Never unloaded: it keeps memory for its next use.
detail::library open_library() {
  constexpr int flags = RTLD_NODELETE;
  if (const char* const path = std::getenv("ICOBENCH_NVRTC")) {
    return detail::library({path}, flags);
  }
  return detail::library(
      {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so.13",
       "/usr/local/cuda/lib64/libnvrtc.so.12"},
      flags);
}

// The number before `words` in the compiler's log, else 0.
long number_before(const std::string& log, const std::string& words) {
  const auto at = log.find(words);
  if (at == log.npos) { return 0; }
  auto begin = at;
  while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9') { --begin; }
  return std::atol(log.substr(begin, at - begin).c_str());
}

std::string file_content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The instructions of one architecture alone (clusters, multicast) are among what kernels use.
std::string target_of(const std::string& architecture) {
  const bool specific = architecture.size() > 5 || architecture >= "sm_90";
  return architecture.ends_with('a') || !specific ? architecture : architecture + "a";
}

std::string text_of(const kernel_source& s) {
  std::ostringstream text;
  text << "#define ICOBENCH_INDEX_BITS " << ICOBENCH_INDEX_BITS << "\n"
       << (s.constants.empty() ? "" : "#define ICOBENCH_KNOWN_WORDS\n")
       << "#include <icobench/gpu/native_kernel.hpp>\n"
       << "#include <" << s.header << ">\n"
       << "using kernel = " << s.type << ";\n"
       << "static_assert(sizeof(kernel) == " << s.size << ");\n"
       << "extern \"C\" __global__ void __launch_bounds__(" << s.max_threads << ", " << s.min_blocks
       << ")\n    " << compiled_kernel::name << "(const __grid_constant__ kernel k) {\n"
       << "  icobench::gpu::native_thread t;\n";
  if (s.constants.empty()) {
    text << "  k(t);\n}\n";
    return text.str();
  }
  text << "  kernel known = k;\n  unsigned* const word = reinterpret_cast<unsigned*>(&known);\n";
  for (const auto& [number, value] : s.constants) {
    text << "  word[" << number << "] = " << value << "u;\n";
  }
  text << "  known(t);\n}\n";
  return text.str();
}

class nvrtc final : public gpu::kernel_compiler {
 public:
  nvrtc(std::string driver, kernel_cache cache)
      : driver_(std::move(driver)), cache_(std::move(cache)) {}

  std::string unavailable(const std::string&) override {
    std::call_once(prepared_, [this] { reason_ = prepare(); });
    return reason_;
  }

  std::shared_ptr<const compiled_kernel> compile(const kernel_source& s,
                                                 const std::string& architecture) override {
    if (const std::string reason = unavailable(architecture); !reason.empty()) {
      throw device_error(reason);
    }
    std::promise<std::shared_ptr<const compiled_kernel>> mine;
    std::shared_future<std::shared_ptr<const compiled_kernel>> result;
    bool is_new = false;
    {
      const std::lock_guard lock(mutex_);
      auto [found, added] = kernels_.try_emplace({s, architecture});
      if (added) { found->second = mine.get_future().share(); }
      result = found->second;
      is_new = added;
    }
    if (is_new) {
      try {
        mine.set_value(std::make_shared<const compiled_kernel>(find_or_make(s, architecture)));
      } catch (...) { mine.set_exception(std::current_exception()); }
    }
    return result.get();
  }

 private:
  // Why it cannot, else "".
  std::string prepare() {
    library_.emplace(open_library());
    if (!library_->loaded()) {
      return "nothing is compiled at run time, for want of libnvrtc: " + library_->complaint();
    }
    api_.emplace(*library_);
    if (!api_->complete() || api_->version(&version_[0], &version_[1]) != 0) {
      return "nothing is compiled at run time: libnvrtc lacks functions";
    }
    try {
      folders_ = header_folders::find();
    } catch (const device_error& error) {
      return std::string("nothing is compiled at run time: ") + error.what();
    }
    headers_hash_ = folders_.hash();
    return "";
  }

  std::vector<std::string> options(const std::string& architecture) const {
    return {"--gpu-architecture=" + target_of(architecture),
            "--std=c++20",
            "--device-as-default-execution-space",  // host functions are read, never compiled
            "--ptxas-options=-v",
            "-I" + folders_.include,
            "-I" + folders_.kernels};
  }

  // All that the compiled kernel depends on.
  std::string key_of(const std::string& text, const std::string& architecture) const {
    std::string key = "nvrtc " + std::to_string(version_[0]) + "." + std::to_string(version_[1]) +
                      "\ndriver " + driver_ + "\nheaders " + headers_hash_ + "\n";
    for (const std::string& option : options(architecture)) {
      if (!option.starts_with("-I")) { key += option + "\n"; }
    }
    return key + text;
  }

  compiled_kernel find_or_make(const kernel_source& s, const std::string& architecture) const {
    const std::string text = text_of(s), key = key_of(text, architecture);
    if (auto found = cache_.find(key)) { return std::move(*found); }
    compiled_kernel made = make(s, text, architecture);
    cache_.add(key, made);
    return made;
  }

  compiled_kernel make(const kernel_source& s, const std::string& text,
                       const std::string& architecture) const {
    constexpr int headers = int(std::size(standard_headers));
    const std::vector<const char*> contents(headers, "#include <icobench/gpu/run_time_std.hpp>\n");
    nvrtc_library::program program = nullptr;
    check(api_->create(&program, text.c_str(), "kernel.cu", headers, contents.data(),
                       standard_headers),
          "make a program");
    const std::shared_ptr<void> owner(nullptr, [&](void*) { api_->destroy(&program); });
    const std::vector<std::string> words = options(architecture);
    std::vector<const char*> arguments;
    for (const std::string& word : words) { arguments.push_back(word.c_str()); }
    const int status = api_->compile(program, int(arguments.size()), arguments.data());
    compiled_kernel result;
    std::size_t size = 0;
    check(api_->log_size(program, &size), "size of the log");
    result.log.resize(size);
    check(api_->log(program, result.log.data()), "log");
    result.log.resize(std::min(result.log.find('\0'), result.log.size()));
    if (status != 0) {
      throw device_error("run-time compilation of " + s.type + " from " + s.header + " for " +
                         target_of(architecture) + ": " + api_->error_string(status) + "\n" +
                         result.log);
    }
    check(api_->image_size(program, &size), "size of the image");
    result.image.resize(size);
    check(api_->image(program, result.image.data()), "image");
    result.registers = int(number_before(result.log, " registers"));
    result.spill_bytes = std::size_t(number_before(result.log, " bytes spill stores"));
    return result;
  }

  void check(int status, const char* what) const {
    if (status != 0) {
      throw device_error(std::string("run-time compilation, ") + what + ": " +
                         api_->error_string(status));
    }
  }

  std::string driver_;
  kernel_cache cache_;
  std::once_flag prepared_;
  std::string reason_;
  std::optional<detail::library> library_;
  std::optional<nvrtc_library> api_;
  int version_[2] = {};
  header_folders folders_;
  std::string headers_hash_;
  std::mutex mutex_;
  std::map<std::pair<kernel_source, std::string>,
           std::shared_future<std::shared_ptr<const compiled_kernel>>>
      kernels_;
};

}  // namespace

header_folders header_folders::find() {
  namespace fs = std::filesystem;
  const char* const chosen = std::getenv("ICOBENCH_HEADERS");
  std::vector<std::string> places{ICOBENCH_HEADERS_BUILT, ICOBENCH_HEADERS_INSTALLED};
  if (chosen) { places = {chosen}; }
  std::string looked;
  for (const fs::path place : places) {
    for (const auto& [include, kernels] : {std::pair(place / "include", place / "kernels"),
                                           std::pair(place, place / "icobench" / "kernels")}) {
      if (fs::exists(include / "icobench" / "gpu_variant.hpp") && fs::is_directory(kernels)) {
        return {include.string(), kernels.string()};
      }
    }
    looked += (looked.empty() ? "" : " or ") + place.string();
  }
  throw device_error("the headers of icobench are not in " + looked +
                     ": set ICOBENCH_HEADERS to the folder that has include and kernels");
}

std::string header_folders::hash() const {
  namespace fs = std::filesystem;
  std::set<fs::path> files;
  for (const std::string& folder : {include, kernels}) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().extension() == ".hpp") { files.insert(entry.path()); }
    }
  }
  std::uint64_t hash = hash_of("");
  for (const fs::path& file : files) {
    const bool of_kernels = file.string().starts_with(kernels);
    hash = hash_of(file.lexically_relative(of_kernels ? kernels : include).string(), hash);
    hash = hash_of(file_content(file), hash);
  }
  return hexadecimal(hash);
}

std::shared_ptr<gpu::kernel_compiler> make_nvrtc(std::string driver, kernel_cache cache) {
  return std::make_shared<nvrtc>(std::move(driver), std::move(cache));
}

std::shared_ptr<gpu::kernel_compiler> make_compiler(const gpu::device& d) {
  if (d.backend() != "cuda") { return nullptr; }
  static const auto of_all = make_nvrtc(d.facts().driver, kernel_cache::of_user());
  return of_all;
}

std::size_t compile_ahead(gpu::kernel_compiler& compiler, const std::vector<kernel_source>& sources,
                          const std::string& architecture) {
  const std::set<kernel_source> distinct(sources.begin(), sources.end());
  const std::vector<kernel_source> all(distinct.begin(), distinct.end());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < all.size(); n = next++) {
      try {
        compiler.compile(all[n], architecture);
      } catch (const std::exception&) {  // comes again to who asks for it
      }
    }
  };
  std::vector<std::jthread> workers;
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t n = 0; n < std::min(cores, all.size()); ++n) { workers.emplace_back(work); }
  workers.clear();  // waits
  return all.size();
}

}  // namespace icobench
