// All headers that a host compiler takes, in two sources of one program: they link, and both mean
// the same by them.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/headers_support.hpp"

namespace icobench::test {
namespace {

TEST(headers, two_sources_agree) {
  const seen first = look(), second = from_second_source();
  EXPECT_EQ(first.addresses, second.addresses);
  EXPECT_EQ(first.on_cpu, second.on_cpu);
  EXPECT_EQ(first.on_simt, second.on_simt);
}

TEST(headers, loops_and_kernel_agree) {
  const seen s = look();
  EXPECT_EQ(s.on_cpu, s.on_simt);
  // Edge 0 (north) of vertex (1, 1) = 9, between vertices 9 and 17, tips 16 and 10, at level 1:
  // u = v = vertex + 1/4, z and coefficients 1, so 4 ((2 (16 + 10 + 1/2) - 2) + (2 (9 + 17 + 1/2)
  // - 2)).
  EXPECT_EQ(s.on_cpu[9 * levels + 1], 4 * (51.0 + 51.0));
  const auto computed = std::count_if(s.on_cpu.begin(), s.on_cpu.end(), [](double v) { return v; });
  EXPECT_EQ(computed, 3 * inside.ni * inside.nj * levels);
}

}  // namespace
}  // namespace icobench::test
