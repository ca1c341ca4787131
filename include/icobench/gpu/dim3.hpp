// Sizes and positions of threads and blocks, the same type in host and device code of every
// backend.
#pragma once

#include <icobench/gpu/qualifiers.hpp>

namespace icobench::gpu {

// Size of a block (in threads) or of a grid (in blocks).
struct extent3 {
  unsigned x = 1, y = 1, z = 1;

  ICOBENCH_FUNCTION constexpr unsigned long long volume() const {
    return static_cast<unsigned long long>(x) * y * z;
  }
};

// Position of a thread in its block or of a block in its grid, from 0.
struct index3 {
  unsigned x = 0, y = 0, z = 0;
};

// Written out: not every device compiler takes an execution space on a defaulted comparison.
ICOBENCH_FUNCTION constexpr bool operator==(extent3 a, extent3 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

ICOBENCH_FUNCTION constexpr bool operator==(index3 a, index3 b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

// The position that comes at place `linear`, x fastest.
ICOBENCH_FUNCTION constexpr index3 position_of(unsigned long long linear, extent3 extent) {
  return {static_cast<unsigned>(linear % extent.x),
          static_cast<unsigned>(linear / extent.x % extent.y),
          static_cast<unsigned>(linear / extent.x / extent.y)};
}

}  // namespace icobench::gpu
