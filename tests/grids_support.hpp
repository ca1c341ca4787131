// Grids for tests, built without the code under test.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <icobench/grids/grid.hpp>
#include <icobench/grids/tables.hpp>

namespace icobench::test {

// All tables from the corners of the cells; edges in order of first occurrence.
inline grid grid_from_cells(index_t vertices, const std::vector<std::array<index_t, 3>>& cells) {
  std::map<std::pair<index_t, index_t>, index_t> edge_of;
  std::vector<std::array<index_t, 4>> edges;  // ends, cells
  for (index_t c = 0; c < index_t(cells.size()); ++c) {
    for (std::size_t m = 0; m < 3; ++m) {
      const auto ends = std::minmax(cells[std::size_t(c)][m], cells[std::size_t(c)][(m + 1) % 3]);
      const auto [it, is_new] = edge_of.try_emplace(ends, index_t(edges.size()));
      if (is_new) {
        edges.push_back({ends.first, ends.second, c, missing});
      } else {
        edges[std::size_t(it->second)][3] = c;
      }
    }
  }
  grid g;
  g.name = "test grid";
  g.vertices = vertices;
  g.edges = index_t(edges.size());
  g.cells = index_t(cells.size());
  g.e2v = table(g.edges, 2);
  g.e2c = table(g.edges, 2);
  g.e2c2v = table(g.edges, 4);
  g.c2v = table(g.cells, 3);
  g.v2e = table(vertices, 6);
  for (index_t c = 0; c < g.cells; ++c) {
    for (index_t m = 0; m < 3; ++m) g.c2v(c, m) = cells[std::size_t(c)][std::size_t(m)];
  }
  std::vector<index_t> valence(std::size_t(vertices), 0);
  for (index_t e = 0; e < g.edges; ++e) {
    const auto& edge = edges[std::size_t(e)];
    for (index_t s = 0; s < 2; ++s) {
      const index_t v = edge[std::size_t(s)], c = edge[std::size_t(2 + s)];
      g.v2e(v, valence[std::size_t(v)]++) = e;
      g.e2v(e, s) = g.e2c2v(e, s) = v;
      g.e2c(e, s) = c;
      if (c == missing) continue;
      for (const index_t corner : cells[std::size_t(c)]) {
        if (corner != edge[0] && corner != edge[1]) g.e2c2v(e, 2 + s) = corner;
      }
    }
  }
  g.c2e = make_c2e(g.e2v, g.e2c, g.c2v);
  return g;
}

// The icosahedron with each triangle split into four, `levels` times: 12 pentagons.
inline grid icosphere(int levels) {
  std::vector<std::array<index_t, 3>> cells;
  for (index_t n = 0; n < 5; ++n) {
    const index_t m = (n + 1) % 5;  // poles 0 and 11, rings 1..5 and 6..10
    cells.push_back({0, 1 + n, 1 + m});
    cells.push_back({1 + n, 6 + n, 1 + m});
    cells.push_back({1 + m, 6 + n, 6 + m});
    cells.push_back({11, 6 + m, 6 + n});
  }
  index_t vertices = 12;
  for (int level = 0; level < levels; ++level) {
    std::map<std::pair<index_t, index_t>, index_t> middle;
    const auto middle_of = [&](index_t a, index_t b) {
      const auto [it, is_new] = middle.try_emplace(std::minmax(a, b), vertices);
      if (is_new) ++vertices;
      return it->second;
    };
    std::vector<std::array<index_t, 3>> finer;
    for (const auto& [a, b, c] : cells) {
      const index_t ab = middle_of(a, b), bc = middle_of(b, c), ca = middle_of(c, a);
      for (const auto& t : {std::array{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}}) {
        finer.push_back(t);
      }
    }
    cells = finer;
  }
  return grid_from_cells(vertices, cells);
}

// nx x ny vertices, both directions periodic without a shift.
inline grid unshifted_torus(index_t nx, index_t ny) {
  std::vector<std::array<index_t, 3>> cells;
  const auto id = [&](index_t i, index_t j) { return j % ny * nx + i % nx; };
  for (index_t j = 0; j < ny; ++j) {
    for (index_t i = 0; i < nx; ++i) {
      cells.push_back({id(i, j), id(i, j + 1), id(i + 1, j)});
      cells.push_back({id(i + 1, j), id(i, j + 1), id(i + 1, j + 1)});
    }
  }
  return grid_from_cells(nx * ny, cells);
}

inline std::vector<index_t> random_order(index_t n, std::mt19937& random) {
  std::vector<index_t> order(std::size_t(n), 0);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// Row r of `t` becomes row rows[r], id n becomes ids[n], the slots of each row change places.
inline table shuffled(const table& t, const std::vector<index_t>& rows,
                      const std::vector<index_t>& ids, std::mt19937& random) {
  table result(t.rows(), t.slots);
  for (index_t row = 0; row < t.rows(); ++row) {
    std::vector<index_t> present;
    for (index_t s = 0; s < t.slots; ++s) {
      if (t(row, s) != missing) present.push_back(ids[std::size_t(t(row, s))]);
    }
    std::shuffle(present.begin(), present.end(), random);
    for (std::size_t s = 0; s < present.size(); ++s) {
      result(rows[std::size_t(row)], index_t(s)) = present[s];
    }
  }
  return result;
}

// The same grid with vertices, edges and cells renumbered at random, and edges turned and cells
// rotated or reflected at random.
inline grid shuffled(const grid& g, std::mt19937& random) {
  const auto v = random_order(g.vertices, random);
  const auto e = random_order(g.edges, random);
  const auto c = random_order(g.cells, random);
  grid result = g;
  result.shape.reset();
  result.e2v = shuffled(g.e2v, e, v, random);
  result.e2c = shuffled(g.e2c, e, c, random);
  result.c2v = shuffled(g.c2v, c, v, random);
  result.v2e = shuffled(g.v2e, v, e, random);
  for (index_t edge = 0; edge < g.edges; ++edge) {
    for (index_t s = 0; s < 2; ++s) {
      result.e2c2v(edge, s) = result.e2v(edge, s);
      result.e2c2v(edge, 2 + s) = missing;
      const index_t cell = result.e2c(edge, s);
      for (index_t m = 0; m < 3 && cell != missing; ++m) {
        const index_t corner = result.c2v(cell, m);
        if (corner != result.e2v(edge, 0) && corner != result.e2v(edge, 1)) {
          result.e2c2v(edge, 2 + s) = corner;
        }
      }
    }
  }
  if (g.c2e.rows() > 0) { result.c2e = make_c2e(result.e2v, result.e2c, result.c2v); }
  return result;
}

inline std::vector<std::array<index_t, 3>> cells_of(const grid& g) {
  std::vector<std::array<index_t, 3>> all;
  for (index_t c = 0; c < g.cells; ++c) { all.push_back({g.c2v(c, 0), g.c2v(c, 1), g.c2v(c, 2)}); }
  return all;
}

// The grid of these cells, whose vertices get numbers from 0 on as they come.
inline grid grid_of(const std::vector<std::array<index_t, 3>>& cells) {
  std::map<index_t, index_t> number;
  auto renumbered = cells;
  for (auto& cell : renumbered) {
    for (index_t& v : cell) { v = number.emplace(v, index_t(number.size())).first->second; }
  }
  grid g = grid_from_cells(index_t(number.size()), renumbered);
  g.c2e = make_c2e(g.e2v, g.e2c, g.c2v);
  return g;
}

// What is left of a grid without the cells around some vertices: a hole each.
inline grid without_vertices(const grid& g, const std::vector<index_t>& gone) {
  std::vector<std::array<index_t, 3>> kept;
  for (const auto& cell : cells_of(g)) {
    if (std::none_of(cell.begin(), cell.end(), [&](index_t v) {
          return std::find(gone.begin(), gone.end(), v) != gone.end();
        })) {
      kept.push_back(cell);
    }
  }
  return grid_of(kept);
}

inline std::set<index_t> row_set(const table& t, index_t row) {
  std::set<index_t> result;
  for (index_t s = 0; s < t.slots; ++s) result.insert(t(row, s));
  return result;
}

// Rows as sets, in any order: what a table says regardless of numbering and slots.
inline std::multiset<std::set<index_t>> row_sets(const table& t) {
  std::multiset<std::set<index_t>> result;
  for (index_t row = 0; row < t.rows(); ++row) result.insert(row_set(t, row));
  return result;
}

inline const std::vector<torus_shape>& torus_shapes() {
  static const std::vector<torus_shape> shapes = {{4, 3},  {4, 4},  {4, 5}, {6, 3},  {6, 4},
                                                  {8, 3},  {6, 12}, {8, 7}, {10, 9}, {12, 12},
                                                  {12, 3}, {4, 12}, {14, 5}};
  return shapes;
}

}  // namespace icobench::test
