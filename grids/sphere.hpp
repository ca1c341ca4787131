// Global grids RnBk: the icosahedron, each edge cut into n and then k times into two.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <icobench/grids/grid.hpp>

namespace icobench {

struct sphere_shape {
  index_t root = 1;
  index_t bisections = 0;
  bool operator==(const sphere_shape&) const = default;

  // Edges of the grid along one of the icosahedron: 10 n^2 + 2 vertices, 30 n^2 edges, 20 n^2
  // cells.
  std::int64_t divisions() const { return std::int64_t{root} << bisections; }
};

// "sphere:RnBk", with or without leading zeros, to a shape whose ids fit index_t, and back
// ("R2B6"). Throws input_error.
sphere_shape parse_sphere(std::string_view text);
std::string to_string(sphere_shape);
bool is_sphere_spec(std::string_view text);  // starts with "sphere:"

// All tables and positions. Throws input_error as parse_sphere.
//
// Numbered as ICON's grid generator does: the children of cell c are 4c (the central one) to 4c +
// 3, vertices and edges get their numbers when first touched while walking the parents' cells. So
// 4^m consecutive cells are a triangle with contiguous ranges of vertices and edges. The odd part
// of the root comes first: its cells row after row from corner 0, vertices and edges by first
// touch. An edge has the direction of the side it is half of, inner ones that of the central child;
// its first cell is the lower one. Vertices are the middles of their parents' edges on the sphere;
// ICON moves them a little (spring dynamics), which changes no table.
grid make_sphere(sphere_shape);

// Whether a grid is numbered so, whatever its cells' first corners: four cells after another are a
// triangle's, the central one first, and the vertices and edges that they have first are next.
bool is_numbered_by_bisection(const grid&);

// The grid that is made of this name, torus:NXxNY or sphere:RnBk; nothing if it can only be a file.
// Throws input_error for what is no torus or sphere.
std::optional<grid> make_named_grid(std::string_view name);

}  // namespace icobench
