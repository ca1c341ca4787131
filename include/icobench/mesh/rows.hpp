// The neighbours of any grid, read from tables row after row: all slots of a point at once, 16
// bytes a load, where indirect_mesh reads word by word.
//
// Trades coalescing for instructions: 32 threads that read 16 bytes each take four times as long as
// those that read 4, but there are four times fewer loads. Rows are padded to a multiple of 4.
#pragma once

#include <icobench/gpu/memory.hpp>
#include <icobench/types.hpp>

namespace icobench {

// The first `count` of row number n.
template <int count>
ICOBENCH_FUNCTION inline neighbours<index_t, count> row(const index_t* rows, index_t n) {
  constexpr int padded = (count + 3) / 4 * 4;
  neighbours<index_t, count> result;
  gpu::load_row(rows + std::ptrdiff_t(n) * padded, result.values);
  return result;
}

// The tables of single stencils.
struct row_mesh {
  static constexpr access kind = access::indirect;
  static constexpr int edges_per_point = 1;
  static constexpr int cells_per_point = 1;
  using domain = range;

  const index_t *e2c2v_rows, *v2e_rows, *c2v_rows, *e2c_rows, *c2e_rows;

  ICOBENCH_FUNCTION index_t point(const range& d, unsigned x, unsigned y) const {
    return index_t(x) < d.extent_x() && y == 0 ? d.begin + index_t(x) : -1;
  }
  ICOBENCH_FUNCTION index_t edge_of_point(index_t e, int) const { return e; }
  ICOBENCH_FUNCTION index_t id(index_t e) const { return e; }
  ICOBENCH_FUNCTION neighbours<index_t, 4> e2c2v(index_t e) const { return row<4>(e2c2v_rows, e); }
  ICOBENCH_FUNCTION index_t cell_of_point(index_t c, int) const { return c; }
  ICOBENCH_FUNCTION neighbours<index_t, 3> c2v(index_t c, int) const { return row<3>(c2v_rows, c); }
  ICOBENCH_FUNCTION neighbours<index_t, 2> e2c(index_t e) const { return row<2>(e2c_rows, e); }
};
ICOBENCH_FUNCTION inline neighbours<index_t, 6> v2e(const row_mesh& mesh, index_t v) {
  return row<6>(mesh.v2e_rows, v);
}

ICOBENCH_FUNCTION inline neighbours<index_t, 3> c2e(const row_mesh& mesh, index_t c, int) {
  return row<3>(mesh.c2e_rows, c);
}

// Edges in threes: those of a vertex of a torus.
struct edge_triples {
  range edges;
  ICOBENCH_FUNCTION constexpr index_t extent_x() const { return edges.extent_x() / 3; }
  ICOBENCH_FUNCTION constexpr index_t extent_y() const { return 1; }
};

// A point is a vertex with the three edges that a torus numbers after it. Their diamonds have six
// distinct vertices, which one row holds: 6 ids instead of 12, and 12 values of u and v instead of
// 24, as with strided access.
struct vertex_row_mesh {
  static constexpr access kind = access::indirect;
  static constexpr int edges_per_point = 3;
  static constexpr int cells_per_point = 1;
  using domain = edge_triples;

  struct edge {
    index_t owner;
    int colour;
  };
  const index_t* diamonds;  // vertices 0 to 3 of the first edge, 3 of the second, 3 of the third
  index_t owner_step, colour_step;  // from edge to edge

  ICOBENCH_FUNCTION index_t point(const edge_triples& d, unsigned x, unsigned y) const {
    return index_t(x) < d.extent_x() && y == 0 ? index_t(x) : -1;
  }
  ICOBENCH_FUNCTION edge edge_of_point(index_t v, int colour) const { return {v, colour}; }
  ICOBENCH_FUNCTION index_t id(const edge& e) const {
    return e.owner * owner_step + e.colour * colour_step;
  }
  ICOBENCH_FUNCTION neighbours<index_t, 4> e2c2v(const edge& e) const {
    const neighbours<index_t, 6> v = row<6>(diamonds, e.owner);
    switch (e.colour) {
      case 0:
        return {{v[0], v[1], v[2], v[3]}};
      case 1:
        return {{v[0], v[3], v[1], v[4]}};
      default:
        return {{v[0], v[4], v[3], v[5]}};
    }
  }
};

// The mesh that reads tables so, instead of the usual one.
template <class Mesh, table_use tables>
struct mesh_reading {
  using type = Mesh;
};
template <class Mesh>
struct mesh_reading<Mesh, table_use::rows> {
  using type = row_mesh;
};
template <class Mesh>
struct mesh_reading<Mesh, table_use::by_vertex> {
  using type = vertex_row_mesh;
};

}  // namespace icobench
