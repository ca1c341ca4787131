// March: the threads of a block lie side by side along a row of vertices, in sections of 32 lanes
// that overlap, and go from row to row. What a row needs is read once (shared/march_rows.hpp says
// how); what earlier rows gave stays in registers, and what neighbours in the row gave comes by
// shuffles. No intermediate result goes to memory, and only coefficients are read more than once:
// by each group of levels, from the L2 cache.
#pragma once

#include <algorithm>

#include <shared/march_rows.hpp>

namespace icobench::kernels {

// The column left of all strips, whose lane has no result: even, so that copies of doubles are
// aligned.
ICOBENCH_FUNCTION inline index_t march_start(const rectangle& d) {
  return (d.i0 - 1) & ~1;
}
template <class Shape>
ICOBENCH_FUNCTION inline index_t march_strips(const rectangle& d) {
  static_assert(Shape::columns % 2 == 0, "every strip starts at an even column");
  return (d.i0 + d.ni - 1 - march_start(d) + Shape::columns - 1) / Shape::columns;
}

// Blocks of a march, at most as many as run at once, but one team at least. A team has all levels
// of its points and goes along together, so that the coefficients it shares are still in the L2
// cache.
template <class Shape>
gpu::extent3 march_blocks(const rectangle& domain, index_t levels, unsigned resident) {
  const auto groups = unsigned(Shape::groups(levels));
  const auto strips = unsigned(march_strips<Shape>(domain));
  const unsigned rows = unsigned(domain.nj) * strips;
  return {groups * std::clamp(resident / groups, 1u, (rows + 3) / 4), 1, 1};
}

// One thread's march over the operands of a kernel.
template <class Operands, class Shape, class Rows, class Thread>
class march {
  using T = typename Shape::element;
  static constexpr int count = Shape::count;
  static constexpr bool cells = Shape::cells;

 public:
  ICOBENCH_DEVICE march(const Operands& f, const Thread& t) : f_(f), t_(t), rows_(f, t) {}

  // Rows of all strips one after another, an equal part for each team.
  ICOBENCH_DEVICE void run() {
    const rectangle& d = f_.domain;
    const index_t strips = march_strips<Shape>(d);
    const index_t groups = Shape::groups(f_.levels), block = index_t(t_.block().x);
    const index_t teams = index_t(t_.grid_dim().x) / groups, team = block / groups;
    const auto all = std::int64_t(strips) * d.nj;
    auto next = index_t(all * team / teams);
    const auto end = index_t(all * (team + 1) / teams);
    while (next < end) {
      const index_t row = next % d.nj;
      const index_t here = end - next < d.nj - row ? end - next : d.nj - row;
      walk(next / d.nj * Shape::columns, d.j0 + row, here, block % groups * Shape::levels);
      next += here;
    }
  }

 private:
  // What earlier rows gave, for each level of the thread.
  struct state {
    T u_southeast, v_southeast;        // (i + 1, j - 1)
    T u, v, u_east, v_east;            // (i, j), (i + 1, j)
    T north_below = 0, southeast = 0;  // nabla4 north of (i, j - 1), southeast of (i, j)
    vector2<T> p{}, p_east{};          // at (i, j - 1), (i + 1, j - 1)
  };

  // `results` rows from j0 on, of the strip that begins `first` columns after the first one.
  ICOBENCH_DEVICE void walk(index_t first, index_t j0, index_t results, index_t k0) {
    const index_t i0 = march_start(f_.domain) + first;
    const index_t i = i0 + rows_.column();
    const auto lane = index_t(t_.thread().x % march_lanes);
    const bool mine =
        lane >= 1 && lane <= Shape::results && i >= f_.domain.i0 && i < f_.domain.i0 + f_.domain.ni;
    const index_t steps = results + (cells ? 2 : 1);
    rows_.begin((j0 - 1) * f_.mesh.row + i0, k0, steps);
    state s[count];
    start(s);
    ICOBENCH_NO_UNROLL
    for (index_t n = 0; n < steps; ++n) { step(s, mine && n >= steps - results); }
  }

  // The rows of u and v that the first step finds in registers.
  ICOBENCH_DEVICE void start(state* s) const {
    const index_t v = rows_.vertex_id(), row = f_.mesh.row;
    // Lanes beyond the domain read something that exists.
    const auto valid = [&](index_t id) {
      return id < 0 ? 0 : id < f_.mesh.plane ? id : f_.mesh.plane - 1;
    };
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      const index_t k = rows_.level(q) < f_.levels ? rows_.level(q) : f_.levels - 1;
      s[q].u_southeast = f_.edge.u(valid(v - row + 1), k);
      s[q].v_southeast = f_.edge.v(valid(v - row + 1), k);
      s[q].u = f_.edge.u(valid(v), k);
      s[q].v = f_.edge.v(valid(v), k);
      s[q].u_east = f_.edge.u(valid(v + 1), k);
      s[q].v_east = f_.edge.v(valid(v + 1), k);
    }
  }

