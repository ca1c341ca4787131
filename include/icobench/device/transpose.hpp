// Transposes of matrices in device memory, and the conversion of fields between the two layouts,
// which is one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

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

// Through a square tile, one after another. A row of the tile is `pitch` long: with an odd pitch
// the elements of a column are in different banks.
template <class T, unsigned side, unsigned pitch>
struct tiled_transpose {
  static constexpr unsigned y = max_block_threads / side;  // threads; side along x
  const T* from;
  T* to;
  transposition m;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    T* const tile = t.template shared<T>();
    const T* const in = from + t.z() * m.from_distance;
    T* const out = to + t.z() * m.to_distance;
    const std::size_t c0 = std::size_t(t.block().x) * side;
    const unsigned tx = t.thread().x, ty = t.thread().y;
    for (std::size_t r0 = std::size_t(t.block().y) * side; r0 < m.rows;
         r0 += std::size_t(t.grid_dim().y) * side) {
      ICOBENCH_UNROLL_ALL
      for (unsigned n = ty; n < side; n += y) {
        if (r0 + n < m.rows && c0 + tx < m.columns) {
          tile[n * pitch + tx] = in[(r0 + n) * m.from_pitch + c0 + tx];
        }
      }
      t.sync();
      ICOBENCH_UNROLL_ALL
      for (unsigned n = ty; n < side; n += y) {
        if (r0 + tx < m.rows && c0 + n < m.columns) {
          out[(c0 + n) * m.to_pitch + r0 + tx] = tile[tx * pitch + n];
        }
      }
      t.sync();
    }
  }
};

// A thread's way through rows of `width` elements that are `pitch` apart, by as many elements as
// the block has threads. It divides once.
template <class Offset>
class row_walk {
 public:
  ICOBENCH_FUNCTION row_walk(unsigned rank, unsigned width, Offset pitch)
      : width_(width),
        minor_(rank % width),
        minor_step_(max_block_threads % width),
        offset_(rank / width * pitch + minor_),
        step_(max_block_threads / width * pitch + minor_step_),
        wrap_(pitch - width) {}
  ICOBENCH_FUNCTION Offset offset() const { return offset_; }
  ICOBENCH_FUNCTION void next() {
    minor_ += minor_step_;
    offset_ += step_;
    if (minor_ >= width_) {
      minor_ -= width_;
      offset_ += wrap_;
    }
  }

 private:
  unsigned width_, minor_, minor_step_;
  Offset offset_, step_, wrap_;
};

// Tiles of any shape: threads go through the elements in the order of memory, whatever the length
// of a row, and have many loads in flight.
template <class T>
struct column_transpose {
  static constexpr unsigned loads = 16;
  const T* from;
  T* to;
  transposition m;
  unsigned rows, columns, pitch;  // of the tile; pitch as above

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    T* const tile = t.template shared<T>();
    const std::size_t c0 = std::size_t(t.block().x) * columns;
    const unsigned across = unsigned(c0 + columns < m.columns ? columns : m.columns - c0);
    const T* const in = from + t.z() * m.from_distance + c0;
    T* const out = to + t.z() * m.to_distance + c0 * m.to_pitch;
    const unsigned rank = t.thread().x;
    for (std::size_t r0 = std::size_t(t.block().y) * rows; r0 < m.rows;
         r0 += std::size_t(t.grid_dim().y) * rows) {
      const unsigned down = unsigned(r0 + rows < m.rows ? rows : m.rows - r0);
      const unsigned count = down * across;
      row_walk<std::size_t> source(rank, across, m.from_pitch);
      row_walk<unsigned> stored(rank, across, pitch);
      for (unsigned e = rank; e < count; e += loads * max_block_threads) {
        T values[loads];
        ICOBENCH_UNROLL_ALL
        for (unsigned n = 0; n < loads; ++n) {
          if (e + n * max_block_threads < count) {
            values[n] = in[r0 * m.from_pitch + source.offset()];
          }
          source.next();
        }
        ICOBENCH_UNROLL_ALL
        for (unsigned n = 0; n < loads; ++n) {
          if (e + n * max_block_threads < count) { tile[stored.offset()] = values[n]; }
          stored.next();
        }
      }
      t.sync();
      // Element (c, r) of the result is tile[r][c]: walks along r, and its place in the tile with
      // it.
      row_walk<std::size_t> target(rank, down, m.to_pitch);
      unsigned c = rank / down, r = rank % down;
      const unsigned c_step = max_block_threads / down, r_step = max_block_threads % down;
      for (unsigned e = rank; e < count; e += max_block_threads) {
        out[r0 + target.offset()] = tile[r * pitch + c];
        target.next();
        c += c_step;
        r += r_step;
        if (r >= down) {
          r -= down;
          ++c;
        }
      }
      t.sync();
    }
  }
};

}  // namespace detail

