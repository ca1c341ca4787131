// How a march reads the rows of a step: directly, or from shared memory where bulk copies bring
// them some steps ahead.
#pragma once

#include <icobench/kernel.hpp>

namespace icobench::kernels {

// Lanes of a section of a row.
inline constexpr unsigned march_lanes = 32;

// The stencils that a march joins. Of a section, the first lane has no western edges, and the last
// one no eastern vertex.
template <bool vertical_, stage... fused>
struct march_chain {
  static constexpr bool vertical = vertical_;  // coefficients of nabla4 have levels
  static constexpr bool has(stage s) { return ((fused == s) || ...); }
  static constexpr bool edges = has(stage::nabla4), vertices = has(stage::interpolate);
  static constexpr bool cells = has(stage::verts2cells);
  static constexpr index_t first_lane = edges || vertices ? 1 : 0;
  static constexpr index_t lanes = index_t(march_lanes) - first_lane - (cells ? 1 : 0);
  // Rows below the first result that a march begins at, and all that it needs before that one.
  static constexpr index_t below = edges || vertices ? 1 : 0;
  static constexpr index_t before = below + (cells ? 1 : 0);
  // What it reads of each level: vectors at vertices, values of the three edges.
  static constexpr index_t vectors = edges || !vertices ? 2 : 0, values = edges || vertices ? 3 : 0;
};

// Its inputs with levels, in the operands of a kernel.
template <class Chain, class Operands>
ICOBENCH_FUNCTION inline auto march_vectors(const Operands& f) {
  if constexpr (Chain::edges) {
    return vector2<decltype(f.edge.u)>{f.edge.u, f.edge.v};
  } else {
    return vector2<decltype(f.cell.p_u)>{f.cell.p_u, f.cell.p_v};
  }
}
template <class Chain, class Operands>
ICOBENCH_FUNCTION inline auto march_values(const Operands& f) {
  if constexpr (Chain::edges) {
    return f.edge.z;
  } else {
    return f.vertex.p_e;
  }
}

// The levels of a block: from `first` on, below `end`.
struct march_levels {
  index_t first = 0, end = 0;
};
// Groups have equal parts, as nearly as can be.
ICOBENCH_FUNCTION inline march_levels march_levels_of(index_t group, index_t groups,
                                                      index_t all_levels) {
  return {all_levels * group / groups, all_levels * (group + 1) / groups};
}

// The sizes of a block: lanes along the row, and along z threads with `count` levels each.
template <class Chain>
struct march_shape {
  ICOBENCH_FUNCTION constexpr explicit march_shape(const launch& l) : chosen(l) {}

  launch chosen;
  int count = chosen.levels;
  index_t columns = index_t(chosen.block.x / march_lanes) * Chain::lanes;
  index_t levels = index_t(chosen.block.z) * chosen.levels;
  index_t threads = index_t(chosen.block.volume());
};

// Its rows in shared memory.
template <class Chain, class T>
struct march_buffer {
  ICOBENCH_FUNCTION constexpr explicit march_buffer(const launch& l) : shape(l) {}

