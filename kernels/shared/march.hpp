// March: the threads of a block lie side by side along a row of vertices, in sections of 32 lanes
// that overlap, and go from row to row. What a row needs is read once (shared/march_rows.hpp says
// how); what earlier rows gave stays in registers, and what neighbours in the row gave comes by
// shuffles. No intermediate result goes to memory. Read more than once are coefficients (by each
// group of levels, from the L2 cache), columns where sections overlap, and the rows a part of a
// strip begins with. The stencils are those of a march_chain, one or more.
#pragma once

#include <algorithm>

#include <icobench/kernels/shared/march_rows.hpp>

namespace icobench::kernels {

// The column where the first strip starts: even, so that copies of doubles are aligned.
template <class Chain>
ICOBENCH_FUNCTION inline index_t march_start(const rectangle& d) {
  return (d.i0 - Chain::first_lane) & ~1;
}
// Columns from there on, and their strips of so many.
template <class Chain>
ICOBENCH_FUNCTION inline index_t march_columns(const rectangle& d) {
  return d.i0 + d.ni - Chain::first_lane - march_start<Chain>(d);
}
template <class Chain>
ICOBENCH_FUNCTION inline index_t march_strips(const rectangle& d, index_t columns) {
  return ceil_div(march_columns<Chain>(d), columns);
}

// Blocks that go along together: those of all groups of levels at the same points, so that the
// coefficients they share are still in the L2 cache, unless coefficients have levels.
template <class Chain>
ICOBENCH_FUNCTION inline index_t march_team(index_t groups) {
  return Chain::vertical ? 1 : groups;
}

// Blocks of a march, at most as many as run at once, but one team at least.
template <class Chain>
gpu::extent3 march_blocks(const rectangle& domain, index_t levels, const march_shape<Chain>& shape,
                          unsigned resident) {
  const index_t groups = ceil_div(levels, shape.levels);
  const auto team = unsigned(march_team<Chain>(groups));
  const auto strips = unsigned(march_strips<Chain>(domain, shape.columns) * domain.copies);
  const unsigned rows = unsigned(domain.nj) * strips * unsigned(groups) / team;
  return {team * std::clamp(resident / team, 1u, (rows + 3) / 4), 1, 1};
}

// Parts that each strip is cut into. Teams take parts in turns, the same one of all
// strips before the next: teams side by side go in step, and whole rows are read at once. H200,
// 594x514: bulk 9 per cent faster than with an equal share of all rows for each team (298x257: 11),
// single stencils that read directly 8 to 19.
template <class Chain>
ICOBENCH_FUNCTION inline index_t march_parts(const rectangle& d, index_t strips, index_t teams) {
  constexpr index_t begin = Chain::before + 1;  // what it costs to begin one, in rows
  const index_t fewest = (strips + teams - 1) / teams;
  index_t best = 1, least = fewest * (d.nj + begin);
  for (index_t rounds = fewest; rounds < fewest + 4; ++rounds) {
    const index_t parts = rounds * teams / strips < d.nj ? rounds * teams / strips : d.nj;
    const index_t rows = rounds * ((d.nj + parts - 1) / parts + begin);
    if (rows < least) {
      least = rows;
      best = parts;
    }
  }
  return best;
}

// One thread's march over the operands of a kernel.
template <class Operands, class Shape, class Rows, class Thread>
class march {
  using T = typename Shape::element;
  using chain = typename Shape::chain;
  static constexpr auto shape = Shape::shape;
  static constexpr int count = shape.count;
  static_assert(shape.columns % 2 == 0, "every strip starts at an even column");

 public:
  ICOBENCH_DEVICE march(const Operands& f, const Thread& t) : f_(f), t_(t), rows_(f, t) {}

