#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include <icobench/grids/patches.hpp>
#include <icobench/grids/sphere.hpp>
#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>
#include <icobench/mesh/mesh.hpp>

#include "grids_support.hpp"

namespace icobench {
namespace {

grid shuffled(const grid& g, unsigned seed) {
  std::mt19937 random(seed);
  return test::shuffled(g, random);
}

grid cap(const grid& sphere, double above) {
  std::vector<std::array<index_t, 3>> kept;
  for (const auto& cell : test::cells_of(sphere)) {
    if (std::all_of(cell.begin(), cell.end(),
                    [&](index_t v) { return sphere.positions[std::size_t(v)][2] > above; })) {
      kept.push_back(cell);
    }
  }
  return test::grid_of(kept);
}

struct sample {
  const char* name;
  grid (*make)();
  double least;  // share of the vertices in patches
};

grid unshaped(torus_shape shape) {
  grid g = make_torus(shape);
  g.shape.reset();
  return g;
}

const sample samples[] = {
    {"sphere",
     [] {
       return make_sphere({2, 4});
     },
     0.999},
    {"other_root",
     [] {
       return make_sphere({13, 0});
     },
     0.998},
    {"shuffled_sphere",
     [] {
       return shuffled(make_sphere({2, 3}), 1);
     },
     0.996},
    {"torus",
     [] {
       return make_torus({24, 17});
     },
     1},
    {"torus_from_tables",
     [] {
       return unshaped({40, 36});
     },
     0.9},
    {"shuffled_torus",
     [] {
       return shuffled(unshaped({30, 40}), 2);
     },
     0.7},
    {"cap",
     [] {
       return cap(make_sphere({2, 4}), 0.55);
     },
     0.5},
    {"sphere_with_holes",
     [] {
       return test::without_vertices(make_sphere({2, 4}), {100, 900, 1700, 1800, 2500});
     },
     0.4},
    {"too_small",
     [] {
       return make_sphere({2, 1});
     },
     0},
};

class patches : public testing::TestWithParam<sample> {};

// Inside patches the closed forms give what the tables give, slot by slot, in memory's ids.
template <ordering o>
void expect_closed_forms(const grid& g, const patched_layout& l) {
  const strided_mesh<o> mesh{l.row, l.plane};
  const auto& [vertex_id, edge_id, cell_id] = l.ids.storage_id;
  const auto grid_ids = [](const std::vector<index_t>& ids, index_t count) {
    std::vector<index_t> back(std::size_t(count), missing);
    for (index_t n = 0; n < index_t(ids.size()); ++n) {
      ASSERT_EQ(back.at(std::size_t(ids[std::size_t(n)])), missing);
      back[std::size_t(ids[std::size_t(n)])] = n;
    }
  };
  grid_ids(vertex_id, l.ids.counts[0]);
  grid_ids(edge_id, l.ids.counts[1]);
  grid_ids(cell_id, l.ids.counts[2]);
  const auto inverse = [](const std::vector<index_t>& ids, index_t count) {
    std::vector<index_t> back(std::size_t(count), missing);
    for (index_t n = 0; n < index_t(ids.size()); ++n) {
      back[std::size_t(ids[std::size_t(n)])] = n;
    }
    return back;
  };
  const auto edge_of = inverse(edge_id, l.ids.counts[1]),
             cell_of = inverse(cell_id, l.ids.counts[2]);
  const auto vertex_of = inverse(vertex_id, l.ids.counts[0]);
  const auto same = [](const auto& ids, const table& t, index_t row, const auto& storage) {
    for (index_t s = 0; s < t.slots; ++s) {
      ASSERT_NE(t(row, s), missing);
      ASSERT_EQ(ids[int(s)], storage[std::size_t(t(row, s))]);
    }
  };
  std::size_t points = 0;
  for (const rectangle& all : l.patches) {
    const rectangle r = inside(all, 1, 1);
    for (unsigned y = 0; y < unsigned(r.nj); ++y) {
      for (unsigned x = 0; x < unsigned(r.ni); ++x) {
        const index_t v = mesh.point(r, x, y);
        const index_t vertex = vertex_of[std::size_t(v)];
        ASSERT_NE(vertex, missing);
        same(v2e(mesh, v), l.mesh.v2e, vertex, edge_id);
        for (int colour = 0; colour < 3; ++colour) {
          const auto e = mesh.edge_of_point(v, colour);
          const index_t edge = edge_of[std::size_t(mesh.id(e))];
          ASSERT_NE(edge, missing);
          same(mesh.e2c2v(e), l.mesh.e2c2v, edge, vertex_id);
          same(mesh.e2c(e), l.mesh.e2c, edge, cell_id);
          ASSERT_EQ(l.turned[std::size_t(edge)], l.mesh.e2c(edge, 0) != g.e2c(edge, 0));
        }
        for (int c = 0; c < 2; ++c) {
          const index_t cell = cell_of[std::size_t(mesh.cell_of_point(v, c))];
          ASSERT_NE(cell, missing);
          same(mesh.c2v(v, c), l.mesh.c2v, cell, vertex_id);
          same(c2e(mesh, v, c), l.mesh.c2e, cell, edge_id);
        }
        ++points;
      }
    }
  }
  if (!l.patches.empty()) { EXPECT_GT(points, 0u); }
}

TEST_P(patches, closed_forms_hold_inside) {
  const grid g = GetParam().make();
  check_grid(g);
  const std::vector<patch> found = find_patches(g);
  index_t longest = 1;
  std::set<index_t> vertices;
  for (const patch& p : found) {
    longest = std::max(longest, p.ni);
    EXPECT_GE(p.ni, p.nj * (g.shape ? 0 : 1));
    ASSERT_EQ(p.vertices.size(), std::size_t(p.ni) * std::size_t(p.nj));
    for (const index_t v : p.vertices) { ASSERT_TRUE(vertices.insert(v).second); }
  }
  EXPECT_GE(double(vertices.size()), GetParam().least * g.vertices) << found.size() << " patches";
  for (const ordering o : {ordering::per_vertex, ordering::per_orientation}) {
    const patched_layout l = lay_out(g, found, o, longest + 3);
    // The same grid, but for the order of slots.
    ASSERT_NO_THROW(check_grid(l.mesh));
    for (int t = 0; t < neighbour_table_count; ++t) {
      const table& before = table_of(g, neighbour_table(t));
      const table& after = table_of(l.mesh, neighbour_table(t));
      for (index_t n = 0; n < before.rows(); ++n) {
        std::vector<index_t> slots;
        for (index_t s = 0; s < before.slots; ++s) {
          slots.push_back(l.slot[std::size_t(t)](n, s));
          ASSERT_EQ(after(n, s), before(n, slots.back()));
        }
        std::sort(slots.begin(), slots.end());
        for (index_t s = 0; s < before.slots; ++s) { ASSERT_EQ(slots[std::size_t(s)], s); }
      }
    }
    o == ordering::per_vertex ? expect_closed_forms<ordering::per_vertex>(g, l)
                              : expect_closed_forms<ordering::per_orientation>(g, l);
  }
}

INSTANTIATE_TEST_SUITE_P(grids, patches, testing::ValuesIn(samples),
                         [](const auto& p) { return std::string(p.param.name); });

// Five rectangles have all vertices of a sphere but two; three stencils stay inside at 94 per cent
// of R2B6's.
TEST(grids_patches, coverage_of_a_sphere) {
  const grid g = make_sphere({2, 6});
  const std::vector<patch> found = find_patches(g);
  ASSERT_EQ(found.size(), 5u);
  std::int64_t covered = 0;
  for (const patch& p : found) {
    EXPECT_EQ(p.ni, 256);
    EXPECT_EQ(p.nj, 128);
    const rectangle r = inside({0, 0, p.ni, p.nj}, 2, 3);
    covered += std::int64_t{r.ni} * r.nj;
  }
  EXPECT_NEAR(double(covered) / g.vertices, 0.942, 0.0005);
}

// Random holes in a sphere of any numbering: whatever is found is right.
TEST(grids_patches, random_holes) {
  std::mt19937 random(7);
  for (unsigned n = 0; n < 12; ++n) {
    const grid whole = make_sphere({3, 2});
    std::vector<index_t> centres(n * 3);
    for (index_t& v : centres) { v = index_t(random() % unsigned(whole.vertices)); }
    const grid g = shuffled(test::without_vertices(whole, centres), n);
    const std::vector<patch> found = find_patches(g);
    index_t longest = 1;
    for (const patch& p : found) { longest = std::max(longest, p.ni); }
    expect_closed_forms<ordering::per_orientation>(
        g, lay_out(g, found, ordering::per_orientation, longest));
  }
}

}  // namespace
}  // namespace icobench
