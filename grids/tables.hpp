// Neighbour tables derived and composed from the elementary ones, and checks of a grid.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include <icobench/grids/grid.hpp>
#include <icobench/mesh/torus_offsets.hpp>

namespace icobench {

// Derived tables. Their inputs must have passed check_grid (a table not yet derived may be empty).

// vertices x 6, edges in order of id. Throws input_error if a vertex has more than six.
table make_v2e(const table& e2v, index_t vertices);
// edges x 4: both ends, then the tips (third corners) of the first and second adjacent cell.
table make_e2c2v(const table& e2v, const table& e2c, const table& c2v);
// vertices x 6, cells in order of id. Throws input_error if a vertex has more than six.
table make_v2c(const table& c2v, index_t vertices);
// cells x 3: the sides between corners 0-1, 1-2 and 2-0, as ICON's edge_of_cell.
table make_c2e(const table& e2v, const table& e2c, const table& c2v);
// vertices x 6: the far ends of v2e, slot by slot.
table make_v2v(const table& v2e, const table& e2v);

// A composed table without repetitions, and where in its row each entry of the plain composition
// is found again.
struct composed {
  table members;
  table positions;
};

// On a torus (g.shape set) members are in the order of the closed forms in torus_offsets.hpp, and
// repeat an id where the torus is so small that offsets coincide (ny = 3). Elsewhere they are
// distinct, in order of first occurrence, padded with `missing`; an entry of the composition that
// is missing has the position `missing`. Throw input_error if a row has more members than slots.

// members: vertices x 7, the vertices of the diamonds of a vertex's edges;
// positions: vertices x 24, of [v2e slot][diamond slot].
composed make_v2e2c2v(const grid& g);
// members: cells x 15, the edges of a cell's corners; positions: cells x 18, of [corner][v2e slot].
composed make_c2v2e(const grid& g);
// members: cells x 12, the vertices of the diamonds of the edges in c2v2e;
// positions: cells x 60, of [c2v2e slot][diamond slot].
composed make_c2v2e2c2v(const grid& g, const table& c2v2e);

// Row of per-(edge, diamond slot) data: edge after edge, or slot after slot so that adjacent
// threads read adjacent words.
constexpr index_t e2ecv(index_t edge, index_t slot, index_t edges, ordering o) {
  return o == ordering::per_vertex ? 4 * edge + slot : slot * edges + edge;
}

struct grid_report {
  index_t vertices = 0;
  index_t edges = 0;
  index_t cells = 0;
  std::int64_t euler = 0;                  // vertices - edges + cells: 0 torus, 2 sphere, 1 disc
  std::array<index_t, 7> valence{};        // [n]: vertices with n edges
  index_t boundary_edges = 0;              // with one adjacent cell
  std::int64_t missing_neighbours = 0;     // `missing` slots of e2c and v2e
  bool vertices_and_edges_mutual = false;  // e in v2e[v] exactly if v in e2v[e]
  bool edges_and_cells_mutual = false;     // c in e2c[e] exactly if both ends of e are in c2v[c]
};

// Counts and mutuality. Safe for any table contents; tables must have the sizes of their entities.
grid_report inspect(const grid& g);

// "sphere", "limited area", "periodic" (closed, Euler number 0) or "other".
std::string kind_of(const grid_report& report);

// Throws input_error "NAME: variable 'VARIABLE': ..." (the ICON name of the table) for a grid that
// cannot be: an index out of range, a cell that repeats a vertex, an edge not among its cells'
// sides, tables that disagree. An empty e2c2v counts as not yet derived.
void check_grid(const grid& g);

}  // namespace icobench
