// Where entities lie in memory: the orders of vertices and edges, and computed entities before the
// halo.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <icobench/grids/domain.hpp>
#include <icobench/grids/grid.hpp>

namespace icobench {

// The order of vertices: that of the grid (a torus: row after row), along a Hilbert curve, by
// distance from the first one, or random, as a bad order of production.
enum class vertex_order { row, hilbert, breadth_first, shuffled };
inline constexpr std::string_view vertex_order_names[] = {"row", "hilbert", "breadth_first",
                                                          "shuffled"};
constexpr std::string_view to_string(vertex_order o) {
  return vertex_order_names[std::size_t(o)];
}

// How far the rows of a torus lie apart in memory, where access is strided: side by side as in the
// grid; a multiple of 128 bytes; or an odd multiple of 16 bytes, so that the rows of a stencil and
// the streams of a march begin at all places of a line, and none collide.
enum class row_pitch { grid, aligned, staggered };
inline constexpr std::string_view row_pitch_names[] = {"grid", "aligned", "staggered"};
constexpr std::string_view to_string(row_pitch p) {
  return row_pitch_names[std::size_t(p)];
}
// In elements, of rows of nx.
index_t elements_of(row_pitch, index_t nx, std::size_t element_bytes);

// Throws input_error for a Hilbert curve on a grid that is no torus: no positions are known there.
void require_order(const grid&, vertex_order);

// The place of each vertex, in an order that the grid can have.
std::vector<index_t> places(const grid&, vertex_order);

// For each location the storage id of each grid id, and how many ids there are: those of the
// padding of rows are nobody's.
struct numbering {
  std::array<std::vector<index_t>, 3> storage_id;
  std::array<index_t, 3> counts{};
  const std::vector<index_t>& of(location l) const { return storage_id[std::size_t(l)]; }
  index_t count(location l) const { return counts[std::size_t(l)]; }
};

// Strided access: rows of vertices `row` apart, the cells of a vertex together, edges by `o`.
numbering make_strided_numbering(const grid& torus, ordering o, index_t row);

// Indirect access puts the entities that each stage computes first, as ICON puts its halo last, so
// that a stage runs over 0 <= id < count and its arrays are as compact as filtered copies would be;
// within both parts the order is that of the grid, edges of a torus by `o`. With another order of
// vertices, edges and cells follow the vertex that owns them (elsewhere than on a torus: the first
// of theirs).
numbering make_numbering(const grid&, const domain&, ordering o, vertex_order = vertex_order::row);

}  // namespace icobench
