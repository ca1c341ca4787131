#include <icobench/grids/patches.hpp>

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include <icobench/mesh/torus_offsets.hpp>

namespace icobench {
namespace {

constexpr index_t least_side = 12, pieces_at_most = 100;

// Steps from vertex to vertex over edges and cells.
class walker {
 public:
  explicit walker(const grid& g) : g_(g) {}

  index_t edge_between(index_t a, index_t b) const {
    for (index_t s = 0; s < 6; ++s) {
      const index_t e = g_.v2e(a, s);
      if (e == missing) { continue; }
      if (g_.e2v(e, 0) == b || g_.e2v(e, 1) == b) { return e; }
    }
    return missing;
  }
  // The tip beyond the edge of a and b, seen from its tip on this side.
  index_t across(index_t a, index_t b, index_t tip) const {
    const index_t e = edge_between(a, b);
    if (e == missing) { return missing; }
    const index_t first = g_.e2c2v(e, 2), second = g_.e2c2v(e, 3);
    return first == tip ? second : second == tip ? first : missing;
  }

 private:
  const grid& g_;
};

// Six edges, and a cell on both sides of each.
bool is_regular(const grid& g, index_t v) {
  for (index_t s = 0; s < 6; ++s) {
    const index_t e = g.v2e(v, s);
    if (e == missing || g.e2c(e, 0) == missing || g.e2c(e, 1) == missing) { return false; }
  }
  return true;
}

// A rectangle that grows: lines of vertices along both axes, taken from those that nobody has.
class rectangle_of_vertices {
 public:
  enum side { east, north, west, south };  // towards greater i, greater j, smaller i, smaller j

  // Of the vertices (0,0), (1,0), (0,1) and (1,1), which exist and are free.
  rectangle_of_vertices(const walker& w, std::vector<bool>& taken,
                        const std::array<index_t, 4>& start)
      : walk_(w), taken_(taken) {
    columns_ = {{start[0], start[2]}, {start[1], start[3]}};
    for (const index_t v : start) { taken_[std::size_t(v)] = true; }
  }

  index_t ni() const { return index_t(columns_.size()); }
  index_t nj() const { return index_t(columns_.front().size()); }
  index_t at(index_t i, index_t j) const { return columns_[std::size_t(i)][std::size_t(j)]; }

  // The line beyond this side, in the order of i or j; nothing where the lattice ends, or somebody
  // has a vertex of it.
  std::optional<std::vector<index_t>> beyond(side s) const {
    // Seen so that the side is the eastern one: line and the one before it.
    std::vector<index_t> line = line_of(s, 0), before = line_of(s, 1);
    const bool reversed = s == west || s == south;
    if (reversed) {
      std::reverse(line.begin(), line.end());
      std::reverse(before.begin(), before.end());
    }
    const std::size_t count = line.size();
    std::vector<index_t> next(count);
    for (std::size_t n = 0; n + 1 < count; ++n) {
      next[n] = walk_.across(line[n], line[n + 1], before[n + 1]);
      if (next[n] == missing) { return std::nullopt; }
      // The cell beyond the one before ends here, too.
      if (n > 0 && walk_.across(line[n], next[n - 1], line[n - 1]) != next[n]) {
        return std::nullopt;
      }
    }
    next[count - 1] = walk_.across(line[count - 1], next[count - 2], line[count - 2]);
    if (next[count - 1] == missing) { return std::nullopt; }
    if (!are_free(next)) { return std::nullopt; }
    if (reversed) { std::reverse(next.begin(), next.end()); }
    return next;
  }

  void add(side s, const std::vector<index_t>& line) {
    for (const index_t v : line) { taken_[std::size_t(v)] = true; }
    if (s == east) { columns_.emplace_back(line.begin(), line.end()); }
    if (s == west) { columns_.emplace_front(line.begin(), line.end()); }
    for (std::size_t i = 0; i < columns_.size() && (s == north || s == south); ++i) {
      s == north ? columns_[i].push_back(line[i]) : columns_[i].push_front(line[i]);
    }
  }

  bool grow(side s) {
    const auto line = beyond(s);
    if (line) { add(s, *line); }
    return line.has_value();
  }

  void give_back() const {
    for (const auto& column : columns_) {
      for (const index_t v : column) { taken_[std::size_t(v)] = false; }
    }
  }

