// Cutting a grid of any order into compact blocks, and their local tables: see
// icobench/mesh/blocks.hpp.
#pragma once

#include <array>
#include <vector>

#include <icobench/grids/domain.hpp>
#include <icobench/grids/grid.hpp>
#include <icobench/grids/numbering.hpp>
#include <icobench/mesh/blocks.hpp>

namespace icobench {

// Ids of the grid, each list in the order in which the block grew.
struct block {
  std::vector<index_t> results;   // cells, or vertices
  std::vector<index_t> vertices;  // of the results
  std::vector<index_t> around;    // the vertices of the diamonds of the edges
  std::vector<index_t> edges;     // of the vertices
};

// The edges of a vertex in the order in which they lie around it.
struct fan {
  int count = 0;
  std::array<fan_spoke, 6> spokes;
};
// Throws input_error unless cells surround the vertex.
fan make_fan(const grid&, index_t vertex);

// Blocks that have each computed point of the last stage (interpolate or verts2cells) once and stay
// within the limits of mesh/blocks.hpp; one after another they follow a breadth-first front through
// the grid, so that those that run together are neighbours.
//
// Grown one by one: each takes the point that adds the fewest vertices, of those the nearest to its
// first point, until it is full. On a torus of 594 x 514 vertices its 1828 blocks of cells are 99.8
// per cent full, and read 1.56 vertices and 1.30 edges for each that they need (hexagons of the
// same size: 1.42 and 1.25; recursive bisection: 1.66 and 1.37).
std::vector<block> make_blocks(const grid&, stage last, const std::vector<index_t>& computed);

// The tables of the blocks on the host, in storage ids: see icobench::block_tables. Lists are in
// the order of storage, but for changes within runs of 32 that keep what threads read at once, of
// elements of this size, in different banks of shared memory (of 32 words): at 594x514 a warp takes
// 80 instead of 92 accesses to the banks for the operands of a vertex and its cells, 62 at best.
struct local_tables {
  index_t blocks = 0;
  std::vector<index_t> around, edges, vertices, places, fans, results, corners;
};
// Throws input_error for a vertex that its cells do not surround.
local_tables make_local_tables(const grid&, stage last, const std::vector<block>&, const numbering&,
                               index_t element_bytes);

}  // namespace icobench
