// Recognising the hexagonal torus in a grid of any numbering.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <icobench/grids/grid.hpp>

namespace icobench {

// Where each entity of a grid lies on the torus: torus ids (grids/torus.hpp) by id in the grid.
struct torus_embedding {
  torus_shape shape;
  std::vector<index_t> vertex, edge, cell;
};

// The embedding that keeps the vertex ids if there is one, else some embedding that puts vertex 0
// at (0, 0); nothing if the grid is not a torus of ours (even nx >= 4, ny >= 3, rows shifted by
// nx/2 once around). The grid must have passed check_grid and have its diamonds (e2c2v).
std::optional<torus_embedding> recognise_torus(const grid& g);

// The torus itself, with the name and uuid of the grid it was recognised in.
grid renumbered_as_torus(const grid& g, const torus_embedding& embedding);

// How the edges of a grid are numbered, relative to its own vertex ids v:
//   "per_vertex"       3v + colour
//   "per_orientation"  colour*V + v
//   "icon_file"        3v, 3v + 1, and as 3v + 2 the edge opposite to v in the up cell of v
//   "other"
std::string edge_numbering(const grid& as_in_file, const torus_embedding& embedding);

}  // namespace icobench
