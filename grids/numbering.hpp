// Where entities lie in memory: the order of edges, and computed entities before the halo.
#pragma once

#include <array>
#include <vector>

#include "grids/domain.hpp"
#include "grids/grid.hpp"

namespace icobench {

// For each location the storage id of each grid id.
struct numbering {
  std::array<std::vector<index_t>, 3> storage_id;
  const std::vector<index_t>& of(location l) const { return storage_id[std::size_t(l)]; }
};

// Strided access keeps vertices and cells and numbers edges by `o`.
//
// Indirect access puts the entities that each stage computes first, as ICON puts its halo last, so
// that a stage runs over 0 <= id < count and its arrays are as compact as filtered copies would be;
// within both parts the order is that of the grid, edges of a torus by `o`.
numbering make_numbering(const grid&, const domain&, access, ordering o);

// The location of a stage's results, as an index into numbering and domain.
constexpr stage stage_at(location l) {
  return l == location::edge     ? stage::nabla4
         : l == location::vertex ? stage::interpolate
                                 : stage::verts2cells;
}

}  // namespace icobench