  ICOBENCH_DEVICE void run() {
    const rectangle& d = f_.domain;
    const index_t groups = ceil_div(f_.levels, shape.levels), team = march_team<chain>(groups);
    const index_t block = index_t(t_.block().x), teams = index_t(t_.grid_dim().x) / team;
    [[maybe_unused]] const index_t strips_of_one = march_strips<chain>(d, shape.columns);
    const index_t strips = Rows::copies ? strips_of_one * d.copies : strips_of_one;
    const index_t parts = march_parts<chain>(d, strips, teams);
    for (index_t n = block / team; n < strips * parts * (groups / team); n += teams) {
      const index_t part = n / strips % parts;
      const auto row = index_t(std::int64_t(d.nj) * part / parts);
      const auto end = index_t(std::int64_t(d.nj) * (part + 1) / parts);
      const index_t group = n / strips / parts * team + block % team;
      index_t strip = n % strips, first = d.j0 + row;
      if constexpr (Rows::copies) {
        const index_t copy = strip / strips_of_one;
        strip -= copy * strips_of_one;
        first += copy * d.distance;
      }
      walk(strip * shape.columns, first, end - row, march_levels_of(group, groups, f_.levels));
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
  ICOBENCH_DEVICE void walk(index_t first, index_t j0, index_t results, march_levels levels) {
    const rectangle& d = f_.domain;
    const index_t i0 = march_start<chain>(d) + first, i = i0 + rows_.column();
    const auto lane = index_t(t_.thread().x % march_lanes) - chain::first_lane;
    const bool mine = lane >= 0 && lane < chain::lanes && i >= d.i0 && i < d.i0 + d.ni;
    const index_t steps = results + chain::before;
    rows_.move_to((j0 - chain::below) * f_.mesh.row + i0, levels);
    state s[count];
    if constexpr (chain::edges) { start(s); }  // before the copies, behind which it would wait
    rows_.begin(steps, march_columns<chain>(d) - first);
    ICOBENCH_NO_UNROLL
    for (index_t n = 0; n < steps; ++n) {
      step(s, mine && n >= chain::before, mine && n < results);
    }
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
      const index_t k = rows_.existing(q);
      s[q].u_southeast = f_.edge.u(valid(v - row + 1), k);
      s[q].v_southeast = f_.edge.v(valid(v - row + 1), k);
      s[q].u = f_.edge.u(valid(v), k);
      s[q].v = f_.edge.v(valid(v), k);
      s[q].u_east = f_.edge.u(valid(v + 1), k);
      s[q].v_east = f_.edge.v(valid(v + 1), k);
    }
  }

  // A row j: its northern and eastern edges, the southeastern ones of the row above, its vertices,
  // the cells of the row below. Results are stored if this row is `mine`, southeastern edges if
  // those of the row above are.
  ICOBENCH_DEVICE void step(state* s, bool mine, [[maybe_unused]] bool above) {
    rows_.wait();
    T north[count], to_east[count], southeast[count];
    if constexpr (chain::edges) {
      compute_edges(s, north, to_east, southeast);
    } else if constexpr (chain::vertices) {
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) {
        north[q] = rows_.value(0, q);
        to_east[q] = rows_.value(1, q);
        southeast[q] = rows_.value(2, q);
      }
    }
    vector2<T> p[count];
    if constexpr (chain::vertices) {
      compute_vertices(s, north, to_east, southeast, p);
    } else if constexpr (chain::cells) {
      ICOBENCH_UNROLL_ALL
      for (int q = 0; q < count; ++q) { p[q] = {rows_.u(q, 0), rows_.v(q, 0)}; }
    }
    if constexpr (chain::cells) {
      finish_cells(s, p, mine);
    } else if constexpr (chain::vertices) {
      finish_vertices(p, mine);
    } else {
      finish_edges(north, to_east, southeast, mine, above);
    }
    rows_.next();
  }

  // Weights take fewer operations, once there are some levels for each. nabla4 and verts2cells
  // alone use their formulas, which round as the reference does.
  ICOBENCH_DEVICE auto edge_stencil(int colour, int q) const {
    if constexpr (chain::vertices && !chain::vertical) {
      return rows_.edge(colour, q).weights();
    } else {
      return rows_.edge(colour, q);
    }
  }
  ICOBENCH_DEVICE auto cell_stencil(int half) const {
    if constexpr (chain::vertices) {
      return rows_.cell(half).weights();
    } else {
      return rows_.cell(half);
    }
  }

