#include "src/bench/measure.hpp"

#include <algorithm>
#include <chrono>

#include "src/bench/statistics.hpp"

namespace icobench {
namespace {

bool precise_enough(const std::vector<double>& seconds, double precision) {
  const interval i = median_interval(seconds);
  return 0.5 * (i.high - i.low) <= precision * median(seconds);
}

}  // namespace

sample_set sample(gpu::device& device, const std::function<void()>& work, const sampling& s) {
  using clock = std::chrono::steady_clock;
  const auto start = clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(clock::now() - start).count(); };
  const auto before = [&] {
    if (s.cache == cache_mode::cold) { device.evict_cache(); }
  };
  for (int i = 0; i < s.warm_up && elapsed() < 0.2 * s.budget_seconds; ++i) {
    work();
    device.synchronize();
  }
  sample_set result;
  for (;;) {
    const int count = int(result.seconds.size());
    if (count >= s.min_samples && precise_enough(result.seconds, s.precision)) {
      result.stopped_by = "precision";
    } else if (count >= s.max_samples) {
      result.stopped_by = "max_samples";
    } else if (count > 0 && elapsed() > s.budget_seconds) {
      result.stopped_by = "budget";
    } else {
      // In batches, so that a GPU has its next launch before it asks; few of what takes long.
      const double left = s.budget_seconds - elapsed();
      const double affordable = count > 0 ? left / median(result.seconds) : 3;
      const int batch = int(std::clamp(affordable, 1.0, 10.0));
      const auto more = device.time(std::min(batch, s.max_samples - count), before, work);
      result.seconds.insert(result.seconds.end(), more.begin(), more.end());
      continue;
    }
    return result;
  }
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

bandwidth measure_bandwidth(gpu::device& device) {
  const gpu::device_facts facts = device.facts();
  // Several times the last-level cache; more than 4 GiB teaches nothing new.
  const std::size_t wanted = std::max<std::size_t>(8 * facts.cache_bytes, std::size_t(8) << 30);
  bandwidth result;
  result.copy_bytes = std::min(wanted, facts.memory_bytes / 8);
  sampling s;
  s.cache = cache_mode::warm;  // too large to stay in the cache
  s.warm_up = 2;
  s.min_samples = 11;
  result.copy = copy_bandwidth_of(device, result.copy_bytes, s);
  return result;
}

}  // namespace icobench
