// Reading devices, from libraries of ours that this program finds before the vendors'.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "src/measure/machine_state.hpp"

namespace icobench {
namespace {

const std::string nvidia_device = "0000:65:00.0", amd_device = "0001:c1:0f.1";

// Chooses how a fake behaves while it lives.
class behaviour {
 public:
  behaviour(const char* variable, const char* mode) : variable_(variable) {
    setenv(variable, mode, 1);
  }
  ~behaviour() { unsetenv(variable_); }

 private:
  const char* variable_;
};

std::vector<std::string> names(const machine_sample& s) {
  std::vector<std::string> result;
  for (const clock_reason& r : s.throttle_reasons.value()) { result.push_back(r.name); }
  return result;
}

// A fake stays loaded here, so that it can tell how many times it is in use.
class fake {
 public:
  fake(const char* file, const char* started)
      : handle_(dlopen(file, RTLD_NOW)),
        started_(handle_ ? reinterpret_cast<int (*)()>(dlsym(handle_, started)) : nullptr) {}
  bool found() const { return started_ != nullptr; }
  int in_use() const { return started_(); }

 private:
  void* handle_;
  int (*started_)();
};

class Nvml : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(library.found()) << "another libnvidia-ml.so.1 came first"; }
  void TearDown() override { EXPECT_EQ(library.in_use(), 0); }

  fake library{"libnvidia-ml.so.1", "fake_nvml_started"};
  std::string description;
};

TEST_F(Nvml, ReadsAll) {
  const auto monitor = machine_monitor::open("cuda", nvidia_device, description);
  EXPECT_EQ(description, "NVML 13.580.65");
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(library.in_use(), 1);
  const machine_sample s = monitor->read();
  EXPECT_EQ(s.clock_mhz, 1755);
  EXPECT_EQ(s.memory_clock_mhz, 3201);
  EXPECT_EQ(s.temperature_c, 61);
  EXPECT_DOUBLE_EQ(s.power_w.value(), 512.5);
  EXPECT_DOUBLE_EQ(monitor->read().joules.value() - s.joules.value(), 1.5);
  EXPECT_EQ(s.throttle_reasons,
            (std::vector<clock_reason>{{"gpu_idle", false}, {"sw_power_cap", true}}));
  EXPECT_EQ(monitor->lock_clocks_hint(), "sudo nvidia-smi -i 3 --lock-gpu-clocks=1980,1980");
}

TEST_F(Nvml, AsksByTheOlderName) {
  const behaviour older("FAKE_NVML", "older");
  const auto monitor = machine_monitor::open("cuda", nvidia_device, description);
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(names(monitor->read()), std::vector<std::string>{"hw_thermal_slowdown"});
}

TEST_F(Nvml, WhatIsDeniedIsAbsent) {
  const behaviour denied("FAKE_NVML", "denied");
  const auto monitor = machine_monitor::open("cuda", nvidia_device, description);
  ASSERT_NE(monitor, nullptr);
  const machine_sample s = monitor->read();
  EXPECT_EQ(s.clock_mhz, 1755);
  EXPECT_FALSE(s.temperature_c || s.power_w || s.joules || s.throttle_reasons);
  EXPECT_EQ(monitor->lock_clocks_hint(), "sudo nvidia-smi -i N --lock-gpu-clocks=MHZ,MHZ");
}

TEST_F(Nvml, SaysWhyThereIsNone) {
  EXPECT_EQ(machine_monitor::open("cuda", "0000:66:00.0", description), nullptr);
  EXPECT_EQ(description, "no NVML for device 0000:66:00.0: Not Found");
  const behaviour no_driver("FAKE_NVML", "no_driver");
  EXPECT_EQ(machine_monitor::open("cuda", nvidia_device, description), nullptr);
  EXPECT_EQ(description, "no NVML: nvmlInit_v2: Driver Not Loaded");
}

class RocmSmi : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(library.found()) << "another librocm_smi64.so.7 came first"; }
  void TearDown() override { EXPECT_EQ(library.in_use(), 0); }

  fake library{"librocm_smi64.so.7", "fake_rocm_smi_started"};
  std::string description;
};

TEST_F(RocmSmi, ReadsAll) {
  const auto monitor = machine_monitor::open("hip", amd_device, description);
  EXPECT_EQ(description, "ROCm SMI 7.6.0");
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(library.in_use(), 1);
  const machine_sample s = monitor->read();
  EXPECT_DOUBLE_EQ(s.clock_mhz.value(), 2100);
  EXPECT_DOUBLE_EQ(s.memory_clock_mhz.value(), 1300);
  EXPECT_DOUBLE_EQ(s.temperature_c.value(), 71);
  EXPECT_DOUBLE_EQ(s.power_w.value(), 550);
  EXPECT_DOUBLE_EQ(s.joules.value(), 61);
  EXPECT_EQ(s.throttle_reasons,
            (std::vector<clock_reason>{{"power_limit", true}, {"temperature_limit", true}}));
  EXPECT_EQ(monitor->lock_clocks_hint(), "sudo rocm-smi -d 1 --setperfdeterminism 2100");
}

TEST_F(RocmSmi, ReadsWhatRocm5Has) {
  const behaviour older("FAKE_ROCM_SMI", "5");
  const auto monitor = machine_monitor::open("hip", amd_device, description);
  ASSERT_NE(monitor, nullptr);
  const machine_sample s = monitor->read();
  EXPECT_DOUBLE_EQ(s.clock_mhz.value(), 800);
  EXPECT_DOUBLE_EQ(s.temperature_c.value(), 55);
  EXPECT_DOUBLE_EQ(s.power_w.value(), 300);
  EXPECT_FALSE(s.throttle_reasons);
  EXPECT_EQ(monitor->lock_clocks_hint(), "sudo rocm-smi -d 1 --setperfdeterminism 1700");
}

TEST_F(RocmSmi, WhatIsDeniedIsAbsent) {
  const behaviour denied("FAKE_ROCM_SMI", "denied");
  const auto monitor = machine_monitor::open("hip", amd_device, description);
  ASSERT_NE(monitor, nullptr);
  const machine_sample s = monitor->read();
  EXPECT_FALSE(s.clock_mhz || s.memory_clock_mhz || s.temperature_c || s.power_w || s.joules ||
               s.throttle_reasons);
  EXPECT_EQ(monitor->lock_clocks_hint(), "sudo rocm-smi -d 1 --setperfdeterminism MHZ");
}

TEST_F(RocmSmi, SaysWhyThereIsNone) {
  for (const char* id : {"0001:c1:0e.1", "0000:c1:0f.1", "nonsense", ""}) {
    EXPECT_EQ(machine_monitor::open("hip", id, description), nullptr);
    EXPECT_EQ(description, "no ROCm SMI for device " + std::string(id) + ": not among its devices");
  }
  const behaviour no_init("FAKE_ROCM_SMI", "no_init");
  EXPECT_EQ(machine_monitor::open("hip", amd_device, description), nullptr);
  EXPECT_EQ(description, "no ROCm SMI: rsmi_init: an error occurred when initializing");
}

}  // namespace
}  // namespace icobench
