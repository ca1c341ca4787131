// Transposes of matrices in device memory, and the conversion of fields between the two layouts,
// which is one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <icobench/field.hpp>
#include <icobench/gpu/device.hpp>
#include <icobench/gpu/dim3.hpp>
#include <icobench/gpu/qualifiers.hpp>
#include <icobench/launch.hpp>
#include <icobench/types.hpp>

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
// so that memory is read and written in long runs. vector: like column, but by 16 bytes; where
// these are not aligned in both matrices it is column.
enum class transpose_method { copy, naive, tile, padded, column, vector };

namespace detail {

constexpr unsigned transpose_threads_x = 32, transpose_threads_y = max_block_threads / 32;
constexpr std::size_t most_blocks_y = 65535;
// Of the kernels that have many loads in flight four blocks have to fit a multiprocessor: while one
// loads, others store.
using compiled_for_transpose = compiled_for<4>;

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

// A thread's way through rows of `width` items, by as many as the block has threads.
struct item_walk {
  ICOBENCH_FUNCTION item_walk(unsigned rank, unsigned width_)
      : width(width_),
        row(rank / width_),
        column(rank % width_),
        row_step(max_block_threads / width_),
        column_step(max_block_threads % width_) {}
  ICOBENCH_FUNCTION void next() {
    row += row_step;
    column += column_step;
    if (column >= width) {
      column -= width;
      ++row;
    }
  }
  unsigned width, row, column, row_step, column_step;
};

// Tiles of any shape: threads go through the elements in the order of memory, whatever the length
// of a row, and have many loads in flight.
template <class T>
struct column_transpose {
  static constexpr unsigned loads = 10;  // 80 levels by 512 bytes take 20 doubles or 40 floats
  const T* from;
  T* to;
  transposition m;
  unsigned rows, columns, pitch;  // of the tile; pitch as above

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    T* const tile = t.template shared<T>();
    const std::size_t c0 = std::size_t(t.block().x) * columns;
    const unsigned across = unsigned(c0 + columns < m.columns ? columns : m.columns - c0);
    const unsigned rank = t.thread().x;
    for (std::size_t r0 = std::size_t(t.block().y) * rows; r0 < m.rows;
         r0 += std::size_t(t.grid_dim().y) * rows) {
      const unsigned down = unsigned(r0 + rows < m.rows ? rows : m.rows - r0);
      const unsigned count = down * across;
      const T* const in = from + t.z() * m.from_distance + r0 * m.from_pitch + c0;
      T* const out = to + t.z() * m.to_distance + c0 * m.to_pitch + r0;
      item_walk source(rank, across);
      ICOBENCH_NO_UNROLL
      for (unsigned e = 0; e < count; e += loads * max_block_threads) {
        T values[loads];
        item_walk stored = source;
        ICOBENCH_UNROLL_ALL
        for (unsigned n = 0; n < loads; ++n) {
          if (e + n * max_block_threads + rank < count) {
            values[n] = in[std::size_t(source.row) * unsigned(m.from_pitch) + source.column];
          }
          source.next();
        }
        t.sync_warp();  // else the compiler stores some, and waits, before it loads the others
        ICOBENCH_UNROLL_ALL
        for (unsigned n = 0; n < loads; ++n) {
          if (e + n * max_block_threads + rank < count) {
            tile[stored.row * pitch + stored.column] = values[n];
          }
          stored.next();
        }
      }
      t.sync();
      // Element (c, r) of the result is tile[r][c].
      item_walk target(rank, down);
      ICOBENCH_NO_UNROLL
      for (unsigned e = rank; e < count; e += max_block_threads) {
        out[std::size_t(target.row) * unsigned(m.to_pitch) + target.column] =
            tile[target.column * pitch + target.row];
        target.next();
      }
      t.sync();
    }
  }
};

// 16 bytes: what a thread moves at once.
template <class T>
struct alignas(16) packed {
  static constexpr unsigned size = 16 / sizeof(T);
  T values[size];
};

// Tiles as those of column_transpose. A thread reads squares of as many elements a side as a word
// has, turns them in registers, and puts them into a tile that is transposed already, from which
// whole words go to memory. Where word w of row c of that tile lies depends on c: eight squares
// beside each other go to different banks, and so do eight words of a row.
template <class T>
struct vector_transpose {
  static constexpr unsigned side = packed<T>::size;
  static constexpr unsigned banks = 8;  // of a word
  const T* from;
  T* to;
  transposition m;                // its matrices start at words, and so do all rows
  unsigned rows, columns, pitch;  // of the tile; the pitch in words