  // With rows along the longer sides: the lattice is the same with i and j exchanged.
  patch result() const {
    const bool exchanged = ni() < nj();
    patch p{exchanged ? nj() : ni(), exchanged ? ni() : nj(), {}};
    for (index_t j = 0; j < p.nj; ++j) {
      for (index_t i = 0; i < p.ni; ++i) { p.vertices.push_back(exchanged ? at(j, i) : at(i, j)); }
    }
    return p;
  }

 private:
  std::vector<index_t> line_of(side s, index_t inwards) const {
    std::vector<index_t> line;
    if (s == east || s == west) {
      const auto& column = columns_[std::size_t(s == east ? ni() - 1 - inwards : inwards)];
      return {column.begin(), column.end()};
    }
    for (const auto& column : columns_) {
      line.push_back(column[std::size_t(s == north ? nj() - 1 - inwards : inwards)]);
    }
    return line;
  }

  // Each once: rows may close around a torus.
  bool are_free(const std::vector<index_t>& line) const {
    bool all_free = true;
    std::size_t n = 0;
    for (; n < line.size() && all_free; ++n) {
      all_free = !taken_[std::size_t(line[n])];
      if (all_free) { taken_[std::size_t(line[n])] = true; }
    }
    const std::size_t marked = all_free ? n : n - 1;
    for (std::size_t m = 0; m < marked; ++m) { taken_[std::size_t(line[m])] = false; }
    return all_free;
  }

  const walker& walk_;
  std::vector<bool>& taken_;
  std::deque<std::deque<index_t>> columns_;
};

using growing = rectangle_of_vertices;

// The corners (0,0), (1,0), (0,1), (1,1) where (0,0), (0,1) and a tip beside them are known.
std::optional<std::array<index_t, 4>> start_beside(const walker& w, const std::vector<bool>& taken,
                                                   index_t origin, index_t north, index_t tip) {
  const index_t east = w.across(origin, north, tip);
  if (east == missing) { return std::nullopt; }
  const index_t last = w.across(north, east, origin);
  if (last == missing) { return std::nullopt; }
  const std::array<index_t, 4> start{origin, east, north, last};
  for (std::size_t n = 0; n < 4; ++n) {
    if (taken[std::size_t(start[n])] || std::count(start.begin(), start.end(), start[n]) > 1) {
      return std::nullopt;
    }
  }
  return start;
}

// The finder of patches of one grid.
class finder {
 public:
  explicit finder(const grid& g)
      : g_(g), walk_(g), regular_(std::size_t(g.vertices)), taken_(std::size_t(g.vertices)) {
    for (index_t v = 0; v < g.vertices; ++v) { regular_[std::size_t(v)] = is_regular(g, v); }
  }

  std::vector<patch> run() {
    if (const auto pole = first_of_twelve()) { around(*pole); }
    while (auto p = grown_somewhere()) { found_.push_back(*std::move(p)); }
    return std::move(found_);
  }

 private:
  // Of a closed grid with twelve vertices of five edges, all others of six.
  std::optional<index_t> first_of_twelve() const {
    std::vector<index_t> irregular;
    for (index_t v = 0; v < g_.vertices; ++v) {
      if (!regular_[std::size_t(v)]) { irregular.push_back(v); }
      if (irregular.size() > 12) { return std::nullopt; }
    }
    const auto has_five = [&](index_t v) {
      index_t edges = 0;
      for (index_t s = 0; s < 6; ++s) {
        const index_t e = g_.v2e(v, s);
        if (e == missing) { continue; }
        if (g_.e2c(e, 0) == missing || g_.e2c(e, 1) == missing) { return false; }
        ++edges;
      }
      return edges == 5;
    };
    if (irregular.size() != 12 || !std::all_of(irregular.begin(), irregular.end(), has_five)) {
      return std::nullopt;
    }
    return irregular.front();
  }

