// Where entities lie in memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include <icobench/grids/numbering.hpp>
#include <icobench/grids/torus.hpp>

#include "tests/grids_support.hpp"

namespace icobench::test {
namespace {

constexpr vertex_order orders[] = {vertex_order::row, vertex_order::hilbert,
                                   vertex_order::breadth_first, vertex_order::shuffled};

std::vector<index_t> inverse(const std::vector<index_t>& ids) {
  std::vector<index_t> at(ids.size(), missing);
  for (std::size_t n = 0; n < ids.size(); ++n) { at.at(std::size_t(ids[n])) = index_t(n); }
  return at;
}

// Every id once, those of the domain first.
void expect_numbering(const numbering& n, const grid& g, const domain& d) {
  const index_t counts[] = {g.vertices, g.edges, g.cells};
  for (const location l : {location::vertex, location::edge, location::cell}) {
    const auto& ids = n.of(l);
    EXPECT_EQ(index_t(ids.size()), counts[std::size_t(l)]);
    EXPECT_EQ(std::set<index_t>(ids.begin(), ids.end()).size(), ids.size());
    EXPECT_GE(*std::min_element(ids.begin(), ids.end()), 0);
    for (std::size_t s = 0; s < d.size(); ++s) {
      if (info(stage(s)).on != l) { continue; }
      for (const index_t h : d[s].ids) {
        EXPECT_LT(ids[std::size_t(h)], index_t(d[s].ids.size())) << to_string(l) << " " << h;
      }
    }
  }
}

TEST(numbering, every_id_once_and_computed_first) {
  const chain& c = *find_chain("nabla4_interpolate_verts2cells");
  std::mt19937 random(3);
  const grid torus = make_torus({14, 9}), sphere = shuffled(icosphere(1), random);
  for (const grid* g : {&torus, &sphere}) {
    const domain d = make_domain(*g, c, g->shape ? 1 : 0);
    for (const vertex_order v : orders) {
      if (v == vertex_order::hilbert && !g->shape) { continue; }
      for (const ordering o : {ordering::per_vertex, ordering::per_orientation}) {
        SCOPED_TRACE(g->name + " " + std::string(to_string(v)) + " " + std::string(to_string(o)));
        expect_numbering(make_numbering(*g, d, o, v), *g, d);
      }
    }
  }
}

// Without a halo all are computed: edges and cells lie where the vertex that owns them does.
TEST(numbering, edges_and_cells_follow_their_vertex) {
  const grid g = make_torus({8, 7});
  const domain d = make_domain(g, *find_chain("nabla4_interpolate_verts2cells"), 0);
  for (const vertex_order v : orders) {
    SCOPED_TRACE(to_string(v));
    const auto pv = make_numbering(g, d, ordering::per_vertex, v);
    const auto po = make_numbering(g, d, ordering::per_orientation, v);
    const auto place = places(g, v);
    EXPECT_EQ(pv.of(location::vertex), place);
    for (index_t e = 0; e < g.edges; ++e) {
      const index_t owner = place[std::size_t(e / 3)];
      EXPECT_EQ(pv.of(location::edge)[std::size_t(e)], 3 * owner + e % 3);
      EXPECT_EQ(po.of(location::edge)[std::size_t(e)], e % 3 * g.vertices + owner);
    }
    for (index_t h = 0; h < g.cells; ++h) {
      EXPECT_EQ(pv.of(location::cell)[std::size_t(h)], 2 * place[std::size_t(h / 2)] + h % 2);
    }
  }
}

// Rows of vertices lie apart, and what a vertex owns follows from its place.
TEST(numbering, strided_rows) {
  const grid g = make_torus({6, 4});
  for (const index_t row : {6, 10}) {
    const index_t plane = row * 4;
    const auto pv = make_strided_numbering(g, ordering::per_vertex, row);
    const auto po = make_strided_numbering(g, ordering::per_orientation, row);
    EXPECT_EQ(pv.counts, (std::array{plane, 3 * plane, 2 * plane}));
    for (index_t v = 0; v < g.vertices; ++v) {
      const index_t place = v / 6 * row + v % 6;
      EXPECT_EQ(pv.of(location::vertex)[std::size_t(v)], place);
      for (index_t c = 0; c < 3; ++c) {
        EXPECT_EQ(pv.of(location::edge)[std::size_t(3 * v + c)], 3 * place + c);
        EXPECT_EQ(po.of(location::edge)[std::size_t(3 * v + c)], c * plane + place);
      }
      for (index_t h = 0; h < 2; ++h) {
        EXPECT_EQ(po.of(location::cell)[std::size_t(2 * v + h)], 2 * place + h);
      }
    }
  }
}

TEST(numbering, distances_of_rows) {
  EXPECT_EQ(elements_of(row_pitch::grid, 594, 8), 594);
  EXPECT_EQ(elements_of(row_pitch::aligned, 594, 8), 608);
  EXPECT_EQ(elements_of(row_pitch::aligned, 608, 8), 608);
  EXPECT_EQ(elements_of(row_pitch::aligned, 594, 4), 608);
  for (const std::size_t bytes : {std::size_t(4), std::size_t(8)}) {
    for (index_t nx = 2; nx < 70; nx += 2) {
      const index_t row = elements_of(row_pitch::staggered, nx, bytes);
      EXPECT_EQ(std::size_t(row) * bytes % 32, 16u);
      EXPECT_GE(row, nx);
      EXPECT_LT(std::size_t(row - nx) * bytes, 32u);
    }
  }
}

TEST(numbering, hilbert_goes_from_neighbour_to_neighbour) {
  const auto order = inverse(places(make_torus({16, 16}), vertex_order::hilbert));
  for (std::size_t n = 1; n < order.size(); ++n) {
    const index_t a = order[n - 1], b = order[n];
    EXPECT_EQ(std::abs(a % 16 - b % 16) + std::abs(a / 16 - b / 16), 1) << n;
  }
  EXPECT_THROW(places(icosphere(0), vertex_order::hilbert), input_error);
  EXPECT_THROW(require_order(icosphere(0), vertex_order::hilbert), input_error);
  require_order(icosphere(0), vertex_order::breadth_first);
  require_order(make_torus({4, 3}), vertex_order::hilbert);
}

TEST(numbering, breadth_first_never_goes_back) {
  std::mt19937 random(5);
  const grid g = shuffled(icosphere(1), random);
  const auto place = places(g, vertex_order::breadth_first);
  std::vector<index_t> distance(place.size(), 0);  // from the first vertex
  index_t last = 0;
  for (const index_t v : inverse(place)) {
    index_t nearest = g.vertices;
    for (index_t s = 0; s < 6; ++s) {
      if (g.v2e(v, s) == missing) { continue; }
      for (const index_t end : {g.e2v(g.v2e(v, s), 0), g.e2v(g.v2e(v, s), 1)}) {
        if (place[std::size_t(end)] < place[std::size_t(v)]) {
          nearest = std::min(nearest, distance[std::size_t(end)] + 1);
        }
      }
    }
    if (place[std::size_t(v)] > 0) { distance[std::size_t(v)] = nearest; }
    EXPECT_GE(distance[std::size_t(v)], last);
    last = distance[std::size_t(v)];
  }
  EXPECT_GT(last, 1);
  EXPECT_LT(last, 10);
}

TEST(numbering, shuffled_is_bad_and_always_the_same) {
  const grid g = make_torus({32, 32});
  const auto place = places(g, vertex_order::shuffled);
  EXPECT_EQ(place, places(g, vertex_order::shuffled));
  double sum = 0;  // distance of neighbours in memory: a third of all for a random order
  for (index_t e = 0; e < g.edges; ++e) {
    sum += std::abs(place[std::size_t(g.e2v(e, 0))] - place[std::size_t(g.e2v(e, 1))]);
  }
  EXPECT_NEAR(sum / g.edges, g.vertices / 3.0, g.vertices / 20.0);
}

}  // namespace
}  // namespace icobench::test