  // `southeast`: of the row above.
  ICOBENCH_DEVICE void compute_edges(state* s, T* north, T* to_east, T* southeast) const {
    T u_north[count], v_north[count];
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      u_north[q] = rows_.u(q, 0);
      v_north[q] = rows_.v(q, 0);
    }
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      const auto stencil = edge_stencil(0, q);
      north[q] = stencil({{s[q].u, u_north[q], rows_.u(q, -1), s[q].u_east}},
                         {{s[q].v, v_north[q], rows_.v(q, -1), s[q].v_east}}, rows_.value(0, q));
    }
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      const auto stencil = edge_stencil(1, q);
      to_east[q] =
          stencil({{s[q].u, s[q].u_east, u_north[q], s[q].u_southeast}},
                  {{s[q].v, s[q].v_east, v_north[q], s[q].v_southeast}}, rows_.value(1, q));
    }
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      const auto stencil = edge_stencil(2, q);
      const T u_northeast = rows_.u(q, 1), v_northeast = rows_.v(q, 1);
      southeast[q] = stencil({{u_north[q], s[q].u_east, u_northeast, s[q].u}},
                             {{v_north[q], s[q].v_east, v_northeast, s[q].v}}, rows_.value(2, q));
      s[q].u_southeast = s[q].u_east;
      s[q].v_southeast = s[q].v_east;
      s[q].u = u_north[q];
      s[q].v = v_north[q];
      s[q].u_east = u_northeast;
      s[q].v_east = v_northeast;
    }
  }

  ICOBENCH_DEVICE void compute_vertices(state* s, const T* north, const T* to_east,
                                        const T* southeast, vector2<T>* p) const {
    const interpolate<T> stencil = rows_.vertex();
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      const T east_of_west = t_.shuffle_up(to_east[q], 1, march_lanes);
      const T southeast_of_west = t_.shuffle_up(southeast[q], 1, march_lanes);
      p[q] = stencil({{east_of_west, to_east[q], s[q].north_below, north[q], s[q].southeast,
                       southeast_of_west}});
      s[q].north_below = north[q];
      s[q].southeast = southeast[q];
    }
  }

  ICOBENCH_DEVICE void finish_edges(const T* north, const T* to_east, const T* southeast, bool mine,
                                    bool above) {
    rows_.release();
    const index_t v = rows_.vertex_id(), plane = f_.mesh.plane;
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      if (!rows_.has(q)) { continue; }
      T* const out = f_.edge.out.address(v, rows_.level(q));
      if (mine) {
        gpu::store_streaming(out, north[q]);
        gpu::store_streaming(out + plane, to_east[q]);
      }
      if (above) { gpu::store_streaming(out + 2 * plane + f_.mesh.row, southeast[q]); }
    }
  }

  ICOBENCH_DEVICE void finish_vertices(const vector2<T>* p, bool mine) {
    rows_.release();
    const index_t v = rows_.vertex_id();
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      if (mine && rows_.has(q)) {
        gpu::store_streaming(f_.vertex.p_u.address(v, rows_.level(q)), p[q].u);
        gpu::store_streaming(f_.vertex.p_v.address(v, rows_.level(q)), p[q].v);
      }
    }
  }

  ICOBENCH_DEVICE void finish_cells(state* s, const vector2<T>* p, bool mine) {
    const auto up = cell_stencil(0), down = cell_stencil(1);
    rows_.release();
    const index_t v = rows_.vertex_id();
    ICOBENCH_UNROLL_ALL
    for (int q = 0; q < count; ++q) {
      const vector2<T> east{t_.shuffle_down(p[q].u, 1, march_lanes),
                            t_.shuffle_down(p[q].v, 1, march_lanes)};
      const vector2<T> a = s[q].p, b = s[q].p_east;
      if (mine && rows_.has(q)) {
        gpu::store_pair_streaming(f_.cell.out.address(2 * (v - f_.mesh.row), rows_.level(q)),
                                  up({{a.u, p[q].u, b.u}}, {{a.v, p[q].v, b.v}}),
                                  down({{b.u, p[q].u, east.u}}, {{b.v, p[q].v, east.v}}));
      }
      s[q].p = p[q];
      s[q].p_east = east;
    }
  }

  const Operands& f_;
  const Thread& t_;
  Rows rows_;
};