  march_shape<Chain> shape;
  // Copies are aligned to 16 bytes: rows of floats may begin up to three elements after theirs.
  static constexpr index_t unit = 16 / sizeof(T);
  static constexpr index_t late = sizeof(T) == 8 ? 0 : unit;
  // The columns of a block's lanes. So many elements of a row are copied, of vectors those of a
  // neighbour more, which is the distance of all rows.
  index_t width = shape.columns + index_t(march_lanes) - Chain::lanes;
  index_t length = round_up(width, unit) + late, pitch = round_up(width + 1, unit) + late;
  // u, v and values of the three edges of each level; 10 coefficients of each of the three edges,
  // 12 of the vertex; 6 of the cells, of twice the length.
  static constexpr index_t of_edge = 10;
  index_t v = shape.levels, values = Chain::vectors * shape.levels;
  index_t edge = values + Chain::values * shape.levels;
  index_t vertex = edge + (Chain::edges ? 3 * of_edge : 0);
  index_t cell = vertex + (Chain::vertices ? 12 : 0);
  index_t rows = cell + (Chain::cells ? 6 : 0);
  index_t elements = (2 * rows - cell) * pitch;
  // The barriers, and as many steps as fit the 227 KB of a block of sm_90, or its share of the 228
  // KB of a multiprocessor, 1 KB of each block less; more than four were not tried.
  static constexpr std::size_t header = 128;
  std::size_t step_bytes = std::size_t(elements) * sizeof(T);
  int fitting =
      int(((228 << 10) / std::size_t(shape.chosen.min_blocks) - (1 << 10) - header) / step_bytes);
  int depth = fitting < 2 ? 2 : fitting < 4 ? fitting : 4;
  std::size_t bytes = header + std::size_t(depth) * step_bytes;
};

// What device code has of a march that is compiled for a shape.
template <class Chain_, class T, class Compiled>
struct march_of {
  using element = T;
  using chain = Chain_;
  static constexpr march_shape<chain> shape{Compiled::shape};
  static constexpr march_buffer<chain, T> buffer{Compiled::shape};
};

// Where a thread of a march is.
template <class Shape>
class march_place {
 public:
  ICOBENCH_DEVICE index_t column() const { return column_; }
  ICOBENCH_DEVICE index_t level(int q) const { return levels_.first + level_ + q; }
  ICOBENCH_DEVICE bool has(int q) const { return level(q) < levels_.end; }
  // A level that exists in any case.
  ICOBENCH_DEVICE index_t existing(int q) const { return has(q) ? level(q) : levels_.end - 1; }
  ICOBENCH_DEVICE index_t vertex_id() const { return first_ + column_; }
  // To the row that begins at vertex `first`, at these levels.
  ICOBENCH_DEVICE void move_to(index_t first, march_levels levels) {
    first_ = first;
    levels_ = levels;
  }

 protected:
  template <class Thread>
  ICOBENCH_DEVICE explicit march_place(const Thread& t)
      : column_(index_t(t.thread().x / march_lanes) * Shape::chain::lanes +
                index_t(t.thread().x % march_lanes)),
        level_(index_t(t.thread().z) * Shape::shape.count) {}

  index_t column_, level_;  // in the block
  index_t first_ = 0;       // the block's first vertex in this row
  march_levels levels_;     // the block's
};

// Every thread reads what it needs; the caches serve neighbours and groups of levels.
template <class Operands, class Shape, class Thread>
class direct_rows : public march_place<Shape> {
  using place = march_place<Shape>;
  using chain = typename Shape::chain;
  using T = typename Shape::element;

 public:
  static constexpr bool copies = false;  // of a rectangle: nabla4 would take 1.1 times as long
  ICOBENCH_DEVICE direct_rows(const Operands& f, const Thread& t) : place(t), f_(f) {}
  ICOBENCH_DEVICE void begin(index_t, index_t) const {}
  ICOBENCH_DEVICE void wait() const {}
  ICOBENCH_DEVICE void release() const {}
  ICOBENCH_DEVICE void next() { this->first_ += f_.mesh.row; }

  ICOBENCH_DEVICE T u(int q, index_t di) const {
    return march_vectors<chain>(f_).u(vector_id(di), this->existing(q));
  }
  ICOBENCH_DEVICE T v(int q, index_t di) const {
    return march_vectors<chain>(f_).v(vector_id(di), this->existing(q));
  }
  ICOBENCH_DEVICE T value(int colour, int q) const {
    return march_values<chain>(f_)(edge_id(colour), this->existing(q));
  }
  ICOBENCH_DEVICE nabla4<T> edge(int colour, int q) const {
    return f_.edge.stencil(edge_id(colour), chain::vertical ? this->existing(q) : 0);
  }
  ICOBENCH_DEVICE interpolate<T> vertex() const { return f_.vertex.stencil(valid(0)); }
  ICOBENCH_DEVICE verts2cells<T> cell(int half) const {
    return f_.cell.stencil(2 * valid(-f_.mesh.row) + half);
  }

