#include "src/measure/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace icobench {
namespace {

constexpr std::size_t fewest_samples = 9;
constexpr int resamples = 1000;
constexpr std::size_t batches = 5;
constexpr double student = 2.776;  // 97.5 % of its distribution with batches - 1 degrees of freedom

// The median of a resample of blocks of `length` consecutive samples; after the last comes the
// first.
double resampled_median(const std::vector<double>& samples, std::size_t length,
                        std::mt19937& random) {
  std::uniform_int_distribution<std::size_t> start(0, samples.size() - 1);
  std::vector<double> picked;
  while (picked.size() < samples.size()) {
    const std::size_t first = start(random);
    for (std::size_t n = 0; n < length && picked.size() < samples.size(); ++n) {
      picked.push_back(samples[(first + n) % samples.size()]);
    }
  }
  return median(std::move(picked));
}

// Medians of consecutive samples, in parts as equal as can be.
std::vector<double> batch_medians(const std::vector<double>& samples) {
  std::vector<double> result;
  auto next = samples.begin();
  for (std::size_t n = 0; n < batches; ++n) {
    const std::size_t size = samples.size() / batches + (n < samples.size() % batches ? 1 : 0);
    const auto end = next + std::ptrdiff_t(size);
    result.push_back(median({next, end}));
    next = end;
  }
  return result;
}

// Of the mean of the batch medians' logarithms; of too few samples it is not known.
double batch_variance(const std::vector<double>& samples) {
  if (samples.size() < batches) { return 0; }
  std::vector<double> logarithms = batch_medians(samples);
  double mean = 0, squares = 0;
  for (double& value : logarithms) { mean += (value = std::log(value)) / batches; }
  for (const double value : logarithms) { squares += (value - mean) * (value - mean); }
  return squares / (batches - 1) / batches;
}

// The rank test: of all pairs of batch medians all but one have `more` above `less`; ties are half.
bool ranks_above(const std::vector<double>& more, const std::vector<double>& less) {
  double above = 0;
  for (const double a : batch_medians(more)) {
    for (const double b : batch_medians(less)) { above += a > b ? 1 : a == b ? 0.5 : 0; }
  }
  return above >= batches * batches - 1;
}

}  // namespace

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

ratio ratio_of_medians(const std::vector<double>& reference, const std::vector<double>& other) {
  ratio result;
  if (reference == other) { return result; }
  result.value = median(other) / median(reference);
  const double spread =
      std::exp(student * std::sqrt(batch_variance(reference) + batch_variance(other)));
  result.low = result.value / spread;
  result.high = result.value * spread;
  std::mt19937 random(0);
  const auto length = [](const std::vector<double>& samples, int kind) {
    const std::size_t n = samples.size();
    return kind == 0 ? 1 : kind == 1 ? std::size_t(std::lround(std::sqrt(n))) : (n + 3) / 4;
  };
  for (const int kind : {0, 1, 2}) {
    std::vector<double> ratios;
    for (int n = 0; n < resamples; ++n) {
      ratios.push_back(resampled_median(other, length(other, kind), random) /
                       resampled_median(reference, length(reference, kind), random));
    }
    std::sort(ratios.begin(), ratios.end());
    constexpr auto tail = std::size_t(0.025 * resamples);
    result.low = std::min(result.low, ratios[tail]);
    result.high = std::max(result.high, ratios[resamples - 1 - tail]);
  }
  return result;
}

bool proves_faster(const std::vector<double>& reference, const std::vector<double>& other,
                   double threshold) {
  if (std::min(reference.size(), other.size()) < fewest_samples ||
      ratio_of_medians(reference, other).high >= 1 / (1 + threshold)) {
    return false;
  }
  std::vector<double> beyond = other;
  for (double& value : beyond) { value *= 1 + threshold; }
  return ranks_above(reference, beyond);
}

}  // namespace icobench
