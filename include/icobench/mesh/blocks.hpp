// Blocks of neighbouring points with tables of their own: what a thread block works on when it
// keeps operands and intermediates in shared memory, on a grid of any order.
#pragma once

#include <cstdint>

#include <icobench/types.hpp>

namespace icobench {

// The most that a block has. Its results are cells, or vertices in a chain that ends there; then
// come the vertices where p_u and p_v are computed, those around them whose u and v are read, and
// the edges in between. On a triangular grid a compact block of 192 vertices has at most 345
// cells, 276 vertices around and 657 edges.
inline constexpr index_t block_vertices = 192;
inline constexpr index_t block_results = 2 * block_vertices;
inline constexpr index_t block_around = 3 * block_vertices / 2;
inline constexpr index_t block_edges = 7 * block_vertices / 2;

// Tables of all blocks, block after block. A place is a position in a list of the same block.
struct block_tables {
  index_t blocks = 0, unused = 0;     // no padding: kernels compiled for a problem know all words
  const index_t* around = nullptr;    // storage ids; -1: none
  const index_t* edges = nullptr;     // storage ids; -1: none
  const index_t* vertices = nullptr;  // storage ids; -1: none
  const index_t* places = nullptr;    // packed: a fan's vertices and edges
  const index_t* fans = nullptr;      // packed: see fan_spoke
  const index_t* results = nullptr;   // storage ids; -1: none
  const index_t* corners = nullptr;   // packed: of the 3 vertices of a cell
};

// A vertex and its edges, in the order in which they lie around it: a fan. Its vertices are the
// one in the middle, then the far end of each edge; the tips of an edge are the far ends of the one
// before and the one after. Fewer than six edges: the next vertex is the first one again, other
// places are those of the first vertex and edge.
//
// Places are packed by two into a word, those of neighbouring vertices side by side: word n / 2 of
// vertex v is at n / 2 * block_vertices + v.
inline constexpr int places_of_vertex = 7 + 6;
inline constexpr int place_words = (places_of_vertex + 1) / 2;
ICOBENCH_FUNCTION constexpr index_t pack_place(index_t place, index_t n) {
  return index_t(std::uint32_t(place) << (16 * (n % 2)));
}
ICOBENCH_FUNCTION constexpr index_t unpack_place(index_t word, index_t n) {
  return index_t(std::uint32_t(word) >> (16 * (n % 2)) & 0xffffu);
}

// Where the fan finds edge n in the tables of the grid: all in a word, with the number of edges.
struct fan_spoke {
  int slot;   // in v2e
  int far;    // slot of the far end in e2c2v; 1 - far: of the middle
  int after;  // slot of the tip that is the next edge's far end; 5 - after: of the other
};
ICOBENCH_FUNCTION constexpr index_t pack_spoke(const fan_spoke& s, int n) {
  return index_t(std::uint32_t(s.slot | s.far << 3 | (s.after - 2) << 4) << (5 * n));
}
ICOBENCH_FUNCTION constexpr fan_spoke unpack_spoke(index_t word, int n) {
  const auto bits = int(std::uint32_t(word) >> (5 * n) & 31u);
  return {bits & 7, bits >> 3 & 1, 2 + (bits >> 4)};
}
// A spoke that is not there: see `slot`.
inline constexpr int no_spoke = 7;

// The corners of a cell, all in a word.
static_assert(block_vertices <= 1024);
ICOBENCH_FUNCTION constexpr index_t pack_corner(index_t place, int m) {
  return index_t(std::uint32_t(place) << (10 * m));
}
ICOBENCH_FUNCTION constexpr index_t unpack_corner(index_t word, int m) {
  return index_t(std::uint32_t(word) >> (10 * m) & 0x3ffu);
}

}  // namespace icobench
