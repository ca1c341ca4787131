// The neighbours of a torus computed from (i, j): no tables.
#pragma once

#include <icobench/gpu/memory.hpp>
#include <icobench/mesh/positions.hpp>
#include <icobench/mesh/torus_offsets.hpp>
#include <icobench/types.hpp>

namespace icobench {

// A point is the vertex v = j * row + i; it owns three edges (colour 0 north, 1 east, 2 southeast)
// and two cells (0 up, 1 down). The closed forms hold where no neighbour lies across the seam
// (1 <= i < nx - 1 and 1 <= j < ny - 1; cells from 0).
template <ordering edges>
struct strided_mesh {
  static constexpr access kind = access::strided;
  static constexpr int edges_per_point = 3;
  static constexpr int cells_per_point = 2;
  using domain = rectangle;

  index_t row = 0;    // ids from (i, j) to (i, j + 1): nx
  index_t plane = 0;  // vertices: ids from one orientation to the next in per_orientation

  // For loops that compute their ids again in each round: see gpu::renew.
  ICOBENCH_FUNCTION strided_mesh renewed(index_t counter) const {
    return {gpu::renew(row, counter), plane};
  }

  // An edge by its owner; `id` makes the storage id of it.
  struct edge {
    index_t owner;
    int colour;
  };

  // The point number (x, y) of a domain, or -1 outside.
  ICOBENCH_FUNCTION index_t point(const rectangle& d, unsigned x, unsigned y) const {
    return index_t(x) < d.ni && index_t(y) < d.nj ? (d.j0 + index_t(y)) * row + d.i0 + index_t(x)
                                                  : -1;
  }
  ICOBENCH_FUNCTION edge edge_of_point(index_t v, int colour) const { return {v, colour}; }
  ICOBENCH_FUNCTION index_t id(const edge& e) const {
    return edges == ordering::per_vertex ? 3 * e.owner + e.colour : e.colour * plane + e.owner;
  }
  // The diamond of an edge: its ends, then the tips of its two cells.
  ICOBENCH_FUNCTION neighbours<index_t, 4> e2c2v(const edge& e) const {
    return with_constant<3>(e.colour, [&]<int n>() {
      using torus::diamond;
      return vertices<diamond[n][0], diamond[n][1], diamond[n][2], diamond[n][3]>(e.owner);
    });
  }
  ICOBENCH_FUNCTION edge edge_of_vertex(index_t v, int slot) const {
    return with_constant<6>(slot, [&]<int n>() { return edge_at<torus::v2e[n]>(v); });
  }
  // The two cells of an edge.
  ICOBENCH_FUNCTION neighbours<index_t, 2> e2c(const edge& e) const {
    return with_constant<3>(e.colour, [&]<int n>() {
      return neighbours<index_t, 2>{
          {cell<torus::e2c[n][0]>(e.owner), cell<torus::e2c[n][1]>(e.owner)}};
    });
  }
  // Side `slot` of cell c of a vertex: the one between its corners slot and slot + 1.
  ICOBENCH_FUNCTION edge edge_of_cell(index_t v, int c, int slot) const {
    return with_constant<6>(3 * c + slot,
                            [&]<int n>() { return edge_at<torus::c2e[n / 3][n % 3]>(v); });
  }
  // The distinct vertices of the diamonds of a vertex's edges.
  ICOBENCH_FUNCTION neighbours<index_t, 7> v2e2c2v(index_t v) const {
    using torus::v2e2c2v;
    return vertices<v2e2c2v[0], v2e2c2v[1], v2e2c2v[2], v2e2c2v[3], v2e2c2v[4], v2e2c2v[5],
                    v2e2c2v[6]>(v);
  }
  ICOBENCH_FUNCTION packed_positions<24> e_v2e2c2v(index_t) const { return torus_e_v2e2c2v(); }
  ICOBENCH_FUNCTION index_t cell_of_point(index_t v, int c) const { return 2 * v + c; }
  ICOBENCH_FUNCTION neighbours<index_t, 3> c2v(index_t v, int c) const {
    return with_constant<2>(c, [&]<int n>() {
      return vertices<torus::c2v[n][0], torus::c2v[n][1], torus::c2v[n][2]>(v);
    });
  }

 private:
  template <torus::offset... o>
  ICOBENCH_FUNCTION neighbours<index_t, sizeof...(o)> vertices(index_t v) const {
    return {{(v + o.dj * row + o.di)...}};
  }
  template <torus::edge_offset o>
  ICOBENCH_FUNCTION edge edge_at(index_t v) const {
    return {v + o.dj * row + o.di, o.colour};
  }
  template <torus::cell_offset o>
  ICOBENCH_FUNCTION index_t cell(index_t v) const {
    return 2 * (v + o.dj * row + o.di) + o.half;
  }
  // f<n>(): of unrolled loops, which know n, no branch is left.
  template <int count, class F>
  ICOBENCH_FUNCTION static auto with_constant(int n, const F& f) {
    if constexpr (count > 1) {
      if (n < count - 1) { return with_constant<count - 1>(n, f); }
    }
    return f.template operator()<count - 1>();
  }
};

// The torus that the fastest kernels are written for: row and plane as above, in elements.
using torus_mesh = strided_mesh<ordering::per_orientation>;

}  // namespace icobench
