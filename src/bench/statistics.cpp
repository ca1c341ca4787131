#include "src/bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace icobench {

double median(std::vector<double> samples) {
  if (samples.empty()) { return 0; }
  std::sort(samples.begin(), samples.end());
  const std::size_t n = samples.size();
  return n % 2 ? samples[n / 2] : 0.5 * (samples[n / 2 - 1] + samples[n / 2]);
}

interval median_interval(std::vector<double> samples) {
  if (samples.empty()) { return {}; }
  std::sort(samples.begin(), samples.end());
  const auto n = double(samples.size());
  if (samples.size() < 6) { return {samples.front(), samples.back()}; }
  const double half = 0.98 * std::sqrt(n);  // 1.96 standard deviations of the rank, sqrt(n) / 2
  const auto cut = std::size_t(std::max(std::floor((n - 1) / 2 - half), 0.0));
  return {samples[cut], samples[samples.size() - 1 - cut]};
}

}  // namespace icobench
