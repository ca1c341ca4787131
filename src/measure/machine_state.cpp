#include "src/measure/machine_state.hpp"

#include <algorithm>

#include "src/measure/machine_library.hpp"
#include "src/measure/statistics.hpp"

namespace icobench {
namespace {

// The median of times does not notice fewer samples.
constexpr double share_that_tells = 0.1;

}  // namespace

std::unique_ptr<machine_monitor> machine_monitor::open(std::string_view backend,
                                                       const std::string& pci_bus_id,
                                                       std::string& description) {
  if (backend == "cuda") { return detail::open_nvml(pci_bus_id, description); }
  if (backend == "hip") { return detail::open_rocm_smi(pci_bus_id, description); }
  description = "none for backend " + std::string(backend);
  return nullptr;
}

void machine_record::add(const machine_sample& s) {
  ++count_;
  const auto append = [](std::vector<double>& all, const std::optional<double>& value) {
    if (value) { all.push_back(*value); }
  };
  append(clock_mhz_, s.clock_mhz);
  append(memory_clock_mhz_, s.memory_clock_mhz);
  append(temperature_c_, s.temperature_c);
  append(power_w_, s.power_w);
  if (!s.throttle_reasons) { return; }
  if (!throttle_reasons_) { throttle_reasons_.emplace(); }
  if (std::any_of(s.throttle_reasons->begin(), s.throttle_reasons->end(),
                  [](const clock_reason& r) { return r.slows; })) {
    capped_.push_back(s);
  }
  for (const clock_reason& r : *s.throttle_reasons) {
    if (std::find(throttle_reasons_->begin(), throttle_reasons_->end(), r) ==
        throttle_reasons_->end()) {
      throttle_reasons_->push_back(r);
    }
  }
}

void machine_record::forget() {
  machine_record empty;
  empty.judge_by(1e6 * highest_mhz_, 1e6 * highest_memory_mhz_);
  *this = std::move(empty);
}

void machine_record::judge_by(double clock_hz, double memory_clock_hz) {
  highest_mhz_ = 1e-6 * clock_hz;
  highest_memory_mhz_ = 1e-6 * memory_clock_hz;
}

machine_record::slowdown machine_record::find_slowdown() const {
  // Of lower clocks of multiprocessors a stencil, which waits for memory, notices less.
  constexpr double lower_clock = 0.95, lower_memory_clock = 0.99;
  const auto relative = [](const std::optional<double>& mhz, double highest,
                           const std::vector<double>& all) {
    if (highest <= 0 && !all.empty()) { highest = *std::max_element(all.begin(), all.end()); }
    return mhz && highest > 0 ? *mhz / highest : 1;
  };
  slowdown result;
  for (const machine_sample& s : capped_) {
    const double clock = relative(s.clock_mhz, highest_mhz_, clock_mhz_);
    const double memory = relative(s.memory_clock_mhz, highest_memory_mhz_, memory_clock_mhz_);
    const bool unknown = !s.clock_mhz && !s.memory_clock_mhz;
    if (!unknown && clock >= lower_clock && memory >= lower_memory_clock) { continue; }
    result.share += 1 / double(count_);
    result.clock = std::min(result.clock, clock);
    result.memory_clock = std::min(result.memory_clock, memory);
  }
  return result;
}

bool machine_record::throttled() const {
  return find_slowdown().share >= share_that_tells;
}

bool machine_record::unstable() const {
  const double middle = median(clock_mhz_);
  const auto far = std::count_if(clock_mhz_.begin(), clock_mhz_.end(), [&](double mhz) {
    return mhz > 1.05 * middle || mhz < 0.95 * middle;
  });
  return far > 0 && double(far) >= share_that_tells * double(clock_mhz_.size());
}

nlohmann::ordered_json machine_record::to_json() const {
  using json = nlohmann::ordered_json;
  if (count_ == 0) { return nullptr; }
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
  json slowed = nullptr;
  if (const slowdown s = find_slowdown(); s.share > 0) {
    slowed = {{"share", s.share}, {"clock", s.clock}, {"memory_clock", s.memory_clock}};
  }
  return {{"clock_mhz", spread(clock_mhz_)},
          {"memory_clock_mhz", spread(memory_clock_mhz_)},
          {"temperature_c", spread(temperature_c_)},
          {"power_w", spread(power_w_)},
          {"throttle_reasons", reasons},
          {"slowed", slowed},
          {"joules_per_run", joules_per_run ? json(*joules_per_run) : json(nullptr)}};
}

}  // namespace icobench
