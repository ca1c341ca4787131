// Files and JSON that others may have written: nothing in them crashes or exhausts the program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <icobench/errors.hpp>

namespace icobench {

// Owner of an open file.
class descriptor {
 public:
  // Throws input_error "PATH: ..." for what is no regular file: a pipe would wait, a device may
  // never end. `mode` is that of open().
  descriptor(const std::string& path, int mode);
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor();

  int id() const { return id_; }
  // All of it, at most 256 MiB. Throws input_error.
  std::string read() const;
  // Throws input_error, of a full disk for example.
  void write(std::string_view text) const;

 private:
  [[noreturn]] void fail(const std::string& what) const;

  std::string path_;
  int id_ = -1;
};

std::string read_text(const std::string& path);

// Throws input_error, also for what is nested deeper than 64 objects and lists, which would take
// the stack.
nlohmann::ordered_json parse_json(std::string_view text);

// A number as T, if it is a whole one from `least` on that T can hold.
template <class T>
std::optional<T> whole_number(const nlohmann::ordered_json& j, T least = 0) {
  const auto checked = [&](auto value) -> std::optional<T> {
    if (std::cmp_less(value, least) || !std::in_range<T>(value)) { return {}; }
    return T(value);
  };
  if (j.is_number_unsigned()) { return checked(j.get<std::uint64_t>()); }
  return j.is_number_integer() ? checked(j.get<std::int64_t>()) : std::nullopt;
}

}  // namespace icobench
