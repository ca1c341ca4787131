// March: the threads of a block lie side by side along a row (sections of 32 lanes that overlap)
// and go from row to row. What a row needs is copied to shared memory; what earlier rows gave stays
// in registers, and what neighbours in the row gave comes by shuffles. So every array is read once
// by one thread block, but for coefficients, which each group of levels reads again from the L2
// cache, and no intermediate result goes to memory.
#pragma once
#ifndef HC
#define HC gpu::eviction::last
#endif
#ifndef HF
#define HF gpu::eviction::normal
#endif
#ifndef HZ
#define HZ HF
#endif

#include <icobench/gpu_variant.hpp>

namespace icobench::kernels {

// Lanes of a section with no result: left and right ones compute for their neighbours.
inline constexpr unsigned march_lanes = 32;

// The sizes of a block: lanes along the row, groups of `count` levels.
template <bool cells, class T, unsigned lanes, unsigned groups, int count>
struct march_shape {
  static constexpr index_t results = cells ? 30 : 31;  // lanes of a section that have one
  static constexpr index_t columns = index_t(lanes / march_lanes) * results;
  static constexpr index_t levels = index_t(groups) * count;
  // Elements of a row in shared memory: neighbours on each side, and a start that is aligned.
  static constexpr index_t unit = 16 / sizeof(T);
  static constexpr index_t pitch =
      (columns + index_t(march_lanes) - results + 1 + unit - 1) / unit * unit +
      (sizeof(T) == 8 ? 0 : unit);
  // Rows: u, v and the three edges' z of each level; 10 coefficients of each of the three edges, 12
  // of the vertex; 6 of the cells, of twice the length.
  static constexpr index_t of_edge = 10;
  static constexpr index_t u = 0, v = levels, z = 2 * levels, edge = 5 * levels;
  static constexpr index_t vertex = edge + 3 * of_edge, cell = vertex + 12;
  static constexpr index_t rows = cell + (cells ? 6 : 0);
  // Where a row starts in shared memory.
  ICOBENCH_FUNCTION static constexpr index_t place(index_t row) {
    return (row < cell ? row : 2 * row - cell) * pitch;
  }
  static constexpr index_t elements = place(rows);
};

// A row in memory: where it is in a field, of whose elements `limit` exist.
template <class T>
struct march_source {
  const T* field = nullptr;  // nullptr: a level that does not exist
  index_t at = 0, advance = 0, limit = 0;
  gpu::eviction hint = gpu::eviction::normal;
};

// In shared memory: barriers, the sources of the rows, the rows: with bulk copies as many steps ahead
// as fit.
template <class Shape, class T>
struct march_memory {
  static constexpr std::size_t sources = 128;
  static constexpr std::size_t buffers =
      sources + (std::size_t(Shape::rows) * sizeof(march_source<T>) + 127) / 128 * 128;
  static constexpr std::size_t of_step = std::size_t(Shape::elements) * sizeof(T);
  // sm_90 has 227 KB; more than four were not tried.
  static constexpr int steps(bool bulk) {
    return bulk ? int(std::clamp<std::size_t>(((227 << 10) - buffers) / of_step, 2, 4)) : 1;
  }
  static constexpr std::size_t bytes(bool bulk) {
    return buffers + std::size_t(steps(bulk)) * of_step;
  }
};

// Blocks of a march, at most as many as fit the device at once. Those that have the same points and
// different levels go along together, so that the coefficients they share are still in the L2
// cache.
inline gpu::extent3 march_blocks(const rectangle& domain, index_t levels, index_t columns,
                                 index_t levels_of_block, const gpu::device_facts& facts) {
  const auto groups = unsigned((levels + levels_of_block - 1) / levels_of_block);
  const auto rows = unsigned(domain.nj) * unsigned((domain.ni + columns - 1) / columns);
  const unsigned teams = std::clamp(unsigned(facts.multiprocessors) / groups, 1u, (rows + 3) / 4);
  return {groups * teams, 1, 1};
}

// The chain of nabla4, interpolate and, if `cells`, verts2cells in one block.
template <bool cells, bool bulk, class Compiled, class Mesh, class T>
class march {
  static constexpr int count = Compiled::levels;
  using shape = march_shape<cells, T, Compiled::block.x, Compiled::block.z, count>;
  using memory = march_memory<shape, T>;
  static constexpr int depth = memory::steps(bulk);  // steps that are copied ahead
  static_assert(shape::rows <= index_t(Compiled::block.volume()), "a thread aims and copies a row");

