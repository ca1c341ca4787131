#include "src/rtc/kernel_cache.hpp"

#include <cstdlib>

#include <icobench/grids/output_file.hpp>

#include "src/support/read_json.hpp"

namespace icobench {
namespace {

constexpr std::string_view magic = "icobench kernel 1\n";
constexpr std::size_t checksum_digits = 16;

std::string content(const std::string& key, const gpu::compiled_kernel& k) {
  const nlohmann::ordered_json description{{"key", key},
                                           {"registers", k.registers},
                                           {"spill_bytes", k.spill_bytes},
                                           {"log", k.log},
                                           {"image_bytes", k.image.size()}};
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::string text = description.dump(-1, ' ', false, replace) + "\n";
  text.append(k.image.begin(), k.image.end());
  return text;
}

// The kernel in a file's content behind the checksum; throws std::exception for other text.
std::optional<gpu::compiled_kernel> parse(const std::string& key, std::string_view text) {
  const auto end = text.find('\n');
  if (end == text.npos) { return {}; }
  const auto j = parse_json(text.substr(0, end));
  const std::string_view image = text.substr(end + 1);
  if (j.at("key") != key || j.at("image_bytes") != image.size()) { return {}; }
  return gpu::compiled_kernel{{image.begin(), image.end()},
                              j.at("log"),
                              whole_number<int>(j.at("registers")).value(),
                              whole_number<std::size_t>(j.at("spill_bytes")).value()};
}

}  // namespace

std::string hexadecimal(std::uint64_t value) {
  std::string text(checksum_digits, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value /= 16) {
    *digit = "0123456789abcdef"[value % 16];
  }
  return text;
}

kernel_cache kernel_cache::of_user() {
  const auto folder = [](const char* variable, const char* below) {
    const char* const value = std::getenv(variable);
    return value && *value ? std::filesystem::path(value) / below : std::filesystem::path();
  };
  for (const auto& found : {folder("ICOBENCH_CACHE", ""), folder("XDG_CACHE_HOME", "icobench"),
                            folder("HOME", ".cache/icobench")}) {
    if (!found.empty()) { return kernel_cache(found); }
  }
  return kernel_cache("");
}

std::filesystem::path kernel_cache::file_of(const std::string& key) const {
  return folder_ / (hexadecimal(hash_of(key)) + ".kernel");
}

std::optional<gpu::compiled_kernel> kernel_cache::find(const std::string& key) const {
  if (folder_.empty()) { return {}; }
  std::string text;
  try {
    text = read_text(file_of(key));
  } catch (const input_error&) { return {}; }
  const std::size_t begin = magic.size() + checksum_digits + 1;
  if (!text.starts_with(magic) || text.size() < begin || text[begin - 1] != '\n') { return {}; }
  const std::string_view rest = std::string_view(text).substr(begin);
  if (text.compare(magic.size(), checksum_digits, hexadecimal(hash_of(rest))) != 0) { return {}; }
  try {
    return parse(key, rest);
  } catch (const std::exception&) { return {}; }
}

void kernel_cache::add(const std::string& key, const gpu::compiled_kernel& k) const {
  if (folder_.empty()) { return; }
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  const std::string rest = content(key, k);
  try {
    output_file("", file_of(key))
        .write(std::string(magic) + hexadecimal(hash_of(rest)) + "\n" + rest);
  } catch (const input_error&) {
    // It is compiled again.
  }
}

}  // namespace icobench
