// Timing on a device: samples until the median is known well enough.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <icobench/gpu/device.hpp>

namespace icobench {

enum class cache_mode { cold, warm };

struct sampling {
  cache_mode cache = cache_mode::cold;  // cold: the cache is evicted before each sample
  int warm_up = 5;
  int min_samples = 21;
  int max_samples = 2001;
  double budget_seconds = 1;  // of wall time
  double precision = 0.01;    // half the interval of the median, relative to it
};

struct sample_set {
  std::vector<double> seconds;
  std::string stopped_by;  // "precision", "budget" or "max_samples"
};

sample_set sample(gpu::device&, const std::function<void()>& work, const sampling&);

// What this device's memory gives in this run, bytes read and written [byte/s].
struct bandwidth {
  double copy = 0;  // a large device-to-device copy
  std::size_t copy_bytes = 0;
};
bandwidth measure_bandwidth(gpu::device&);

// The copy bandwidth when only so many bytes are moved, cache state as in `sampling`.
double copy_bandwidth_of(gpu::device&, std::size_t bytes_moved, const sampling&);

}  // namespace icobench
