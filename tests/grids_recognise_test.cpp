// Finding the torus in grids of any numbering.
#include <gtest/gtest.h>

#include <icobench/grids/recognise.hpp>
#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

#include "tests/grids_support.hpp"

namespace icobench::test {
namespace {

// `t` with rows and ids mapped, as sets: independent of the order of slots.
bool maps_onto(const table& t, const std::vector<index_t>& rows, const std::vector<index_t>& ids,
               const table& expected) {
  for (index_t row = 0; row < t.rows(); ++row) {
    std::set<index_t> mapped;
    for (index_t s = 0; s < t.slots; ++s) mapped.insert(ids[std::size_t(t(row, s))]);
    if (mapped != row_set(expected, rows[std::size_t(row)])) return false;
  }
  return true;
}

void expect_isomorphism(const grid& g, const torus_embedding& found) {
  const grid torus = make_torus(found.shape);
  for (const auto* map : {&found.vertex, &found.edge, &found.cell}) {
    EXPECT_EQ(std::set<index_t>(map->begin(), map->end()).size(), map->size());
  }
  EXPECT_TRUE(maps_onto(g.e2v, found.edge, found.vertex, torus.e2v));
  EXPECT_TRUE(maps_onto(g.e2c, found.edge, found.cell, torus.e2c));
  EXPECT_TRUE(maps_onto(g.c2v, found.cell, found.vertex, torus.c2v));
  EXPECT_TRUE(maps_onto(g.v2e, found.vertex, found.edge, torus.v2e));
}

TEST(recognise, keeps_the_ids_of_the_torus_itself) {
  for (const auto& shape : torus_shapes()) {
    const grid g = make_torus(shape);
    const auto found = recognise_torus(g);
    ASSERT_TRUE(found) << g.name;
    EXPECT_EQ(found->shape, shape);
    for (index_t v = 0; v < g.vertices; ++v) EXPECT_EQ(found->vertex[std::size_t(v)], v);
    for (index_t e = 0; e < g.edges; ++e) EXPECT_EQ(found->edge[std::size_t(e)], e);
    for (index_t c = 0; c < g.cells; ++c) EXPECT_EQ(found->cell[std::size_t(c)], c);
    EXPECT_EQ(edge_numbering(g, *found), "per_vertex");
  }
}

TEST(recognise, finds_the_torus_under_any_numbering) {
  std::mt19937 random(42);
  for (const auto& shape : torus_shapes()) {
    for (int repetition = 0; repetition < 10; ++repetition) {
      const grid g = shuffled(make_torus(shape), random);
      ASSERT_NO_THROW(check_grid(g));
      const auto found = recognise_torus(g);
      ASSERT_TRUE(found) << to_string(shape);
      expect_isomorphism(g, *found);
    }
  }
}

TEST(recognise, renumbers_and_keeps_name_and_uuid) {
  std::mt19937 random(7);
  grid g = shuffled(make_torus({8, 7}), random);
  g.name = "file.nc";
  g.uuid = "some-uuid";
  const auto found = recognise_torus(g);
  ASSERT_TRUE(found);
  const grid renumbered = renumbered_as_torus(g, *found);
  const grid expected = make_torus({8, 7});
  EXPECT_EQ(renumbered.name, "file.nc");
  EXPECT_EQ(renumbered.uuid, "some-uuid");
  EXPECT_EQ(renumbered.shape, expected.shape);
  EXPECT_EQ(renumbered.e2c2v, expected.e2c2v);
}

TEST(recognise, declines_other_grids) {
  EXPECT_FALSE(recognise_torus(icosphere(1)));
  EXPECT_FALSE(recognise_torus(grid_from_cells(3, {{0, 1, 2}})));
  EXPECT_FALSE(recognise_torus(unshifted_torus(3, 3)));
  EXPECT_FALSE(recognise_torus(unshifted_torus(5, 5)));
  EXPECT_FALSE(recognise_torus(unshifted_torus(7, 7)));
  EXPECT_FALSE(recognise_torus(unshifted_torus(6, 5)));
}

TEST(recognise, declines_two_separate_tori) {
  const grid one = make_torus({4, 3});
  std::vector<std::array<index_t, 3>> cells;
  for (index_t copy = 0; copy < 2; ++copy) {
    for (index_t c = 0; c < one.cells; ++c) {
      const index_t base = copy * one.vertices;
      cells.push_back({base + one.c2v(c, 0), base + one.c2v(c, 1), base + one.c2v(c, 2)});
    }
  }
  const grid both = grid_from_cells(2 * one.vertices, cells);
  ASSERT_NO_THROW(check_grid(both));
  EXPECT_FALSE(recognise_torus(both));
}

// The torus with edge e called renamed(e).
template <class Renamed>
grid with_edges(const grid& g, Renamed renamed) {
  grid result = g;
  for (index_t e = 0; e < g.edges; ++e) {
    for (index_t s = 0; s < 4; ++s) result.e2c2v(renamed(e), s) = g.e2c2v(e, s);
    for (index_t s = 0; s < 2; ++s) result.e2v(renamed(e), s) = g.e2v(e, s);
    for (index_t s = 0; s < 2; ++s) result.e2c(renamed(e), s) = g.e2c(e, s);
  }
  for (index_t& e : result.v2e.ids) e = renamed(e);
  return result;
}

TEST(recognise, names_the_edge_numbering) {
  const torus_shape shape{10, 9};
  const grid g = make_torus(shape);
  const auto numbering = [&](const grid& in_file) {
    check_grid(in_file);
    return edge_numbering(in_file, recognise_torus(in_file).value());
  };
  EXPECT_EQ(numbering(with_edges(g, [&](index_t e) { return e % 3 * g.vertices + e / 3; })),
            "per_orientation");
  EXPECT_EQ(numbering(with_edges(g,
                                 [&](index_t e) {
                                   const index_t v = e / 3;
                                   if (e % 3 != 2) return e;
                                   return 3 * wrap(shape, v % 10, v / 10 - 1) + 2;
                                 })),
            "icon_file");
  EXPECT_EQ(numbering(with_edges(g, [&](index_t e) { return g.edges - 1 - e; })), "other");
}

}  // namespace
}  // namespace icobench::test
