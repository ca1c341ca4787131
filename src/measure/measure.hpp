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
  std::vector<double> seconds;  // of one run each, in the order they were taken
  std::string stopped_by;  // "precision", "budget", "max_samples" or "user"; "" while it goes on
  int runs_per_sample = 1;
};

// Samples of one piece of work, a batch a step, so that several can take turns.
class sampler {
 public:
  // `work` enqueues a run; `meanwhile` is called in each step while the device is busy.
  sampler(
      gpu::device&, std::function<void()> work, const sampling&,
      std::function<void()> meanwhile = [] {});

  bool done() const { return !result_.stopped_by.empty(); }
  // Warms up at first, then takes a batch; ends when one of the rules of `sampling` is met.
  void step();
  void stop() { result_.stopped_by = "user"; }
  // Begins anew, with what is left of the budget.
  void restart();
  double spent() const { return spent_; }  // of wall time [s]
  bool stopped_by_precision() const { return result_.stopped_by == "precision"; }
  const sample_set& result() const { return result_; }

 private:
  void warm_up();
  void take_batch();
  std::string rule_met() const;

  gpu::device& device_;
  std::function<void()> work_, meanwhile_;
  sampling rules_;
  sample_set result_;
  double spent_ = 0;  // of wall time [s]
  bool warm_ = false;
};

// All samples of one piece of work at once.
sample_set sample(gpu::device&, const std::function<void()>& work, const sampling&);

// The copy bandwidth when only so many bytes are moved, cache state as in `sampling`.
double copy_bandwidth_of(gpu::device&, std::size_t bytes_moved, const sampling&);

// What the timer reads when nothing is timed [s].
double empty_interval(gpu::device&);

// Where times are too short for the timer: closer than this to an empty interval.
constexpr double resolved_intervals = 10;

}  // namespace icobench
