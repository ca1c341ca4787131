#include "src/measure/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "src/measure/statistics.hpp"

namespace icobench {
namespace {

// Warm runs shorter than this are timed several at once: starting and stopping the timer costs
// microseconds. Cold ones cannot be, since the cache is evicted before each.
constexpr double shortest_sample = 50e-6;

constexpr int batch_samples = 10;

bool precise_enough(const std::vector<double>& seconds, double precision) {
  const interval i = median_interval(seconds);
  return 0.5 * (i.high - i.low) <= precision * median(seconds);
}

}  // namespace

sampler::sampler(gpu::device& device, std::function<void()> work, const sampling& rules,
                 std::function<void()> meanwhile)
    : device_(device), work_(std::move(work)), meanwhile_(std::move(meanwhile)), rules_(rules) {}

void sampler::step() {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  if (!warm_) {
    warm_up();
    warm_ = true;
  } else {
    take_batch();
  }
  spent_ += std::chrono::duration<double>(clock::now() - start).count();
  if (!result_.seconds.empty()) { result_.stopped_by = rule_met(); }
}

void sampler::restart() {
  result_ = {};
  warm_ = false;
}

void sampler::warm_up() {
  const auto nothing = [] {};
  double spent = 0, shortest = shortest_sample;
  for (int n = 0; n < rules_.warm_up && spent < 0.2 * rules_.budget_seconds; ++n) {
    const double seconds = device_.time(1, nothing, work_, nothing).front();
    spent += seconds;
    shortest = std::min(shortest, seconds);
  }
  if (rules_.cache == cache_mode::warm) {
    const double runs = std::ceil(shortest_sample / std::max(shortest, 1e-7));
    result_.runs_per_sample = int(std::clamp(runs, 1.0, 100.0));
  }
}

// In batches, so that a GPU has its next launch before it asks; few of what takes long.
void sampler::take_batch() {
  const int count = int(result_.seconds.size()), runs = result_.runs_per_sample;
  const double left = rules_.budget_seconds - spent_;
  const double affordable = count > 0 ? left / (runs * median(result_.seconds)) : 3;
  const int batch = int(std::clamp(affordable, 1.0, double(batch_samples)));
  const auto before = [&] {
    if (rules_.cache == cache_mode::cold) { device_.evict_cache(); }
  };
  const auto several = [&] {
    for (int n = 0; n < runs; ++n) { work_(); }
  };
  const auto more =
      device_.time(std::min(batch, rules_.max_samples - count), before, several, meanwhile_);
  for (const double seconds : more) { result_.seconds.push_back(seconds / runs); }
}

std::string sampler::rule_met() const {
  const int count = int(result_.seconds.size());
  if (count >= rules_.min_samples && precise_enough(result_.seconds, rules_.precision)) {
    return "precision";
  }
  if (count >= rules_.max_samples) { return "max_samples"; }
  return spent_ > rules_.budget_seconds ? "budget" : "";
}

sample_set sample(gpu::device& device, const std::function<void()>& work, const sampling& rules) {
  sampler s(device, work, rules);
  while (!s.done()) { s.step(); }
  return s.result();
}

double copy_bandwidth_of(gpu::device& device, std::size_t bytes_moved, const sampling& s) {
  const std::size_t bytes = std::max<std::size_t>(bytes_moved / 2, 4096) / 4096 * 4096;
  const gpu::buffer from(device, bytes), to(device, bytes);
  device.fill(from.data(), 0x3f, bytes);  // doubles near 0.0005: no NaN, no zeros
  device.fill(to.data(), 0x3f, bytes);
  const auto seconds = sample(
                           device, [&] { device.copy(to.data(), from.data(), bytes); }, s)
                           .seconds;
  return 2 * double(bytes) / median(seconds);
}

double empty_interval(gpu::device& device) {
  const auto nothing = [] {};
  return median(device.time(21, nothing, nothing, nothing));
}

}  // namespace icobench
