// Rectangles of the triangular lattice in a grid of any kind: inside them neighbours follow from
// (i, j) as on a torus.
#pragma once

#include <array>
#include <vector>

#include <icobench/grids/grid.hpp>
#include <icobench/grids/numbering.hpp>

namespace icobench {

// Vertices in ni columns and nj rows; that of (i, j) is vertices[j * ni + i]. Neighbours in the
// lattice of torus_offsets.hpp are neighbours in the grid, with the cells between them. Rows are
// the longer sides.
struct patch {
  index_t ni = 0, nj = 0;
  std::vector<index_t> vertices;

  index_t at(index_t i, index_t j) const {
    return vertices[std::size_t(j) * std::size_t(ni) + std::size_t(i)];
  }
};

// Patches that share no vertex, from the tables alone; the same for the same tables.
//
// Closed grids with twelve vertices of five edges, and no others but six: around the first of these
// five rectangles of twice as many rows as columns, which meet at vertices of five edges; on a
// sphere RnBk they have all vertices but two. A torus is one. Elsewhere each one grows, as long as
// it can on any side, around the vertex that is farthest from what ends patches: boundaries,
// vertices that have not six cells, other patches. Fewer than 12 columns or rows are no patch,
// since nearly all of their points are at seams, nor is less than a hundredth of the grid.
std::vector<patch> find_patches(const grid&);

// A grid with the slots of its tables in the order of the closed forms inside patches, and where
// its entities lie in memory: patch upon patch in rows of one length, all others after them.
struct patched_layout {
  grid mesh;  // the same ids
  // Of each table: the slot of the grid's table that a slot here is (see neighbour_table).
  std::array<table, neighbour_table_count> slot;
  std::vector<bool> turned;  // edges whose two cells have the other order here
  index_t row = 0;           // ids from (i, j) to (i, j + 1)
  index_t plane = 0;         // ids of vertices: whole rows
  std::vector<rectangle> patches;
  numbering ids;  // vertex j * row + i; edges by `o`; cells 2 * vertex + half
};

// `row`: at least the longest row of a patch.
patched_layout lay_out(const grid&, const std::vector<patch>&, ordering o, index_t row);

// The points of a patch whose stencil does not leave it, if its stages read so many rows and
// columns before and after a point; nothing (ni or nj 0) where none is left.
rectangle inside(const rectangle& patch, index_t before, index_t after);

}  // namespace icobench