 public:
  Mesh mesh;
  rectangle domain;
  nabla4_operands<T> edge;
  interpolate_operands<T> vertex;
  verts2cells_operands<T> cell;
  index_t levels;

  template <class Thread>
  ICOBENCH_DEVICE void run(const Thread& t) const {
    place<Thread> at(*this, t);
    // Rows of all strips one after another, an equal part for each team of blocks.
    const index_t strips = (domain.ni + shape::columns - 1) / shape::columns;
    const index_t groups = (levels + shape::levels - 1) / shape::levels;
    const auto blocks = index_t(t.grid_dim().volume());
    const auto block = index_t(t.block().x + t.block().y + t.block().z);
    const index_t teams = blocks / groups, team = block / groups;
    const auto all = std::int64_t(strips) * domain.nj;
    auto next = index_t(all * team / teams);
    const auto end = index_t(all * (team + 1) / teams);
    while (next < end) {
      const index_t strip = next / domain.nj, row = next % domain.nj;
      const index_t here = end - next < domain.nj - row ? end - next : domain.nj - row;
      at.walk(strip * shape::columns, domain.j0 + row, here, block % groups * shape::levels);
      next += here;
    }
  }

 private:
  using source = march_source<T>;

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

  // A thread's place in its block, with the block's shared memory.
  template <class Thread>
  class place {
   public:
    ICOBENCH_DEVICE place(const march& m, const Thread& t)
        : m_(m),
          t_(t),
          column_(index_t(t.thread().x / march_lanes) * shape::results +
                  index_t(t.thread().x % march_lanes)),
          level_(index_t(t.thread().z) * count),
          barriers_(t.template shared<gpu::bulk_barrier>()),
          sources_(t.template shared<source>(memory::sources)),
          buffers_(t.template shared<T>(memory::buffers)) {
      if constexpr (bulk) {
        if (t.rank() == 0) {
          for (int n = 0; n < depth; ++n) { t.init_bulk(barriers_[n], unsigned(shape::rows)); }
        }
      }
    }

    // From the vertices' row j0 on, `results` rows from the column `first` of the domain on.
    ICOBENCH_DEVICE void walk(index_t first, index_t j0, index_t results, index_t k0) {
      // The first lane has no result. An even start is aligned for doubles.
      const index_t i0 = (m_.domain.i0 + first - 1) & ~1;
      const index_t steps = results + (cells ? 2 : 1);
      aim(i0, j0 - 1, k0);
      state s;
      start(s, i0, j0 - 1, k0);
      t_.sync();
      for (index_t n = 0; n < depth && n < steps; ++n) { fetch(n); }
      const index_t i = i0 + column_;
      const auto lane = t_.thread().x % march_lanes;
      const bool mine = lane >= 1 && lane <= (cells ? 30u : 31u) && i >= m_.domain.i0 + first &&
                        i < m_.domain.i0 + m_.domain.ni;
      ICOBENCH_NO_UNROLL
      for (index_t n = 0; n < steps; ++n) {
        step(s, n, n + depth < steps, mine, i, j0 - 1 + n, k0);
      }
    }

   private:
    // What earlier rows gave, for each level of the thread.
    struct state {
      T u_southeast[count], v_southeast[count];            // (i + 1, j - 1)
      T u[count], v[count], u_east[count], v_east[count];  // (i, j), (i + 1, j)
      T north_below[count], southeast[count];  // nabla4 north of (i, j - 1), SE of (i, j)
      vector2<T> p[count], p_east[count];      // at (i, j - 1), (i + 1, j - 1)
    };

