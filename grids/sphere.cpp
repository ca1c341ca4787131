#include <icobench/grids/sphere.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <utility>

#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

namespace icobench {
namespace {

// What a division needs and makes: corners counter-clockwise, side j between corners j and j + 1.
struct triangulation {
  table c2v, c2e, e2v;
  std::vector<unit_vector> positions;
};

unit_vector normalised(const unit_vector& p) {
  const double length = std::sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
  return {p[0] / length, p[1] / length, p[2] / length};
}

// Gives numbers in the order of the first question.
class first_touch {
 public:
  explicit first_touch(std::size_t count) : number_(count, missing) {}
  // Of thing n, and whether it is new.
  std::pair<index_t, bool> of(std::size_t n) {
    const bool is_new = number_[n] == missing;
    if (is_new) { number_[n] = next_++; }
    return {number_[n], is_new};
  }
  index_t operator[](std::size_t n) const { return number_[n]; }

 private:
  std::vector<index_t> number_;
  index_t next_ = 0;
};

// Sides from corners: edges by first touch, in the direction of the first cell that has them.
void number_edges(triangulation& t) {
  std::map<std::pair<index_t, index_t>, index_t> number;
  t.c2e = table(t.c2v.rows(), 3);
  t.e2v = table(t.c2v.rows() / 2 * 3, 2);
  for (index_t c = 0; c < t.c2v.rows(); ++c) {
    for (index_t j = 0; j < 3; ++j) {
      const index_t from = t.c2v(c, j), to = t.c2v(c, (j + 1) % 3);
      const auto [found, is_new] =
          number.emplace(std::minmax(from, to), static_cast<index_t>(number.size()));
      t.c2e(c, j) = found->second;
      if (is_new) {
        t.e2v(found->second, 0) = from;
        t.e2v(found->second, 1) = to;
      }
    }
  }
}

triangulation icosahedron() {
  constexpr index_t corners[20][3] = {{0, 1, 2},  {0, 2, 3},  {0, 3, 4},  {0, 4, 5},   {0, 5, 1},
                                      {6, 2, 1},  {7, 3, 2},  {8, 4, 3},  {9, 5, 4},   {10, 1, 5},
                                      {2, 6, 7},  {3, 7, 8},  {4, 8, 9},  {5, 9, 10},  {1, 10, 6},
                                      {11, 7, 6}, {11, 8, 7}, {11, 9, 8}, {11, 10, 9}, {11, 6, 10}};
  triangulation t;
  t.c2v = table(20, 3);
  for (index_t c = 0; c < 20; ++c) {
    for (index_t m = 0; m < 3; ++m) { t.c2v(c, m) = corners[c][m]; }
  }
  const double latitude = std::atan(0.5), step = 2 * std::numbers::pi / 5;
  t.positions = {{0, 0, 1}};
  for (int ring = 0; ring < 2; ++ring) {
    for (int n = 0; n < 5; ++n) {
      const double longitude = (n + 0.5 * ring) * step;
      t.positions.push_back({std::cos(latitude) * std::cos(longitude),
                             std::cos(latitude) * std::sin(longitude),
                             (ring == 0 ? 1 : -1) * std::sin(latitude)});
    }
  }
  t.positions.push_back({0, 0, -1});
  number_edges(t);
  return t;
}

// Each side into n: small grids, so that a map may find the vertices that cells share.
class division {
 public:
  division(const triangulation& parent, index_t n) : p_(parent), n_(n) {
    fine_.c2v = table(p_.c2v.rows() * n * n, 3);
  }

  triangulation run() {
    index_t next = 0;
    const auto add = [&](const std::array<index_t, 3>& corners) {
      for (index_t m = 0; m < 3; ++m) { fine_.c2v(next, m) = corners[std::size_t(m)]; }
      ++next;
    };
    for (index_t c = 0; c < p_.c2v.rows(); ++c) {
      for (index_t row = 0; row < n_; ++row) {
        for (index_t place = 0; place <= row; ++place) {
          const index_t above = vertex(c, row, place), below = vertex(c, row + 1, place + 1);
          add({above, below, vertex(c, row + 1, place)});
          if (place < row) { add({above, vertex(c, row, place + 1), below}); }
        }
      }
    }
    number_edges(fine_);
    return std::move(fine_);
  }

 private:
  // What a vertex lies on: a corner, a side or a cell, and where.
  enum class part : index_t { corner, side, cell };
  using key = std::array<index_t, 4>;

  key key_of(index_t c, const std::array<index_t, 3>& weight) const {
    for (index_t m = 0; m < 3; ++m) {
      if (weight[std::size_t(m)] == n_) { return {index_t(part::corner), p_.c2v(c, m), 0, 0}; }
    }
    for (index_t j = 0; j < 3; ++j) {
      if (weight[std::size_t((j + 2) % 3)] > 0) { continue; }
      const index_t e = p_.c2e(c, j);
      const bool forwards = p_.e2v(e, 0) == p_.c2v(c, j);
      return {index_t(part::side), e, weight[std::size_t(forwards ? j : (j + 1) % 3)], 0};
    }
    return {index_t(part::cell), c, weight[0], weight[1]};
  }