  // Words of a row of a tile with so many rows.
  static constexpr unsigned pitch_of(unsigned rows) {
    return round_up(ceil_div(rows, side), banks);
  }
  static constexpr std::size_t shared_bytes(unsigned rows, unsigned columns) {
    return std::size_t(round_up(columns, side)) * pitch_of(rows) * sizeof(packed<T>);
  }

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    const std::size_t c0 = std::size_t(t.block().x) * columns;
    const unsigned across = unsigned(c0 + columns < m.columns ? columns : m.columns - c0);
    for (std::size_t r0 = std::size_t(t.block().y) * rows; r0 < m.rows;
         r0 += std::size_t(t.grid_dim().y) * rows) {
      const unsigned down = unsigned(r0 + rows < m.rows ? rows : m.rows - r0);
      const T* const in = from + t.z() * m.from_distance + r0 * m.from_pitch + c0;
      T* const out = to + t.z() * m.to_distance + c0 * m.to_pitch + r0;
      if (down % side == 0 && across % side == 0) {
        move<true>(t, in, out, down, across);
      } else {
        move<false>(t, in, out, down, across);
      }
    }
  }

 private:
  // `whole`: no word is at an end of a matrix and belongs to it in part only.
  template <bool whole, class Thread>
  ICOBENCH_DEVICE void move(Thread& t, const T* in, T* out, unsigned down, unsigned across) const {
    constexpr unsigned squares = whole ? (side == 2 ? 3 : 2) : 1, words = whole ? 4 : 1;
    packed<T>* const tile = t.template shared<packed<T>>();
    const unsigned words_down = ceil_div(down, side), words_across = ceil_div(across, side);
    const unsigned from_row = unsigned(m.from_pitch) / side, to_row = unsigned(m.to_pitch) / side;

    item_walk source(t.thread().x, words_across);
    const unsigned all = words_down * words_across;
    ICOBENCH_NO_UNROLL
    for (unsigned e = t.thread().x; e < all; e += squares * max_block_threads) {
      packed<T> read[squares][side];
      item_walk stored = source;
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < squares; ++n) {
        if (e + n * max_block_threads < all) {
          ICOBENCH_UNROLL_ALL
          for (unsigned i = 0; i < side; ++i) {
            const unsigned r = source.row * side + i;
            read[n][i] = load<whole>(in, r * from_row + source.column,
                                     r < down ? across - source.column * side : 0);
          }
        }
        source.next();
      }
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < squares; ++n) {
        if (e + n * max_block_threads < all) {
          packed<T>* const to_tile =
              tile + stored.column * side * pitch + place(stored.row, stored.column);
          ICOBENCH_UNROLL_ALL
          for (unsigned i = 0; i < side; ++i) {
            packed<T> turned;
            ICOBENCH_UNROLL_ALL
            for (unsigned j = 0; j < side; ++j) { turned.values[j] = read[n][j].values[i]; }
            to_tile[i * pitch] = turned;
          }
        }
        stored.next();
      }
    }
    t.sync();
    item_walk target(t.thread().x, words_down);
    const unsigned every = across * words_down;
    ICOBENCH_NO_UNROLL
    for (unsigned e = t.thread().x; e < every; e += words * max_block_threads) {
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < words; ++n) {
        if (e + n * max_block_threads < every) {
          store<whole>(out, target.row * to_row + target.column,
                       tile[target.row * pitch + place(target.column, target.row / side)],
                       down - target.column * side);
        }
        target.next();
      }
    }
    t.sync();
  }

  // Of word w in the `group`-th group of rows.
  ICOBENCH_FUNCTION static unsigned place(unsigned w, unsigned group) { return w ^ group % banks; }

  // Word w from p on, of which `left` elements belong to the matrix.
  template <bool whole>
  ICOBENCH_DEVICE static packed<T> load(const T* p, unsigned w, unsigned left) {
    if constexpr (whole) {
      return reinterpret_cast<const packed<T>*>(p)[w];
    } else {
      packed<T> result{};
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < side; ++n) {
        if (n < left) { result.values[n] = p[std::size_t(w) * side + n]; }
      }
      return result;
    }
  }
  template <bool whole>
  ICOBENCH_DEVICE static void store(T* p, unsigned w, const packed<T>& value, unsigned left) {
    if constexpr (whole) {
      reinterpret_cast<packed<T>*>(p)[w] = value;
    } else {
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < side; ++n) {
        if (n < left) { p[std::size_t(w) * side + n] = value.values[n]; }
      }
    }
  }
};