  // A row j: its northern and eastern edges, the southeastern ones of the row above, its vertices,
  // the cells of the row below.
  ICOBENCH_DEVICE void step(state* s, bool mine) {
    rows_.wait();
    T u_north[count], v_north[count], north[count], to_east[count], southeast_above[count];
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      u_north[q] = rows_.u_above(q, 0);
      v_north[q] = rows_.v_above(q, 0);
    }
    {
      const nabla4<T> stencil = rows_.edge(0);
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        north[q] =
            stencil({{s[q].u, u_north[q], rows_.u_above(q, -1), s[q].u_east}},
                    {{s[q].v, v_north[q], rows_.v_above(q, -1), s[q].v_east}}, rows_.z(0, q));
      }
    }
    {
      const nabla4<T> stencil = rows_.edge(1);
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        to_east[q] = stencil({{s[q].u, s[q].u_east, u_north[q], s[q].u_southeast}},
                             {{s[q].v, s[q].v_east, v_north[q], s[q].v_southeast}}, rows_.z(1, q));
      }
    }
    {
      const nabla4<T> stencil = rows_.edge(2);
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        const T u_northeast = rows_.u_above(q, 1), v_northeast = rows_.v_above(q, 1);
        southeast_above[q] =
            stencil({{u_north[q], s[q].u_east, u_northeast, s[q].u}},
                    {{v_north[q], s[q].v_east, v_northeast, s[q].v}}, rows_.z(2, q));
        s[q].u_southeast = s[q].u_east;
        s[q].v_southeast = s[q].v_east;
        s[q].u = u_north[q];
        s[q].v = v_north[q];
        s[q].u_east = u_northeast;
        s[q].v_east = v_northeast;
      }
    }
    vector2<T> p[count];
    {
      const interpolate<T> stencil = rows_.vertex();
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        const T east_of_west = t_.shuffle_up(to_east[q], 1, march_lanes);
        const T southeast_of_west = t_.shuffle_up(southeast_above[q], 1, march_lanes);
        p[q] = stencil({{east_of_west, to_east[q], s[q].north_below, north[q], s[q].southeast,
                         southeast_of_west}});
        s[q].north_below = north[q];
        s[q].southeast = southeast_above[q];
      }
    }
    finish(s, p, mine);
    rows_.next();
  }

  // Results of a row whose vertices have p.
  ICOBENCH_DEVICE void finish(state* s, const vector2<T>* p, bool mine) {
    const index_t v = rows_.vertex_id();
    if constexpr (cells) {
      const verts2cells<T> up = rows_.cell(0), down = rows_.cell(1);
      rows_.release();
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        const vector2<T> east{t_.shuffle_down(p[q].u, 1, march_lanes),
                              t_.shuffle_down(p[q].v, 1, march_lanes)};
        const vector2<T> a = s[q].p, b = s[q].p_east;
        if (mine && rows_.level(q) < f_.levels) {
          gpu::store_pair(f_.cell.out.address(2 * (v - f_.mesh.row), rows_.level(q)),
                          up({{a.u, p[q].u, b.u}}, {{a.v, p[q].v, b.v}}),
                          down({{b.u, p[q].u, east.u}}, {{b.v, p[q].v, east.v}}));
        }
        s[q].p = p[q];
        s[q].p_east = east;
      }
    } else {
      rows_.release();
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        if (mine && rows_.level(q) < f_.levels) {
          gpu::store_streaming(f_.vertex.p_u.address(v, rows_.level(q)), p[q].u);
          gpu::store_streaming(f_.vertex.p_v.address(v, rows_.level(q)), p[q].v);
        }
      }
    }
  }

  const Operands& f_;
  const Thread& t_;
  Rows rows_;
};

// What the variants have in common: with `cells` to verts2cells, else to interpolate; the rows
// copied ahead or read directly; compiled for some shapes of blocks.
template <bool cells, bool bulk, class... Compiled>
struct marching {
  using compiled = compiled_list<Compiled...>;
  static constexpr access only = access::strided;
  static constexpr ordering edges = ordering::per_orientation;
  static constexpr bool bulk_copies = bulk;

  template <class Choice, class T>
  static constexpr std::size_t shared_bytes_of() {
    return bulk ? march_buffer<march_shape<cells, T, Choice>>::bytes : 0;
  }
  template <class Choice>
  static gpu::extent3 grid(const rectangle& domain, index_t levels, unsigned resident) {
    return march_blocks<march_shape<cells, double, Choice>>(domain, levels, resident);
  }

  // The most that divides the blocks of a team.
  template <class Choice>
  static unsigned cluster(index_t levels) {
    const auto groups = unsigned(march_shape<cells, double, Choice>::groups(levels));
    unsigned size = Choice::cluster;
    while (groups % size != 0) { --size; }
    return size;
  }

  template <class Choice, class T, class Operands, class Thread>
  ICOBENCH_DEVICE static void run(const Operands& f, const Thread& t) {
    using shape = march_shape<cells, T, Choice>;
    using rows = std::conditional_t<bulk, copied_rows<Operands, shape, Thread>,
                                    direct_rows<Operands, shape, Thread>>;
    march<Operands, shape, rows, Thread>(f, t).run();
  }
};

// Registers a march with bulk copies where the backend has them.
template <class Backend, class Family>
void add_if_bulk_copies(registry& r, const variant_info& info) {
  if constexpr (Backend::bulk_copies) {
    add_gpu_variant<Backend, Family>(r, info);
  } else {
    r.add_absent(info, access::strided, Backend::name, "bulk copies and clusters are sm_90's");
  }
}

}  // namespace icobench::kernels
