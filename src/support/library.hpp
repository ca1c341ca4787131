// Shared libraries of vendors, loaded at run time: this program starts without them and needs none
// of their headers.
#pragma once

#include <dlfcn.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace icobench::detail {

// The first of some shared libraries that can be loaded.
class library {
 public:
  explicit library(const std::vector<const char*>& names, int more_flags = 0) {
    for (const char* name : names) {
      handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL | more_flags);
      if (handle_) { return; }
      const std::string complaint = dlerror();  // a damaged library says more than an absent one
      const bool absent = complaint.find("No such file") != complaint.npos;
      if (complaint_.empty() || !absent) { complaint_ = complaint; }
    }
  }
  library(library&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), complaint_(std::move(other.complaint_)) {}
  library& operator=(library&&) = delete;
  ~library() {
    if (handle_) { dlclose(handle_); }
  }

  bool loaded() const { return handle_ != nullptr; }
  const std::string& complaint() const { return complaint_; }

  // Null where the library lacks it, as an older one may.
  template <class Function>
  Function* find(const char* symbol) const {
    return reinterpret_cast<Function*>(dlsym(handle_, symbol));
  }

 private:
  void* handle_ = nullptr;
  std::string complaint_;
};

// What a function of these libraries writes through its last argument; absent if there is no such
// function or it fails (not supported, not permitted).
template <class Value, class... Parameters, class... Arguments>
std::optional<Value> ask(int (*function)(Parameters...), Arguments... arguments) {
  Value value{};
  if (!function || function(arguments..., &value) != 0) { return std::nullopt; }
  return value;
}

}  // namespace icobench::detail