 private:
  // Lanes beyond the domain read something that exists.
  ICOBENCH_DEVICE index_t valid(index_t offset) const {
    const index_t v = this->vertex_id() + offset, plane = f_.mesh.plane;
    return v < 0 ? 0 : v < plane ? v : plane - 1;
  }
  ICOBENCH_DEVICE index_t vector_id(index_t di) const {
    return valid((chain::edges ? f_.mesh.row : 0) + di);
  }
  ICOBENCH_DEVICE index_t edge_id(int colour) const {
    return colour * f_.mesh.plane + valid(colour == 2 ? f_.mesh.row : 0);
  }

  const Operands& f_;
};

// Bulk copies bring the rows, a row a thread, as many steps ahead as fit. Blocks of a cluster have
// different levels of the same points: the coefficients of all are copied by one.
template <class Operands, class Shape, class Thread>
class copied_rows : public march_place<Shape> {
  using place = march_place<Shape>;
  using chain = typename Shape::chain;
  using T = typename Shape::element;
  static constexpr auto shape = Shape::shape;
  static constexpr auto buffer = Shape::buffer;
  static constexpr bool clusters = shape.chosen.cluster > 1;
  static_assert(buffer.rows <= shape.threads, "a thread copies one row");
  static_assert(!chain::vertical, "coefficients are copied once for all levels");
  static constexpr int depth = buffer.depth;

 public:
  static constexpr bool copies = true;
  ICOBENCH_DEVICE copied_rows(const Operands& f, const Thread& t)
      : place(t),
        f_(f),
        t_(t),
        barriers_(t.template shared<gpu::bulk_barrier>()),
        buffers_(t.template shared<T>(buffer.header)) {
    if (t.rank() == 0) {
      for (int n = 0; n < depth; ++n) { t.init_bulk(barriers_[n], unsigned(buffer.rows)); }
    }
  }

  // Of a strip, whose last columns may be fewer than the lanes have.
  ICOBENCH_DEVICE void begin(index_t steps, index_t columns) {
    left_ = steps;
    missing_ = columns < shape.columns ? (shape.columns - columns) & -buffer.unit : 0;
    if (index_t(t_.rank()) < buffer.rows) { aim(index_t(t_.rank())); }
    t_.sync();
    if constexpr (clusters) {  // all have made their barriers
      t_.arrive_cluster();
      t_.wait_cluster();
    }
    for (int n = 0; n < depth; ++n) { fetch(); }
  }
  ICOBENCH_DEVICE void wait() {
    t_.wait_bulk(barriers_[use_.step], use_.phase);
    const index_t v = this->first_;
    const T* const rows = buffers_ + use_.step * buffer.elements + this->column_;
    vectors_ = rows + shift(vertex_above()) + this->level_ * buffer.pitch;
    vertex_ = rows + place_of(buffer.vertex) + shift(v);
    cell_ = rows + this->column_ + place_of(buffer.cell) + shift(first_cell());
    for (index_t colour = 0; colour < 3; ++colour) {
      edge_[colour] = rows + shift(edge_id(colour));
    }
  }
  // All that this thread reads of the step is read.
  ICOBENCH_DEVICE void release() {
    t_.release_bulk();
    if constexpr (clusters) {
      t_.arrive_cluster();
    } else {
      t_.sync();
      fetch();
    }
  }
  ICOBENCH_DEVICE void next() {
    if constexpr (clusters) {
      t_.wait_cluster();
      fetch();
    }
    use_.advance();
    this->first_ += f_.mesh.row;
  }

