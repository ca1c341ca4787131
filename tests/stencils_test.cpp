// What follows from the descriptions of the stencils.
#include <gtest/gtest.h>

#include <set>

#include <icobench/grids/torus.hpp>
#include <icobench/mesh/mesh.hpp>

#include "src/problem/problem.hpp"

namespace icobench {
namespace {

TEST(stencils, have_names_and_fields_of_their_own) {
  std::set<std::string_view> stages, fields, chains;
  for (const stage_info& s : stage_table) { EXPECT_TRUE(stages.insert(s.name).second) << s.name; }
  for (const field_info& f : field_table) { EXPECT_TRUE(fields.insert(f.name).second) << f.name; }
  for (const chain& c : chain_table) { EXPECT_TRUE(chains.insert(c.name).second) << c.name; }
  EXPECT_EQ(int(field_named("u_vert")), 0);  // inputs are made from these numbers
  EXPECT_EQ(int(field_named("p_cell")), 14);
  EXPECT_THROW(field_named("nothing"), std::invalid_argument);
}

// A table's neighbours on a torus lie within the rows and columns that its stencils say they read.
TEST(stencils, reach_no_further_than_they_say) {
  const torus_shape shape{10, 9};
  const grid g = make_torus(shape);
  for (const stage_info& s : stage_table) {
    SCOPED_TRACE(s.name);
    const neighbour_table_info& t = info(s.reads);
    const auto vertex = [&](index_t id, location l) { return id / owned_by_vertex(l); };
    int first_i = 0, last_i = 0, first_j = 0, last_j = 0;
    const index_t middle = 4 * shape.nx + 5;
    for (index_t n = 0; n < owned_by_vertex(t.of); ++n) {
      for (index_t slot = 0; slot < t.slots; ++slot) {
        const index_t id = table_of(g, s.reads)(middle * owned_by_vertex(t.of) + n, slot);
        const index_t v = vertex(id, t.to);
        first_i = std::min(first_i, int(v % shape.nx - 5)),
        last_i = std::max(last_i, int(v % shape.nx - 5));
        first_j = std::min(first_j, int(v / shape.nx - 4)),
        last_j = std::max(last_j, int(v / shape.nx - 4));
      }
    }
    EXPECT_LE(-std::min(first_i, first_j), s.rules.reach_before);
    EXPECT_LE(std::max(last_i, last_j), s.rules.reach_after);
  }
}

// Neighbours by strides are those of the grid's tables, away from the seam.
template <ordering o>
void expect_strided_neighbours() {
  const torus_shape shape{10, 9};
  const grid g = make_torus(shape);
  const index_t plane = shape.nx * shape.ny;
  const strided_mesh<o> mesh{shape.nx, plane};
  const auto edge_id = [&](index_t e) {
    return o == ordering::per_vertex ? e : e % 3 * plane + e / 3;
  };
  for (index_t j = 1; j < shape.ny - 1; ++j) {
    for (index_t i = 1; i < shape.nx - 1; ++i) {
      const index_t v = j * shape.nx + i;
      for (int c = 0; c < 3; ++c) {
        const auto cells = mesh.e2c(mesh.edge_of_point(v, c));
        for (int s = 0; s < 2; ++s) { EXPECT_EQ(cells[s], g.e2c(3 * v + c, s)) << v << " " << c; }
      }
      for (int c = 0; c < 2; ++c) {
        const auto edges = c2e(mesh, v, c);
        for (int s = 0; s < 3; ++s) {
          EXPECT_EQ(edges[s], edge_id(g.c2e(2 * v + c, s))) << v << " " << c << " " << s;
        }
      }
    }
  }
}
TEST(stencils, cells_of_edges_and_edges_of_cells_by_strides) {
  expect_strided_neighbours<ordering::per_vertex>();
  expect_strided_neighbours<ordering::per_orientation>();
}

// Of a constant the gradient is 0, and so is its divergence; of one cell alone the gradient is not
// 0 on that cell's edges only.
TEST(stencils, gradient_and_divergence_of_simple_fields) {
  const auto mesh = std::make_shared<const grid>(make_torus({10, 8}));
  problem p = make_problem(mesh, *find_chain("gradient_divergence"), 2, 0, precision::float64);
  auto& psi = p.fields.at(field_named("psi_c")).values;
  std::fill(psi.begin(), psi.end(), 3.5);
  compute_reference(p);
  for (const double v : p.fields.at(field_named("div_vec_c")).values) { EXPECT_EQ(v, 0); }
  p.fields.at(field_named("psi_c"))(33, 0, 1) = 4;
  compute_reference(p);
  const host_field& vec = p.fields.at(field_named("vec_e"));
  for (index_t e = 0; e < mesh->edges; ++e) {
    const bool of_cell = mesh->e2c(e, 0) == 33 || mesh->e2c(e, 1) == 33;
    EXPECT_EQ(vec(e, 0, 1) != 0, of_cell) << e;
    EXPECT_EQ(vec(e, 0, 0), 0);
  }
}

}  // namespace
}  // namespace icobench
