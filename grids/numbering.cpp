#include <icobench/grids/numbering.hpp>

#include <algorithm>
#include <bit>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>

namespace icobench {
namespace {

std::vector<index_t> identity(index_t count) {
  std::vector<index_t> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

std::vector<index_t> inverse(const std::vector<index_t>& ids) {
  std::vector<index_t> at(ids.size());
  for (std::size_t n = 0; n < ids.size(); ++n) { at[std::size_t(ids[n])] = index_t(n); }
  return at;
}

// How far along the Hilbert curve of a square of that size, a power of two, (i, j) lies. Each of
// the four quarters is a smaller curve, the first turned over one diagonal, the last over the
// other.
std::uint64_t along_hilbert_curve(std::uint32_t size, std::uint32_t i, std::uint32_t j) {
  std::uint64_t distance = 0;
  for (std::uint32_t half = size / 2; half > 0; half /= 2) {
    const bool right = i & half, upper = j & half;
    distance += std::uint64_t(half) * half * (right ? (upper ? 2 : 3) : (upper ? 1 : 0));
    i &= half - 1;
    j &= half - 1;
    if (!upper) {
      if (right) {
        i = half - 1 - i;
        j = half - 1 - j;
      }
      std::swap(i, j);
    }
  }
  return distance;
}

std::vector<index_t> hilbert_places(const torus_shape& t) {
  const auto size = std::bit_ceil(std::uint32_t(std::max(t.nx, t.ny)));
  std::vector<std::uint64_t> along;
  for (index_t j = 0; j < t.ny; ++j) {
    for (index_t i = 0; i < t.nx; ++i) {
      along.push_back(along_hilbert_curve(size, std::uint32_t(i), std::uint32_t(j)));
    }
  }
  std::vector<index_t> order = identity(index_t(along.size()));
  std::sort(order.begin(), order.end(),
            [&](index_t a, index_t b) { return along[std::size_t(a)] < along[std::size_t(b)]; });
  return inverse(order);
}

std::vector<index_t> breadth_first_places(const grid& g) {
  std::vector<index_t> place(std::size_t(g.vertices), missing), order;
  const auto visit = [&](index_t v) {
    if (place[std::size_t(v)] != missing) { return; }
    place[std::size_t(v)] = index_t(order.size());
    order.push_back(v);
  };
  std::size_t next = 0;
  for (index_t first = 0; first < g.vertices; ++first) {
    visit(first);  // of each part of the grid
    for (; next < order.size(); ++next) {
      for (index_t s = 0; s < g.v2e.slots; ++s) {
        const index_t e = g.v2e(order[next], s);
        if (e == missing) { continue; }
        visit(g.e2v(e, 0));
        visit(g.e2v(e, 1));
      }
    }
  }
  return place;
}

// The same for every standard library.
std::vector<index_t> shuffled_places(index_t count) {
  std::vector<index_t> place = identity(count);
  std::mt19937_64 random(1);
  for (std::size_t n = place.size(); n > 1; --n) {
    std::swap(place[n - 1], place[std::size_t(random() % n)]);
  }
  return place;
}

// What each vertex owns `owned` of, by the places of the owners.
std::vector<index_t> together(const std::vector<index_t>& place, index_t owned) {
  std::vector<index_t> ids;
  for (const index_t p : place) {
    for (index_t c = 0; c < owned; ++c) { ids.push_back(owned * p + c); }
  }
  return ids;
}
// Edges of a torus, orientation after orientation, each a plane of places of their owners.
std::vector<index_t> by_orientation(const std::vector<index_t>& place, index_t plane) {
  std::vector<index_t> ids;
  for (const index_t p : place) {
    for (index_t c = 0; c < 3; ++c) { ids.push_back(c * plane + p); }
  }
  return ids;
}

// Entities by the places of their owners, those of one owner in the order of the grid. On a torus
// an owner has `owned` of them, elsewhere it is the first of the vertices in the entity's row.
std::vector<index_t> by_owner(const grid& g, const std::vector<index_t>& place, const table& t,
                              index_t owned) {
  std::vector<index_t> owner(std::size_t(t.rows()));
  for (index_t h = 0; h < t.rows(); ++h) {
    index_t first = g.shape ? place[std::size_t(h / owned)] : g.vertices;
    for (index_t s = 0; s < t.slots && !g.shape; ++s) {
      first = std::min(first, place[std::size_t(t(h, s))]);
    }
    owner[std::size_t(h)] = first;
  }
  std::vector<index_t> order = identity(t.rows());
  std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) {
    return owner[std::size_t(a)] < owner[std::size_t(b)];
  });
  return inverse(order);
}

// Moves `first` to the front and keeps the order of `ids` within both parts.
std::vector<index_t> computed_first(const std::vector<index_t>& ids,
                                    const std::vector<index_t>& first) {
  const std::vector<index_t> at = inverse(ids);
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

index_t elements_of(row_pitch p, index_t nx, std::size_t element_bytes) {
  const auto unit = index_t((p == row_pitch::aligned ? 128 : 16) / element_bytes);
  if (p == row_pitch::grid) { return nx; }
  const index_t units = ceil_div(nx, unit);
  return (p == row_pitch::staggered ? units | 1 : units) * unit;
}

void require_order(const grid& g, vertex_order o) {
  if (o == vertex_order::hilbert && !g.shape) {
    throw input_error(g.name +
                      ": a Hilbert curve needs positions, which only a torus has; "
                      "breadth_first works on any grid");
  }
}

std::vector<index_t> places(const grid& g, vertex_order o) {
  require_order(g, o);
  switch (o) {
    case vertex_order::row:
      return identity(g.vertices);
    case vertex_order::hilbert:
      return hilbert_places(*g.shape);
    case vertex_order::breadth_first:
      return breadth_first_places(g);
    default:
      return shuffled_places(g.vertices);
  }
}

numbering make_strided_numbering(const grid& torus, ordering o, index_t row) {
  const auto [nx, ny] = torus.shape.value();
  std::vector<index_t> place;
  for (index_t j = 0; j < ny; ++j) {
    for (index_t i = 0; i < nx; ++i) { place.push_back(j * row + i); }
  }
  const index_t plane = row * ny;
  numbering result;
  result.counts = {plane, 3 * plane, 2 * plane};
  result.storage_id[std::size_t(location::edge)] =
      o == ordering::per_orientation ? by_orientation(place, plane) : together(place, 3);
  result.storage_id[std::size_t(location::cell)] = together(place, 2);
  result.storage_id[std::size_t(location::vertex)] = std::move(place);
  return result;
}

numbering make_numbering(const grid& g, const domain& d, ordering o, vertex_order vertices) {
  const bool regroup = g.shape && o == ordering::per_orientation;
  const bool in_grid_order = vertices == vertex_order::row;
  numbering result;
  result.counts = {g.vertices, g.edges, g.cells};
  const auto id = [&](location l) -> std::vector<index_t>& {
    return result.storage_id[std::size_t(l)];
  };
  const auto& place = id(location::vertex) = places(g, vertices);
  id(location::edge) = regroup         ? by_orientation(place, g.vertices)
                       : in_grid_order ? identity(g.edges)
                                       : by_owner(g, place, g.e2v, 3);
  id(location::cell) = in_grid_order ? identity(g.cells) : by_owner(g, place, g.c2v, 2);
  // Of several stages on one location, the points of the last one are first of all.
  for (const stage_info& s : stage_table) {
    const auto& ids = d[std::size_t(&s - stage_table.data())].ids;
    if (!ids.empty()) { id(s.on) = computed_first(id(s.on), ids); }
  }
  for (const stage_info& s : stage_table) {
    const auto& ids = d[std::size_t(&s - stage_table.data())].ids;
    const auto count = index_t(ids.size());
    const auto in_front = [&](index_t i) { return id(s.on)[std::size_t(i)] < count; };
    if (!std::all_of(ids.begin(), ids.end(), in_front)) {
      throw std::logic_error("the points of a later stage are not all among those of " +
                             std::string(s.name) + ", on the same location");
    }
  }
  return result;
}

}  // namespace icobench
