// How a march reads the rows of a step: directly, or from shared memory where bulk copies bring
// them some steps ahead.
#pragma once

#include <icobench/gpu_variant.hpp>

namespace icobench::kernels {

// Lanes of a section of a row; the first one has no western neighbour, and if there are cells the
// last one no eastern.
inline constexpr unsigned march_lanes = 32;

// The sizes of a block: lanes along the row, groups of `count` levels.
template <bool cells_, class T, class Compiled>
struct march_shape {
  using element = T;
  static constexpr bool cells = cells_;
  static constexpr int count = Compiled::levels;
  static constexpr unsigned cluster = Compiled::cluster;
  static constexpr index_t results = cells ? 30 : 31;  // lanes of a section that have one
  static constexpr index_t columns = index_t(Compiled::block.x / march_lanes) * results;
  static constexpr index_t levels = index_t(Compiled::block.z) * count;
  static constexpr index_t threads = index_t(Compiled::block.volume());

  // Blocks that share all levels of their points.
  ICOBENCH_FUNCTION static constexpr index_t groups(index_t all_levels) {
    return (all_levels + levels - 1) / levels;
  }
};

// Where a thread of a march is.
template <class Shape>
class march_place {
 public:
  ICOBENCH_DEVICE index_t column() const { return column_; }
  ICOBENCH_DEVICE index_t level(int q) const { return k0_ + level_ + q; }
  ICOBENCH_DEVICE index_t vertex_id() const { return first_ + column_; }

 protected:
  template <class Thread>
  ICOBENCH_DEVICE explicit march_place(const Thread& t)
      : column_(index_t(t.thread().x / march_lanes) * Shape::results +
                index_t(t.thread().x % march_lanes)),
        level_(index_t(t.thread().z) * Shape::count) {}

  index_t column_, level_;      // in the block
  index_t first_ = 0, k0_ = 0;  // the block's first vertex in this row, its first level
};

// Every thread reads what it needs; the caches serve neighbours and groups of levels.
template <class Operands, class Shape, class Thread>
class direct_rows : public march_place<Shape> {
  using place = march_place<Shape>;
  using T = typename Shape::element;

 public:
  ICOBENCH_DEVICE direct_rows(const Operands& f, const Thread& t) : place(t), f_(f) {}
  ICOBENCH_DEVICE void begin(index_t first, index_t k0, index_t) {
    this->first_ = first;
    this->k0_ = k0;
  }
  ICOBENCH_DEVICE void wait() const {}
  ICOBENCH_DEVICE void release() const {}
  ICOBENCH_DEVICE void next() { this->first_ += f_.mesh.row; }

  ICOBENCH_DEVICE T u_above(int q, index_t di) const {
    return f_.edge.u(valid(f_.mesh.row + di), existing(q));
  }
  ICOBENCH_DEVICE T v_above(int q, index_t di) const {
    return f_.edge.v(valid(f_.mesh.row + di), existing(q));
  }
  ICOBENCH_DEVICE T z(int colour, int q) const { return f_.edge.z(edge_id(colour), existing(q)); }
  ICOBENCH_DEVICE nabla4<T> edge(int colour) const { return f_.edge.stencil(edge_id(colour), 0); }
  ICOBENCH_DEVICE interpolate<T> vertex() const { return f_.vertex.stencil(valid(0)); }
  ICOBENCH_DEVICE verts2cells<T> cell(int half) const {
    return f_.cell.stencil(2 * valid(-f_.mesh.row) + half);
  }

 private:
  // Lanes and levels beyond the domain read something that exists.
  ICOBENCH_DEVICE index_t valid(index_t offset) const {
    const index_t v = this->vertex_id() + offset, plane = f_.mesh.plane;
    return v < 0 ? 0 : v < plane ? v : plane - 1;
  }
  ICOBENCH_DEVICE index_t existing(int q) const {
    return this->level(q) < f_.levels ? this->level(q) : f_.levels - 1;
  }
  ICOBENCH_DEVICE index_t edge_id(int colour) const {
    return colour * f_.mesh.plane + valid(colour == 2 ? f_.mesh.row : 0);
  }

