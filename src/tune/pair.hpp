// Two variants that run side by side, on a stream each: their best launches for a step of both.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/tune/tuner.hpp"

namespace icobench {

using pair_of_configurations = std::pair<configuration, configuration>;

// A step: from the first start to the last stop.
struct measured_pair {
  pair_of_configurations what;
  double alone[2] = {};  // median seconds of each alone
  std::vector<double> step_seconds{};
};

struct pair_outcome {
  std::string problem;
  measured_pair defaults, each_alone, together;  // together: the best for the step
};

// Candidates of both, so different that they share a device differently: of those found, the
// fastest for each register cap, limit of the grid and size of the block. Fastest first.
std::vector<configuration> kinds_of(const std::vector<scored>&, std::size_t most);

// Seconds of each step. Everything is enqueued before the one wait.
std::vector<double> step_seconds(gpu::device&, const std::function<void()>& first, gpu::device&,
                                 const std::function<void()>& second, int samples);

// On each problem. Both tuners must be for the same problems. Throws search_stopped.
std::vector<pair_outcome> tune_pair(tuner& first, const variant&, const implementation&,
                                    tuner& second, const variant&, const implementation&,
                                    double threshold);

// For people, as Markdown.
std::string format(const std::string& first, const std::string& second,
                   const std::vector<pair_outcome>&, double threshold);

}  // namespace icobench