// What the kernels of a chain have in common: rows copied ahead (`bulk`) or read directly; compiled
// for some shapes of blocks, of which the first is the default.
template <class Chain, bool bulk, class... Compiled>
struct marching {
  using compiled = compiled_list<Compiled...>;
  static constexpr bool clusters = ((Compiled::shape.cluster > 1) || ...);

  // The first shape that is compiled for a precision.
  static constexpr launch tuned(access, precision p) {
    launch first{};
    const auto is_compiled = [p](auto shape) {
      return p == precision::float64 ? is_compiled_in<double, decltype(shape)>()
                                     : is_compiled_in<float, decltype(shape)>();
    };
    ((is_compiled(Compiled{}) && (first = Compiled::shape, true)) || ...);
    first.cluster = 0;
    return first;
  }
  static constexpr const char* reject(const launch& l) {
    const march_shape<Chain> shape{l};
    if (l.block.x % march_lanes != 0 || l.block.y != 1 || shape.columns % 2 != 0) {
      return "a march has whole sections of 32 threads along x, results in an even number of "
             "columns, and one thread along y";
    }
    // More levels are not held in registers.
    if (l.levels < 1 || l.levels > 16) { return "a thread of a march has from 1 to 16 levels"; }
    if (bulk && march_buffer<Chain, float>{l}.rows > shape.threads) {
      return "each row that is copied needs a thread";
    }
    if (l.cluster > (clusters ? 8 : 1) || (l.cluster & (l.cluster - 1)) != 0) {
      return "multicast has clusters of 1, 2, 4 or 8 blocks, others of one";
    }
    return "";
  }
  template <class T>
  static constexpr std::size_t shared_bytes(const launch& l) {
    return bulk ? march_buffer<Chain, T>{l}.bytes : 0;
  }
  static gpu::extent3 grid(const rectangle& domain, index_t levels, const launch& l,
                           unsigned resident) {
    return march_blocks(domain, levels, march_shape<Chain>{l}, resident);
  }
  // The largest power of two that divides the blocks of a team: clusters of 3 and 5 were slower
  // than none.
  static unsigned cluster(index_t levels, const launch& l) {
    const index_t groups = ceil_div(levels, march_shape<Chain>{l}.levels);
    int size = l.cluster;
    while (groups % size != 0) { size /= 2; }
    return unsigned(size);
  }
  // Copies are of 16 bytes, from even columns; pairs of cells are stored at once.
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.field_alignment = bulk ? 16 / int(sizeof(T))
                                                                 : Chain::cells ? 2
                                                                                : 1,
                                              .row_alignment = bulk ? 2 : 1,
                                              .reject = &reject,
                                              .shared_bytes = &shared_bytes<T>,
                                              .grid = &grid,
                                              .cluster = &cluster,
                                              .copies = bulk};

  template <class Choice, class T, class Operands, class Thread>
  ICOBENCH_DEVICE static void run(const Operands& f, const Thread& t) {
    using shape = march_of<Chain, T, Choice>;
    using rows = std::conditional_t<bulk, copied_rows<Operands, shape, Thread>,
                                    direct_rows<Operands, shape, Thread>>;
    march<Operands, shape, rows, Thread>(f, t).run();
  }
};

// Rows read directly, copied ahead, or copied ahead with coefficients for several blocks at once.
template <bool bulk, class... Compiled>
constexpr kernel_info march_info(const char* chain, const char* fusion) {
  constexpr bool clusters = ((Compiled::shape.cluster > 1) || ...);
  return {.chain = chain,
          .schedule = "march",
          .fusion = fusion,
          .feature = clusters ? "multicast"
                     : bulk   ? "bulk"
                              : "",
          .description = clusters ? "a march with rows copied ahead, coefficients for a cluster of "
                                    "blocks at once"
                         : bulk   ? "a march whose rows are copied ahead to shared memory"
                                  : "blocks march over rows and keep what earlier rows gave",
          .written_for = meshes::strided_per_orientation,
          .bulk_copies = bulk};
}

}  // namespace icobench::kernels