  ICOBENCH_DEVICE T u(int q, index_t di) const {
    return vectors_[q * buffer.pitch + neighbour(di)];
  }
  ICOBENCH_DEVICE T v(int q, index_t di) const {
    return vectors_[(buffer.v + q) * buffer.pitch + neighbour(di)];
  }
  ICOBENCH_DEVICE T value(int colour, int q) const {
    return edge_[colour][(buffer.values + colour * shape.levels + this->level_ + q) * buffer.pitch];
  }
  ICOBENCH_DEVICE nabla4<T> edge(int colour, int) const {
    const T* const rows = edge_[colour] + place_of(buffer.edge + colour * buffer.of_edge);
    nabla4<T> n;
    ICOBENCH_UNROLL_ALL
    for (int m = 0; m < 4; ++m) {
      n.normal_1[m] = rows[m * buffer.pitch];
      n.normal_2[m] = rows[(m + 4) * buffer.pitch];
    }
    const T vert_vert = rows[8 * buffer.pitch], primal = rows[9 * buffer.pitch];
    n.vert_vert_sq = vert_vert * vert_vert;
    n.edge_sq = primal * primal;
    return n;
  }
  ICOBENCH_DEVICE interpolate<T> vertex() const {
    interpolate<T> i;
    ICOBENCH_UNROLL_ALL
    for (int m = 0; m < 6; ++m) {
      i.coeff_1[m] = vertex_[m * buffer.pitch];
      i.coeff_2[m] = vertex_[(m + 6) * buffer.pitch];
    }
    return i;
  }
  ICOBENCH_DEVICE verts2cells<T> cell(int half) const {
    verts2cells<T> c;
    ICOBENCH_UNROLL_ALL
    for (int m = 0; m < 3; ++m) {
      c.coeff_1[m] = cell_[2 * m * buffer.pitch + half];
      c.coeff_2[m] = cell_[2 * (m + 3) * buffer.pitch + half];
    }
    return c;
  }

 private:
  // The buffers in turns; the phase of their barriers changes with each round.
  struct ring {
    int step = 0;
    unsigned phase = 0;
    ICOBENCH_DEVICE void advance() {
      if (++step == depth) {
        step = 0;
        phase ^= 1u;
      }
    }
  };

  // Where a row starts.
  ICOBENCH_DEVICE static constexpr index_t place_of(index_t row) {
    return (row < buffer.cell ? row : 2 * row - buffer.cell) * buffer.pitch;
  }

  // The first lane's western neighbour is not there, and what it gives is not used.
  ICOBENCH_DEVICE index_t neighbour(index_t di) const {
    return di < 0 && this->column_ == 0 ? 0 : di;
  }

  // By how many elements rows start before their first column: copies are aligned to 16 bytes.
  ICOBENCH_DEVICE static index_t shift(index_t at) {
    return sizeof(T) == 8 ? 0 : at & (buffer.unit - 1);
  }

  // First ids of the rows of a step. Vectors of nabla4 and edges to the southeast are those of the
  // row above; cells are those of the row below.
  ICOBENCH_DEVICE index_t vertex_above() const {
    return this->first_ + (chain::edges ? f_.mesh.row : 0);
  }
  ICOBENCH_DEVICE index_t edge_id(index_t colour) const {
    return this->first_ + colour * f_.mesh.plane + (colour == 2 ? f_.mesh.row : 0);
  }
  ICOBENCH_DEVICE index_t first_cell() const { return 2 * (this->first_ - f_.mesh.row); }

