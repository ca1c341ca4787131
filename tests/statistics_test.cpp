// The statistics of samples.
#include "src/measure/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>

#include <nlohmann/json.hpp>

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

TEST(statistics, ratio_of_medians) {
  const std::vector<double> reference = ranks(101);
  std::vector<double> half = reference;
  for (double& value : half) { value /= 2; }
  const ratio same = ratio_of_medians(reference, reference);
  EXPECT_EQ(same.low, 1);
  EXPECT_EQ(same.high, 1);
  const ratio halved = ratio_of_medians(reference, half);
  EXPECT_EQ(halved.value, 0.5);
  EXPECT_LT(halved.low, 0.5);
  EXPECT_GT(halved.high, 0.5);
  EXPECT_LT(halved.high, 0.8);
  EXPECT_EQ(ratio_of_medians({1, 1, 1}, {2, 2, 2}).high, 2);
}

TEST(statistics, proves_faster) {
  const std::vector<double> ones(9, 1.0), less(9, 0.9), few(8, 0.5);
  EXPECT_TRUE(proves_faster(ones, less, 0.02));
  EXPECT_FALSE(proves_faster(ones, less, 0.2));
  EXPECT_FALSE(proves_faster(less, ones, 0.02));
  EXPECT_FALSE(proves_faster(ones, few, 0.02));
  // Half of the samples are slow: nothing is known of the median.
  std::vector<double> bursts(10, 0.5);
  std::fill(bursts.begin() + 5, bursts.end(), 1.5);
  EXPECT_FALSE(proves_faster(ones, bursts, 0.02));
}

// The rule of scripts/compare, on the samples that hold both to it.
TEST(statistics, verdicts_are_those_of_the_scripts) {
  std::ifstream file(ICOBENCH_SOURCE_DIR "/tests/data/verdicts.json");
  const auto content = nlohmann::json::parse(file);
  int faster = 0;
  for (const auto& each : content.at("cases")) {
    const bool found = proves_faster(each.at("reference").get<std::vector<double>>(),
                                     each.at("other").get<std::vector<double>>(),
                                     content.at("threshold").get<double>());
    EXPECT_EQ(found, each.at("faster").get<bool>()) << each.at("what");
    faster += found;
  }
  EXPECT_GE(faster, 5);
}

}  // namespace
}  // namespace icobench
