#include <icobench/grids/tables.hpp>

#include <algorithm>
#include <iterator>

#include <icobench/grids/torus.hpp>

namespace icobench {
namespace {

bool in_range(index_t id, index_t count) {
  return id >= 0 && id < count;
}

bool row_contains(const table& t, index_t row, index_t id) {
  for (index_t s = 0; s < t.slots; ++s) {
    if (t(row, s) == id) return true;
  }
  return false;
}

// Position of `id` in a row, appended if it is new.
index_t find_or_append(table& t, index_t row, index_t id, const char* what) {
  for (index_t s = 0; s < t.slots; ++s) {
    if (t(row, s) == missing) t(row, s) = id;
    if (t(row, s) == id) return s;
  }
  throw input_error("row " + std::to_string(row) + " of " + what + " has more than " +
                    std::to_string(t.slots) + " entries");
}

// Inverse of a table: for each id, the rows that hold it, in order.
table inverted(const table& t, index_t ids, const char* what) {
  table result(ids, 6);
  for (index_t row = 0; row < t.rows(); ++row) {
    for (index_t s = 0; s < t.slots; ++s) {
      if (t(row, s) != missing) find_or_append(result, t(row, s), row, what);
    }
  }
  return result;
}

index_t tip_of(const table& c2v, index_t cell, index_t a, index_t b) {
  for (index_t m = 0; m < 3; ++m) {
    const index_t v = c2v(cell, m);
    if (v != a && v != b) return v;
  }
  return missing;
}

// Which side of a cell (0: corners 0-1, 1: 1-2, 2: 2-0) has these ends; `missing` if none.
index_t side_of(const table& c2v, index_t cell, index_t a, index_t b) {
  for (index_t m = 0; m < 3; ++m) {
    const index_t p = c2v(cell, m), q = c2v(cell, (m + 1) % 3);
    if ((p == a && q == b) || (p == b && q == a)) return m;
  }
  return missing;
}

// Rows of a closed form; `row_of(vertex)` is the row of a vertex's entity.
template <class Offset, std::size_t Slots, class RowOf>
void fill_members(table& t, torus_shape shape, const Offset (&offsets)[Slots], RowOf row_of) {
  for (index_t j = 0; j < shape.ny; ++j) {
    for (index_t i = 0; i < shape.nx; ++i) {
      for (std::size_t s = 0; s < Slots; ++s) {
        t(row_of(j * shape.nx + i), index_t(s)) = at(shape, i, j, offsets[s]);
      }
    }
  }
}

template <class RowOf>
void fill_positions(table& t, index_t vertices, const std::uint8_t* positions, RowOf row_of) {
  for (index_t v = 0; v < vertices; ++v) {
    for (index_t n = 0; n < t.slots; ++n) t(row_of(v), n) = positions[n];
  }
}

constexpr auto vertex_row = [](index_t v) { return v; };

// Position of each diamond vertex of the 15 edges among the 12 vertices.
struct diamond_positions {
  std::uint8_t of[60];
};

constexpr diamond_positions c2v2e2c2v_positions(int half) {
  diamond_positions result{};
  for (int n = 0; n < 60; ++n) {
    const auto e = torus::c2v2e[half][n / 4];
    const auto d = torus::diamond[e.colour][n % 4];
    std::uint8_t p = 0;
    while (!(torus::c2v2e2c2v[half][p] == torus::offset{e.di + d.di, e.dj + d.dj})) ++p;
    result.of[n] = p;
  }
  return result;
}

composed torus_v2e2c2v(const grid& g) {
  composed result{table(g.vertices, 7), table(g.vertices, 24)};
  fill_members(result.members, *g.shape, torus::v2e2c2v, vertex_row);
  fill_positions(result.positions, g.vertices, &torus::e_v2e2c2v[0][0], vertex_row);
  return result;
}

composed torus_c2v2e(const grid& g) {
  composed result{table(g.cells, 15), table(g.cells, 18)};
  for (index_t half = 0; half < 2; ++half) {
    const auto cell_row = [half](index_t v) { return 2 * v + half; };
    fill_members(result.members, *g.shape, torus::c2v2e[half], cell_row);
    fill_positions(result.positions, g.vertices, &torus::e_c2v2e[half][0][0], cell_row);
  }
  return result;
}

composed torus_c2v2e2c2v(const grid& g) {
  static constexpr diamond_positions positions[2] = {c2v2e2c2v_positions(0),
                                                     c2v2e2c2v_positions(1)};
  composed result{table(g.cells, 12), table(g.cells, 60)};
  for (index_t half = 0; half < 2; ++half) {
    const auto cell_row = [half](index_t v) { return 2 * v + half; };
    fill_members(result.members, *g.shape, torus::c2v2e2c2v[half], cell_row);
    fill_positions(result.positions, g.vertices, positions[half].of, cell_row);
  }
  return result;
}

// inner[outer[row][s]][t] without repetitions.
composed compose(const table& outer, const table& inner, index_t slots, const char* what) {
  composed result{table(outer.rows(), slots), table(outer.rows(), outer.slots * inner.slots)};
  for (index_t row = 0; row < outer.rows(); ++row) {
    for (index_t n = 0; n < result.positions.slots; ++n) {
      const index_t through = outer(row, n / inner.slots);
      if (through == missing) continue;
      const index_t id = inner(through, n % inner.slots);
      if (id == missing) continue;
      result.positions(row, n) = find_or_append(result.members, row, id, what);
    }
  }
  return result;
}

// Checks of check_grid. `variable` is the name in ICON grid files.
class checker {
 public:
  explicit checker(const grid& g) : g_(g) {}

