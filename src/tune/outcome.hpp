// What a search found for one variant.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/catalogue/tuning_table.hpp"
#include "src/measure/statistics.hpp"
#include "src/tune/search.hpp"

namespace icobench {

// Finalists of a variant on one problem; the first is the default.
struct final_times {
  std::string problem{};
  long long size = 0;  // vertices times levels
  std::vector<configuration> what{};
  std::vector<std::vector<double>> seconds{};  // samples of each
};

struct choice {
  configuration what;
  double seconds = 0;
  ratio to_default;
};

// One configuration for all problems, and what that costs against the fastest of each.
struct common_choice {
  configuration what;
  double worst = 0, mean = 0;  // largest ratio, geometric mean of the ratios; 0: there is none
};

struct outcome {
  std::string variant, precision, ordering;
  std::string reason{};  // why there is no result, if there is none
  std::vector<std::string> problems{};
  std::vector<long long> sizes{};
  std::vector<double> default_seconds{};
  std::vector<choice> best{};    // of each problem
  common_choice for_all{};       // one for all problems
  std::vector<choice> shared{};  // of each problem, one launch for all kernels; empty: one kernel
};

// The simplest of those that the fastest does not beat by more than the threshold: the one that
// differs least from the default, which is the first. Of `allowed` ones only.
choice choose(const final_times&, double threshold,
              const std::function<bool(const configuration&)>& allowed);

// The configuration with the smallest worst ratio, of those that were measured on all problems.
common_choice choose_for_all(const std::vector<final_times>&);

// Fills in all that follows from the finalists' times.
void conclude(outcome&, const std::vector<final_times>&, double threshold);

// Sizes of a variant's problems become classes: a boundary is the geometric mean of neighbours.
tuned_variant tabulate(const outcome&);

// For people, as Markdown.
std::string format(const std::vector<outcome>&);

}  // namespace icobench
