#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include <icobench/grids/sphere.hpp>
#include <icobench/grids/tables.hpp>

#include "grids_support.hpp"

namespace icobench {
namespace {

double dot(const unit_vector& a, const unit_vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

TEST(grids_sphere, counts_and_tables_of_many_roots) {
  for (const auto& [root, k] :
       {std::pair{1, 0}, {1, 1}, {2, 0}, {2, 2}, {3, 0}, {3, 2}, {5, 1}, {6, 0}, {7, 1}, {12, 0}}) {
    const grid g = make_sphere({root, k});
    SCOPED_TRACE(g.name);
    const index_t n = root << k;
    EXPECT_EQ(g.vertices, 10 * n * n + 2);
    EXPECT_EQ(g.edges, 30 * n * n);
    EXPECT_EQ(g.cells, 20 * n * n);
    ASSERT_NO_THROW(check_grid(g));
    const grid_report report = inspect(g);
    EXPECT_EQ(kind_of(report), "sphere");
    EXPECT_EQ(report.valence[5], 12);
    EXPECT_EQ(report.valence[6], g.vertices - 12);
    EXPECT_TRUE(report.vertices_and_edges_mutual && report.edges_and_cells_mutual);
    EXPECT_EQ(g.c2e, make_c2e(g.e2v, g.e2c, g.c2v));
  }
}

// Each cell counter-clockwise, seen from outside; edges of one length but for a factor.
TEST(grids_sphere, positions) {
  for (const sphere_shape shape : {sphere_shape{2, 3}, {3, 1}, {5, 0}}) {
    const grid g = make_sphere(shape);
    ASSERT_EQ(index_t(g.positions.size()), g.vertices);
    const auto at = [&](index_t v) { return g.positions[std::size_t(v)]; };
    for (index_t c = 0; c < g.cells; ++c) {
      const auto p = at(g.c2v(c, 0)), q = at(g.c2v(c, 1)), r = at(g.c2v(c, 2));
      EXPECT_GT(
          dot(p, {q[1] * r[2] - q[2] * r[1], q[2] * r[0] - q[0] * r[2], q[0] * r[1] - q[1] * r[0]}),
          0);
    }
    const double even = std::acos(1 / std::sqrt(5.)) / double(shape.divisions());
    for (index_t e = 0; e < g.edges; ++e) {
      EXPECT_NEAR(dot(at(g.e2v(e, 0)), at(g.e2v(e, 0))), 1, 1e-15);
      const double length = std::acos(dot(at(g.e2v(e, 0)), at(g.e2v(e, 1))));
      EXPECT_GT(length, 0.75 * even);
      EXPECT_LT(length, 1.25 * even);
    }
  }
}

// Tiles of 4^m cells own contiguous ranges of vertices and edges.
TEST(grids_sphere, tiles_own_ranges) {
  const grid g = make_sphere({2, 4});
  for (const index_t tile : {4, 16, 64, 256}) {
    index_t next_vertex = 0, next_edge = 0;
    std::set<index_t> vertices, edges;  // that are not of tiles before
    for (index_t c = 0; c < g.cells; ++c) {
      for (index_t m = 0; m < 3; ++m) {
        if (g.c2v(c, m) >= next_vertex) { vertices.insert(g.c2v(c, m)); }
        if (g.c2e(c, m) >= next_edge) { edges.insert(g.c2e(c, m)); }
      }
      if ((c + 1) % tile != 0) { continue; }
      const auto take = [&](std::set<index_t>& own, index_t& next) {
        ASSERT_TRUE(own.empty() ||
                    (*own.begin() == next && *own.rbegin() == next + index_t(own.size()) - 1));
        next += index_t(own.size());
        own.clear();
      };
      take(vertices, next_vertex);
      take(edges, next_edge);
    }
    EXPECT_EQ(next_vertex, g.vertices);
    EXPECT_EQ(next_edge, g.edges);
  }
}

TEST(grids_sphere, numbering_is_recognised) {
  for (const sphere_shape s : {sphere_shape{1, 1}, {2, 3}, {3, 2}}) {
    const grid g = make_sphere(s);
    EXPECT_TRUE(is_numbered_by_bisection(g));
    std::mt19937 random(1);
    EXPECT_FALSE(is_numbered_by_bisection(test::shuffled(g, random)));
  }
  EXPECT_FALSE(is_numbered_by_bisection(test::icosphere(3)));  // level after level
  EXPECT_FALSE(is_numbered_by_bisection(make_sphere({3, 0})));
}

// The rule of numbering, of one cell by hand: R1B1, whose first four cells are those of (0, 1, 2).
TEST(grids_sphere, first_cell_bisected) {
  const grid g = make_sphere({1, 1});
  const std::vector<index_t> corners(g.c2v.ids.begin(), g.c2v.ids.begin() + 12);
  EXPECT_EQ(corners, (std::vector<index_t>{0, 1, 2, 2, 3, 0, 0, 4, 1, 1, 5, 2}));
  const std::vector<index_t> sides(g.c2e.ids.begin(), g.c2e.ids.begin() + 12);
  EXPECT_EQ(sides, (std::vector<index_t>{1, 2, 0, 4, 3, 0, 5, 6, 1, 7, 8, 2}));
}

TEST(grids_sphere, names) {
  EXPECT_EQ(parse_sphere("sphere:R2B6"), (sphere_shape{2, 6}));
  EXPECT_EQ(parse_sphere("sphere:R02B06"), (sphere_shape{2, 6}));
  EXPECT_EQ(make_sphere({3, 1}).name, "sphere:R3B1");
  for (const char* bad :
       {"", "sphere:", "sphere:R2", "sphere:B2", "sphere:R2B", "sphere:R0B1", "sphere:R2B-1",
        "sphere:R2B6x", "sphere:R2B31", "sphere:R9999B9", "torus:4x3", "sphere:R99999999999B1"}) {
    EXPECT_THROW(parse_sphere(bad), input_error) << bad;
  }
}

}  // namespace
}  // namespace icobench