// Enqueues a transpose. `tile`: the side of square tiles, 16 or 32; of `column` the elements along
// the longer side, 0: chosen by the size of T.
template <class Backend, class T>
void transpose(gpu::device& device, const T* from, T* to, const transposition& m,
               transpose_method how = transpose_method::column, unsigned tile = 0) {
  using namespace detail;
  if (m.rows == 0 || m.columns == 0 || m.matrices == 0) { return; }
  const auto start = [&](std::size_t columns, std::size_t rows, gpu::extent3 block,
                         std::size_t shared, const auto& kernel) {
    const std::size_t across = (m.columns + columns - 1) / columns;
    const std::size_t down = std::min((m.rows + rows - 1) / rows, most_blocks_y);
    Backend::template launch<compiled_for<>>(device, {unsigned(across), unsigned(down), m.matrices},
                                             block, shared, kernel);
  };
  const auto start_tiled = [&]<unsigned side, unsigned pitch>() {
    using kernel = tiled_transpose<T, side, pitch>;
    start(side, side, {side, kernel::y, 1}, std::size_t(side) * pitch * sizeof(T),
          kernel{from, to, m});
  };
  constexpr gpu::extent3 warps{transpose_threads_x, transpose_threads_y, 1};
  switch (how) {
    case transpose_method::copy:
      return start(warps.x, warps.y, warps, 0, direct_transpose<T, false>{from, to, m});
    case transpose_method::naive:
      return start(warps.x, warps.y, warps, 0, direct_transpose<T, true>{from, to, m});
    case transpose_method::tile:
      return tile == 16 ? start_tiled.template operator()<16, 16>()
                        : start_tiled.template operator()<32, 32>();
    case transpose_method::padded:
      return tile == 16 ? start_tiled.template operator()<16, 17>()
                        : start_tiled.template operator()<32, 33>();
    case transpose_method::column:
      break;
  }
  // Shared memory that every block may have. A run is of 512 bytes, if as much fits.
  constexpr std::size_t most_bytes = 48 * 1024, whole = 128;
  unsigned run = tile > 0 ? tile : 512 / sizeof(T);
  const auto shape = [&](unsigned n) {
    if (m.rows <= whole && m.rows <= m.columns) { return std::pair{unsigned(m.rows), n}; }
    if (m.columns <= whole) { return std::pair{n, unsigned(m.columns)}; }
    return std::pair{n, n};
  };
  const auto fits = [&](unsigned n) {
    const auto [r, c] = shape(n);
    return std::size_t(r) * (c | 1) * sizeof(T) <= most_bytes;
  };
  while (!fits(run)) { run /= 2; }
  const auto [rows, columns] = shape(run);
  const unsigned pitch = columns | 1;
  start(columns, rows, {max_block_threads, 1, 1}, std::size_t(rows) * pitch * sizeof(T),
        column_transpose<T>{from, to, m, rows, columns, pitch});
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
