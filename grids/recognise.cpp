#include <icobench/grids/recognise.hpp>

#include <algorithm>
#include <utility>

#include <icobench/grids/torus.hpp>

namespace icobench {
namespace {

// A vertex and which of its neighbours count as (i, j+1) and (i+1, j); the three form a cell, the
// up cell. One frame fixes the whole embedding: walking on, each next frame follows.
struct frame {
  index_t v, j, i;
};

// Moves on a grid where every vertex has six edges and every edge two cells.
class walker {
 public:
  explicit walker(const grid& g) : g_(g) {}

  // The edge between two vertices. On the tori we accept it is unique: the six neighbours of a
  // vertex differ by at most 2 in i and j, less than nx >= 4 and, for equal i, never by ny >= 3.
  index_t edge_between(index_t a, index_t b) const {
    if (a == missing || b == missing) return missing;
    for (index_t s = 0; s < 6; ++s) {
      const index_t e = g_.v2e(a, s);
      if (g_.e2v(e, 0) == b || g_.e2v(e, 1) == b) return e;
    }
    return missing;
  }

  // Going around v from neighbour `before` to its successor `at`: the neighbour that comes next.
  index_t next(index_t v, index_t before, index_t at) const {
    const index_t e = edge_between(v, at);
    if (e == missing) return missing;
    const index_t a = g_.e2c2v(e, 2), b = g_.e2c2v(e, 3);
    if (a == before) return b;
    return b == before ? a : missing;
  }

  // Around (i, j+1), its (1,-1) is our i and its (0,-1) is v; its (1,0) and (0,1) follow.
  frame step_j(frame f) const {
    const index_t i = next(f.j, f.v, f.i);
    return {f.j, next(f.j, f.i, i), i};
  }

  // Around (i+1, j), its (-1,0) is v and its (-1,1) is our j; its (0,1) and (1,0) follow.
  frame step_i(frame f) const {
    const index_t j = next(f.i, f.v, f.j);
    return {f.i, j, next(f.i, f.j, j)};
  }

  index_t cell_of(index_t a, index_t b, index_t c) const {
    const index_t e = edge_between(a, b);
    if (e == missing) return missing;
    for (index_t s = 0; s < 2; ++s) {
      if (g_.e2c2v(e, 2 + s) == c) return g_.e2c(e, s);
    }
    return missing;
  }