    // Puts the sources of the rows for the first step, at the vertices' row j, into shared memory.
    ICOBENCH_DEVICE void aim(index_t i0, index_t j, index_t k0) {
      const auto r = index_t(t_.rank());
      if (r < shape::rows) { sources_[r] = source_of(r, j * m_.mesh.row + i0, k0); }
    }
    template <class View>
    ICOBENCH_DEVICE source field(const View& f, index_t h, int slot, index_t k) const {
      return {f.address(0, slot, k), h, m_.mesh.row, f.slot_stride, HC};
    }
    ICOBENCH_DEVICE source level_of(const view<const T>& f, index_t h, index_t k) const {
      source s = field(f, h, 0, k);

      s.hint = HF;

      if (k >= m_.levels) { s.field = nullptr; }
      return s;
    }
    ICOBENCH_DEVICE source source_of(index_t r, index_t v, index_t k0) const {
      const index_t row = m_.mesh.row, plane = m_.mesh.plane, n = shape::levels;
      if (r < n) { return level_of(m_.edge.u, v + row, k0 + r); }
      if (r < 2 * n) { return level_of(m_.edge.v, v + row, k0 + r - n); }
      // Edges to the southeast come with the vertex above.
      if (r < 5 * n) {
        const index_t colour = (r - 2 * n) / n;
        source s = level_of(m_.edge.z, v + colour * plane + (colour == 2 ? row : 0),
                        k0 + (r - 2 * n) % n);
        s.hint = HZ;
        return s;
      }
      if (r < shape::vertex) {
        const index_t colour = (r - 5 * n) / shape::of_edge;
        const int slot = (r - 5 * n) % shape::of_edge;
        const index_t e = v + colour * plane + (colour == 2 ? row : 0);
        if (slot < 4) { return field(m_.edge.normal_1, e, slot, 0); }
        if (slot < 8) { return field(m_.edge.normal_2, e, slot - 4, 0); }
        return field(slot == 8 ? m_.edge.inv_vert_vert_length : m_.edge.inv_primal_edge_length, e,
                     0, 0);
      }
      if (r < shape::cell) {
        const int slot = r - shape::vertex;
        return field(slot < 6 ? m_.vertex.coeff_1 : m_.vertex.coeff_2, v, slot % 6, 0);
      }
      const int slot = r - shape::cell;  // of the cells of the row below
      source s = field(slot < 3 ? m_.cell.coeff_1 : m_.cell.coeff_2, 2 * (v - row), slot % 3, 0);
      s.advance = 2 * row;
      return s;
    }

    // By how many elements rows start before their first column: copies are aligned to 16 bytes.
    ICOBENCH_DEVICE static index_t shift(index_t at) {
      constexpr index_t unit = 16 / sizeof(T);
      return sizeof(T) == 8 ? 0 : at & (unit - 1);
    }

    // Copies the rows of step n.
    ICOBENCH_DEVICE void fetch(index_t n) {
      T* const buffer = buffers_ + fill_.buffer * shape::elements;
      if constexpr (bulk) {
        const auto r = index_t(t_.rank());
        if (r < shape::rows) {
          const source s = sources_[r];
          const index_t at = s.at + n * s.advance, from = at - shift(at);
          const index_t length = r < shape::cell ? shape::pitch : 2 * shape::pitch;
          const index_t there = s.limit - from < length ? s.limit - from : length;
          const bool exists = s.field && from >= 0 && there > 0;
          t_.copy_bulk(buffer + shape::place(r), s.field + from,
                       exists ? unsigned(there * index_t(sizeof(T))) : 0u,
                       barriers_[fill_.buffer], s.hint);
        }
        fill_.advance();
      } else {
        const auto warp = index_t(t_.rank() / march_lanes), lane = index_t(t_.rank() % march_lanes);
        const auto warps = index_t(t_.block_dim().volume() / march_lanes);
        for (index_t r = warp; r < shape::rows; r += warps) {
          const source s = sources_[r];
          if (!s.field) { continue; }
          const index_t at = s.at + n * s.advance, from = at - shift(at);
          const index_t length = r < shape::cell ? shape::pitch : 2 * shape::pitch;
          T* const to = buffer + shape::place(r);
          for (index_t i = lane; i < length; i += index_t(march_lanes)) {
            if (from + i >= 0 && from + i < s.limit) {
              to[i] = gpu::load_readonly(s.field + from + i);
            }
          }
        }
        t_.sync();
      }
    }
    // The rows of u and v that the first step finds in registers.
    ICOBENCH_DEVICE void start(state& s, index_t i0, index_t j, index_t k0) const {
      const index_t row = m_.mesh.row, plane = m_.mesh.plane;
      // Lanes beyond the domain read something that exists.
      const auto valid = [&](index_t v) { return v < 0 ? 0 : v < plane ? v : plane - 1; };
      const index_t v = j * row + i0 + column_;
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        const index_t k = k0 + level_ + q < m_.levels ? k0 + level_ + q : m_.levels - 1;
        s.u_southeast[q] = m_.edge.u(valid(v - row + 1), k);
        s.v_southeast[q] = m_.edge.v(valid(v - row + 1), k);
        s.u[q] = m_.edge.u(valid(v), k);
        s.v[q] = m_.edge.v(valid(v), k);
        s.u_east[q] = m_.edge.u(valid(v + 1), k);
        s.v_east[q] = m_.edge.v(valid(v + 1), k);
        s.north_below[q] = s.southeast[q] = 0;
        s.p[q] = s.p_east[q] = {0, 0};
      }
    }

