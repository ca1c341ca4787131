// Statistics of samples that are not normally distributed: order statistics only.
#pragma once

#include <vector>

namespace icobench {

struct interval {
  double low = 0, high = 0;
};

// Of an odd number of samples the middle one, else the mean of the middle two; 0 without samples.
double median(std::vector<double> samples);

// 95 % confidence interval of the median from the order statistics of the binomial distribution
// (normal approximation); the whole range where there are fewer than six samples.
interval median_interval(std::vector<double> samples);

// Of medians, and its 95 % interval.
struct ratio {
  double value = 1, low = 1, high = 1;
};

// The median of `other` over that of `reference`; the interval as scripts/icobench/statistics.py
// says. The same samples give the same interval.
ratio ratio_of_medians(const std::vector<double>& reference, const std::vector<double>& other);

// Whether `other` is faster by more than `threshold`, by the one rule of this project, which
// scripts/icobench/statistics.py states: scripts/compare says "faster" exactly then
// (tests/data/verdicts.json holds both to it).
bool proves_faster(const std::vector<double>& reference, const std::vector<double>& other,
                   double threshold);

}  // namespace icobench