 private:
  const grid& g_;
};

bool is_valid(torus_shape shape) {
  try {
    check_torus(shape);
    return true;
  } catch (const input_error&) { return false; }
}

// The shape seen from a frame: ny steps in j come back, nx in i arrive nx/2 columns further.
std::optional<torus_shape> shape_from(const grid& g, const walker& walk, frame start) {
  std::vector<index_t> column;  // vertices (0, j)
  frame f = start;
  do {
    column.push_back(f.v);
    f = walk.step_j(f);
  } while (f.v != start.v && f.v != missing && index_t(column.size()) <= g.vertices);
  const auto ny = index_t(column.size());
  if (f.v != start.v || f.j != start.j || g.vertices % ny != 0) return std::nullopt;
  const torus_shape shape{g.vertices / ny, ny};
  if (!is_valid(shape)) return std::nullopt;
  f = start;
  for (index_t i = 0; i < shape.nx; ++i) f = walk.step_i(f);
  if (f.v != column[std::size_t(shape.nx / 2 % ny)]) return std::nullopt;
  return shape;
}

// File ids of the torus vertices, or nothing if the walk does not visit each vertex once.
std::optional<std::vector<index_t>> visit_all(const grid& g, const walker& walk, torus_shape shape,
                                              frame row) {
  std::vector<index_t> file_id(std::size_t(g.vertices), missing);
  std::vector<bool> seen(std::size_t(g.vertices), false);
  for (index_t i = 0; i < shape.nx; ++i, row = walk.step_i(row)) {
    frame f = row;
    for (index_t j = 0; j < shape.ny; ++j, f = walk.step_j(f)) {
      if (f.v == missing || seen[std::size_t(f.v)]) return std::nullopt;
      seen[std::size_t(f.v)] = true;
      file_id[std::size_t(j * shape.nx + i)] = f.v;
    }
  }
  return file_id;
}

// Sets map[from] = to; false if there is no such entity or it has its place already.
bool place(std::vector<index_t>& map, index_t from, index_t to) {
  if (from == missing || map[std::size_t(from)] != missing) return false;
  map[std::size_t(from)] = to;
  return true;
}

// Completes the embedding: every edge and cell of the torus must be there, which proves that the
// grid is this torus and nothing else.
std::optional<torus_embedding> embed(const grid& g, const walker& walk, torus_shape shape,
                                     const std::vector<index_t>& file_id) {
  torus_embedding result{shape, std::vector<index_t>(std::size_t(g.vertices), missing),
                         std::vector<index_t>(std::size_t(g.edges), missing),
                         std::vector<index_t>(std::size_t(g.cells), missing)};
  for (index_t j = 0; j < shape.ny; ++j) {
    for (index_t i = 0; i < shape.nx; ++i) {
      const index_t v = j * shape.nx + i;
      const auto file = [&](torus::offset o) { return file_id[std::size_t(at(shape, i, j, o))]; };
      if (!place(result.vertex, file_id[std::size_t(v)], v)) return std::nullopt;
      for (index_t colour = 0; colour < 3; ++colour) {
        const auto& d = torus::diamond[colour];
        const index_t e = walk.edge_between(file(d[0]), file(d[1]));
        if (!place(result.edge, e, 3 * v + colour)) return std::nullopt;
      }
      for (index_t half = 0; half < 2; ++half) {
        const auto& corner = torus::c2v[half];
        const index_t c = walk.cell_of(file(corner[0]), file(corner[1]), file(corner[2]));
        if (!place(result.cell, c, 2 * v + half)) return std::nullopt;
      }
    }
  }
  return result;
}

// Six directions times two chiralities.
std::vector<frame> frames_of_vertex_0(const grid& g) {
  std::vector<frame> result;
  for (index_t s = 0; s < 6; ++s) {
    const index_t e = g.v2e(0, s);
    const index_t far = g.e2v(e, 0) == 0 ? g.e2v(e, 1) : g.e2v(e, 0);
    for (index_t tip = 2; tip < 4; ++tip) result.push_back({0, far, g.e2c2v(e, tip)});
  }
  return result;
}

bool has(const std::vector<index_t>& ids, index_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

bool is_identity(const std::vector<index_t>& ids) {
  for (std::size_t n = 0; n < ids.size(); ++n) {
    if (ids[n] != index_t(n)) return false;
  }
  return true;
}

// Whether each edge is where a numbering scheme (edge id -> owner on the torus, colour) puts it.
template <class OwnerOf>
bool numbered(const torus_embedding& embedding, OwnerOf owner_and_colour) {
  for (std::size_t e = 0; e < embedding.edge.size(); ++e) {
    const auto [owner, colour] = owner_and_colour(index_t(e));
    if (embedding.edge[e] != 3 * owner + colour) return false;
  }
  return true;
}

}  // namespace

std::optional<torus_embedding> recognise_torus(const grid& g) {
  if (g.edges != 3 * std::int64_t{g.vertices} || g.cells != 2 * std::int64_t{g.vertices}) {
    return std::nullopt;
  }
  if (has(g.v2e.ids, missing) || has(g.e2c.ids, missing)) return std::nullopt;
  const walker walk(g);
  std::optional<torus_embedding> found;
  for (const frame& start : frames_of_vertex_0(g)) {
    // The only frame that can keep the ids starts (0, nx, 1); others are no use once one is found.
    if (found && start.i != 1) continue;
    const auto shape = shape_from(g, walk, start);
    if (!shape || (found && start.j != shape->nx)) continue;
    const auto file_id = visit_all(g, walk, *shape, start);
    if (!file_id) continue;
    const bool keeps_ids = is_identity(*file_id);
    if (found && !keeps_ids) continue;
    auto candidate = embed(g, walk, *shape, *file_id);
    if (!candidate) continue;
    found = std::move(candidate);
    if (keeps_ids) break;
  }
  return found;
}

grid renumbered_as_torus(const grid& g, const torus_embedding& embedding) {
  grid result = make_torus(embedding.shape);
  result.name = g.name;
  result.uuid = g.uuid;
  return result;
}

std::string edge_numbering(const grid& as_in_file, const torus_embedding& embedding) {
  struct place_of_edge {
    index_t owner, colour;
  };
  const auto torus_id = [&](index_t v) { return embedding.vertex[std::size_t(v)]; };
  const auto per_vertex = [&](index_t e) { return place_of_edge{torus_id(e / 3), e % 3}; };
  const auto per_orientation = [&](index_t e) {
    return place_of_edge{torus_id(e % as_in_file.vertices), e / as_in_file.vertices};
  };
  // The edge opposite to v in its up cell is the southeast edge of (i, j+1).
  const auto icon_file = [&](index_t e) {
    const index_t v = torus_id(e / 3), nx = embedding.shape.nx;
    return place_of_edge{e % 3 == 2 ? at(embedding.shape, v % nx, v / nx, torus::offset{0, 1}) : v,
                         e % 3};
  };
  if (numbered(embedding, per_vertex)) return "per_vertex";
  if (numbered(embedding, per_orientation)) return "per_orientation";
  if (numbered(embedding, icon_file)) return "icon_file";
  return "other";
}

}  // namespace icobench
