// Derived and composed tables, and the checks of impossible grids.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

#include "tests/grids_support.hpp"

namespace icobench::test {
namespace {

std::vector<grid> all_kinds() {
  std::vector<grid> grids;
  for (const auto& shape : torus_shapes()) {
    grids.push_back(make_torus(shape));
    grids.push_back(make_torus(shape));
    grids.back().shape.reset();  // the general construction on the same tables
  }
  grids.push_back(icosphere(0));
  grids.push_back(icosphere(2));
  grids.push_back(grid_from_cells(3, {{0, 1, 2}}));
  grids.push_back(grid_from_cells(5, {{0, 1, 2}, {2, 1, 3}, {3, 2, 4}}));
  return grids;
}

std::string label(const grid& g) {
  return g.name + " of " + std::to_string(g.vertices) + " vertices" + (g.shape ? "" : ", general");
}

// inner[outer[row][n / inner.slots]][n % inner.slots]
index_t composition(const table& outer, const table& inner, index_t row, index_t n) {
  const index_t through = outer(row, n / inner.slots);
  return through == missing ? missing : inner(through, n % inner.slots);
}

// The members are just the composition's ids, and each entry is found where positions say.
void expect_composed(const composed& c, const table& outer, const table& inner) {
  ASSERT_EQ(c.members.rows(), outer.rows());
  ASSERT_EQ(c.positions.slots, outer.slots * inner.slots);
  for (index_t row = 0; row < outer.rows(); ++row) {
    std::set<index_t> expected;
    for (index_t n = 0; n < c.positions.slots; ++n) {
      const index_t id = composition(outer, inner, row, n);
      if (id == missing) {
        EXPECT_EQ(c.positions(row, n), missing);
        continue;
      }
      expected.insert(id);
      ASSERT_GE(c.positions(row, n), 0);
      ASSERT_LT(c.positions(row, n), c.members.slots);
      EXPECT_EQ(c.members(row, c.positions(row, n)), id);
    }
    auto found = row_set(c.members, row);
    found.erase(missing);
    EXPECT_EQ(found, expected) << "row " << row;
  }
}

TEST(tables, composed_ones_are_the_compositions) {
  for (const grid& g : all_kinds()) {
    SCOPED_TRACE(label(g));
    expect_composed(make_v2e2c2v(g), g.v2e, g.e2c2v);
    const composed c2v2e = make_c2v2e(g);
    expect_composed(c2v2e, g.c2v, g.v2e);
    expect_composed(make_c2v2e2c2v(g, c2v2e.members), c2v2e.members, g.e2c2v);
  }
}

TEST(tables, general_members_are_distinct_and_in_order_of_first_occurrence) {
  const grid g = icosphere(2);
  const composed c = make_v2e2c2v(g);
  for (index_t v = 0; v < g.vertices; ++v) {
    const index_t valence = g.v2e(v, 5) == missing ? 5 : 6;
    EXPECT_EQ(c.members(v, 6) == missing, valence == 5);
    EXPECT_EQ(row_set(c.members, v).size(), 7u);  // with `missing` for a pentagon
    for (index_t s = 0; s < 3; ++s) EXPECT_EQ(c.members(v, s), g.e2c2v(g.v2e(v, 0), s));
  }
}

TEST(tables, torus_composition_has_the_published_order) {
  const torus_shape shape{10, 9};
  const grid g = make_torus(shape);
  const index_t nx = 10, v = 4 * nx + 5;
  const composed c = make_v2e2c2v(g);
  const index_t members[7] = {v - 1, v, v + nx - 1, v - nx, v + 1, v + nx, v - nx + 1};
  for (index_t n = 0; n < 7; ++n) EXPECT_EQ(c.members(v, n), members[n]);
  const index_t positions[24] = {0, 1, 2, 3, 1, 4, 5, 6, 3, 1, 0, 6,
                                 1, 5, 2, 4, 1, 6, 4, 3, 2, 1, 5, 0};
  for (index_t n = 0; n < 24; ++n) EXPECT_EQ(c.positions(v, n), positions[n]);
  const composed edges = make_c2v2e(g);
  EXPECT_EQ(edges.members(2 * v, 0), 3 * (v - nx));               // up: north (0,-1)
  EXPECT_EQ(edges.members(2 * v + 1, 14), 3 * (v + 2 * nx) + 2);  // down: southeast (0,2)
}

TEST(tables, derived_ones_are_inverses) {
  for (const grid& g : all_kinds()) {
    SCOPED_TRACE(label(g));
    const table v2e = make_v2e(g.e2v, g.vertices);
    const table v2c = make_v2c(g.c2v, g.vertices);
    const table v2v = make_v2v(g.v2e, g.e2v);
    for (index_t v = 0; v < g.vertices; ++v) {
      EXPECT_EQ(row_set(v2e, v), row_set(g.v2e, v));
      std::set<index_t> cells, far_ends;
      for (index_t c = 0; c < g.cells; ++c) {
        if (row_set(g.c2v, c).count(v)) cells.insert(c);
      }
      for (index_t e = 0; e < g.edges; ++e) {
        if (g.e2v(e, 0) == v) far_ends.insert(g.e2v(e, 1));
        if (g.e2v(e, 1) == v) far_ends.insert(g.e2v(e, 0));
      }
      auto found_cells = row_set(v2c, v), found_ends = row_set(v2v, v);
      found_cells.erase(missing);
      found_ends.erase(missing);
      EXPECT_EQ(found_cells, cells);
      EXPECT_EQ(found_ends, far_ends);
    }
  }
}

TEST(tables, sides_of_cells_are_between_consecutive_corners) {
  for (const grid& g : all_kinds()) {
    SCOPED_TRACE(label(g));
    const table c2e = make_c2e(g.e2v, g.e2c, g.c2v);
    for (index_t c = 0; c < g.cells; ++c) {
      for (index_t m = 0; m < 3; ++m) {
        ASSERT_NE(c2e(c, m), missing);
        EXPECT_EQ(row_set(g.e2v, c2e(c, m)), (std::set{g.c2v(c, m), g.c2v(c, (m + 1) % 3)}));
        EXPECT_TRUE(row_set(g.e2c, c2e(c, m)).count(c));
      }
    }
  }
}

TEST(tables, per_edge_and_slot_rows_follow_the_ordering) {
  static_assert(e2ecv(5, 2, 36, ordering::per_vertex) == 22);
  static_assert(e2ecv(5, 2, 36, ordering::per_orientation) == 77);
}

TEST(tables, more_than_six_edges_are_refused) {
  table e2v(7, 2);
  for (index_t e = 0; e < 7; ++e) {
    e2v(e, 0) = 0;
    e2v(e, 1) = e + 1;
  }
  EXPECT_THROW(make_v2e(e2v, 8), input_error);
}

TEST(tables, reports_count_pentagons_and_boundaries) {
  const grid sphere = icosphere(2);
  const grid_report r = inspect(sphere);
  EXPECT_EQ(r.euler, 2);
  EXPECT_EQ(r.valence[5], 12);
  EXPECT_EQ(r.valence[6], sphere.vertices - 12);
  EXPECT_EQ(r.missing_neighbours, 12);
  EXPECT_EQ(kind_of(r), "sphere");
  const grid_report triangle = inspect(grid_from_cells(3, {{0, 1, 2}}));
  EXPECT_EQ(triangle.euler, 1);
  EXPECT_EQ(triangle.boundary_edges, 3);
  EXPECT_EQ(triangle.missing_neighbours, 3 + 12);
  EXPECT_EQ(kind_of(triangle), "limited area");
  EXPECT_EQ(kind_of(inspect(unshifted_torus(3, 3))), "periodic");
}

struct damage {
  const char* variable;
  std::function<void(grid&)> inflict;
};

TEST(tables, impossible_grids_are_refused_by_name) {
  const damage damages[] = {
      {"edge_vertices", [](grid& g) { g.e2v(4, 1) = g.vertices; }},
      {"edge_vertices", [](grid& g) { g.e2v(4, 1) = missing; }},
      {"edge_vertices", [](grid& g) { g.e2v(4, 1) = g.e2v(4, 0); }},
      {"edge_vertices", [](grid& g) { g.e2v.ids.pop_back(); }},
      {"edges_of_vertex", [](grid& g) { g.vertices = 0; }},
      {"vertex_of_cell", [](grid& g) { g.c2v(7, 0) = g.c2v(7, 1); }},
      {"vertex_of_cell", [](grid& g) { g.c2v(7, 2) = -5; }},
      {"adjacent_cell_of_edge", [](grid& g) { g.c2v(7, 2) = (g.c2v(7, 2) + 40) % g.vertices; }},
      {"adjacent_cell_of_edge", [](grid& g) { g.e2c(3, 0) = g.e2c(3, 1); }},
      {"adjacent_cell_of_edge", [](grid& g) { g.e2c(3, 0) = g.cells; }},
      {"adjacent_cell_of_edge", [](grid& g) { g.e2c(3, 0) = (g.e2c(3, 0) + 50) % g.cells; }},
      {"adjacent_cell_of_edge", [](grid& g) { g.e2c(3, 0) = missing; }},
      {"adjacent_cell_of_edge", [](grid& g) { g.e2c(3, 0) = g.e2c(3, 1) = missing; }},
      {"edges_of_vertex", [](grid& g) { g.v2e(2, 5) = missing; }},
      {"edges_of_vertex", [](grid& g) { g.v2e(2, 0) = missing; }},
      {"edges_of_vertex", [](grid& g) { g.v2e(2, 5) = g.edges; }},
      {"edges_of_vertex", [](grid& g) { g.v2e(2, 5) = (g.v2e(2, 5) + 60) % g.edges; }},
      {"edges_of_vertex", [](grid& g) { g.v2e(2, 5) = g.v2e(2, 4); }},
      {"e2c2v", [](grid& g) { std::swap(g.e2c2v(9, 2), g.e2c2v(9, 3)); }},
  };
  for (const damage& d : damages) {
    grid g = make_torus({10, 9});
    d.inflict(g);
    SCOPED_TRACE(std::to_string(&d - damages));
    try {
      check_grid(g);
      ADD_FAILURE() << "not noticed in " << d.variable;
    } catch (const input_error& e) {
      EXPECT_NE(std::string(e.what()).find(d.variable), std::string::npos) << e.what();
      EXPECT_TRUE(std::string(e.what()).starts_with("torus:10x9: ")) << e.what();
    }
  }
}

TEST(tables, reports_say_when_tables_disagree) {
  grid g = make_torus({6, 5});
  g.v2e(2, 5) = g.edges + 1;
  EXPECT_FALSE(inspect(g).vertices_and_edges_mutual);
  EXPECT_TRUE(inspect(g).edges_and_cells_mutual);
  g = make_torus({6, 5});
  g.e2c(3, 0) = -7;
  EXPECT_TRUE(inspect(g).vertices_and_edges_mutual);
  EXPECT_FALSE(inspect(g).edges_and_cells_mutual);
}

}  // namespace
}  // namespace icobench::test
