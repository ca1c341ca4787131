// Sampling, on every device of this machine.
#include "src/measure/measure.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "src/catalogue/registry.hpp"
#include "src/measure/statistics.hpp"

namespace icobench {
namespace {

std::vector<std::unique_ptr<gpu::device>> devices() {
  std::vector<std::unique_ptr<gpu::device>> result;
  for (const auto& [name, open] : registry::instance().backends()) {
    if (name == "simt") { continue; }
    try {
      result.push_back(open());
    } catch (const gpu::device_error&) {}  // there is no such device
  }
  return result;
}

class measure : public testing::Test {
 protected:
  void SetUp() override {
    for (auto& d : devices()) {
      if (d->backend() == "cpu") { cpu_ = std::move(d); }
    }
    ASSERT_TRUE(cpu_);
  }
  std::unique_ptr<gpu::device> cpu_;
};

void wait(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {}
}

TEST_F(measure, stops_when_the_median_is_known) {
  sampling rules;
  rules.cache = cache_mode::warm;
  rules.min_samples = 15;
  rules.precision = 0.5;
  rules.budget_seconds = 30;
  const sample_set s = sample(
      *cpu_, [] { wait(std::chrono::microseconds(300)); }, rules);
  EXPECT_EQ(s.stopped_by, "precision");
  EXPECT_GE(s.seconds.size(), 15u);
  EXPECT_LT(s.seconds.size(), 200u);
  EXPECT_GE(median(s.seconds), 300e-6);
}

TEST_F(measure, stops_at_most_samples) {
  sampling rules;
  rules.cache = cache_mode::warm;
  rules.min_samples = 1000;
  rules.max_samples = 33;
  rules.budget_seconds = 30;
  const sample_set s = sample(
      *cpu_, [] {}, rules);
  EXPECT_EQ(s.stopped_by, "max_samples");
  EXPECT_EQ(s.seconds.size(), 33u);
}

TEST_F(measure, stops_when_the_budget_is_spent) {
  sampling rules;
  rules.min_samples = 1000000;
  rules.max_samples = 1000000;
  rules.budget_seconds = 0.05;
  const sample_set s = sample(
      *cpu_, [] { wait(std::chrono::microseconds(4000)); }, rules);
  EXPECT_EQ(s.stopped_by, "budget");
  EXPECT_GE(s.seconds.size(), 1u);
  EXPECT_LE(s.seconds.size(), 25u);
}

// What takes longer than the budget has one batch all the same.
TEST_F(measure, long_work_is_measured) {
  sampling rules;
  rules.budget_seconds = 0.001;
  const sample_set s = sample(
      *cpu_, [] { wait(std::chrono::microseconds(5000)); }, rules);
  EXPECT_EQ(s.stopped_by, "budget");
  EXPECT_GE(s.seconds.size(), 1u);
}

TEST_F(measure, short_warm_runs_are_timed_several_at_once) {
  sampling rules;
  rules.max_samples = 21;
  rules.cache = cache_mode::warm;
  int runs = 0;
  const sample_set s = sample(
      *cpu_,
      [&] {
        ++runs;
        wait(std::chrono::microseconds(5));
      },
      rules);
  EXPECT_GT(s.runs_per_sample, 2);
  EXPECT_LE(s.runs_per_sample, 10);
  EXPECT_EQ(runs, rules.warm_up + s.runs_per_sample * int(s.seconds.size()));
  EXPECT_GE(median(s.seconds), 5e-6);
  EXPECT_LT(median(s.seconds), 10e-6);

  rules.cache = cache_mode::cold;
  EXPECT_EQ(sample(
                *cpu_, [] { wait(std::chrono::microseconds(5)); }, rules)
                .runs_per_sample,
            1);
}

TEST_F(measure, meanwhile_is_called_in_each_batch) {
  sampling rules;
  rules.cache = cache_mode::warm;
  rules.precision = 0;
  rules.max_samples = 30;
  rules.budget_seconds = 30;
  int calls = 0;
  sampler s(
      *cpu_, [] {}, rules, [&] { ++calls; });
  int steps = 0;
  for (; !s.done(); ++steps) { s.step(); }
  EXPECT_EQ(calls, steps - 1);  // the first step warms up
  EXPECT_EQ(s.result().seconds.size(), 30u);
}

TEST_F(measure, a_sampler_begins_anew_with_what_is_left_of_the_budget) {
  sampling rules;
  rules.cache = cache_mode::warm;
  rules.budget_seconds = 0.02;
  rules.min_samples = rules.max_samples = 1000000;
  sampler s(
      *cpu_, [] { wait(std::chrono::microseconds(1000)); }, rules);
  while (!s.done()) { s.step(); }
  EXPECT_FALSE(s.stopped_by_precision());
  const double spent = s.spent();
  s.restart();
  EXPECT_FALSE(s.done());
  EXPECT_TRUE(s.result().seconds.empty());
  while (!s.done()) { s.step(); }
  EXPECT_GT(s.spent(), spent);
  EXPECT_LE(s.result().seconds.size(), 3u);  // one batch
}

TEST_F(measure, user_stops_a_sampler) {
  sampler s(*cpu_, [] {}, {});
  s.step();
  s.step();
  s.stop();
  EXPECT_TRUE(s.done());
  EXPECT_EQ(s.result().stopped_by, "user");
}

// What fits the cache is read faster when it is there, and eviction is what makes the difference.
TEST(cache, cold_differs_from_warm) {
  for (const auto& device : devices()) {
    // Of a shared cache others may hold a part; a core's own is small.
    const std::size_t bytes =
        device->backend() == "cpu" ? 1 << 18 : device->facts().cache_bytes / 8;
    const gpu::buffer from(*device, bytes), to(*device, bytes);
    device->fill(from.data(), 1, bytes);
    double sum = 0;
    const auto work = [&] {
      if (device->backend() ==
          "cpu") {  // one thread, since waking others takes longer; a value a line
        const auto* data = static_cast<const double*>(from.data());
        for (std::size_t n = 0; n < bytes / sizeof(double); n += 8) { sum += data[n]; }
      } else {
        device->copy(to.data(), from.data(), bytes);
      }
    };
    const auto time = [&](cache_mode mode) {
      sampling rules;
      rules.cache = mode;
      rules.min_samples = 51;
      return median(sample(*device, work, rules).seconds);
    };
    double ratio = 0;
    for (int n = 0; n < 3 && ratio < 1.1; ++n) {  // other programs may have the cache for a while
      ratio = time(cache_mode::cold) / time(cache_mode::warm);
    }
    RecordProperty(std::string(device->backend()) + "_ratio", std::to_string(ratio));
    EXPECT_GT(ratio, 1.1) << device->backend() << ", " << bytes << " bytes, " << sum;
  }
}

TEST(cache, an_empty_interval_is_short) {
  for (const auto& device : devices()) {
    const double seconds = empty_interval(*device);
    EXPECT_GE(seconds, 0) << device->backend();
    EXPECT_LT(seconds, 100e-6) << device->backend();
  }
}

}  // namespace
}  // namespace icobench
