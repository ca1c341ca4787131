// All that a cell, or both cells of a vertex, need from the chain of three stencils: distinct
// vertices and edges, and who uses which.
#pragma once

#include <icobench/kernels/shared/cells_of_point.hpp>
#include <icobench/kernels/shared/column.hpp>

namespace icobench::kernels {

enum class cells { up, down, both };

// On a torus: offsets from the vertex that owns the cells, composed by the compiler.
struct cells_on_torus {
  int cells = 0, corners = 0, edges = 0, vertices = 0;
  torus::offset corner[4] = {};
  torus::edge_offset edge[19] = {};
  torus::offset vertex[14] = {};
  std::uint8_t corner_of_cell[2][3] = {};               // [cell][m]: which corner
  std::uint8_t edge_of_corner[4][6] = {};               // [corner][v2e slot]: which edge
  std::uint8_t vertex_of_edge[19][4] = {};              // [edge][diamond slot]: which vertex
  bool uses_edge[2][19] = {}, uses_vertex[2][14] = {};  // [cell]: is it in the cell's composition
};

namespace detail {
template <class Offset, std::size_t size>
ICOBENCH_FUNCTION constexpr std::uint8_t find_or_append(Offset (&list)[size], int& count,
                                                        const Offset& wanted) {
  int n = 0;
  while (n < count && !(list[n] == wanted)) { ++n; }
  if (n == count) { list[count++] = wanted; }
  return std::uint8_t(n);
}
}  // namespace detail

ICOBENCH_FUNCTION constexpr cells_on_torus compose_on_torus(cells which) {
  cells_on_torus r;
  for (int half = 0; half < 2; ++half) {
    if (which == (half == torus::up ? cells::down : cells::up)) { continue; }
    const int cell = r.cells++;
    for (int m = 0; m < 3; ++m) {
      const torus::offset v = torus::c2v[half][m];
      const auto corner = detail::find_or_append(r.corner, r.corners, v);
      r.corner_of_cell[cell][m] = corner;
      for (int s = 0; s < 6; ++s) {
        const torus::edge_offset spoke = torus::v2e[s];
        const torus::edge_offset e{spoke.colour, v.di + spoke.di, v.dj + spoke.dj};
        const auto edge = detail::find_or_append(r.edge, r.edges, e);
        r.edge_of_corner[corner][s] = edge;
        r.uses_edge[cell][edge] = true;
        for (int d = 0; d < 4; ++d) {
          const torus::offset tip = torus::diamond[e.colour][d];
          const torus::offset at{e.di + tip.di, e.dj + tip.dj};
          const auto vertex = detail::find_or_append(r.vertex, r.vertices, at);
          r.vertex_of_edge[edge][d] = vertex;
          r.uses_vertex[cell][vertex] = true;
        }
      }
    }
  }
  return r;
}

// The ids around the cells of vertex v of a torus. Kernels loop over positions; once the loops are
// unrolled, positions are constants.
template <cells which, class Mesh>
struct strided_cells {
  static constexpr int cell_count = which == cells::both ? 2 : 1;
  static constexpr int corner_count = which == cells::both ? 4 : 3;
  static constexpr int edge_count = which == cells::both ? 19 : 15;
  static constexpr int vertex_count = which == cells::both ? 14 : 12;
  template <class T, int count>
  using values = neighbours<T, count>;  // whatever is indexed by positions

  index_t first_cell;
  neighbours<index_t, corner_count> corner;
  neighbours<index_t, edge_count> edge;
  neighbours<index_t, vertex_count> vertex;

  ICOBENCH_FUNCTION strided_cells(const Mesh& mesh, index_t v)
      : first_cell(mesh.cell_of_point(v, which == cells::down)) {
    constexpr cells_on_torus at = compose_on_torus(which);
    static_assert(at.cells == cell_count && at.corners == corner_count && at.edges == edge_count &&
                  at.vertices == vertex_count);
    const auto moved = [&](int di, int dj) { return v + dj * mesh.row + di; };
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < corner_count; ++n) { corner[n] = moved(at.corner[n].di, at.corner[n].dj); }
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < edge_count; ++n) {
      edge[n] = mesh.id({moved(at.edge[n].di, at.edge[n].dj), at.edge[n].colour});
    }
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < vertex_count; ++n) { vertex[n] = moved(at.vertex[n].di, at.vertex[n].dj); }
  }
  // Edge n, for loops that are not unrolled.
  ICOBENCH_FUNCTION static index_t edge_at(const Mesh& mesh, index_t v, int n) {
    static constexpr cells_on_torus at = compose_on_torus(which);
    const torus::edge_offset e = at.edge[n];
    return mesh.id({v + e.dj * mesh.row + e.di, e.colour});
  }
  ICOBENCH_FUNCTION int corner_of_cell(int cell, int m) const {
    static constexpr cells_on_torus at = compose_on_torus(which);
    return at.corner_of_cell[cell][m];
  }
  ICOBENCH_FUNCTION int edge_of_corner(int n, int s) const {
    static constexpr cells_on_torus at = compose_on_torus(which);
    return at.edge_of_corner[n][s];
  }
  ICOBENCH_FUNCTION int vertex_of_edge(int n, int d) const {
    static constexpr cells_on_torus at = compose_on_torus(which);
    return at.vertex_of_edge[n][d];
  }
  ICOBENCH_FUNCTION bool uses_edge(int cell, int n) const {
    static constexpr cells_on_torus at = compose_on_torus(which);
    return at.uses_edge[cell][n];
  }
  ICOBENCH_FUNCTION bool uses_vertex(int cell, int n) const {
    static constexpr cells_on_torus at = compose_on_torus(which);
    return at.uses_vertex[cell][n];
  }
};

// The same of one cell from tables: positions are known at run time only.
template <class Mesh>
struct indirect_cell {
  static constexpr int cell_count = 1, corner_count = 3, edge_count = 15, vertex_count = 12;
  template <class T, int count>
  using values = column<T, count>;

  const Mesh& mesh;
  index_t first_cell;
  neighbours<index_t, 3> corner;
  neighbours<index_t, 15> edge;
  neighbours<index_t, 12> vertex;

  ICOBENCH_FUNCTION indirect_cell(const Mesh& mesh_, index_t c)
      : mesh(mesh_),
        first_cell(c),
        corner(mesh_.c2v(c, 0)),
        edge(mesh_.c2v2e(c)),
        vertex(mesh_.c2v2e2c2v(c)) {}
  ICOBENCH_FUNCTION static index_t edge_at(const Mesh& mesh, index_t c, int n) {
    return mesh.c2v2e_table(c, n, 0);
  }
  ICOBENCH_FUNCTION int corner_of_cell(int, int m) const { return m; }
  ICOBENCH_FUNCTION int edge_of_corner(int n, int s) const {
    return mesh.e_c2v2e(first_cell, 6 * n + s);
  }
  ICOBENCH_FUNCTION int vertex_of_edge(int n, int d) const {
    return mesh.e_c2v2e2c2v(first_cell, 4 * n + d);
  }
  ICOBENCH_FUNCTION bool uses_edge(int, int) const { return true; }
  ICOBENCH_FUNCTION bool uses_vertex(int, int) const { return true; }
};

}  // namespace icobench::kernels
