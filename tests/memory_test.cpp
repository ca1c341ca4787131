// What a job may use: limits of the machine, of control groups and of the process.
#include "src/support/memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "src/problem/memory.hpp"
#include "tests/scratch_folder.hpp"

namespace icobench {
namespace {

namespace fs = std::filesystem;

class memory : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    const fs::path path = root() + "/" + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void SetUp() override {
    write("proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable:  8000 kB\n");
  }
  std::string root() const { return folder_.path().string(); }

 private:
  test::scratch_folder folder_;
};

TEST_F(memory, what_the_machine_has) {
  EXPECT_EQ(available_memory(root()), 8000u * 1024);
  EXPECT_GT(available_memory(), 0u);
}

TEST_F(memory, groups_of_version_2_limit_each_below_them) {
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/memory.max", "1000000\n");
  write("sys/fs/cgroup/job/memory.current", "700000\n");
  write("sys/fs/cgroup/job/memory.stat", "anon 1\ninactive_file 200000\n");
  write("sys/fs/cgroup/job/step/memory.max", "max\n");
  write("sys/fs/cgroup/job/step/memory.current", "600000\n");
  EXPECT_EQ(available_memory(root()), 500000u);
}

TEST_F(memory, groups_of_version_1_too) {
  write("proc/self/cgroup", "5:cpu:/x\n4:memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "400000\n");  // of a container
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", "500000\n");
  write("sys/fs/cgroup/memory/memory.stat", "cache 9\ntotal_inactive_file 300000\n");
  EXPECT_EQ(available_memory(root()), 200000u);
}

TEST(memory_need, follows_the_problem) {
  const chain& c = *find_chain("nabla4");
  const extents_of_grid g = extents_of("torus:4000x4000").value();
  EXPECT_DOUBLE_EQ(g.edges, 48e6);
  EXPECT_DOUBLE_EQ(extents_of("sphere:R2B4").value().cells, 20480);
  EXPECT_FALSE(extents_of("file.nc"));
  const memory_need need = need_of(g, c, 80, precision::float64);
  EXPECT_GT(need.device, 8 * 80 * 48e6 * 2);  // the result, and as expected
  EXPECT_NEAR(need_of(g, c, 160, precision::float64).device / need.device, 2, 0.1);
  EXPECT_LT(need_of(g, c, 80, precision::float32).device, need.device);
}

}  // namespace
}  // namespace icobench
