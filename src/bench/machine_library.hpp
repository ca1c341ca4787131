// The vendors' libraries, loaded at run time: this program starts without them and needs none of
// their headers.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/bench/machine_state.hpp"

namespace icobench::detail {

std::unique_ptr<machine_monitor> open_nvml(const std::string& pci_bus_id, std::string& description);
std::unique_ptr<machine_monitor> open_rocm_smi(const std::string& pci_bus_id,
                                               std::string& description);

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

template <class Value>
std::optional<double> scaled(const std::optional<Value>& value, double factor) {
  if (!value) { return std::nullopt; }
  return factor * static_cast<double>(*value);
}

// The reasons among the known ones whose bits are set.
struct reason_bits {
  std::uint64_t bits;
  const char* name;
  bool slows;
};
inline std::vector<clock_reason> reasons_in(std::uint64_t bits,
                                            std::initializer_list<reason_bits> known) {
  std::vector<clock_reason> result;
  for (const reason_bits& r : known) {
    if (bits & r.bits) { result.push_back({r.name, r.slows}); }
  }
  return result;
}

}  // namespace icobench::detail
