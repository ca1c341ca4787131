// u, v and z of a block's tile, copied level after level to shared memory some levels ahead.
#pragma once

#include <icobench/kernels/shared/tile.hpp>

namespace icobench::kernels {

// Where a level lies in shared memory: u and v of the threads' vertices and of a rim of one around
// them, z of the edges that these vertices own. A row begins at its first element, or where the
// copy begins that has it, up to `unit` - 1 elements before.
template <class T>
struct level_tile {
  ICOBENCH_FUNCTION constexpr explicit level_tile(const launch& l) : chosen(l) {}

  launch chosen;
  int stages = chosen.stages;
  index_t x = index_t(chosen.block.x), y = index_t(chosen.block.y), threads = x * y;
  // Boxes begin at multiples of 16 bytes.
  index_t copy = chosen.copy_bytes > 0 ? chosen.copy_bytes : 16;
  index_t unit = copy / index_t(sizeof(T));
  // Elements of a row and up to unit - 1 before them, in whole copies.
  index_t pitch = round_up(x + 2 + unit - 1, unit), rows = y + 2;
  index_t z_pitch = round_up(x + unit - 1, unit), z_rows = 3 * y;
  // Boxes are aligned to 128 bytes.
  static constexpr index_t line = 128 / index_t(sizeof(T));
  index_t v = round_up(rows * pitch, line), z = 2 * v;
  index_t elements = z + round_up(z_rows * z_pitch, line);
  static constexpr std::size_t header = 128;  // barriers of the boxes
  std::size_t bytes = header + std::size_t(stages) * std::size_t(elements) * sizeof(T);
};

// A value at a vertex and at those around it that the edges it owns need.
template <class T>
struct diamonds {
  T here, east, above, above_west, below, below_east;

  ICOBENCH_DEVICE neighbours<T, 4> operator()(int colour) const {
    switch (colour) {
      case 0:
        return {{here, above, above_west, east}};
      case 1:
        return {{here, east, above, below_east}};
      default:
        return {{here, below_east, east, below}};
    }
  }
};

// The stages of shared memory in turns, and what a thread reads of one.
template <class Shape, class T>
class level_ring {
  static constexpr level_tile<T> tile{Shape::shape};

 public:
  ICOBENCH_DEVICE diamonds<T> u() const { return around(use_); }
  ICOBENCH_DEVICE diamonds<T> v() const { return around(use_ + tile.v); }
  ICOBENCH_DEVICE T z(int colour) const { return use_[z_[colour]]; }
  // To the next level.
  ICOBENCH_DEVICE void next() { advance(use_); }

 protected:
  // `first`: the vertex of the block's first thread; the mesh has its edges per orientation.
  template <class Mesh, class Thread>
  ICOBENCH_DEVICE level_ring(const Mesh& mesh, const Thread& t, index_t first)
      : begin_(t.template shared<T>(tile.header)), fill_(begin_), use_(begin_) {
    const gpu::index3 at = t.thread();
    const auto x = index_t(at.x), y = index_t(at.y);
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < 3; ++n) {
      row_[n] = (y + n) * tile.pitch + early(first + (y + n - 1) * mesh.row - 1) + 1 + x;
      z_[n] =
          tile.z + (n * tile.y + y) * tile.z_pitch + early(mesh.id({first + y * mesh.row, n})) + x;
    }
  }

  // By how many elements the copy of an element begins before it.
  ICOBENCH_DEVICE static index_t early(index_t element) { return element & (tile.unit - 1); }

  ICOBENCH_DEVICE void advance(T*& stage) const {
    stage += tile.elements;
    if (stage == begin_ + tile.stages * tile.elements) { stage = begin_; }
  }

  T *begin_, *fill_;

 private:
  ICOBENCH_DEVICE diamonds<T> around(const T* p) const {
    return {p[row_[1]], p[row_[1] + 1], p[row_[2]], p[row_[2] - 1], p[row_[0]], p[row_[0] + 1]};
  }

  T* use_;
  index_t row_[3], z_[3];
};

// Each thread copies some elements at a time, by itself.
template <class Operands, class Shape, class T, class Thread>
class async_tiles : public level_ring<Shape, T> {
  static constexpr level_tile<T> tile{Shape::shape};
  static constexpr index_t unit = tile.unit;

