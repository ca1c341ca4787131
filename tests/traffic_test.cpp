// The traffic model against closed forms.
#include "src/problem/traffic.hpp"

#include <gtest/gtest.h>

#include <icobench/grids/torus.hpp>

namespace icobench {
namespace {

// Values (not bytes) for each vertex of a torus without boundary, with 3 edges and 2 cells a
// vertex: levels * by_level + once.
struct per_vertex {
  std::size_t by_level, once;
  std::size_t values(std::size_t levels) const { return levels * by_level + once; }
};

struct closed_form {
  std::string_view chain;
  per_vertex fused, separate;
  std::size_t flops;
};

// nabla4 reads u, v (2), z (3), normals (24), lengths (6) and writes 3; interpolate reads 3 and 12
// coefficients and writes 2; verts2cells reads 2 and 12 coefficients and writes 2; gradient reads 2
// cells and 3 lengths and writes 3, divergence reads 3 and 6 factors and writes 2.
const closed_form forms[] = {
    {"nabla4", {8, 30}, {8, 30}, 63},
    {"nabla4_vertical", {38, 0}, {38, 0}, 63},
    {"interpolate", {5, 12}, {5, 12}, 22},
    {"verts2cells", {4, 12}, {4, 12}, 24},
    {"nabla4_interpolate", {7, 42}, {13, 42}, 85},
    {"nabla4_vertical_interpolate", {37, 12}, {43, 12}, 85},
    {"nabla4_interpolate_verts2cells", {7, 54}, {17, 54}, 109},
    {"gradient", {5, 3}, {5, 3}, 6},
    {"divergence", {5, 6}, {5, 6}, 10},
    {"gradient_divergence", {4, 9}, {10, 9}, 16},
};

traffic count(torus_shape shape, const chain& c, index_t levels, index_t halo, precision p) {
  return count_traffic(
      make_problem(std::make_shared<const grid>(make_torus(shape)), c, levels, halo, p));
}

TEST(traffic, whole_torus) {
  EXPECT_EQ(std::size(forms), chain_table.size());
  for (const closed_form& form : forms) {
    SCOPED_TRACE(form.chain);
    for (const torus_shape shape : {torus_shape{4, 3}, {6, 5}, {10, 8}}) {
      for (const index_t levels : {1, 5}) {
        for (const precision p : {precision::float64, precision::float32}) {
          const traffic t = count(shape, *find_chain(form.chain), levels, 0, p);
          const auto vertices = std::size_t(shape.nx * shape.ny), k = std::size_t(levels);
          EXPECT_EQ(t.fused_bytes, vertices * form.fused.values(k) * size_of(p));
          // Three edges, two velocities, or two cells a vertex.
          const bool edges = info(find_chain(form.chain)->stages.back()).on == location::edge;
          EXPECT_EQ(t.fused_written_bytes, vertices * (edges ? 3 : 2) * k * size_of(p));
          EXPECT_EQ(t.separate_bytes, vertices * form.separate.values(k) * size_of(p));
          EXPECT_EQ(t.flops, vertices * k * form.flops);
        }
      }
    }
  }
}

// Single stencils on a x b vertices inside a halo: the points as above, and the rim of what they
// read.
TEST(traffic, halo_adds_the_rim) {
  constexpr index_t halo = 2, levels = 5;
  constexpr torus_shape shape{14, 11};
  constexpr std::size_t k = levels, a = 14 - 2 * halo, b = 11 - 2 * halo;
  const auto bytes = [&](std::string_view name) {
    return count(shape, *find_chain(name), levels, halo, precision::float64).fused_bytes;
  };
  // nabla4, 2 fields: a vertex more on the right of each row, one on the left of all rows but the
  // first, and rows of a + 1 below and above.
  const std::size_t diamonds = b + (b - 1) + 2 * (a + 1);
  EXPECT_EQ(bytes("nabla4"), 8 * (a * b * (8 * k + 30) + 2 * k * diamonds));
  EXPECT_EQ(bytes("nabla4_vertical"), 8 * (a * b * 38 * k + 2 * k * diamonds));
  // interpolate: the east edges on the left, the north edges below, the southeast edges on the left
  // and above.
  EXPECT_EQ(bytes("interpolate"), 8 * (a * b * (5 * k + 12) + k * (b + a + (a + b - 1))));
  // verts2cells starts one vertex further out, since a cell reaches right and up: a row and a
  // column more.
  const std::size_t c = a + 1, d = b + 1;
  EXPECT_EQ(bytes("verts2cells"), 8 * (c * d * (4 * k + 12) + 2 * k * (c + d + 1)));
}

// Chains inside a halo move at least what the vertices of the last stage do, and no more than those
// of a rectangle that is three wider on each side.
TEST(traffic, chains_with_halo) {
  constexpr index_t levels = 5;
  for (const closed_form& form : forms) {
    SCOPED_TRACE(form.chain);
    const chain& c = *find_chain(form.chain);
    for (const index_t halo : {1, 2, 3}) {
      const problem p = make_problem(std::make_shared<const grid>(make_torus({20, 17})), c, levels,
                                     halo, precision::float64);
      const traffic t = count_traffic(p);
      const rectangle r = *p.computed[std::size_t(c.stages.back())].vertices;
      const auto inner = std::size_t(r.ni * r.nj), outer = std::size_t((r.ni + 6) * (r.nj + 6));
      EXPECT_GE(t.fused_bytes, 8 * inner * form.fused.values(levels));
      EXPECT_LE(t.fused_bytes, 8 * outer * form.fused.values(levels));
      EXPECT_GE(t.separate_bytes, 8 * inner * form.separate.values(levels));
      EXPECT_LE(t.separate_bytes, 8 * outer * form.separate.values(levels));
      EXPECT_EQ(count({20, 17}, c, levels, halo, precision::float32).fused_bytes * 2,
                t.fused_bytes);
    }
  }
}

}  // namespace
}  // namespace icobench
