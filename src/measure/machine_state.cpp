#include "src/measure/machine_state.hpp"

#include <algorithm>

#include "src/measure/machine_library.hpp"
#include "src/measure/statistics.hpp"

namespace icobench {

std::unique_ptr<machine_monitor> machine_monitor::open(std::string_view backend,
                                                       const std::string& pci_bus_id,
                                                       std::string& description) {
  if (backend == "cuda") { return detail::open_nvml(pci_bus_id, description); }
  if (backend == "hip") { return detail::open_rocm_smi(pci_bus_id, description); }
  description = "none for backend " + std::string(backend);
  return nullptr;
}

void machine_record::add(const machine_sample& s) {
  empty_ = false;
  const auto append = [](std::vector<double>& all, const std::optional<double>& value) {
    if (value) { all.push_back(*value); }
  };
  append(clock_mhz_, s.clock_mhz);
  append(memory_clock_mhz_, s.memory_clock_mhz);
  append(temperature_c_, s.temperature_c);
  append(power_w_, s.power_w);
  if (!s.throttle_reasons) { return; }
  if (!throttle_reasons_) { throttle_reasons_.emplace(); }
  for (const clock_reason& r : *s.throttle_reasons) {
    if (std::find(throttle_reasons_->begin(), throttle_reasons_->end(), r) ==
        throttle_reasons_->end()) {
      throttle_reasons_->push_back(r);
    }
  }
}

bool machine_record::throttled() const {
  return throttle_reasons_ && std::any_of(throttle_reasons_->begin(), throttle_reasons_->end(),
                                          [](const clock_reason& r) { return r.slows; });
}

bool machine_record::unstable() const {
  if (clock_mhz_.empty()) { return false; }
  const auto [least, most] = std::minmax_element(clock_mhz_.begin(), clock_mhz_.end());
  return *most - *least > 0.05 * median(clock_mhz_);
}

nlohmann::ordered_json machine_record::to_json() const {
  using json = nlohmann::ordered_json;
  if (empty_) { return nullptr; }
  const auto spread = [](const std::vector<double>& values) -> json {
    if (values.empty()) { return nullptr; }
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return json::array({*least, median(values), *most});
  };
  json reasons = nullptr;
  if (throttle_reasons_) {
    reasons = json::array();
    for (const clock_reason& r : *throttle_reasons_) { reasons.push_back(r.name); }
  }
  return {{"clock_mhz", spread(clock_mhz_)},
          {"memory_clock_mhz", spread(memory_clock_mhz_)},
          {"temperature_c", spread(temperature_c_)},
          {"power_w", spread(power_w_)},
          {"throttle_reasons", reasons},
          {"joules_per_run", joules_per_run ? json(*joules_per_run) : json(nullptr)}};
}

}  // namespace icobench
