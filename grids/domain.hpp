// Where each stage of a chain computes: the halo filter.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <icobench/chain.hpp>
#include <icobench/grids/grid.hpp>

namespace icobench {

// Ids in ascending order of the entities a stage computes (empty if the chain lacks the stage). On
// a torus with a halo they are the entities of a rectangle of vertices, and strided access is
// possible.
struct stage_domain {
  std::vector<index_t> ids;
  std::optional<rectangle> vertices;
};
using domain = std::array<stage_domain, stage_count>;

// A torus numbers so many edges and cells with the vertex that owns them.
constexpr index_t owned_by_vertex(location l) {
  return l == location::vertex ? 1 : l == location::edge ? 3 : 2;
}

// The domain of each stage.
//
// A torus with halo h >= 1 is computed away from its seam: single stencils on the vertices
// h <= i < nx - h (verts2cells from h - 1, since a cell reaches to i + 1), the later stages of a
// chain one vertex further inside where they read the earlier ones. With halo 0, and on other
// grids, everything is computed whose neighbours all exist and, in a chain, are computed. Throws
// input_error if a stage is left with nothing, or for a halo on a grid that is no torus.
domain make_domain(const grid&, const chain&, index_t halo);

// The halo a chain has when the user gives none.
index_t default_halo(const grid&, const chain&);

}  // namespace icobench