  // Points this thread at row r of the first step: element at_ of a field that has limit_. Steps
  // before the first result do not use all. Vertices take from the first one the edges to the north
  // and southeast, which are below the next row; cells need nothing before both rows of vertices
  // are there. (nabla4 alone would need the edges to the southeast only: not tried.)
  ICOBENCH_DEVICE void aim(index_t r) {
    const index_t n = shape.levels;
    advance_ = f_.mesh.row;
    unused_ = 0;
    if (r < buffer.values) {
      if constexpr (chain::vectors > 0) {
        aim_at_level(r < n ? march_vectors<chain>(f_).u : march_vectors<chain>(f_).v,
                     vertex_above(), r % n);
      }
    } else if (r < buffer.edge) {
      if constexpr (chain::values > 0) {
        const index_t colour = (r - buffer.values) / n;
        aim_at_level(march_values<chain>(f_), edge_id(colour), (r - buffer.values) % n);
        if (chain::vertices && colour == 1) { unused_ = chain::below; }
      }
    } else if (r < buffer.vertex) {
      if constexpr (chain::edges) {
        const index_t slot = (r - buffer.edge) % buffer.of_edge;
        const index_t colour = (r - buffer.edge) / buffer.of_edge;
        aim_at(slot < 4    ? f_.edge.normal_1
               : slot < 8  ? f_.edge.normal_2
               : slot == 8 ? f_.edge.inv_vert_vert_length
                           : f_.edge.inv_primal_edge_length,
               edge_id(colour), slot < 8 ? slot % 4 : 0, 0);
        if (chain::vertices && colour == 1) { unused_ = chain::below; }
      }
    } else if (r < buffer.cell) {
      if constexpr (chain::vertices) {
        const index_t slot = r - buffer.vertex;
        aim_at(slot < 6 ? f_.vertex.coeff_1 : f_.vertex.coeff_2, this->first_, slot % 6, 0);
        unused_ = chain::below;
      }
    } else if constexpr (chain::cells) {
      const index_t slot = r - buffer.cell;
      aim_at(slot < 3 ? f_.cell.coeff_1 : f_.cell.coeff_2, first_cell(), slot % 3, 0);
      advance_ = 2 * f_.mesh.row;
      unused_ = chain::before;
    }
  }
  ICOBENCH_DEVICE void aim_at(const view<const T>& f, index_t h, index_t slot, index_t k) {
    field_ = f.address(0, slot, k);
    at_ = h;
    limit_ = f.slot_stride;
  }
  ICOBENCH_DEVICE void aim_at_level(const view<const T>& f, index_t h, index_t level) {
    const index_t k = this->levels_.first + level;
    aim_at(f, h, 0, k < this->levels_.end ? k : this->levels_.first);
    if (k >= this->levels_.end) { limit_ = 0; }
  }

  // Copies the rows of the next step, if there is one.
  ICOBENCH_DEVICE void fetch() {
    if (left_-- <= 0) { return; }
    if (const auto r = index_t(t_.rank()); r < buffer.rows) {
      const index_t from = at_ - shift(at_);
      const index_t length = r < buffer.values ? buffer.pitch - missing_
                             : r < buffer.cell ? buffer.length - missing_
                                               : 2 * (buffer.length - missing_);
      const index_t there = limit_ - from < length ? limit_ - from : length;
      const bool wanted = unused_-- <= 0 && from >= 0 && there > 0;
      const unsigned bytes = wanted ? unsigned(there) * unsigned(sizeof(T)) : 0u;
      gpu::bulk_barrier& barrier = barriers_[fill_.step];
      t_.expect_bulk(barrier, bytes);
      bool for_all = false, mine = true;
      if constexpr (clusters) {
        for_all = t_.cluster_size() > 1 && r >= buffer.edge;
        mine = !for_all || unsigned(r) % t_.cluster_size() == t_.cluster_rank();
      }
      if (bytes > 0 && mine) {
        t_.copy_bulk(buffers_ + fill_.step * buffer.elements + place_of(r), field_ + from, bytes,
                     barrier, for_all);
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
  index_t left_ = 0;     // steps to be copied
  index_t missing_ = 0;  // columns that the strip has not, whole units of a copy
  const T* field_ = nullptr;
  index_t at_ = 0, advance_ = 0, limit_ = 0;
  index_t unused_ = 0;  // steps that do not use it, at first
  const T *vectors_ = nullptr, *vertex_ = nullptr, *cell_ = nullptr, *edge_[3] = {};
};

}  // namespace icobench::kernels