  void sizes() const {
    size("edge_vertices", g_.e2v, g_.edges, 2);
    size("adjacent_cell_of_edge", g_.e2c, g_.edges, 2);
    size("vertex_of_cell", g_.c2v, g_.cells, 3);
    size("edges_of_vertex", g_.v2e, g_.vertices, 6);
  }

  void ends() const {
    for (index_t e = 0; e < g_.edges; ++e) {
      present("edge_vertices", "edge", g_.e2v, e, g_.vertices);
      if (g_.e2v(e, 0) == g_.e2v(e, 1)) fail("edge_vertices", "edge", e, "has equal ends");
    }
  }

  void corners() const {
    for (index_t c = 0; c < g_.cells; ++c) {
      present("vertex_of_cell", "cell", g_.c2v, c, g_.vertices);
      const index_t a = g_.c2v(c, 0), b = g_.c2v(c, 1), d = g_.c2v(c, 2);
      if (a == b || b == d || d == a) fail("vertex_of_cell", "cell", c, "repeats a vertex");
    }
  }

  // Every adjacent cell has the edge as a side, and every cell has three edges as its sides.
  void sides() const {
    std::vector<std::uint8_t> seen(std::size_t(g_.cells), 0);  // bit m: side m
    for (index_t e = 0; e < g_.edges; ++e) {
      if (g_.e2c(e, 0) == g_.e2c(e, 1)) {
        fail("adjacent_cell_of_edge", "edge", e,
             g_.e2c(e, 0) == missing ? "has no cell" : "has the same cell twice");
      }
      for (index_t s = 0; s < 2; ++s) mark_side(e, g_.e2c(e, s), seen);
    }
    const auto incomplete = std::find_if(seen.begin(), seen.end(), [](auto m) { return m != 7; });
    if (incomplete != seen.end()) {
      fail("adjacent_cell_of_edge", "cell", index_t(incomplete - seen.begin()),
           "is not named by an edge for each of its sides");
    }
  }

