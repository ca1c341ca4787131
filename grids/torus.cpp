#include <icobench/grids/torus.hpp>

#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

namespace icobench {
namespace {

constexpr torus::offset operator+(torus::offset a, torus::offset b) {
  return {a.di + b.di, a.dj + b.dj};
}

constexpr torus::offset owner(torus::edge_offset e) {
  return {e.di, e.dj};
}

// The composed lists follow from v2e, c2v and the diamonds; each claim is checked by the compiler.
constexpr bool v2e2c2v_is_consistent() {
  for (int s = 0; s < 6; ++s) {
    for (int t = 0; t < 4; ++t) {
      const auto direct = owner(torus::v2e[s]) + torus::diamond[torus::v2e[s].colour][t];
      if (!(torus::v2e2c2v[torus::e_v2e2c2v[s][t]] == direct)) return false;
    }
  }
  return true;
}

constexpr bool c2v2e_is_consistent() {
  for (int half = 0; half < 2; ++half) {
    for (int m = 0; m < 3; ++m) {
      for (int s = 0; s < 6; ++s) {
        const auto o = torus::c2v[half][m] + owner(torus::v2e[s]);
        const torus::edge_offset direct{torus::v2e[s].colour, o.di, o.dj};
        if (!(torus::c2v2e[half][torus::e_c2v2e[half][m][s]] == direct)) return false;
      }
    }
  }
  return true;
}

template <class List, class Offset>
constexpr bool contains(const List& list, Offset wanted) {
  for (const auto& o : list) {
    if (o == wanted) return true;
  }
  return false;
}

constexpr bool sides_join_corners() {
  for (int half = 0; half < 2; ++half) {
    for (int side = 0; side < 3; ++side) {
      const torus::edge_offset e = torus::c2e[half][side];
      const torus::offset ends[2] = {owner(e), owner(e) + torus::diamond[e.colour][1]};
      const torus::offset corners[2] = {torus::c2v[half][side], torus::c2v[half][(side + 1) % 3]};
      if (!(ends[0] == corners[0] && ends[1] == corners[1]) &&
          !(ends[0] == corners[1] && ends[1] == corners[0])) {
        return false;
      }
    }
  }
  return true;
}

constexpr bool c2v2e2c2v_is_complete() {
  for (int half = 0; half < 2; ++half) {
    for (const auto& e : torus::c2v2e[half]) {
      for (const auto& d : torus::diamond[e.colour]) {
        if (!contains(torus::c2v2e2c2v[half], owner(e) + d)) return false;
        if (!contains(torus::pair_c2v2e2c2v, owner(e) + d)) return false;
      }
      if (!contains(torus::pair_c2v2e, e)) return false;
    }
  }
  return true;
}

constexpr bool tips_belong_to_cells() {
  for (int colour = 0; colour < 3; ++colour) {
    for (int side = 0; side < 2; ++side) {
      const auto cell = torus::e2c[colour][side];
      for (const int slot : {0, 1, 2 + side}) {
        bool found = false;
        for (const auto& corner : torus::c2v[cell.half]) {
          found |= torus::offset{cell.di, cell.dj} + corner == torus::diamond[colour][slot];
        }
        if (!found) return false;
      }
    }
  }
  return true;
}

static_assert(v2e2c2v_is_consistent());
static_assert(c2v2e_is_consistent());
static_assert(c2v2e2c2v_is_complete());
static_assert(tips_belong_to_cells());
static_assert(sides_join_corners());

template <class Offset, std::size_t Slots>
void fill_row(table& t, index_t row, torus_shape shape, index_t i, index_t j,
              const Offset (&offsets)[Slots]) {
  for (std::size_t s = 0; s < Slots; ++s) t(row, index_t(s)) = at(shape, i, j, offsets[s]);
}

void fill_vertex(grid& g, torus_shape shape, index_t i, index_t j) {
  const index_t v = j * shape.nx + i;
  fill_row(g.v2e, v, shape, i, j, torus::v2e);
  for (index_t colour = 0; colour < 3; ++colour) {
    const index_t e = 3 * v + colour;
    fill_row(g.e2c2v, e, shape, i, j, torus::diamond[colour]);
    fill_row(g.e2c, e, shape, i, j, torus::e2c[colour]);
    for (index_t end = 0; end < 2; ++end) g.e2v(e, end) = g.e2c2v(e, end);
  }
  for (index_t half = 0; half < 2; ++half) {
    fill_row(g.c2v, 2 * v + half, shape, i, j, torus::c2v[half]);
    fill_row(g.c2e, 2 * v + half, shape, i, j, torus::c2e[half]);
  }
}

constexpr std::string_view prefix = "torus:";

}  // namespace

std::string to_string(torus_shape shape) {
  return std::string(prefix) + std::to_string(shape.nx) + "x" + std::to_string(shape.ny);
}

bool is_torus_spec(std::string_view text) {
  return text.starts_with(prefix);
}

void check_torus(torus_shape shape) {
  const auto refuse = [&](const std::string& reason) {
    throw input_error(to_string(shape) + ": " + reason);
  };
  if (shape.nx < 4) refuse("nx must be at least 4, or neighbours in i coincide");
  if (shape.nx % 2 != 0) refuse("nx must be even, because nx rows are shifted by nx/2 columns");
  if (shape.ny < 3) refuse("ny must be at least 3, or neighbours in j coincide");
  // The largest ids are those of (edge, diamond slot) pairs: 4 E = 12 V of them.
  constexpr std::int64_t most = std::numeric_limits<index_t>::max() / 12;
  if (shape.nx > most / shape.ny) {
    refuse("too large: at most " + std::to_string(most) + " vertices fit " +
           std::to_string(ICOBENCH_INDEX_BITS) + "-bit ids");
  }
}

torus_shape parse_torus(std::string_view text) {
  const auto malformed = [&] {
    return input_error("'" + std::string(text) +
                       "' is not a torus: expected torus:NXxNY with two integers");
  };
  if (!is_torus_spec(text)) throw malformed();
  torus_shape shape;
  const char* const end = text.data() + text.size();
  const auto nx = std::from_chars(text.data() + prefix.size(), end, shape.nx);
  if (nx.ec != std::errc{} || nx.ptr == end || *nx.ptr != 'x') throw malformed();
  const auto ny = std::from_chars(nx.ptr + 1, end, shape.ny);
  if (ny.ec != std::errc{} || ny.ptr != end) throw malformed();
  check_torus(shape);
  return shape;
}

grid make_torus(torus_shape shape) {
  check_torus(shape);
  grid g;
  g.name = to_string(shape);
  g.shape = shape;
  g.vertices = shape.nx * shape.ny;
  g.edges = 3 * g.vertices;
  g.cells = 2 * g.vertices;
  g.e2v = table(g.edges, 2);
  g.e2c = table(g.edges, 2);
  g.c2v = table(g.cells, 3);
  g.v2e = table(g.vertices, 6);
  g.e2c2v = table(g.edges, 4);
  g.c2e = table(g.cells, 3);
  for (index_t j = 0; j < shape.ny; ++j) {
    for (index_t i = 0; i < shape.nx; ++i) fill_vertex(g, shape, i, j);
  }
  return g;
}

point torus_point(torus_shape shape, double i, double j, double side) {
  // Wrapped in units of the side, where the halves and thirds of our points stay nearly exact.
  double column = std::fmod(j + i / 2, double(shape.ny));
  if (column < 0) column += double(shape.ny);
  return {column * side, i * side * std::numbers::sqrt3 / 2};
}

double domain_length(torus_shape shape, double side) {
  return double(shape.ny) * side;
}

double domain_height(torus_shape shape, double side) {
  return double(shape.nx) * side * std::numbers::sqrt3 / 2;
}

}  // namespace icobench
