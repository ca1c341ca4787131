// Real grid files, in the folder grids/ of $ICOBENCH_TEST_DATA.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include <icobench/grids/grid_file.hpp>
#include <icobench/grids/recognise.hpp>
#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

#include "tests/grids_support.hpp"

namespace icobench::test {
namespace {

class grid_data : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("ICOBENCH_TEST_DATA");
    if (!folder) GTEST_SKIP() << "ICOBENCH_TEST_DATA is not set: no real grid files to read";
    folder_ = folder;
  }
  std::string path(const char* name) const { return (folder_ / "grids" / name).string(); }

 private:
  std::filesystem::path folder_;
};

TEST_F(grid_data, small_torus_follows_the_closed_forms) {
  const grid file = read_grid_file(path("torus_100000_100000_24576.nc"));
  const torus_shape shape{4, 3};
  const auto found = recognise_torus(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape, shape);
  EXPECT_EQ(edge_numbering(file, *found), "icon_file");
  EXPECT_EQ(file.uuid, "81c7144e-94d4-11ee-9463-893f21561613");
  const grid torus = make_torus(shape);
  EXPECT_EQ(file.c2v, torus.c2v);
  for (index_t v = 0; v < file.vertices; ++v) EXPECT_EQ(found->vertex[std::size_t(v)], v);
  for (index_t e = 0; e < file.edges; ++e) {
    const index_t v = e / 3;
    const index_t expected = e % 3 == 2 ? 3 * wrap(shape, v % 4, v / 4 + 1) + 2 : e;
    EXPECT_EQ(found->edge[std::size_t(e)], expected);
    for (index_t s = 0; s < 2; ++s) EXPECT_EQ(file.e2v(e, s), torus.e2v(expected, s));
    for (index_t s = 0; s < 2; ++s) EXPECT_EQ(file.e2c(e, s), torus.e2c(expected, s));
    for (index_t s = 0; s < 4; ++s) EXPECT_EQ(file.e2c2v(e, s), torus.e2c2v(expected, s));
  }
  for (index_t v = 0; v < file.vertices; ++v) {
    std::set<index_t> edges;
    for (index_t s = 0; s < 6; ++s) edges.insert(found->edge[std::size_t(file.v2e(v, s))]);
    EXPECT_EQ(edges, row_set(torus.v2e, v));
  }
  EXPECT_EQ(load_grid(file.name).e2c2v, torus.e2c2v);
}

TEST_F(grid_data, torus_with_columns_fastest_is_recognised) {
  const grid file = read_grid_file(path("generated_torus_12x6_1000m.nc"));
  const auto found = recognise_torus(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->shape, (torus_shape{6, 12}));
  const grid loaded = load_grid(file.name);
  EXPECT_EQ(loaded.shape, (torus_shape{6, 12}));
  EXPECT_EQ(loaded.v2e, make_torus({6, 12}).v2e);
  EXPECT_EQ(loaded.uuid, file.uuid);
}

TEST_F(grid_data, sphere_has_twelve_pentagons) {
  const grid file = load_grid(path("generated_R02B00.nc"));
  EXPECT_FALSE(file.shape);
  const grid_report r = inspect(file);
  EXPECT_EQ(r.vertices, 42);
  EXPECT_EQ(r.edges, 120);
  EXPECT_EQ(r.cells, 80);
  EXPECT_EQ(r.euler, 2);
  EXPECT_EQ(r.valence[5], 12);
  EXPECT_EQ(r.valence[6], 30);
  EXPECT_EQ(r.missing_neighbours, 12);
  EXPECT_EQ(kind_of(r), "sphere");
}

TEST_F(grid_data, limited_area_grid_has_a_boundary) {
  const grid file = load_grid(path("mch_ch_R19B04.nc"));
  EXPECT_FALSE(file.shape);
  const grid_report r = inspect(file);
  EXPECT_EQ(r.vertices, 2318);
  EXPECT_EQ(r.edges, 6761);
  EXPECT_EQ(r.cells, 4444);
  EXPECT_EQ(r.euler, 1);
  EXPECT_EQ(r.boundary_edges, 190);
  EXPECT_EQ(kind_of(r), "limited area");
  const composed edges = make_c2v2e(file);
  EXPECT_NO_THROW(make_v2e2c2v(file));
  EXPECT_NO_THROW(make_c2v2e2c2v(file, edges.members));
}

TEST_F(grid_data, simple_grid_is_periodic_but_not_our_torus) {
  const grid file = load_grid(path("simple_grid_gridfile.nc"));
  EXPECT_FALSE(file.shape);
  EXPECT_EQ(file.vertices, 9);
  EXPECT_EQ(kind_of(inspect(file)), "periodic");
  // Counted from 0 in the file: edge 0 joins (0,0) and (1,0), cell 0 is [v, E, NE].
  EXPECT_EQ(row_set(file.e2v, 0), (std::set<index_t>{0, 1}));
  EXPECT_EQ(row_set(file.c2v, 0), (std::set<index_t>{0, 1, 4}));
}

}  // namespace
}  // namespace icobench::test