  void edges_of_vertices() const {
    std::int64_t named = 0;
    for (index_t v = 0; v < g_.vertices; ++v) {
      for (index_t s = 0; s < 6; ++s) named += edge_of_vertex(v, s);
    }
    if (named == 2 * std::int64_t{g_.edges}) return;
    for (index_t e = 0; e < g_.edges; ++e) {
      for (index_t s = 0; s < 2; ++s) {
        const index_t v = g_.e2v(e, s);
        if (!row_contains(g_.v2e, v, e)) {
          fail("edges_of_vertex", "vertex", v,
               "lacks edge " + std::to_string(e) + ", which ends there");
        }
      }
    }
  }

  void diamonds() const {
    if (g_.e2c2v.ids.empty()) return;
    if (!(g_.e2c2v == make_e2c2v(g_.e2v, g_.e2c, g_.c2v))) {
      throw input_error(g_.name + ": the diamonds (e2c2v) do not follow from the other tables");
    }
  }

 private:
  [[noreturn]] void fail(const char* variable, const char* entity, index_t id,
                         const std::string& what) const {
    throw input_error(g_.name + ": variable '" + variable + "': " + entity + " " +
                      std::to_string(id) + " (counted from 0) " + what);
  }

  void size(const char* variable, const table& t, index_t rows, index_t slots) const {
    const std::size_t expected = std::size_t(std::max(rows, index_t(0))) * std::size_t(slots);
    if (rows > 0 && t.slots == slots && t.ids.size() == expected) return;
    throw input_error(g_.name + ": variable '" + variable + "': expected " + std::to_string(rows) +
                      " (at least 1) x " + std::to_string(slots) + " entries");
  }

  void present(const char* variable, const char* entity, const table& t, index_t row,
               index_t count) const {
    for (index_t s = 0; s < t.slots; ++s) {
      if (t(row, s) == missing) fail(variable, entity, row, "lacks a vertex");
      if (!in_range(t(row, s), count)) out_of_range(variable, entity, row, t(row, s), count);
    }
  }

  [[noreturn]] void out_of_range(const char* variable, const char* entity, index_t row, index_t id,
                                 index_t count) const {
    fail(variable, entity, row,
         "names " + std::to_string(id) + ", but there are only " + std::to_string(count));
  }

  void mark_side(index_t e, index_t cell, std::vector<std::uint8_t>& seen) const {
    if (cell == missing) return;
    if (!in_range(cell, g_.cells)) {
      out_of_range("adjacent_cell_of_edge", "edge", e, cell, g_.cells);
    }
    const index_t side = side_of(g_.c2v, cell, g_.e2v(e, 0), g_.e2v(e, 1));
    if (side == missing) {
      fail("adjacent_cell_of_edge", "edge", e, "is not a side of cell " + std::to_string(cell));
    }
    const auto bit = std::uint8_t(1u << unsigned(side));
    if (seen[std::size_t(cell)] & bit) {
      fail("adjacent_cell_of_edge", "edge", e,
           "repeats a side of cell " + std::to_string(cell) + " that another edge has");
    }
    seen[std::size_t(cell)] |= bit;
  }

  // 1 if the slot names an edge.
  int edge_of_vertex(index_t v, index_t s) const {
    const index_t e = g_.v2e(v, s);
    if (e == missing) return 0;
    if (!in_range(e, g_.edges)) out_of_range("edges_of_vertex", "vertex", v, e, g_.edges);
    if (!row_contains(g_.e2v, e, v)) {
      fail("edges_of_vertex", "vertex", v, "is not an end of its edge " + std::to_string(e));
    }
    for (index_t before = 0; before < s; ++before) {
      if (g_.v2e(v, before) == e) fail("edges_of_vertex", "vertex", v, "repeats an edge");
      if (g_.v2e(v, before) == missing) fail("edges_of_vertex", "vertex", v, "has a gap");
    }
    return 1;
  }

