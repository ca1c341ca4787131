// Neighbour tables of the hexagonal torus in closed form: offsets from the owning vertex (i, j).
//
// Rows of constant i are lines of the triangular lattice; row i is shifted by half a column for
// each step in i, so (i, j) lies at x = (j + i/2) a, y = i a sqrt(3)/2. Edges of a vertex by
// colour: 0 "north" to (i, j+1), 1 "east" to (i+1, j), 2 "southeast" to (i+1, j-1). Cells of a
// vertex: "up"
// {(i,j), (i,j+1), (i+1,j)} and "down" {(i+1,j), (i,j+1), (i+1,j+1)}.
//
// Only plain constants live here, because kernels for every backend include this file. Device code
// may use an element in a constant expression (`constexpr offset o = diamond[0][2];`), not the
// address of a table. grids/torus.cpp proves at compile time that the composed lists agree with
// the elementary ones.
#pragma once

#include <cstdint>

#include <icobench/types.hpp>

namespace icobench {

namespace torus {

struct offset {
  int di, dj;
  constexpr bool operator==(const offset&) const = default;
};

struct edge_offset {
  int colour, di, dj;
  constexpr bool operator==(const edge_offset&) const = default;
};

struct cell_offset {
  int half, di, dj;  // half: 0 up, 1 down
  constexpr bool operator==(const cell_offset&) const = default;
};

inline constexpr int north = 0, east = 1, southeast = 2;
inline constexpr int up = 0, down = 1;

// Diamond of an edge: both ends, then the tips of its first and second adjacent cell.
inline constexpr offset diamond[3][4] = {{{0, 0}, {0, 1}, {-1, 1}, {1, 0}},
                                         {{0, 0}, {1, 0}, {0, 1}, {1, -1}},
                                         {{0, 0}, {1, -1}, {1, 0}, {0, -1}}};

inline constexpr cell_offset e2c[3][2] = {
    {{down, -1, 0}, {up, 0, 0}}, {{up, 0, 0}, {down, 0, -1}}, {{down, 0, -1}, {up, 0, -1}}};

// The sides of a cell, between its corners 0-1, 1-2 and 2-0.
inline constexpr edge_offset c2e[2][3] = {{{north, 0, 0}, {southeast, 0, 1}, {east, 0, 0}},
                                          {{southeast, 0, 1}, {east, 0, 1}, {north, 1, 0}}};

inline constexpr edge_offset v2e[6] = {{east, -1, 0}, {east, 0, 0},      {north, 0, -1},
                                       {north, 0, 0}, {southeast, 0, 0}, {southeast, -1, 1}};

inline constexpr offset c2v[2][3] = {{{0, 0}, {0, 1}, {1, 0}}, {{1, 0}, {0, 1}, {1, 1}}};

// The distinct vertices of the diamonds of a vertex's six edges.
inline constexpr offset v2e2c2v[7] = {{-1, 0}, {0, 0}, {-1, 1}, {0, -1}, {1, 0}, {0, 1}, {1, -1}};

// Position in v2e2c2v of [v2e slot][diamond slot].
inline constexpr std::uint8_t e_v2e2c2v[6][4] = {{0, 1, 2, 3}, {1, 4, 5, 6}, {3, 1, 0, 6},
                                                 {1, 5, 2, 4}, {1, 6, 4, 3}, {2, 1, 5, 0}};

// clang-format off
// The distinct vertices of the diamonds of all edges of a cell's corners, row after row in j.
inline constexpr offset c2v2e2c2v[2][12] = {
    {         {0, -1}, {1, -1}, {2, -1},
     {-1, 0}, {0, 0},  {1, 0},  {2, 0},
     {-1, 1}, {0, 1},  {1, 1},
     {-1, 2}, {0, 2}},
    {                  {1, -1}, {2, -1},
              {0, 0},  {1, 0},  {2, 0},
     {-1, 1}, {0, 1},  {1, 1},  {2, 1},
     {-1, 2}, {0, 2},  {1, 2}}};

// The distinct edges of a cell's corners, by colour, then j, then i.
inline constexpr edge_offset c2v2e[2][15] = {
    {{north, 0, -1}, {north, 1, -1}, {north, 0, 0}, {north, 1, 0}, {north, 0, 1},
     {east, -1, 0}, {east, 0, 0}, {east, 1, 0}, {east, -1, 1}, {east, 0, 1},
     {southeast, 0, 0}, {southeast, 1, 0}, {southeast, -1, 1}, {southeast, 0, 1},
     {southeast, -1, 2}},
    {{north, 1, -1}, {north, 0, 0}, {north, 1, 0}, {north, 0, 1}, {north, 1, 1},
     {east, 0, 0}, {east, 1, 0}, {east, -1, 1}, {east, 0, 1}, {east, 1, 1},
     {southeast, 1, 0}, {southeast, 0, 1}, {southeast, 1, 1}, {southeast, -1, 2},
     {southeast, 0, 2}}};

// Position in c2v2e of [corner][v2e slot].
inline constexpr std::uint8_t e_c2v2e[2][3][6] = {
    {{5, 6, 0, 2, 10, 12}, {8, 9, 2, 4, 13, 14}, {6, 7, 1, 3, 11, 13}},
    {{5, 6, 0, 2, 10, 11}, {7, 8, 1, 3, 11, 13}, {8, 9, 2, 4, 12, 14}}};

// Both cells of a vertex together: corners, edges of the corners, vertices of those edges' diamonds.
inline constexpr offset pair_c2v[4] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};

inline constexpr edge_offset pair_c2v2e[19] = {
    {north, 0, -1}, {north, 1, -1}, {north, 0, 0}, {north, 1, 0}, {north, 0, 1}, {north, 1, 1},
    {east, -1, 0}, {east, 0, 0}, {east, 1, 0}, {east, -1, 1}, {east, 0, 1}, {east, 1, 1},
    {southeast, 0, 0}, {southeast, 1, 0}, {southeast, -1, 1}, {southeast, 0, 1}, {southeast, 1, 1},
    {southeast, -1, 2}, {southeast, 0, 2}};

inline constexpr offset pair_c2v2e2c2v[14] = {
             {0, -1}, {1, -1}, {2, -1},
    {-1, 0}, {0, 0},  {1, 0},  {2, 0},
    {-1, 1}, {0, 1},  {1, 1},  {2, 1},
    {-1, 2}, {0, 2},  {1, 2}};
// clang-format on

}  // namespace torus
}  // namespace icobench