  // A rectangle for each cell at the pole, which is the corner before its first column: it has the
  // side below it, but neither that on its left nor that at its end, which its neighbours have. It
  // ends to the east at a vertex of five edges, to the north where a third would end its side.
  void around(index_t pole) {
    index_t neighbour = walk_step(pole, missing, missing);
    index_t before = missing;
    for (int n = 0; n < 5; ++n) {
      const index_t next = walk_step(pole, neighbour, before);
      if (next == missing) { return; }
      if (auto p = from_pole(pole, neighbour, next)) { found_.push_back(*std::move(p)); }
      before = std::exchange(neighbour, next);
    }
  }
  // The neighbour of v after `at`, not back to `before`.
  index_t walk_step(index_t v, index_t at, index_t before) const {
    for (index_t s = 0; s < 6; ++s) {
      const index_t e = g_.v2e(v, s);
      if (e == missing) { continue; }
      const index_t other = g_.e2v(e, 0) == v ? g_.e2v(e, 1) : g_.e2v(e, 0);
      if (at == missing) { return other; }
      if (other != at) { continue; }
      const index_t first = g_.e2c2v(e, 2), second = g_.e2c2v(e, 3);
      return first == before ? second : first;
    }
    return missing;
  }

  std::optional<patch> from_pole(index_t pole, index_t east, index_t north) {
    const index_t tip = walk_.across(east, north, pole);
    if (tip == missing) { return std::nullopt; }
    const auto start = start_beside(walk_, taken_, east, tip, north);
    if (!start) { return std::nullopt; }
    growing r(walk_, taken_, *start);
    while (regular_[std::size_t(r.at(r.ni() - 1, 0))] && r.grow(growing::east)) {}
    index_t ends = 1;
    while (auto line = r.beyond(growing::north)) {
      const bool at_end = !regular_[std::size_t(line->back())];
      if (at_end && ++ends > 2) { break; }
      r.add(growing::north, *line);
    }
    return kept(r);
  }

  std::optional<patch> kept(const growing& r) {
    if (r.ni() >= least_side && r.nj() >= least_side) { return r.result(); }
    r.give_back();
    return std::nullopt;
  }

  // Around the free vertex that is the farthest from all that ends patches, in the direction of the
  // lattice in which the patch gets the largest.
  std::optional<patch> grown_somewhere() {
    const auto [centre, distance] = farthest();
    if (2 * distance < least_side) { return std::nullopt; }
    std::optional<patch> best;
    for (index_t s = 0; s < 3; ++s) {
      const index_t e = g_.v2e(centre, s);
      const index_t north = g_.e2v(e, 0) == centre ? g_.e2v(e, 1) : g_.e2v(e, 0);
      const auto start = start_beside(walk_, taken_, centre, north, g_.e2c2v(e, 3));
      if (!start) { continue; }
      growing r(walk_, taken_, *start);
      std::array<bool, 4> open{true, true, true, true};
      while (open[0] || open[1] || open[2] || open[3]) {
        for (const auto side : {growing::east, growing::north, growing::west, growing::south}) {
          open[side] = open[side] && r.grow(side);
        }
      }
      if (!best || best->vertices.size() < std::size_t(r.ni()) * std::size_t(r.nj())) {
        best = r.result();
      }
      r.give_back();
    }
    if (!best || best->nj < least_side ||
        best->vertices.size() < std::size_t(g_.vertices / pieces_at_most)) {
      return std::nullopt;
    }
    for (const index_t v : best->vertices) { taken_[std::size_t(v)] = true; }
    return best;
  }

  std::pair<index_t, index_t> farthest() const {
    std::vector<index_t> distance(std::size_t(g_.vertices), missing), front;
    for (index_t v = 0; v < g_.vertices; ++v) {
      if (!regular_[std::size_t(v)] || taken_[std::size_t(v)]) {
        distance[std::size_t(v)] = 0;
        front.push_back(v);
      }
    }
    if (front.empty()) { return {0, g_.vertices}; }  // a torus: all are alike
    for (std::size_t n = 0; n < front.size(); ++n) {
      const index_t v = front[n];
      for (index_t s = 0; s < 6; ++s) {
        const index_t e = g_.v2e(v, s);
        if (e == missing) { continue; }
        const index_t other = g_.e2v(e, 0) == v ? g_.e2v(e, 1) : g_.e2v(e, 0);
        if (distance[std::size_t(other)] != missing) { continue; }
        distance[std::size_t(other)] = distance[std::size_t(v)] + 1;
        front.push_back(other);
      }
    }
    const auto most = std::max_element(distance.begin(), distance.end());
    return {index_t(most - distance.begin()), *most};
  }

