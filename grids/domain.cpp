#include <icobench/grids/domain.hpp>

#include <algorithm>
#include <array>
#include <optional>

namespace icobench {
namespace {

std::size_t at(stage s) {
  return std::size_t(s);
}

// Rows and columns of vertices left out on each side of a torus: [first, nx - last) and the same
// along j are computed.
struct margins {
  index_t first, last;
};

// The first stage reads as far as row and column halo - 1, each later one what the one before
// computes.
margins stage_margins(const chain& c, stage s, index_t halo) {
  margins m{halo - 1, halo - 1};
  for (const stage each : c.stages) {
    m.first += info(each).rules.reach_before;
    m.last += info(each).rules.reach_after;
    if (each == s) { break; }
  }
  return m;
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
    throw input_error(g.name + ": a halo of " + std::to_string(halo) +
                      " leaves nothing of a torus of " + std::to_string(t.nx) + " x " +
                      std::to_string(t.ny) + " vertices to compute for " + std::string(c.name) +
                      (most > 0 ? "; the largest halo that fits is " + std::to_string(most) +
                                      ", halo 0 always does"
                                : "; only halo 0 fits") +
                      " (it computes across the seam, without strided access)");
  }
  domain result;
  for (const stage s : c.stages) {
    const margins m = stage_margins(c, s, halo);
    const rectangle r{m.first, m.first, t.nx - m.first - m.last, t.ny - m.first - m.last};
    result[at(s)] = {entities_of(r, t.nx, owned_by_vertex(info(s).on)), r};
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

// Points of which the neighbours that a stage reads all exist and, if an earlier stage of the chain
// computes them, are `computed`. Where pentagons are allowed a neighbour may be missing, but none
// may be an edge of the boundary.
std::vector<index_t> points_of(const grid& g, stage s, const std::vector<bool>* computed) {
  const table& t = table_of(g, info(s).reads);
  const bool pentagons = info(s).rules.pentagons;
  const auto on_boundary = [&](index_t neighbour) {
    return info(info(s).reads).to == location::edge &&
           (g.e2c(neighbour, 0) == missing || g.e2c(neighbour, 1) == missing);
  };
  return ids_where(t.rows(), [&](index_t point) {
    int there = 0;
    for (index_t n = 0; n < t.slots; ++n) {
      const index_t id = t(point, n);
      if (id == missing) {
        if (!pentagons) { return false; }
        continue;
      }
      if (computed && !(*computed)[std::size_t(id)]) { return false; }
      if (pentagons && on_boundary(id)) { return false; }
      ++there;
    }
    return there > 0;
  });
}

domain unstructured_domain(const grid& g, const chain& c) {
  domain result;
  std::array<std::optional<std::vector<bool>>, 3> computed;  // by location
  for (const stage s : c.stages) {
    const auto& neighbours = computed[std::size_t(info(info(s).reads).to)];
    auto& ids = result[at(s)].ids;
    ids = points_of(g, s, neighbours ? &*neighbours : nullptr);
    if (ids.empty()) {
      throw input_error(g.name + ": no point of the grid has all the neighbours that " +
                        std::string(info(s).name) + " needs");
    }
    computed[std::size_t(info(s).on)] = marked(table_of(g, info(s).reads).rows(), ids);
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
