// Words of the domain that device and host code share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <icobench/gpu/qualifiers.hpp>

namespace icobench {

// Ids of vertices, edges, cells and levels, in tables too, and strides: 32 bits wide, or 64 where
// the whole program is built with ICOBENCH_INDEX_BITS=64. Offsets into fields are std::ptrdiff_t.
#if !defined(ICOBENCH_INDEX_BITS)
#define ICOBENCH_INDEX_BITS 32
#endif
static_assert(ICOBENCH_INDEX_BITS == 32 || ICOBENCH_INDEX_BITS == 64);
using index_t = std::conditional_t<ICOBENCH_INDEX_BITS == 64, std::int64_t, std::int32_t>;

// Neighbours computed; read from tables; or computed inside the patches of any grid, read at seams.
enum class access { strided, indirect, patched };
enum class ordering { per_vertex, per_orientation };  // edges of a torus: 3v + c, or c V + v
enum class layout { ifirst, kfirst };                 // entities or levels contiguous in memory
enum class precision { float64, float32 };
enum class location { vertex, edge, cell };  // where a field lives

// How a kernel reads neighbour tables: word by word, slot after slot; all slots of a point at once;
// or at once what the three edges of a vertex need. See mesh/rows.hpp.
enum class table_use { slots, rows, by_vertex };

// a / b rounded up, of numbers that are not negative; the next multiple of `unit`.
template <class Integer>
ICOBENCH_FUNCTION constexpr Integer ceil_div(Integer a, std::type_identity_t<Integer> b) {
  return (a + b - 1) / b;
}
template <class Integer>
ICOBENCH_FUNCTION constexpr Integer round_up(Integer a, std::type_identity_t<Integer> unit) {
  return ceil_div(a, unit) * unit;
}

// A few values that belong to the neighbours of one point: ids or operands, in slot order.
template <class T, int count>
struct neighbours {
  T values[count];
  ICOBENCH_FUNCTION constexpr const T& operator[](int slot) const { return values[slot]; }
  ICOBENCH_FUNCTION constexpr T& operator[](int slot) { return values[slot]; }
};

// Points a strided stencil computes: vertices (i, j) with i0 <= i < i0 + ni and j0 <= j < j0 + nj,
// and for kernels that take copies (see kernel_traits) the same again `distance` rows further.
struct rectangle {
  index_t i0 = 0, j0 = 0, ni = 0, nj = 0;
  index_t copies = 1, distance = 0;
  ICOBENCH_FUNCTION constexpr index_t extent_x() const { return ni; }
  ICOBENCH_FUNCTION constexpr index_t extent_y() const { return nj; }
};

// Points an indirect stencil computes: ids begin <= id < end.
struct range {
  index_t begin = 0, end = 0;
  ICOBENCH_FUNCTION constexpr index_t extent_x() const { return end - begin; }
  ICOBENCH_FUNCTION constexpr index_t extent_y() const { return 1; }
};

// Points an indirect stencil computes: those of a list.
struct id_list {
  const index_t* ids = nullptr;
  index_t count = 0;
  ICOBENCH_FUNCTION constexpr index_t extent_x() const { return count; }
  ICOBENCH_FUNCTION constexpr index_t extent_y() const { return 1; }
};

}  // namespace icobench
