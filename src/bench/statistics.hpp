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

}  // namespace icobench