  const Operands& f_;
};

// Rows in shared memory.
template <class Shape>
struct march_buffer {
  using T = typename Shape::element;
  // Elements of a row: neighbours on each side, and a start that is aligned to 16 bytes.
  static constexpr index_t unit = 16 / sizeof(T);
  static constexpr index_t pitch =
      (Shape::columns + index_t(march_lanes) - Shape::results + 1 + unit - 1) / unit * unit +
      (sizeof(T) == 8 ? 0 : unit);
  // u, v and the three edges' z of each level; 10 coefficients of each of the three edges, 12 of
  // the vertex; 6 of the cells, of twice the length.
  static constexpr index_t of_edge = 10, v = Shape::levels, z = 2 * Shape::levels;
  static constexpr index_t edge = 5 * Shape::levels, vertex = edge + 3 * of_edge;
  static constexpr index_t cell = vertex + 12, rows = cell + (Shape::cells ? 6 : 0);
  // Where a row starts.
  ICOBENCH_FUNCTION static constexpr index_t place(index_t row) {
    return (row < cell ? row : 2 * row - cell) * pitch;
  }
  static constexpr index_t elements = place(rows);
  // The barriers, and as many steps as fit the 227 KB of sm_90; more than four were not tried.
  static constexpr std::size_t header = 128, step_bytes = std::size_t(elements) * sizeof(T);
  static constexpr int fitting = int(((227 << 10) - header) / step_bytes);
  static constexpr int depth = fitting < 2 ? 2 : fitting < 4 ? fitting : 4;
  static constexpr std::size_t bytes = header + depth * step_bytes;
};

// Bulk copies bring the rows, a row a thread, as many steps ahead as fit. Blocks of a cluster have
// different levels of the same points: the coefficients of all are copied by one.
template <class Operands, class Shape, class Thread>
class copied_rows : public march_place<Shape> {
  using place = march_place<Shape>;
  using T = typename Shape::element;
  using buffer = march_buffer<Shape>;
  static_assert(buffer::rows <= Shape::threads, "a thread copies one row");
  static constexpr int depth = buffer::depth;

 public:
  ICOBENCH_DEVICE copied_rows(const Operands& f, const Thread& t)
      : place(t),
        f_(f),
        t_(t),
        barriers_(t.template shared<gpu::bulk_barrier>()),
        buffers_(t.template shared<T>(buffer::header)) {
    if (t.rank() == 0) {
      for (int n = 0; n < depth; ++n) { t.init_bulk(barriers_[n], unsigned(buffer::rows)); }
    }
  }

  ICOBENCH_DEVICE void begin(index_t first, index_t k0, index_t steps) {
    this->first_ = first;
    this->k0_ = k0;
    left_ = steps;
    if (index_t(t_.rank()) < buffer::rows) { aim(index_t(t_.rank())); }
    t_.sync();
    if constexpr (Shape::cluster > 1) {  // all have made their barriers
      t_.arrive_cluster();
      t_.wait_cluster();
    }
    for (int n = 0; n < depth; ++n) { fetch(); }
  }
  ICOBENCH_DEVICE void wait() {
    t_.wait_bulk(barriers_[use_.buffer], use_.phase);
    const index_t v = this->first_, row = f_.mesh.row, plane = f_.mesh.plane;
    const T* const rows = buffers_ + use_.buffer * buffer::elements + this->column_;
    above_ = rows + shift(v + row) + this->level_ * buffer::pitch;
    vertex_ = rows + buffer::place(buffer::vertex) + shift(v);
    cell_ = rows + this->column_ + buffer::place(buffer::cell) + shift(2 * (v - row));
    for (int colour = 0; colour < 3; ++colour) {
      edge_[colour] = rows + shift(v + colour * plane + (colour == 2 ? row : 0));
    }
  }
  // All that this thread reads of the step is read.
  ICOBENCH_DEVICE void release() {
    if constexpr (Shape::cluster > 1) {
      t_.arrive_cluster();
    } else {
      t_.sync();
      fetch();
    }
  }
  ICOBENCH_DEVICE void next() {
    if constexpr (Shape::cluster > 1) {
      t_.wait_cluster();
      fetch();
    }
    use_.advance();
    this->first_ += f_.mesh.row;
  }

  ICOBENCH_DEVICE T u_above(int q, index_t di) const {
    return above_[q * buffer::pitch + neighbour(di)];
  }
  ICOBENCH_DEVICE T v_above(int q, index_t di) const {
    return above_[(buffer::v + q) * buffer::pitch + neighbour(di)];
  }
  ICOBENCH_DEVICE T z(int colour, int q) const {
    return edge_[colour][(buffer::z + colour * Shape::levels + this->level_ + q) * buffer::pitch];
  }
  ICOBENCH_DEVICE nabla4<T> edge(int colour) const {
    const T* const rows = edge_[colour] + buffer::place(buffer::edge + colour * buffer::of_edge);
    nabla4<T> n;
    ICOBENCH_UNROLL_ALL
    for (int m = 0; m < 4; ++m) {
      n.normal_1[m] = rows[m * buffer::pitch];
      n.normal_2[m] = rows[(m + 4) * buffer::pitch];
    }
    const T vert_vert = rows[8 * buffer::pitch], primal = rows[9 * buffer::pitch];
    n.vert_vert_sq = vert_vert * vert_vert;
    n.edge_sq = primal * primal;
    return n;
  }
  ICOBENCH_DEVICE interpolate<T> vertex() const {
    interpolate<T> i;
    ICOBENCH_UNROLL_ALL
    for (int m = 0; m < 6; ++m) {
      i.coeff_1[m] = vertex_[m * buffer::pitch];
      i.coeff_2[m] = vertex_[(m + 6) * buffer::pitch];
    }
    return i;
  }
  ICOBENCH_DEVICE verts2cells<T> cell(int half) const {
    verts2cells<T> c;
    ICOBENCH_UNROLL_ALL
    for (int m = 0; m < 3; ++m) {
      c.coeff_1[m] = cell_[2 * m * buffer::pitch + half];
      c.coeff_2[m] = cell_[2 * (m + 3) * buffer::pitch + half];
    }
    return c;
  }

