// Where the neighbours of a neighbour are among the distinct neighbours of neighbours of a point.
#pragma once

#include <cstdint>

#include <icobench/mesh/torus_offsets.hpp>
#include <icobench/types.hpp>

namespace icobench {

// Position n of the word n / 8 of packed positions 0 ... 15: eight in a word of 32 bits, the first
// in the lowest. They take an eighth of the loads that a word or byte for each would.
ICOBENCH_FUNCTION constexpr int unpack_position(index_t word, int n) {
  return int(std::uint32_t(word) >> (4 * (n % 8)) & 15u);
}

template <int count>
struct packed_positions {
  static constexpr int words = (count + 7) / 8;
  neighbours<index_t, words> packed;
  ICOBENCH_FUNCTION constexpr int operator[](int n) const {
    return unpack_position(packed[n / 8], n);
  }
};

// A table of positions, row after row. With a constant for the result, and its index known to the
// compiler, nothing is left of the table on the device.
template <int rows, int columns>
ICOBENCH_FUNCTION constexpr packed_positions<rows * columns> pack(
    const std::uint8_t (&table)[rows][columns]) {
  packed_positions<rows * columns> result{};
  for (int n = 0; n < rows * columns; ++n) {
    const std::uint32_t word = std::uint32_t(result.packed[n / 8]);
    const std::uint32_t position = table[n / columns][n % columns];
    result.packed[n / 8] = index_t(word | position << (4 * (n % 8)));
  }
  return result;
}

// On a torus: [v2e slot][diamond slot] in v2e2c2v.
ICOBENCH_FUNCTION inline packed_positions<24> torus_e_v2e2c2v() {
  constexpr packed_positions<24> positions = pack(torus::e_v2e2c2v);
  return positions;
}

}  // namespace icobench
