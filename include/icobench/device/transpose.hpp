// Transposes of matrices in device memory, and the conversion of fields between the two layouts,
// which is one.
#pragma once

#include <algorithm>
#include <cstddef>

#include <icobench/field.hpp>
#include <icobench/gpu/device.hpp>
#include <icobench/gpu/dim3.hpp>
#include <icobench/gpu/qualifiers.hpp>
#include <icobench/launch.hpp>

namespace icobench {

// to[c * to_pitch + r] = from[r * from_pitch + c] for all rows r and columns c, of several matrices
// that are so many elements apart.
struct transposition {
  std::size_t rows = 0, columns = 0;
  std::size_t from_pitch = 0, to_pitch = 0;
  unsigned matrices = 1;  // at most 65535
  std::size_t from_distance = 0, to_distance = 0;
};

// copy: no transpose, to the pitch of `from`, as a measure. naive: a warp reads a row and writes a
// column. tile: through a square tile of shared memory. padded: whose rows are one longer, so that
// a column is in different banks. column: a tile holds the whole of the shorter side, up to 128,
// so that memory is read and written in long runs.
enum class transpose_method { copy, naive, tile, padded, column };

namespace detail {

constexpr unsigned transpose_threads_x = 32, transpose_threads_y = max_block_threads / 32;
constexpr std::size_t most_blocks_y = 65535;

// Copies or writes columns without shared memory.
template <class T, bool transposed>
struct direct_transpose {
  const T* from;
  T* to;
  transposition m;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    const T* const in = from + t.z() * m.from_distance;
    T* const out = to + t.z() * m.to_distance;
    const std::size_t c = t.x();
    if (c >= m.columns) { return; }
    for (std::size_t r = t.y(); r < m.rows; r += t.extent_y()) {
      out[transposed ? c * m.to_pitch + r : r * m.from_pitch + c] = in[r * m.from_pitch + c];
    }
  }
};

// One tile after another: rows of `columns` elements are read, then columns written as rows. A row
// of the tile is `pitch` long. With an odd pitch the elements of a column are in different banks.
// Blocks have the shape x by y.
template <class T, unsigned x, unsigned y>
struct tiled_transpose {
  const T* from;
  T* to;
  transposition m;
  unsigned rows, columns, pitch;  // of the tile

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    T* const tile = t.template shared<T>();
    const std::size_t c0 = std::size_t(t.block().x) * columns;
    const unsigned across = unsigned(c0 + columns < m.columns ? columns : m.columns - c0);
    const T* const in = from + t.z() * m.from_distance + c0;
    T* const out = to + t.z() * m.to_distance + c0 * m.to_pitch;
    const unsigned tx = t.thread().x, ty = t.thread().y;
    for (std::size_t r0 = std::size_t(t.block().y) * rows; r0 < m.rows;
         r0 += std::size_t(t.grid_dim().y) * rows) {
      const unsigned down = unsigned(r0 + rows < m.rows ? rows : m.rows - r0);
      // Four loads in flight.
      for (unsigned r = ty; r < down; r += 4 * y) {
        for (unsigned c = tx; c < across; c += x) {
          T values[4];
          ICOBENCH_UNROLL_ALL
          for (unsigned n = 0; n < 4; ++n) {
            if (r + n * y < down) { values[n] = in[(r0 + r + n * y) * m.from_pitch + c]; }
          }
          ICOBENCH_UNROLL_ALL
          for (unsigned n = 0; n < 4; ++n) {
            if (r + n * y < down) { tile[(r + n * y) * pitch + c] = values[n]; }
          }
        }
      }
      t.sync();
      for (unsigned c = ty; c < across; c += y) {
        for (unsigned r = tx; r < down; r += x) {
          out[c * m.to_pitch + (r0 + r)] = tile[r * pitch + c];
        }
      }
      t.sync();
    }
  }
};

}  // namespace detail

// Enqueues a transpose. `tile`: the side of square tiles, 16 or 32.
template <class Backend, class T>
void transpose(gpu::device& device, const T* from, T* to, const transposition& m,
               transpose_method how = transpose_method::column, unsigned tile = 32) {
  using namespace detail;
  if (m.rows == 0 || m.columns == 0 || m.matrices == 0) { return; }
  const auto start = [&](std::size_t columns, std::size_t rows, gpu::extent3 block,
                         std::size_t shared, const auto& kernel) {
    const std::size_t across = (m.columns + columns - 1) / columns;
    const std::size_t down = std::min((m.rows + rows - 1) / rows, most_blocks_y);
    Backend::template launch<compiled_for<>>(device, {unsigned(across), unsigned(down), m.matrices},
                                             block, shared, kernel);
  };
  const auto start_tiled = [&]<unsigned x>(unsigned rows, unsigned columns, unsigned pitch) {
    constexpr unsigned y = max_block_threads / x;
    start(columns, rows, {x, y, 1}, std::size_t(rows) * pitch * sizeof(T),
          tiled_transpose<T, x, y>{from, to, m, rows, columns, pitch});
  };
  constexpr gpu::extent3 warps{transpose_threads_x, transpose_threads_y, 1};
  switch (how) {
    case transpose_method::copy:
      return start(warps.x, warps.y, warps, 0, direct_transpose<T, false>{from, to, m});
    case transpose_method::naive:
      return start(warps.x, warps.y, warps, 0, direct_transpose<T, true>{from, to, m});
    case transpose_method::tile:
    case transpose_method::padded: {
      const unsigned pitch = how == transpose_method::tile ? tile : tile + 1;
      return tile == 16 ? start_tiled.template operator()<16>(tile, tile, pitch)
                        : start_tiled.template operator()<32>(tile, tile, pitch);
    }
    case transpose_method::column:
      break;
  }
  // The longer side in runs of 256 bytes; two long ones in runs of 64 elements.
  constexpr std::size_t whole = 128;
  constexpr unsigned run = 256 / sizeof(T), square = 64;
  unsigned rows = square, columns = square;
  if (m.rows <= whole && m.rows <= m.columns) {
    rows = unsigned(m.rows);
    columns = run;
  } else if (m.columns <= whole) {
    rows = run;
    columns = unsigned(m.columns);
  }
  start_tiled.template operator()<32>(rows, columns, columns | 1);
}

// Enqueues the conversion of a field of so many entities, slots and levels to the other layout. A
// field without levels has 1 here.
template <class Backend, class T>
void convert(gpu::device& device, const view<const T, layout::ifirst>& from,
             const view<T, layout::kfirst>& to, index_t entities, index_t slots, index_t levels) {
  const auto n = [](index_t i) { return std::size_t(i); };
  if (levels == 1) {
    transpose<Backend>(device, from.data, to.data,
                       {n(slots), n(entities), n(from.slot_stride), n(to.stride)});
  } else {
    transpose<Backend>(device, from.data, to.data,
                       {n(levels), n(entities), n(from.stride), n(to.stride), unsigned(slots),
                        n(from.slot_stride), n(to.slot_stride)});
  }
}
template <class Backend, class T>
void convert(gpu::device& device, const view<const T, layout::kfirst>& from,
             const view<T, layout::ifirst>& to, index_t entities, index_t slots, index_t levels) {
  const auto n = [](index_t i) { return std::size_t(i); };
  if (levels == 1) {
    transpose<Backend>(device, from.data, to.data,
                       {n(entities), n(slots), n(from.stride), n(to.slot_stride)});
  } else {
    transpose<Backend>(device, from.data, to.data,
                       {n(entities), n(levels), n(from.stride), n(to.stride), unsigned(slots),
                        n(from.slot_stride), n(to.slot_stride)});
  }
}

}  // namespace icobench
