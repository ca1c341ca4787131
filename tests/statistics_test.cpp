// The statistics of samples.
#include "src/bench/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace icobench {
namespace {

// 1, 2, ..., n in no order.
std::vector<double> ranks(std::size_t n) {
  std::vector<double> samples(n);
  std::iota(samples.begin(), samples.end(), 1.0);
  std::shuffle(samples.begin(), samples.end(), std::mt19937(7));
  return samples;
}

TEST(statistics, median) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({5}), 5);
  EXPECT_EQ(median({4, 1}), 2.5);
  EXPECT_EQ(median({9, -1, 4}), 4);
  EXPECT_EQ(median({9, 9, 1, 1}), 5);
  EXPECT_EQ(median(ranks(101)), 51);
  EXPECT_EQ(median(ranks(100)), 50.5);
}

// Ranks from published tables of the binomial distribution.
TEST(statistics, interval_of_ranks) {
  const struct {
    std::size_t n;
    double low, high;
  } table[] = {{1, 1, 1},   {5, 1, 5},   {6, 1, 6},   {9, 2, 8},    {10, 2, 9},
               {15, 4, 12}, {20, 6, 15}, {21, 6, 16}, {50, 18, 33}, {100, 40, 61}};
  for (const auto& [n, low, high] : table) {
    const interval i = median_interval(ranks(n));
    EXPECT_EQ(i.low, low) << n;
    EXPECT_EQ(i.high, high) << n;
  }
  const interval none = median_interval({});
  EXPECT_EQ(none.low, 0);
  EXPECT_EQ(none.high, 0);
}

// Neither side is favoured: what holds for x holds for -x.
TEST(statistics, interval_is_symmetric) {
  for (std::size_t n = 1; n < 300; ++n) {
    const interval i = median_interval(ranks(n));
    EXPECT_EQ(i.low + i.high, double(n) + 1) << n;
    EXPECT_LE(i.low, median(ranks(n))) << n;
  }
}

// How often the interval holds the true median, for a distribution with a long tail as times have.
TEST(statistics, interval_covers_the_median) {
  std::mt19937 random(42);
  std::exponential_distribution<double> distribution;
  const double truth = std::log(2.0);
  for (const std::size_t n : {7u, 11u, 21u, 50u, 101u, 400u}) {
    constexpr int trials = 4000;
    int covered = 0;
    for (int t = 0; t < trials; ++t) {
      std::vector<double> samples(n);
      for (double& s : samples) { s = distribution(random); }
      const interval i = median_interval(samples);
      covered += i.low <= truth && truth <= i.high;
    }
    EXPECT_GE(covered, 0.92 * trials) << n;
    EXPECT_LE(covered, 0.99 * trials) << n;
  }
}

}  // namespace
}  // namespace icobench