  const grid& g_;
  walker walk_;
  std::vector<bool> regular_, taken_;
  std::vector<patch> found_;
};

}  // namespace

std::vector<patch> find_patches(const grid& g) {
  if (g.shape) {
    patch all{g.shape->nx, g.shape->ny, std::vector<index_t>(std::size_t(g.vertices))};
    for (index_t v = 0; v < g.vertices; ++v) { all.vertices[std::size_t(v)] = v; }
    return {all};
  }
  return finder(g).run();
}

namespace {

// Makes a layout: numbers the entities of patches by closed forms, and gives the slots of their
// tables the closed forms' order.
class arranger {
 public:
  arranger(const grid& g, ordering o, index_t row) : g_(g), walk_(g), ordering_(o) {
    result_.mesh = g;
    result_.row = row;
    result_.turned.assign(std::size_t(g.edges), false);
    for (int t = 0; t < neighbour_table_count; ++t) {
      const table& of = table_of(g, neighbour_table(t));
      table& slot = result_.slot[std::size_t(t)] = table(of.rows(), of.slots);
      for (index_t n = 0; n < of.rows(); ++n) {
        for (index_t s = 0; s < of.slots; ++s) { slot(n, s) = s; }
      }
    }
    place_.fill({});
    place_[0].assign(std::size_t(g.vertices), missing);
    place_[1].assign(std::size_t(g.edges), missing);
    place_[2].assign(std::size_t(g.cells), missing);
  }

  patched_layout run(const std::vector<patch>& patches) {
    for (const patch& p : patches) {
      add(p, {0, rows_, p.ni, p.nj});
      rows_ += p.nj;
    }
    number_others();
    for (int t = 0; t < neighbour_table_count; ++t) { reorder(neighbour_table(t)); }
    return std::move(result_);
  }

 private:
  std::vector<index_t>& places(location l) { return place_[std::size_t(l)]; }
  table& slots_of(neighbour_table t) { return result_.slot[std::size_t(t)]; }

  // The vertex of p at an offset from (i, j), if it is in the patch.
  static index_t vertex(const patch& p, index_t i, index_t j, torus::offset o) {
    const index_t x = i + o.di, y = j + o.dj;
    return x >= 0 && x < p.ni && y >= 0 && y < p.nj ? p.at(x, y) : missing;
  }

  void add(const patch& p, const rectangle& where) {
    result_.patches.push_back(where);
    for (index_t j = 0; j < p.nj; ++j) {
      for (index_t i = 0; i < p.ni; ++i) {
        const index_t owner = (where.j0 + j) * result_.row + where.i0 + i;
        places(location::vertex)[std::size_t(p.at(i, j))] = owner;
        order_edges_of(p, i, j);
        for (int colour = 0; colour < 3; ++colour) { add_edge(p, i, j, owner, colour); }
        for (int half = 0; half < 2; ++half) { add_cell(p, i, j, owner, half); }
      }
    }
  }

  void add_edge(const patch& p, index_t i, index_t j, index_t owner, int colour) {
    std::array<index_t, 4> diamond;
    for (std::size_t n = 0; n < 4; ++n) { diamond[n] = vertex(p, i, j, torus::diamond[colour][n]); }
    if (diamond[1] == missing) { return; }
    const index_t e = walk_.edge_between(diamond[0], diamond[1]);
    places(location::edge)[std::size_t(e)] = 4 * owner + colour;  // numbered when all are known
    table& slot = slots_of(neighbour_table::e2c2v);
    if (g_.e2c2v(e, 0) != diamond[0]) { std::swap(slot(e, 0), slot(e, 1)); }
    const bool turned = diamond[2] != missing
                            ? g_.e2c2v(e, 2) != diamond[2]
                            : diamond[3] != missing && g_.e2c2v(e, 3) != diamond[3];
    if (!turned) { return; }
    std::swap(slot(e, 2), slot(e, 3));
    std::swap(slots_of(neighbour_table::e2c)(e, 0), slots_of(neighbour_table::e2c)(e, 1));
    result_.turned[std::size_t(e)] = true;
  }

