// The choice of a device, and the ceilings as numbers.
#include "src/catalogue/device_facts.hpp"

#include <gtest/gtest.h>

#include <icobench/grids/grid.hpp>

#include "src/measure/ceilings.hpp"

namespace icobench {
namespace {

std::vector<gpu::device_facts> machine() {
  std::vector<gpu::device_facts> devices(3);
  for (int n = 0; n < 3; ++n) { devices[std::size_t(n)].index = n; }
  devices[0].name = "Example H200";
  devices[0].uuid = "GPU-12ab34cd-0000";
  devices[1].name = "Example H200";
  devices[1].uuid = "GPU-12ff0000-0000";
  devices[2].name = "Example A100";
  devices[2].uuid = "GPU-99000000-0000";
  return devices;
}

std::string complaint(const std::string& choice) {
  try {
    choose_among(machine(), choice);
  } catch (const input_error& error) { return error.what(); }
  return "";
}

TEST(facts, a_device_by_index_name_or_uuid) {
  EXPECT_EQ(choose_among(machine(), ""), 0);
  EXPECT_EQ(choose_among(machine(), "1"), 1);
  EXPECT_EQ(choose_among(machine(), "a100"), 2);
  EXPECT_EQ(choose_among(machine(), "GPU-12ff"), 1);
  EXPECT_EQ(choose_among(machine(), "12AB"), 0);
  EXPECT_EQ(choose_among(machine(), "GPU-99000000-0000"), 2);
}

// A part of a GPU (MIG), whatever the runtime calls it.
TEST(facts, a_part_of_a_device) {
  std::vector<gpu::device_facts> devices = machine();
  EXPECT_EQ(choose_among(devices, "MIG-12ff"), 1);
  devices[2].uuid = "MIG-99000000-0000";
  EXPECT_EQ(choose_among(devices, "MIG-99000000-0000"), 2);
  EXPECT_EQ(choose_among(devices, "GPU-9900"), 2);
}

TEST(facts, a_bad_choice_is_told_what_there_is) {
  EXPECT_NE(complaint("3").find("--device 3: no such device; there are: 0 Example H200 (GPU-12ab"),
            std::string::npos);
  EXPECT_NE(complaint("MI300").find("no such device"), std::string::npos);
  EXPECT_NE(complaint("H200").find("fits several devices"), std::string::npos);
  EXPECT_NE(complaint("GPU-12").find("2 Example A100 (GPU-99"), std::string::npos);
  EXPECT_NE(complaint("-1").find("no such device"), std::string::npos);
}

TEST(facts, text_has_what_is_known_only) {
  gpu::device_facts f = machine().front();
  f.l2_bytes = 60 << 20;
  f.peers = {1, 2};
  const std::string text = format_facts(f);
  for (const std::string word : {"0 Example H200 (GPU-12ab34cd-0000)", "61440 KiB", "1, 2"}) {
    EXPECT_NE(text.find(word), text.npos) << text;
  }
  EXPECT_EQ(text.find("memory clock"), text.npos) << text;
  EXPECT_EQ(to_json(f).at("peers"), nlohmann::ordered_json({1, 2}));
}

TEST(ceilings, bandwidth_of_a_mix) {
  ceilings c{.read = 4, .triad = 3, .copy = 2, .write = 1};
  EXPECT_DOUBLE_EQ(c.memory(0), 4);
  EXPECT_DOUBLE_EQ(c.memory(1.0 / 3), 3);
  EXPECT_DOUBLE_EQ(c.memory(0.5), 2);
  EXPECT_DOUBLE_EQ(c.memory(1), 1);
  EXPECT_DOUBLE_EQ(c.memory(0.75), 1 / (0.5 / 2 + 0.5 / 1));  // the time of a byte, between
  EXPECT_DOUBLE_EQ(ceilings{.copy = 5}.memory(0.2), 5);       // all that a CPU measures
}

TEST(ceilings, the_largest_floor_binds) {
  const ceilings c{.read = 100,
                   .triad = 100,
                   .copy = 100,
                   .write = 100,
                   .flops_double = 10,
                   .flops_float = 20,
                   .launch_seconds = 3};
  const floor_of_run memory = find_floor(c, 1000, 500, 40, precision::float64, 1);
  EXPECT_EQ(memory.binding(), "memory");
  EXPECT_DOUBLE_EQ(memory.seconds(), 10);
  EXPECT_DOUBLE_EQ(memory.arithmetic_seconds, 4);
  EXPECT_DOUBLE_EQ(memory.launch_seconds, 3);
  EXPECT_EQ(find_floor(c, 1000, 500, 400, precision::float64, 1).binding(), "arithmetic");
  EXPECT_DOUBLE_EQ(find_floor(c, 1000, 500, 400, precision::float32, 1).arithmetic_seconds, 20);
  EXPECT_EQ(find_floor(c, 1000, 500, 40, precision::float64, 4).binding(), "launches");
  EXPECT_DOUBLE_EQ(find_floor({}, 1000, 500, 40, precision::float64, 4).seconds(), 0);
}

}  // namespace
}  // namespace icobench