 public:
  ICOBENCH_DEVICE async_tiles(const Operands& f, const Thread& t, index_t first)
      : level_ring<Shape, T>(f.mesh, t, first), f_(f), t_(t), mine_(index_t(t.rank()) * unit) {
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < copies; ++n) {
      const index_t at = mine_ + n * tile.threads * unit, row = at / tile.pitch;
      uv_[n] = source(at, row, first + (row - 1) * f.mesh.row - 1, tile.pitch, tile.rows,
                      f.edge.u.slot_stride);
    }
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < z_copies; ++n) {
      const index_t at = mine_ + n * tile.threads * unit, row = at / tile.z_pitch;
      z_[n] = source(at, row, f.mesh.id({first + row % tile.y * f.mesh.row, int(row / tile.y)}),
                     tile.z_pitch, tile.z_rows, f.edge.z.slot_stride);
    }
  }

  // Begins to copy level k, if there is one more to copy.
  ICOBENCH_DEVICE void fetch(index_t k, bool more) {
    if (more) {
      const T* const u = gpu::hold(f_.edge.u.address(0, k));
      const T* const v = gpu::hold(f_.edge.v.address(0, k));
      const T* const z = gpu::hold(f_.edge.z.address(0, k));
      T* const to = this->fill_ + mine_;
      ICOBENCH_UNROLL_ALL
      for (int n = 0; n < copies; ++n) {
        if (uv_[n] < 0) { continue; }
        copy(to + n * tile.threads * unit, u + uv_[n]);
        copy(to + tile.v + n * tile.threads * unit, v + uv_[n]);
      }
      ICOBENCH_UNROLL_ALL
      for (int n = 0; n < z_copies; ++n) {
        if (z_[n] >= 0) { copy(to + tile.z + n * tile.threads * unit, z + z_[n]); }
      }
    }
    t_.commit_async();
    this->advance(this->fill_);
  }
  // The next level is there, for this thread; for others after a barrier.
  ICOBENCH_DEVICE void wait() const { t_.template wait_async<tile.stages - 2>(); }

 private:
  static constexpr index_t of_thread(index_t elements) {
    return (elements / unit + tile.threads - 1) / tile.threads;
  }
  static constexpr index_t copies = of_thread(tile.rows * tile.pitch);
  static constexpr index_t z_copies = of_thread(tile.z_rows * tile.z_pitch);

  ICOBENCH_DEVICE void copy(T* to, const T* from) const {
    t_.template copy_async<tile.copy>(to, from);
  }
  // What goes to place `at` of rows of which this one has the element `row_begin` first; -1:
  // nothing. Rows above the domain may not exist.
  ICOBENCH_DEVICE static index_t source(index_t at, index_t row, index_t row_begin, index_t pitch,
                                        index_t rows, index_t limit) {
    const index_t from = row_begin - level_ring<Shape, T>::early(row_begin) + at - row * pitch;
    return row < rows && from < limit ? from : -1;
  }

  const Operands& f_;
  const Thread& t_;
  index_t mine_, uv_[copies], z_[z_copies];
};

// The fields of the boxes.
struct level_maps {
  gpu::tensor_map u, v, z;
};
template <class T, class Mesh, class F>
level_maps make_level_maps(const Mesh& mesh, const nabla4_operands<T>& f, index_t levels,
                           const launch& l, F tensor_map) {
  const level_tile<T> tile{l};
  const auto map = [&](const view<const T>& of, int planes, index_t pitch, index_t rows) {
    const auto bytes = [](index_t elements) {
      return std::int64_t(elements) * std::int64_t(sizeof(T));
    };
    return tensor_map(
        gpu::tensor_box{.data = of.data,
                        .element_bytes = int(sizeof(T)),
                        .stride = {bytes(mesh.row), bytes(mesh.plane), bytes(of.stride)},
                        .extent = {int(mesh.row), int(mesh.plane / mesh.row), planes, int(levels)},
                        .size = {int(pitch), int(rows), planes, 1}});
  };
  return {map(f.u, 1, tile.pitch, tile.rows), map(f.v, 1, tile.pitch, tile.rows),
          map(f.z, 3, tile.z_pitch, tile.y)};
}

// One thread has three boxes copied.
template <class Operands, class Shape, class T, class Thread>
class box_tiles : public level_ring<Shape, T> {
  static constexpr level_tile<T> tile{Shape::shape};

 public:
  ICOBENCH_DEVICE box_tiles(const Operands& f, const Thread& t, index_t first)
      : level_ring<Shape, T>(f.mesh, t, first),
        f_(f),
        t_(t),
        barriers_(t.template shared<gpu::bulk_barrier>()),
        i_(first % f.mesh.row),
        j_(first / f.mesh.row) {
    if (t.rank() == 0) {
      for (int n = 0; n < tile.stages; ++n) { t.init_bulk(barriers_[n], 1); }
    }
    t.sync();
  }

  ICOBENCH_DEVICE void fetch(index_t k, bool more) {
    if (more && t_.rank() == 0) {
      gpu::bulk_barrier& barrier = barriers_[filling_];
      t_.expect_bulk(barrier, unsigned(2 * tile.rows * tile.pitch + tile.z_rows * tile.z_pitch) *
                                  unsigned(sizeof(T)));
      const int corner[4] = {int(i_ - 1 - this->early(i_ - 1)), int(j_ - 1), 0, int(k)};
      t_.copy_box(this->fill_, f_.maps.u, corner, barrier);
      t_.copy_box(this->fill_ + tile.v, f_.maps.v, corner, barrier);
      t_.copy_box(this->fill_ + tile.z, f_.maps.z, {int(i_ - this->early(i_)), int(j_), 0, int(k)},
                  barrier);
    }
    filling_ = filling_ + 1 < tile.stages ? filling_ + 1 : 0;
    this->advance(this->fill_);
  }
  ICOBENCH_DEVICE void wait() {
    t_.wait_bulk(barriers_[using_], phase_);
    using_ = using_ + 1 < tile.stages ? using_ + 1 : 0;
    if (using_ == 0) { phase_ ^= 1u; }
  }
  ICOBENCH_DEVICE void next() {
    t_.release_bulk();
    level_ring<Shape, T>::next();
  }

 private:
  const Operands& f_;
  const Thread& t_;
  gpu::bulk_barrier* barriers_;
  index_t i_, j_;
  int filling_ = 0, using_ = 0;
  unsigned phase_ = 0;
};

}  // namespace icobench::kernels