  void add_cell(const patch& p, index_t i, index_t j, index_t owner, int half) {
    std::array<index_t, 3> corner, side;
    for (std::size_t m = 0; m < 3; ++m) {
      corner[m] = vertex(p, i, j, torus::c2v[half][m]);
      if (corner[m] == missing) { return; }
    }
    for (std::size_t m = 0; m < 3; ++m) {
      side[m] = walk_.edge_between(corner[m], corner[(m + 1) % 3]);
    }
    const index_t c = g_.e2c(side[0], g_.e2c2v(side[0], 2) == corner[2] ? 0 : 1);
    places(location::cell)[std::size_t(c)] = 2 * owner + half;
    order_row(neighbour_table::c2v, c, corner);
    order_row(neighbour_table::c2e, c, side);
  }

  void order_edges_of(const patch& p, index_t i, index_t j) {
    std::array<index_t, 6> edges;
    const index_t v = p.at(i, j);
    for (std::size_t s = 0; s < 6; ++s) {
      const torus::edge_offset e = torus::v2e[s];
      const torus::offset along = torus::diamond[e.colour][1];
      const bool own = e.di == 0 && e.dj == 0;  // v is the edge's first end, else its second one
      const index_t other = vertex(p, i, j, own ? along : torus::offset{e.di, e.dj});
      if (other == missing) { return; }
      edges[s] = walk_.edge_between(v, other);
    }
    order_row(neighbour_table::v2e, v, edges);
  }

  template <std::size_t count>
  void order_row(neighbour_table t, index_t row, const std::array<index_t, count>& wanted) {
    const table& ids = table_of(g_, t);
    for (std::size_t s = 0; s < count; ++s) {
      for (index_t from = 0; from < index_t(count); ++from) {
        if (ids(row, from) == wanted[s]) { slots_of(t)(row, index_t(s)) = from; }
      }
    }
  }

  // Behind the patches, as many vertices as there are others, or as own all other edges and cells.
  void number_others() {
    const auto others = [&](location l) {
      return index_t(std::count(places(l).begin(), places(l).end(), missing));
    };
    const index_t first = rows_ * result_.row;
    result_.plane =
        first + round_up(std::max({others(location::vertex), (others(location::edge) + 2) / 3,
                                   (others(location::cell) + 1) / 2}),
                         result_.row);  // whole rows, as kernels want them
    const index_t plane = result_.plane;
    index_t next = first;
    for (index_t& v : places(location::vertex)) { v = v == missing ? next++ : v; }
    next = 0;
    for (index_t& e : places(location::edge)) {
      const index_t owner = e == missing ? first + next / 3 : e / 4;
      const index_t colour = e == missing ? next++ % 3 : e % 4;
      e = ordering_ == ordering::per_vertex ? 3 * owner + colour : colour * plane + owner;
    }
    next = 2 * first;
    for (index_t& c : places(location::cell)) { c = c == missing ? next++ : c; }
    result_.ids.counts = {plane, 3 * plane, 2 * plane};
    result_.ids.storage_id = std::move(place_);
  }

  void reorder(neighbour_table t) {
    const table& from = table_of(g_, t);
    table& to = table_of(result_.mesh, t);
    for (index_t n = 0; n < from.rows(); ++n) {
      for (index_t s = 0; s < from.slots; ++s) { to(n, s) = from(n, slots_of(t)(n, s)); }
    }
    if (t == neighbour_table::e2c2v) {
      for (index_t e = 0; e < g_.edges; ++e) {
        for (index_t s = 0; s < 2; ++s) { result_.mesh.e2v(e, s) = to(e, s); }
      }
    }
  }

  const grid& g_;
  walker walk_;
  ordering ordering_;
  patched_layout result_;
  std::array<std::vector<index_t>, 3> place_;  // by location; edges: 4 * owner + colour
  index_t rows_ = 0;
};

}  // namespace

patched_layout lay_out(const grid& g, const std::vector<patch>& patches, ordering o, index_t row) {
  return arranger(g, o, row).run(patches);
}

rectangle inside(const rectangle& patch, index_t before, index_t after) {
  const rectangle r{patch.i0 + before, patch.j0 + before, patch.ni - before - after,
                    patch.nj - before - after};
  return r.ni > 0 && r.nj > 0 ? r : rectangle{};
}

}  // namespace icobench