    ICOBENCH_DEVICE nabla4<T> stencil(const T* rows_at_edge) const {
      nabla4<T> n;
      ICOBENCH_UNROLL_ALL
      for (int m = 0; m < 4; ++m) {
        n.normal_1[m] = rows_at_edge[m * shape::pitch];
        n.normal_2[m] = rows_at_edge[(m + 4) * shape::pitch];
      }
      const T vert_vert = rows_at_edge[8 * shape::pitch], primal = rows_at_edge[9 * shape::pitch];
      n.vert_vert_sq = vert_vert * vert_vert;
      n.edge_sq = primal * primal;
      return n;
    }

    // The vertices' row j = j0 - 1 + n: its northern and eastern edges, the southeastern ones of
    // the row above, its vertices, the cells of the row below.
    ICOBENCH_DEVICE void step(state& s, index_t n, bool more, bool mine, index_t i, index_t j,
                              index_t k0) {
      if constexpr (bulk) { t_.wait_bulk(barriers_[use_.buffer], use_.phase); }
      const T* const rows_here = buffers_ + use_.buffer * shape::elements;
      use_.advance();
      const index_t v = j * m_.mesh.row + i - column_, plane = m_.mesh.plane, row = m_.mesh.row;
      const T* const u_above = rows_here + shift(v + row) + level_ * shape::pitch;
      const T* const v_above = u_above + shape::levels * shape::pitch;
      const index_t west = column_ > 0 ? column_ - 1 : 0, here = column_, east = column_ + 1;
      T north[count], to_east[count], southeast_above[count];
      T u_north[count], v_north[count];
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        u_north[q] = u_above[q * shape::pitch + here];
        v_north[q] = v_above[q * shape::pitch + here];
      }
      const auto edge_rows = [&](int colour, index_t e) {
        return rows_here + shape::place(shape::edge + colour * shape::of_edge) + shift(e) + here;
      };
      const auto z_rows = [&](int colour, index_t e) {
        return rows_here + (shape::z + colour * shape::levels + level_) * shape::pitch + shift(e) +
               here;
      };
      {
        const nabla4<T> at_edge = stencil(edge_rows(0, v));
        const T* const z = z_rows(0, v);
        ICOBENCH_UNROLL_ALL
        for (int q = 0; q < count; ++q) {
          north[q] = at_edge({{s.u[q], u_north[q], u_above[q * shape::pitch + west], s.u_east[q]}},
                             {{s.v[q], v_north[q], v_above[q * shape::pitch + west], s.v_east[q]}},
                             z[q * shape::pitch]);
        }
      }
      {
        const nabla4<T> at_edge = stencil(edge_rows(1, v + plane));
        const T* const z = z_rows(1, v + plane);
        ICOBENCH_UNROLL_ALL
        for (int q = 0; q < count; ++q) {
          to_east[q] =
              at_edge({{s.u[q], s.u_east[q], u_north[q], s.u_southeast[q]}},
                      {{s.v[q], s.v_east[q], v_north[q], s.v_southeast[q]}}, z[q * shape::pitch]);
        }
      }
      {
        const nabla4<T> at_edge = stencil(edge_rows(2, v + row + 2 * plane));
        const T* const z = z_rows(2, v + row + 2 * plane);
        ICOBENCH_UNROLL_ALL
        for (int q = 0; q < count; ++q) {
          const T u_northeast = u_above[q * shape::pitch + east],
                  v_northeast = v_above[q * shape::pitch + east];
          southeast_above[q] =
              at_edge({{u_north[q], s.u_east[q], u_northeast, s.u[q]}},
                      {{v_north[q], s.v_east[q], v_northeast, s.v[q]}}, z[q * shape::pitch]);
          s.u_southeast[q] = s.u_east[q];
          s.v_southeast[q] = s.v_east[q];
          s.u[q] = u_north[q];
          s.v[q] = v_north[q];
          s.u_east[q] = u_northeast;
          s.v_east[q] = v_northeast;
        }
      }
      vector2<T> p[count];
      {
        const T* const coefficients = rows_here + shape::vertex * shape::pitch + shift(v) + here;
        interpolate<T> at_vertex;
        ICOBENCH_UNROLL_ALL
        for (int m = 0; m < 6; ++m) {
          at_vertex.coeff_1[m] = coefficients[m * shape::pitch];
          at_vertex.coeff_2[m] = coefficients[(m + 6) * shape::pitch];
        }
        ICOBENCH_UNROLL_ALL
        for (int q = 0; q < count; ++q) {
          const T east_of_west = t_.shuffle_up(to_east[q], 1, march_lanes);
          const T southeast_of_west = t_.shuffle_up(southeast_above[q], 1, march_lanes);
          p[q] = at_vertex({{east_of_west, to_east[q], s.north_below[q], north[q], s.southeast[q],
                             southeast_of_west}});
          s.north_below[q] = north[q];
          s.southeast[q] = southeast_above[q];
        }
      }
      verts2cells<T> up{}, down{};
      if constexpr (cells) {
        const index_t c = 2 * (v - row);
        const T* const coefficients = rows_here + shape::place(shape::cell) + shift(c) + 2 * here;
        ICOBENCH_UNROLL_ALL
        for (int m = 0; m < 3; ++m) {
          up.coeff_1[m] = coefficients[2 * m * shape::pitch];
          down.coeff_1[m] = coefficients[2 * m * shape::pitch + 1];
          up.coeff_2[m] = coefficients[2 * (m + 3) * shape::pitch];
          down.coeff_2[m] = coefficients[2 * (m + 3) * shape::pitch + 1];
        }
      }
      t_.sync();  // all have read the rows
      if (more) { fetch(n + depth); }
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        const index_t k = k0 + level_ + q;
        if constexpr (cells) {
          const vector2<T> east_p{t_.shuffle_down(p[q].u, 1, march_lanes),
                                  t_.shuffle_down(p[q].v, 1, march_lanes)};
          if (mine && n > 1 && k < m_.levels) {
            const vector2<T>&a = s.p[q], &b = s.p_east[q];
            gpu::store_pair(m_.cell.out.address(2 * (v + here - row), k),
                            up({{a.u, p[q].u, b.u}}, {{a.v, p[q].v, b.v}}),
                            down({{b.u, p[q].u, east_p.u}}, {{b.v, p[q].v, east_p.v}}));
          }
          s.p[q] = p[q];
          s.p_east[q] = east_p;
        } else if (mine && n > 0 && k < m_.levels) {
          m_.vertex.store(v + here, k, p[q]);
        }
      }
    }

    const march& m_;
    const Thread& t_;
    index_t column_, level_;
    ring fill_, use_;
    gpu::bulk_barrier* barriers_;
    source* sources_;
    T* buffers_;
  };
};

}  // namespace icobench::kernels
