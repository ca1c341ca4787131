// What is made of samples, and what happens where there is no library.
#include "src/measure/machine_state.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace icobench {
namespace {

using json = nlohmann::ordered_json;

machine_sample at_clock(double mhz) {
  machine_sample s;
  s.clock_mhz = mhz;
  return s;
}

machine_sample with_reasons(std::vector<clock_reason> reasons) {
  machine_sample s;
  s.throttle_reasons = std::move(reasons);
  return s;
}

machine_record record_of(const std::vector<machine_sample>& samples) {
  machine_record r;
  for (const machine_sample& s : samples) { r.add(s); }
  return r;
}

TEST(MachineRecord, WhatIsUnknownIsNull) {
  EXPECT_EQ(machine_record().to_json(), nullptr);
  EXPECT_FALSE(machine_record().throttled() || machine_record().unstable());
  const json j = record_of({{}}).to_json();
  EXPECT_EQ(j.size(), 7u);
  for (const auto& [name, value] : j.items()) { EXPECT_TRUE(value.is_null()) << name; }
}

TEST(MachineRecord, GivesLeastMedianAndMost) {
  machine_record r;
  for (const double x : {3., 1., 2., 10.}) {
    machine_sample s;
    s.clock_mhz = 1000 + x;
    s.memory_clock_mhz = 2000 + x;
    s.temperature_c = 50 + x;
    s.power_w = 100 * x;
    r.add(s);
  }
  r.add({});  // a sample may know nothing
  const json j = r.to_json();
  EXPECT_EQ(j["clock_mhz"], json({1001, 1002.5, 1010}));
  EXPECT_EQ(j["memory_clock_mhz"], json({2001, 2002.5, 2010}));
  EXPECT_EQ(j["temperature_c"], json({51, 52.5, 60}));
  EXPECT_EQ(j["power_w"], json({100, 250, 1000}));
  EXPECT_EQ(j["throttle_reasons"], nullptr);
  EXPECT_EQ(j["joules_per_run"], nullptr);
  r.joules_per_run = 0.25;
  EXPECT_EQ(r.to_json()["joules_per_run"], 0.25);
}

TEST(MachineRecord, OnlyReasonsThatSlowAreThrottling) {
  const clock_reason idle{"gpu_idle", false}, cap{"sw_power_cap", true};
  EXPECT_FALSE(record_of({with_reasons({})}).throttled());
  EXPECT_FALSE(record_of({with_reasons({idle})}).throttled());
  const machine_record r = record_of({with_reasons({idle}), with_reasons({cap, idle}), {}});
  EXPECT_TRUE(r.throttled());
  EXPECT_EQ(r.to_json()["throttle_reasons"], json({"gpu_idle", "sw_power_cap"}));
  EXPECT_EQ(record_of({with_reasons({})}).to_json()["throttle_reasons"], json::array());
}

// 1965 of 1980 MHz is no news, the memory's clock is, and a sample among many is none.
TEST(MachineRecord, OnlyWhatTimesTellIsThrottling) {
  const auto capped = [](double mhz, double memory_mhz) {
    machine_sample s = with_reasons({{"sw_power_cap", true}});
    s.clock_mhz = mhz;
    s.memory_clock_mhz = memory_mhz;
    return s;
  };
  const auto judged = [](const std::vector<machine_sample>& samples) {
    machine_record r = record_of(samples);
    r.judge_by(1980e6, 3201e6);
    return r;
  };
  EXPECT_FALSE(judged({capped(1965, 3201)}).throttled());
  EXPECT_EQ(judged({capped(1965, 3201)}).to_json()["slowed"], nullptr);
  EXPECT_TRUE(judged({capped(1755, 3201)}).throttled());
  EXPECT_TRUE(judged({capped(1980, 2619)}).throttled());
  machine_sample free = at_clock(990);  // no reason that slows: somebody locked the clocks
  free.throttle_reasons.emplace();
  EXPECT_FALSE(judged({free}).throttled());
  std::vector<machine_sample> many(19, capped(1980, 3201));
  many.push_back(capped(990, 3201));
  EXPECT_FALSE(judged(many).throttled());
  EXPECT_FALSE(judged(many).unstable());
  many.push_back(capped(1188, 1600.5));
  many.push_back(capped(1188, 1600.5));
  machine_record r = judged(many);
  EXPECT_TRUE(r.throttled());
  EXPECT_TRUE(r.unstable());
  EXPECT_DOUBLE_EQ(r.to_json()["slowed"]["share"], 3. / 22);
  EXPECT_DOUBLE_EQ(r.to_json()["slowed"]["clock"], 0.5);
  EXPECT_DOUBLE_EQ(r.to_json()["slowed"]["memory_clock"], 0.5);
  r.forget();
  EXPECT_EQ(r.to_json(), nullptr);
  r.add(capped(1965, 3201));  // the highest clocks are still known
  EXPECT_FALSE(r.throttled());
}

TEST(MachineRecord, ClocksThatMoveAreUnstable) {
  EXPECT_FALSE(record_of({at_clock(1980)}).unstable());
  EXPECT_FALSE(record_of({at_clock(1980), at_clock(1980), at_clock(1900)}).unstable());
  EXPECT_TRUE(record_of({at_clock(1980), at_clock(1980), at_clock(1850)}).unstable());
}

TEST(MachineMonitor, OtherBackendsHaveNone) {
  std::string description;
  EXPECT_EQ(machine_monitor::open("cpu", "", description), nullptr);
  EXPECT_EQ(description, "none for backend cpu");
}

// Where the library is, it has no such device.
TEST(MachineMonitor, SaysWhyThereIsNone) {
  for (const auto& [backend, name, words] :
       {std::tuple{"cuda", "libnvidia-ml.so.1", "no NVML"},
        std::tuple{"hip", "librocm_smi64.so", "no ROCm SMI"}}) {
    std::string description;
    EXPECT_EQ(machine_monitor::open(backend, "ffff:ff:1f.7", description), nullptr);
    EXPECT_TRUE(description.starts_with(words)) << description;
    if (void* library = dlopen(name, RTLD_LAZY)) {
      dlclose(library);
    } else if (std::string_view(backend) == "cuda") {
      EXPECT_NE(description.find(name), description.npos) << description;
    }
  }
}

}  // namespace
}  // namespace icobench
