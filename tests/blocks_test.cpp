// Blocks of neighbouring points: the partition, the local tables, and the kernels that use them on
// grids in any order.
#include <icobench/grids/blocks.hpp>

#include <gtest/gtest.h>

#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

#include "src/catalogue/registry.hpp"
#include "src/problem/resident.hpp"
#include "tests/grids_support.hpp"

namespace icobench::test {
namespace {

// A torus without the cells near its seam: boundaries, vertices without cells.
grid limited_area(torus_shape shape) {
  const grid whole = make_torus(shape);
  std::vector<std::array<index_t, 3>> cells;
  for (index_t c = 0; c < whole.cells; ++c) {
    const std::array corners{whole.c2v(c, 0), whole.c2v(c, 1), whole.c2v(c, 2)};
    const bool inside = std::all_of(corners.begin(), corners.end(), [&](index_t v) {
      const index_t i = v % shape.nx, j = v / shape.nx;
      return i > 0 && i < shape.nx - 1 && j > 0 && j < shape.ny - 1;
    });
    if (inside) { cells.push_back(corners); }
  }
  return grid_from_cells(whole.vertices, cells);
}

struct named_grid {
  std::string name;
  grid mesh;
  index_t halo;
};
std::vector<named_grid> grids() {
  std::mt19937 random(3);
  const auto two = [](torus_shape shape) {  // not connected
    grid area = limited_area(shape);
    std::vector<std::array<index_t, 3>> cells;
    for (const index_t part : {0, 1}) {
      for (index_t c = 0; c < area.cells; ++c) {
        const index_t first = part * area.vertices;
        cells.push_back({first + area.c2v(c, 0), first + area.c2v(c, 1), first + area.c2v(c, 2)});
      }
    }
    return grid_from_cells(2 * area.vertices, cells);
  };
  return {{"torus", make_torus({40, 37}), 2},
          {"torus across its seam", make_torus({24, 21}), 0},
          {"smallest torus", make_torus({4, 3}), 0},
          {"sphere", icosphere(3), 0},
          {"shuffled sphere", shuffled(icosphere(3), random), 0},
          {"limited area", limited_area({30, 21}), 0},
          {"two areas, shuffled", shuffled(two({20, 17}), random), 0}};
}

const chain& chain_to(stage last) {
  return *find_chain(last == stage::verts2cells ? "nabla4_interpolate_verts2cells"
                                                : "nabla4_interpolate");
}
constexpr stage last_stages[] = {stage::interpolate, stage::verts2cells};

std::set<index_t> as_set(const std::vector<index_t>& ids) {
  return {ids.begin(), ids.end()};
}

void add_row(std::set<index_t>& to, const table& t, index_t row) {
  for (index_t s = 0; s < t.slots; ++s) {
    if (t(row, s) != missing) { to.insert(t(row, s)); }
  }
}

std::size_t valence(const grid& g, index_t v) {
  std::set<index_t> edges;
  add_row(edges, g.v2e, v);
  return edges.size();
}

TEST(blocks, have_each_result_once_and_what_it_depends_on) {
  for (const named_grid& each : grids()) {
    for (const stage last : last_stages) {
      SCOPED_TRACE(each.name + ", " + std::string(info(last).name));
      const grid& g = each.mesh;
      const domain d = make_domain(g, chain_to(last), each.halo);
      const std::vector<index_t>& computed = d[std::size_t(last)].ids;
      std::multiset<index_t> results;
      for (const block& b : make_blocks(g, last, computed)) {
        results.insert(b.results.begin(), b.results.end());
        std::set<index_t> vertices, edges, around;
        for (const index_t id : b.results) {
          if (last == stage::verts2cells) {
            add_row(vertices, g.c2v, id);
          } else {
            vertices.insert(id);
          }
        }
        for (const index_t v : vertices) { add_row(edges, g.v2e, v); }
        for (const index_t e : edges) { add_row(around, g.e2c2v, e); }
        EXPECT_EQ(as_set(b.vertices), vertices);
        EXPECT_EQ(as_set(b.edges), edges);
        EXPECT_EQ(as_set(b.around), around);
        EXPECT_EQ(b.vertices.size(), vertices.size());
        EXPECT_EQ(b.edges.size(), edges.size());
        EXPECT_EQ(b.around.size(), around.size());
        EXPECT_LE(b.results.size(), std::size_t(block_results));
        EXPECT_LE(b.vertices.size(), std::size_t(block_vertices));
        EXPECT_LE(b.around.size(), std::size_t(block_around));
        EXPECT_LE(b.edges.size(), std::size_t(block_edges));
      }
      EXPECT_EQ(results, std::multiset<index_t>(computed.begin(), computed.end()));
    }
  }
}

TEST(blocks, are_compact) {
  const grid g = make_torus({120, 100});
  const domain d = make_domain(g, chain_to(stage::verts2cells), 2);
  const std::vector<index_t>& computed = d[std::size_t(stage::verts2cells)].ids;
  std::size_t vertices = 0, around = 0;
  const std::vector<block> blocks = make_blocks(g, stage::verts2cells, computed);
  for (const block& b : blocks) {
    vertices += b.vertices.size();
    around += b.around.size();
  }
  const double needed = double(computed.size()) / 2;
  EXPECT_LT(double(vertices), 1.25 * needed);
  EXPECT_LT(double(around), 1.7 * needed);
  EXPECT_GT(double(vertices), 0.95 * double(blocks.size()) * block_vertices);  // full
}

// Follows local places to storage ids.
TEST(blocks, local_tables_agree_with_the_grid) {
  for (const named_grid& each : grids()) {
    for (const stage last : last_stages) {
      SCOPED_TRACE(each.name + ", " + std::string(info(last).name));
      const grid& g = each.mesh;
      const domain d = make_domain(g, chain_to(last), each.halo);
      const numbering ids = make_numbering(g, d, ordering::per_orientation);
      const std::vector<block> blocks = make_blocks(g, last, d[std::size_t(last)].ids);
      const local_tables t = make_local_tables(g, last, blocks, ids, 8);
      ASSERT_EQ(t.blocks, index_t(blocks.size()));
      const auto& vertex_id = ids.of(location::vertex);
      const auto& edge_id = ids.of(location::edge);
      std::vector<index_t> vertex_of(vertex_id.size()), cell_of(std::size_t(g.cells));
      for (index_t v = 0; v < g.vertices; ++v) {
        vertex_of[std::size_t(vertex_id[std::size_t(v)])] = v;
      }
      for (index_t c = 0; c < g.cells; ++c) {
        cell_of[std::size_t(ids.of(location::cell)[std::size_t(c)])] = c;
      }
      std::size_t results = 0;
      for (index_t n = 0; n < t.blocks; ++n) {
        const auto at = [n](const std::vector<index_t>& list, index_t length, index_t place) {
          return list[std::size_t(n * length + place)];
        };
        for (index_t p = 0; p < block_vertices; ++p) {
          const index_t id = at(t.vertices, block_vertices, p);
          if (id < 0) { continue; }
          const index_t v = vertex_of[std::size_t(id)];
          const auto place = [&](int k) {
            return unpack_place(
                t.places[std::size_t((n * place_words + k / 2) * block_vertices + p)], k);
          };
          const index_t word = at(t.fans, block_vertices, p);
          std::set<index_t> edges;
          for (int s = 0; s < 6 && unpack_spoke(word, s).slot != no_spoke; ++s) {
            const fan_spoke spoke = unpack_spoke(word, s);
            const index_t e = g.v2e(v, spoke.slot);
            edges.insert(e);
            EXPECT_EQ(at(t.edges, block_edges, place(7 + s)), edge_id[std::size_t(e)]);
            const auto around = [&](int m) { return at(t.around, block_around, place(m)); };
            const auto diamond = [&](int k) { return vertex_id[std::size_t(g.e2c2v(e, k))]; };
            const bool is_last = s == 5 || unpack_spoke(word, s + 1).slot == no_spoke;
            const int before = s > 0 ? s - 1 : int(valence(g, v)) - 1;
            EXPECT_EQ(around(0), id);
            EXPECT_EQ(diamond(1 - spoke.far), id);
            EXPECT_EQ(diamond(spoke.far), around(1 + s));
            EXPECT_EQ(diamond(spoke.after), around(1 + (s + 1) % 6));
            EXPECT_EQ(diamond(spoke.after), around(is_last ? 1 : 2 + s));
            EXPECT_EQ(diamond(5 - spoke.after), around(1 + before));
          }
          EXPECT_EQ(edges.size(), valence(g, v));
        }
        for (index_t p = 0; p < block_results; ++p) {
          const index_t id = at(t.results, block_results, p);
          if (id < 0) { continue; }
          ++results;
          for (int m = 0; m < 3 && last == stage::verts2cells; ++m) {
            const index_t place = unpack_corner(at(t.corners, block_results, p), m);
            EXPECT_EQ(at(t.vertices, block_vertices, place),
                      vertex_id[std::size_t(g.c2v(cell_of[std::size_t(id)], m))]);
          }
        }
      }
      EXPECT_EQ(results, d[std::size_t(last)].ids.size());
    }
  }
}

TEST(blocks, refuse_a_vertex_at_the_boundary) {
  const grid g = grid_from_cells(4, {{0, 1, 2}, {1, 3, 2}});
  EXPECT_THROW(make_fan(g, 1), input_error);
  // Two fans that meet in vertex 0, each closed.
  std::vector<std::array<index_t, 3>> cells;
  for (const index_t first : {1, 4}) {
    const index_t a = first, b = first + 1, c = first + 2;
    cells.push_back({0, a, b});
    cells.push_back({0, b, c});
    cells.push_back({0, c, a});
  }
  EXPECT_THROW(make_fan(grid_from_cells(7, cells), 0), input_error);
}

// variants_test has the default launch on its own settings.
TEST(blocks, kernels_are_right_on_any_grid) {
  const auto device = registry::instance().backends().at("simt")();
  int ran = 0;
  for (const named_grid& each : grids()) {
    const auto mesh = std::make_shared<const grid>(each.mesh);
    for (const variant& v : registry::instance().variants()) {
      if (v.info.schedule != "blocks") { continue; }
      for (const precision p : {precision::float64, precision::float32}) {
        problem problem_ = make_problem(mesh, *find_chain(v.info.chain), 7, each.halo, p);
        compute_reference(problem_);
        const implementation& i = *v.find("simt", p, ordering::per_orientation);
        resident_problem resident(*device, problem_, {v.access_, i.ordering_, i.layout_});
        for (const char* text : {"levels=0", "levels=3", "levels=2"}) {
          SCOPED_TRACE(v.name() + " on a " + each.name + ", " + text);
          const plan ready =
              i.prepare(*device, resident.view(), {parse_launch(text, i.defaults.front())});
          resident.poison_outputs();
          ready.run();
          EXPECT_TRUE(resident.verify().ok);
          ++ran;
        }
      }
    }
  }
  EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace icobench::test