// Whether it can do it. It counts words within a tile, of 256 rows at most, in 32 bits.
template <class T>
bool has_words(const T* from, const T* to, const transposition& m) {
  constexpr std::size_t size = packed<T>::size, most = size << 24;
  const auto aligned = [](const T* p) {
    return reinterpret_cast<std::uintptr_t>(p) % sizeof(packed<T>) == 0;
  };
  const bool distances =
      m.matrices == 1 || (m.from_distance % size == 0 && m.to_distance % size == 0);
  return aligned(from) && aligned(to) && distances && m.from_pitch % size == 0 &&
         m.to_pitch % size == 0 && m.from_pitch < most && m.to_pitch < most;
}

}  // namespace detail

// Enqueues a transpose. `tile`: the side of square tiles, 16 or 32; of `column` and `vector` the
// elements along the longer side, 0: chosen by the size of T.
template <class Backend, class T>
void transpose(gpu::device& device, const T* from, T* to, const transposition& m,
               transpose_method how = transpose_method::vector, unsigned tile = 0) {
  using namespace detail;
  if (m.rows == 0 || m.columns == 0 || m.matrices == 0) { return; }
  const auto grid_of = [&](std::size_t columns, std::size_t rows) -> gpu::extent3 {
    return {unsigned(ceil_div(m.columns, columns)),
            unsigned(std::min(ceil_div(m.rows, rows), most_blocks_y)), m.matrices};
  };
  const auto start = [&](std::size_t columns, std::size_t rows, gpu::extent3 block,
                         std::size_t shared, const auto& kernel) {
    gpu::launch<Backend, compiled_for<>>(device, grid_of(columns, rows), block, shared, kernel);
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
    default:
      break;
  }
  if (std::max(m.from_pitch, m.to_pitch) >> 32 > 0) {  // the others multiply them by 32 bits
    return start_tiled.template operator()<32, 33>();
  }
  const bool by_words = how == transpose_method::vector && has_words(from, to, m);
  // A run is of 512 bytes, if as much fits the shared memory that every block may have; one that is
  // asked for may need the half of what a multiprocessor has.
  constexpr std::size_t every = 48 * 1024, whole = 128;
  const std::size_t most =
      tile > 0 ? std::max(every, device.facts().shared_bytes_per_block / 2) : every;
  const auto shape = [&](unsigned n) {
    if (m.rows <= whole && m.rows <= m.columns) { return std::pair{unsigned(m.rows), n}; }
    if (m.columns <= whole) { return std::pair{n, unsigned(m.columns)}; }
    return std::pair{n, n};
  };
  const auto shared_bytes = [&](unsigned n) {
    const auto [r, c] = shape(n);
    return by_words ? vector_transpose<T>::shared_bytes(r, c)
                    : std::size_t(r) * (c | 1) * sizeof(T);
  };
  constexpr unsigned unit = packed<T>::size;
  unsigned run = round_up(std::min(tile > 0 ? tile : unsigned(512 / sizeof(T)), 256u), unit);
  while (shared_bytes(run) > most) { run = round_up(run / 2, unit); }
  const auto [rows, columns] = shape(run);
  const auto start_runs = [&, shared = shared_bytes(run)](const auto& kernel) {
    using kernel_type = std::remove_cvref_t<decltype(kernel)>;
    constexpr gpu::extent3 block{max_block_threads, 1, 1};
    const gpu::extent3 grid = grid_of(kernel.columns, kernel.rows);
    if (shared > every) {  // has to be asked for
      device.inspect(Backend::template compiled<compiled_for_transpose, kernel_type>(), grid, block,
                     shared);
    }
    gpu::launch<Backend, compiled_for_transpose>(device, grid, block, shared, kernel);
  };
  if (by_words) {
    start_runs(
        vector_transpose<T>{from, to, m, rows, columns, vector_transpose<T>::pitch_of(rows)});
  } else {
    start_runs(column_transpose<T>{from, to, m, rows, columns, columns | 1});
  }
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