  // `row` steps from corner 0, `place` from the side between corners 0 and 2.
  index_t vertex(index_t c, index_t row, index_t place) {
    const std::array<index_t, 3> weight{n_ - row, place, row - place};  // of the corners
    const auto [found, is_new] = number_.emplace(key_of(c, weight), index_t(number_.size()));
    if (is_new) {
      unit_vector sum{};
      for (index_t m = 0; m < 3; ++m) {
        const unit_vector& corner = p_.positions[std::size_t(p_.c2v(c, m))];
        for (std::size_t axis = 0; axis < 3; ++axis) {
          sum[axis] += double(weight[std::size_t(m)]) * corner[axis];
        }
      }
      fine_.positions.push_back(normalised(sum));
    }
    return found->second;
  }

  const triangulation& p_;
  index_t n_;
  triangulation fine_;
  std::map<key, index_t> number_;
};

// The edges of a bisected cell: its inner ones, which cut off a corner each, and the halves of its
// sides at the ends of the parent's edge.
class bisection {
 public:
  explicit bisection(const triangulation& parent)
      : p_(parent),
        vertex_(p_.positions.size() + std::size_t(p_.e2v.rows())),
        half_(2 * std::size_t(p_.e2v.rows()), missing) {
    fine_.c2v = table(4 * p_.c2v.rows(), 3);
    fine_.c2e = table(4 * p_.c2v.rows(), 3);
    fine_.e2v = table(2 * p_.e2v.rows() + 3 * p_.c2v.rows(), 2);
    fine_.positions.reserve(p_.positions.size() + std::size_t(p_.e2v.rows()));
  }

  triangulation run() {
    for (index_t c = 0; c < p_.c2v.rows(); ++c) {
      number_vertices(c);
      const auto inner = number_edges(c);
      make_children(c, inner);
    }
    return std::move(fine_);
  }

 private:
  index_t middle(index_t c, index_t side) const {
    return vertex_[p_.positions.size() + std::size_t(p_.c2e(c, side))];
  }
  index_t corner(index_t c, index_t m) const { return vertex_[std::size_t(p_.c2v(c, m))]; }

  void number_vertices(index_t c) {
    for (index_t side = 0; side < 3; ++side) {
      const index_t e = p_.c2e(c, side);
      if (vertex_.of(p_.positions.size() + std::size_t(e)).second) {
        const unit_vector& a = p_.positions[std::size_t(p_.e2v(e, 0))];
        const unit_vector& b = p_.positions[std::size_t(p_.e2v(e, 1))];
        fine_.positions.push_back(normalised({a[0] + b[0], a[1] + b[1], a[2] + b[2]}));
      }
    }
    for (index_t m = 0; m < 3; ++m) {
      const auto v = std::size_t(p_.c2v(c, m));
      if (vertex_.of(v).second) { fine_.positions.push_back(p_.positions[v]); }
    }
  }

  // Which half of the parent's edge e is at its vertex v.
  std::size_t half_at(index_t e, index_t v) const {
    return 2 * std::size_t(e) + (p_.e2v(e, 0) == v ? 0 : 1);
  }

  // Returns the inner edges, that which cuts off corner m as number m.
  std::array<index_t, 3> number_edges(index_t c) {
    std::array<index_t, 3> inner{};
    for (index_t m = 0; m < 3; ++m) {
      const index_t before = (m + 2) % 3;  // sides `before` and m meet at corner m
      inner[std::size_t(m)] = next_edge_;
      fine_.e2v(next_edge_, 0) = middle(c, before);
      fine_.e2v(next_edge_++, 1) = middle(c, m);
    }
    for (index_t m = 0; m < 3; ++m) {
      for (index_t side = 0; side < 3; ++side) {
        if (side == (m + 1) % 3) { continue; }  // the side opposite to corner m
        const index_t e = p_.c2e(c, side), v = p_.c2v(c, m);
        index_t& number = half_[half_at(e, v)];
        if (number != missing) { continue; }
        number = next_edge_++;
        const bool first = p_.e2v(e, 0) == v;
        fine_.e2v(number, first ? 0 : 1) = corner(c, m);
        fine_.e2v(number, first ? 1 : 0) = middle(c, side);
      }
    }
    return inner;
  }

  void make_children(index_t c, const std::array<index_t, 3>& inner) {
    for (index_t j = 0; j < 3; ++j) {
      fine_.c2v(4 * c, j) = middle(c, j);
      fine_.c2e(4 * c, j) = inner[std::size_t((j + 1) % 3)];
    }
    for (index_t m = 0; m < 3; ++m) {
      const index_t child = 4 * c + 1 + m, before = (m + 2) % 3, v = p_.c2v(c, m);
      fine_.c2v(child, 0) = middle(c, before);
      fine_.c2v(child, 1) = corner(c, m);
      fine_.c2v(child, 2) = middle(c, m);
      fine_.c2e(child, 0) = half_[half_at(p_.c2e(c, before), v)];
      fine_.c2e(child, 1) = half_[half_at(p_.c2e(c, m), v)];
      fine_.c2e(child, 2) = inner[std::size_t(m)];
    }
  }

