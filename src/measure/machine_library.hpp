// The vendors' libraries, loaded at run time: this program starts without them and needs none of
// their headers.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/measure/machine_state.hpp"
#include "src/support/library.hpp"

namespace icobench::detail {

std::unique_ptr<machine_monitor> open_nvml(const std::string& pci_bus_id, std::string& description);
std::unique_ptr<machine_monitor> open_rocm_smi(const std::string& pci_bus_id,
                                               std::string& description);

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