 private:
  // The buffers in turns; the phase of their barriers changes with each round.
  struct ring {
    int buffer = 0;
    unsigned phase = 0;
    ICOBENCH_DEVICE void advance() {
      if (++buffer == depth) {
        buffer = 0;
        phase ^= 1u;
      }
    }
  };

  // The first lane's western neighbour is not there, and what it gives is not used.
  ICOBENCH_DEVICE index_t neighbour(index_t di) const {
    return di < 0 && this->column_ == 0 ? 0 : di;
  }

  // By how many elements rows start before their first column: copies are aligned to 16 bytes.
  ICOBENCH_DEVICE static index_t shift(index_t at) {
    return sizeof(T) == 8 ? 0 : at & (buffer::unit - 1);
  }

  // Points this thread at row r of the first step: element at_ of a field that has limit_.
  ICOBENCH_DEVICE void aim(index_t r) {
    const index_t row = f_.mesh.row, v = this->first_, n = Shape::levels;
    advance_ = row;
    if (r < 2 * n) {
      aim_at_level(r < n ? f_.edge.u : f_.edge.v, v + row, r % n);
    } else if (r < buffer::edge) {
      aim_at_level(f_.edge.z, edge_id((r - buffer::z) / n), (r - buffer::z) % n);
    } else if (r < buffer::vertex) {
      const index_t slot = (r - buffer::edge) % buffer::of_edge;
      aim_at(slot < 4    ? f_.edge.normal_1
             : slot < 8  ? f_.edge.normal_2
             : slot == 8 ? f_.edge.inv_vert_vert_length
                         : f_.edge.inv_primal_edge_length,
             edge_id((r - buffer::edge) / buffer::of_edge), slot < 8 ? slot % 4 : 0, 0);
    } else if (r < buffer::cell) {
      const index_t slot = r - buffer::vertex;
      aim_at(slot < 6 ? f_.vertex.coeff_1 : f_.vertex.coeff_2, v, slot % 6, 0);
    } else if constexpr (Shape::cells) {
      const index_t slot = r - buffer::cell;  // of the cells of the row below
      aim_at(slot < 3 ? f_.cell.coeff_1 : f_.cell.coeff_2, 2 * (v - row), slot % 3, 0);
      advance_ = 2 * row;
    }
  }
  ICOBENCH_DEVICE void aim_at(const view<const T>& f, index_t h, index_t slot, index_t k) {
    field_ = f.address(0, slot, k);
    at_ = h;
    limit_ = f.slot_stride;
  }
  ICOBENCH_DEVICE void aim_at_level(const view<const T>& f, index_t h, index_t level) {
    const index_t k = this->k0_ + level;
    aim_at(f, h, 0, k < f_.levels ? k : 0);
    if (k >= f_.levels) { limit_ = 0; }
  }
  // Edges to the southeast come with the vertex above.
  ICOBENCH_DEVICE index_t edge_id(index_t colour) const {
    return this->first_ + colour * f_.mesh.plane + (colour == 2 ? f_.mesh.row : 0);
  }

  // Copies the rows of the next step, if there is one.
  ICOBENCH_DEVICE void fetch() {
    if (left_-- <= 0) { return; }
    const auto r = index_t(t_.rank());
    if (r < buffer::rows) {
      const index_t from = at_ - shift(at_);
      const index_t length = r < buffer::cell ? buffer::pitch : 2 * buffer::pitch;
      const index_t there = limit_ - from < length ? limit_ - from : length;
      const unsigned bytes = from >= 0 && there > 0 ? unsigned(there) * unsigned(sizeof(T)) : 0u;
      gpu::bulk_barrier& barrier = barriers_[fill_.buffer];
      t_.expect_bulk(barrier, bytes);
      bool for_all = false, mine = true;
      if constexpr (Shape::cluster > 1) {
        for_all = t_.cluster_size() > 1 && r >= buffer::edge;
        mine = !for_all || unsigned(r) % t_.cluster_size() == t_.cluster_rank();
      }
      if (bytes > 0 && mine) {
        t_.copy_bulk(buffers_ + fill_.buffer * buffer::elements + buffer::place(r), field_ + from,
                     bytes, barrier, for_all);
      }
      at_ += advance_;
    }
    fill_.advance();
  }

  const Operands& f_;
  const Thread& t_;
  gpu::bulk_barrier* barriers_;
  T* buffers_;
  ring fill_, use_;
  index_t left_ = 0;  // steps to be copied
  const T* field_ = nullptr;
  index_t at_ = 0, advance_ = 0, limit_ = 0;
  const T *above_ = nullptr, *vertex_ = nullptr, *cell_ = nullptr, *edge_[3] = {};
};

}  // namespace icobench::kernels