  const triangulation& p_;
  triangulation fine_;
  first_touch vertex_;  // of the parent's vertices, then of the middles of its edges
  std::vector<index_t> half_;
  index_t next_edge_ = 0;
};

constexpr std::string_view prefix = "sphere:";

// For each cell the edges say which two have them.
table cells_of_edges(const triangulation& t) {
  table e2c(t.e2v.rows(), 2);
  for (index_t c = 0; c < t.c2e.rows(); ++c) {
    for (index_t j = 0; j < 3; ++j) {
      const index_t e = t.c2e(c, j);
      e2c(e, e2c(e, 0) == missing ? 0 : 1) = c;
    }
  }
  return e2c;
}

}  // namespace

bool is_sphere_spec(std::string_view text) {
  return text.starts_with(prefix);
}

std::string to_string(sphere_shape s) {
  return "R" + std::to_string(s.root) + "B" + std::to_string(s.bisections);
}

sphere_shape parse_sphere(std::string_view text) {
  const auto refuse = [&](const std::string& why) -> sphere_shape {
    throw input_error("'" + std::string(text) + "' is not a sphere: " + why);
  };
  const char* const end = text.data() + text.size();
  const auto number = [&](const char* from, char letter, index_t& value) {
    if (from == nullptr || from == end || *from != letter) {
      return static_cast<const char*>(nullptr);
    }
    const auto read = std::from_chars(from + 1, end, value);
    return read.ec == std::errc{} ? read.ptr : nullptr;
  };
  sphere_shape shape;
  const char* at = is_sphere_spec(text) ? text.data() + prefix.size() : nullptr;
  at = number(number(at, 'R', shape.root), 'B', shape.bisections);
  if (at != end || shape.root < 1 || shape.bisections < 0) {
    return refuse("expected sphere:RnBk, n from 1, k from 0, as sphere:R2B6");
  }
  // The largest ids are those of (edge, diamond slot) pairs: 4 E = 120 n^2 of them.
  const auto most = index_t(std::sqrt(double(std::numeric_limits<index_t>::max()) / 120));
  if (shape.bisections > 30 || shape.divisions() > most) {
    return refuse("too large: root * 2^bisections is at most " + std::to_string(most) + " with " +
                  std::to_string(ICOBENCH_INDEX_BITS) + "-bit ids");
  }
  return shape;
}

grid make_sphere(sphere_shape shape) {
  parse_sphere(std::string(prefix) + to_string(shape));
  index_t odd = shape.root, bisections = shape.bisections;
  for (; odd % 2 == 0; odd /= 2) { ++bisections; }
  triangulation t = icosahedron();
  if (odd > 1) { t = division(t, odd).run(); }
  for (index_t n = 0; n < bisections; ++n) { t = bisection(t).run(); }
  grid g;
  g.name = std::string(prefix) + to_string(shape);
  g.vertices = index_t(t.positions.size());
  g.edges = t.e2v.rows();
  g.cells = t.c2v.rows();
  g.e2c = cells_of_edges(t);
  g.e2v = std::move(t.e2v);
  g.c2v = std::move(t.c2v);
  g.c2e = std::move(t.c2e);
  g.v2e = make_v2e(g.e2v, g.vertices);
  g.e2c2v = make_e2c2v(g.e2v, g.e2c, g.c2v);
  g.positions = std::move(t.positions);
  return g;
}

bool is_numbered_by_bisection(const grid& g) {
  if (g.cells % 4 != 0) { return false; }
  index_t next_vertex = 0, next_edge = 0;
  // Whether what is new in the row of four cells is all of the next ids, as many as there are.
  const auto continues = [](std::vector<index_t> ids, index_t& next) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const index_t id : ids) {
      if (id < next) { continue; }
      if (id != next++) { return false; }
    }
    return true;
  };
  for (index_t c = 0; c < g.cells; c += 4) {
    std::vector<index_t> vertices, edges;
    for (index_t n = 0; n < 12; ++n) {
      vertices.push_back(g.c2v(c + n / 3, n % 3));
      edges.push_back(g.c2e(c + n / 3, n % 3));
    }
    for (index_t child = 1; child < 4; ++child) {
      const auto* const own = &edges[std::size_t(3 * child)];
      if (std::none_of(own, own + 3, [&](index_t e) {
            return std::find(edges.begin(), edges.begin() + 3, e) != edges.begin() + 3;
          })) {
        return false;
      }
    }
    if (!continues(vertices, next_vertex) || !continues(edges, next_edge)) { return false; }
  }
  return true;
}

std::optional<grid> make_named_grid(std::string_view name) {
  if (is_torus_spec(name)) { return make_torus(parse_torus(name)); }
  if (is_sphere_spec(name)) { return make_sphere(parse_sphere(name)); }
  return std::nullopt;
}

}  // namespace icobench