  const grid& g_;
};

bool passes(const grid& g, void (checker::*check)() const) {
  try {
    (checker(g).*check)();
    return true;
  } catch (const input_error&) { return false; }
}

}  // namespace

table make_v2e(const table& e2v, index_t vertices) {
  return inverted(e2v, vertices, "v2e");
}

table make_v2c(const table& c2v, index_t vertices) {
  return inverted(c2v, vertices, "v2c");
}

table make_e2c2v(const table& e2v, const table& e2c, const table& c2v) {
  table result(e2v.rows(), 4);
  for (index_t e = 0; e < e2v.rows(); ++e) {
    for (index_t s = 0; s < 2; ++s) {
      result(e, s) = e2v(e, s);
      const index_t cell = e2c(e, s);
      if (cell != missing) result(e, 2 + s) = tip_of(c2v, cell, e2v(e, 0), e2v(e, 1));
    }
  }
  return result;
}

table make_c2e(const table& e2v, const table& e2c, const table& c2v) {
  table result(c2v.rows(), 3);
  for (index_t e = 0; e < e2v.rows(); ++e) {
    for (index_t s = 0; s < 2; ++s) {
      const index_t cell = e2c(e, s);
      if (cell != missing) result(cell, side_of(c2v, cell, e2v(e, 0), e2v(e, 1))) = e;
    }
  }
  return result;
}

table& table_of(grid& g, neighbour_table t) {
  constexpr table grid::*members[neighbour_table_count] = {&grid::e2c2v, &grid::v2e, &grid::c2v,
                                                           &grid::e2c, &grid::c2e};
  return g.*members[std::size_t(t)];
}
const table& table_of(const grid& g, neighbour_table t) {
  return table_of(const_cast<grid&>(g), t);
}

table make_v2v(const table& v2e, const table& e2v) {
  table result(v2e.rows(), v2e.slots);
  for (index_t v = 0; v < v2e.rows(); ++v) {
    for (index_t s = 0; s < v2e.slots; ++s) {
      const index_t e = v2e(v, s);
      if (e != missing) result(v, s) = e2v(e, 0) == v ? e2v(e, 1) : e2v(e, 0);
    }
  }
  return result;
}

composed make_v2e2c2v(const grid& g) {
  return g.shape ? torus_v2e2c2v(g) : compose(g.v2e, g.e2c2v, 7, "v2e2c2v");
}

composed make_c2v2e(const grid& g) {
  return g.shape ? torus_c2v2e(g) : compose(g.c2v, g.v2e, 15, "c2v2e");
}

composed make_c2v2e2c2v(const grid& g, const table& c2v2e) {
  return g.shape ? torus_c2v2e2c2v(g) : compose(c2v2e, g.e2c2v, 12, "c2v2e2c2v");
}

grid_report inspect(const grid& g) {
  grid_report r;
  r.vertices = g.vertices;
  r.edges = g.edges;
  r.cells = g.cells;
  r.euler = std::int64_t{g.vertices} - g.edges + g.cells;
  for (index_t v = 0; v < g.v2e.rows(); ++v) {
    std::size_t valence = 0;
    for (index_t s = 0; s < g.v2e.slots; ++s) valence += g.v2e(v, s) != missing;
    ++r.valence[std::min<std::size_t>(valence, 6)];
  }
  for (index_t e = 0; e < g.e2c.rows(); ++e) {
    r.boundary_edges += (g.e2c(e, 0) == missing) != (g.e2c(e, 1) == missing);
  }
  for (const table* t : {&g.e2c, &g.v2e}) {
    r.missing_neighbours += std::count(t->ids.begin(), t->ids.end(), missing);
  }
  const bool readable = passes(g, &checker::sizes) && passes(g, &checker::ends);
  r.vertices_and_edges_mutual = readable && passes(g, &checker::edges_of_vertices);
  r.edges_and_cells_mutual = readable && passes(g, &checker::corners) && passes(g, &checker::sides);
  return r;
}

std::string kind_of(const grid_report& r) {
  if (r.boundary_edges > 0) return "limited area";
  if (r.euler == 2) return "sphere";
  return r.euler == 0 ? "periodic" : "other";
}

void check_grid(const grid& g) {
  const checker check(g);
  check.sizes();
  check.ends();
  check.corners();
  check.sides();
  check.edges_of_vertices();
  check.diamonds();
}

}  // namespace icobench
