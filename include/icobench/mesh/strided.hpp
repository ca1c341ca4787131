// The neighbours of a torus computed from (i, j): no tables.
#pragma once

#include <icobench/gpu/memory.hpp>
#include <icobench/mesh/positions.hpp>
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
    const index_t v = e.owner;
    switch (e.colour) {
      case 0:
        return {{v, v + row, v + row - 1, v + 1}};
      case 1:
        return {{v, v + 1, v + row, v - row + 1}};
      default:
        return {{v, v - row + 1, v + 1, v - row}};
    }
  }
  // Edge number `slot` of a vertex: E(-1,0), E(0,0), N(0,-1), N(0,0), SE(0,0), SE(-1,1).
  ICOBENCH_FUNCTION edge edge_of_vertex(index_t v, int slot) const {
    switch (slot) {
      case 0:
        return {v - 1, 1};
      case 1:
        return {v, 1};
      case 2:
        return {v - row, 0};
      case 3:
        return {v, 0};
      case 4:
        return {v, 2};
      default:
        return {v + row - 1, 2};
    }
  }
  // The two cells of an edge.
  ICOBENCH_FUNCTION neighbours<index_t, 2> e2c(const edge& e) const {
    const index_t up = 2 * e.owner, below = 2 * (e.owner - row);
    switch (e.colour) {
      case 0:
        return {{up - 1, up}};
      case 1:
        return {{up, below + 1}};
      default:
        return {{below + 1, below}};
    }
  }
  // Side `slot` of cell c of a vertex: the one between its corners slot and slot + 1.
  ICOBENCH_FUNCTION edge edge_of_cell(index_t v, int c, int slot) const {
    if (slot == c) {
      return {c == 0 ? v : v + row, c};
    }  // up: north of v; down: east of (i, j + 1)
    return slot == 1 - c ? edge{v + row, 2} : c == 0 ? edge{v, 1} : edge{v + 1, 0};
  }
  // The distinct vertices of the diamonds of those edges: see torus_offsets.hpp.
  ICOBENCH_FUNCTION neighbours<index_t, 7> v2e2c2v(index_t v) const {
    return {{v - 1, v, v + row - 1, v - row, v + 1, v + row, v - row + 1}};
  }
  ICOBENCH_FUNCTION packed_positions<24> e_v2e2c2v(index_t) const { return torus_e_v2e2c2v(); }
  ICOBENCH_FUNCTION index_t cell_of_point(index_t v, int c) const { return 2 * v + c; }
  ICOBENCH_FUNCTION neighbours<index_t, 3> c2v(index_t v, int c) const {
    return c == 0 ? neighbours<index_t, 3>{{v, v + row, v + 1}}
                  : neighbours<index_t, 3>{{v + 1, v + row, v + row + 1}};
  }
};

// The torus that the fastest kernels are written for: row and plane as above, in elements.
using torus_mesh = strided_mesh<ordering::per_orientation>;

}  // namespace icobench
