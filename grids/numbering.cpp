#include "grids/numbering.hpp"

#include <numeric>

namespace icobench {
namespace {

std::vector<index_t> identity(index_t count) {
  std::vector<index_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

// Edges of a torus, orientation after orientation.
std::vector<index_t> by_orientation(index_t vertices) {
  std::vector<index_t> ids(std::size_t(vertices) * 3);
  for (index_t v = 0; v < vertices; ++v) {
    for (index_t c = 0; c < 3; ++c) { ids[std::size_t(3 * v + c)] = c * vertices + v; }
  }
  return ids;
}

// Moves `first` to the front and keeps the order of `ids` within both parts.
std::vector<index_t> computed_first(const std::vector<index_t>& ids,
                                    const std::vector<index_t>& first) {
  std::vector<index_t> at(ids.size());  // inverse of ids
  for (std::size_t g = 0; g < ids.size(); ++g) { at[std::size_t(ids[g])] = index_t(g); }
  std::vector<bool> computed(ids.size(), false);
  for (const index_t g : first) { computed[std::size_t(g)] = true; }
  std::vector<index_t> result(ids.size());
  index_t front = 0, back = index_t(first.size());
  for (const index_t g : at) {
    result[std::size_t(g)] = computed[std::size_t(g)] ? front++ : back++;
  }
  return result;
}

}  // namespace

numbering make_numbering(const grid& g, const domain& d, access a, ordering o) {
  const bool regroup = g.shape && o == ordering::per_orientation;
  numbering result;
  result.storage_id[std::size_t(location::vertex)] = identity(g.vertices);
  result.storage_id[std::size_t(location::edge)] =
      regroup ? by_orientation(g.vertices) : identity(g.edges);
  result.storage_id[std::size_t(location::cell)] = identity(g.cells);
  if (a == access::indirect) {
    for (const location l : {location::vertex, location::edge, location::cell}) {
      auto& ids = result.storage_id[std::size_t(l)];
      ids = computed_first(ids, d[std::size_t(stage_at(l))].ids);
    }
  }
  return result;
}

}  // namespace icobench
