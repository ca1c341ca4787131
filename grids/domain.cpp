#include "grids/domain.hpp"

#include <algorithm>

namespace icobench {
namespace {

std::size_t at(stage s) {
  return std::size_t(s);
}

// Vertices of each stage on a torus: [first, nx - last) and the same along j.
struct margins {
  index_t first, last;
};

margins stage_margins(const chain& c, stage s, index_t halo) {
  const bool alone = c.stages.size() == 1;
  switch (s) {
    case stage::nabla4:
      return {halo, halo};
    case stage::interpolate:
      return alone ? margins{halo, halo} : margins{halo + 1, halo + 1};
    default:
      return alone ? margins{halo - 1, halo} : margins{halo + 1, halo + 2};
  }
}

// The largest halo that leaves every stage something on an nx x ny torus.
index_t largest_halo(const torus_shape& t, const chain& c) {
  const index_t extent = std::min(t.nx, t.ny);
  for (index_t halo = extent; halo > 0; --halo) {
    const auto fits = [&](stage s) {
      const margins m = stage_margins(c, s, halo);
      return extent - m.first - m.last >= 1;
    };
    if (std::all_of(c.stages.begin(), c.stages.end(), fits)) { return halo; }
  }
  return 0;
}

std::vector<index_t> entities_of(const rectangle& r, index_t nx, index_t per_vertex) {
  std::vector<index_t> ids;
  ids.reserve(std::size_t(r.ni) * std::size_t(r.nj) * std::size_t(per_vertex));
  for (index_t j = r.j0; j < r.j0 + r.nj; ++j) {
    for (index_t i = r.i0; i < r.i0 + r.ni; ++i) {
      for (index_t c = 0; c < per_vertex; ++c) { ids.push_back(per_vertex * (j * nx + i) + c); }
    }
  }
  return ids;
}

domain torus_domain(const grid& g, const chain& c, index_t halo) {
  const torus_shape t = *g.shape;
  if (const index_t most = largest_halo(t, c); halo > most) {
    throw input_error(
        g.name + ": a halo of " + std::to_string(halo) + " leaves nothing of a torus of " +
        std::to_string(t.nx) + " x " + std::to_string(t.ny) + " vertices to compute for " +
        std::string(c.name) +
        (most > 0 ? "; the largest halo that fits is " + std::to_string(most)
                  : "; no halo fits, halo 0 computes across the seam (indirect access only)"));
  }
  domain result;
  for (const stage s : c.stages) {
    const margins m = stage_margins(c, s, halo);
    const rectangle r{m.first, m.first, t.nx - m.first - m.last, t.ny - m.first - m.last};
    const index_t per_vertex = s == stage::nabla4 ? 3 : s == stage::interpolate ? 1 : 2;
    result[at(s)] = {entities_of(r, t.nx, per_vertex), r};
  }
  return result;
}

template <class Predicate>
std::vector<index_t> ids_where(index_t count, Predicate computed) {
  std::vector<index_t> ids;
  for (index_t id = 0; id < count; ++id) {
    if (computed(id)) { ids.push_back(id); }
  }
  return ids;
}

std::vector<bool> marked(index_t count, const std::vector<index_t>& ids) {
  std::vector<bool> marks(std::size_t(count), false);
  for (const index_t id : ids) { marks[std::size_t(id)] = true; }
  return marks;
}

domain unstructured_domain(const grid& g, const chain& c) {
  domain result;
  // Edges with a full diamond; vertices all of whose edges are such; cells all of whose corners are
  // computed, or every cell when the values at vertices come from outside.
  const auto edge_ok = [&](index_t e) { return g.e2c(e, 0) != missing && g.e2c(e, 1) != missing; };
  const auto vertex_ok = [&](index_t v) {
    if (g.v2e(v, 0) == missing) { return false; }
    for (index_t s = 0; s < g.v2e.slots; ++s) {
      if (g.v2e(v, s) != missing && !edge_ok(g.v2e(v, s))) { return false; }
    }
    return true;
  };
  if (c.has(stage::nabla4)) { result[at(stage::nabla4)].ids = ids_where(g.edges, edge_ok); }
  if (c.has(stage::interpolate)) {
    result[at(stage::interpolate)].ids = ids_where(g.vertices, vertex_ok);
  }
  if (c.has(stage::verts2cells)) {
    const bool alone = !c.has(stage::interpolate);
    const auto corners = marked(g.vertices, result[at(stage::interpolate)].ids);
    result[at(stage::verts2cells)].ids = ids_where(g.cells, [&](index_t cell) {
      return alone ||
             (corners[std::size_t(g.c2v(cell, 0))] && corners[std::size_t(g.c2v(cell, 1))] &&
              corners[std::size_t(g.c2v(cell, 2))]);
    });
  }
  for (const stage s : c.stages) {
    if (result[at(s)].ids.empty()) {
      throw input_error(g.name + ": no point of the grid has all the neighbours that " +
                        std::string(info(s).name) + " needs");
    }
  }
  return result;
}

}  // namespace

domain make_domain(const grid& g, const chain& c, index_t halo) {
  if (halo < 0) { throw input_error("halo " + std::to_string(halo) + " is negative"); }
  if (!g.shape && halo > 0) {
    throw input_error(g.name + ": a halo of " + std::to_string(halo) +
                      " needs a torus; on this grid the boundary decides what is computed");
  }
  return g.shape && halo > 0 ? torus_domain(g, c, halo) : unstructured_domain(g, c);
}

index_t default_halo(const grid& g, const chain& c) {
  return g.shape ? c.default_halo : 0;
}

}  // namespace icobench
