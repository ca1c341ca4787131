// The meshes a kernel is written for, and what follows from their common interface:
//
//   point(domain, x, y)                      the point computed by thread (x, y), -1 outside
//   edge_of_point(point, c), c2v(point, c)   the edges and cells a point stands for
//   edge_of_vertex(vertex, slot)             an edge of a vertex
//   edge_of_cell(point, c, slot)             an edge of a cell of a point
//   id(edge), e2c2v(edge), e2c(edge)         its storage id, its diamond, its cells
#pragma once

#include <icobench/mesh/indirect.hpp>
#include <icobench/mesh/rows.hpp>
#include <icobench/mesh/strided.hpp>

namespace icobench {

// The ids of a vertex's six edges.
template <class Mesh>
ICOBENCH_FUNCTION inline neighbours<index_t, 6> v2e(const Mesh& mesh, index_t v) {
  neighbours<index_t, 6> ids;
  ICOBENCH_UNROLL_ALL
  for (int s = 0; s < 6; ++s) { ids[s] = mesh.id(mesh.edge_of_vertex(v, s)); }
  return ids;
}

// The ids of the three edges of cell c of a point.
template <class Mesh>
ICOBENCH_FUNCTION inline neighbours<index_t, 3> c2e(const Mesh& mesh, index_t point, int c) {
  neighbours<index_t, 3> ids;
  ICOBENCH_UNROLL_ALL
  for (int s = 0; s < 3; ++s) { ids[s] = mesh.id(mesh.edge_of_cell(point, c, s)); }
  return ids;
}

}  // namespace icobench
