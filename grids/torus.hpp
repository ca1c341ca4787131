// The hexagonal torus: periodicity, ids, generated grid, geometry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <icobench/grids/grid.hpp>
#include <icobench/mesh/torus_offsets.hpp>

namespace icobench {

// Id of vertex (i, j), any integers. j repeats after ny columns. Rows are shifted by half a column
// each, so going once around in i (nx rows) arrives nx/2 columns further: (nx, j) is (0, j + nx/2).
constexpr index_t wrap(torus_shape shape, std::int64_t i, std::int64_t j) {
  const auto floor_div = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };
  const std::int64_t nx = shape.nx, ny = shape.ny;
  const std::int64_t turns = floor_div(i, nx);
  const std::int64_t column = j + turns * (nx / 2);
  return index_t((column - floor_div(column, ny) * ny) * nx + (i - turns * nx));
}

// Ids of the neighbour at an offset from vertex (i, j), edges numbered per vertex.
constexpr index_t at(torus_shape shape, index_t i, index_t j, torus::offset o) {
  return wrap(shape, std::int64_t{i} + o.di, std::int64_t{j} + o.dj);
}
constexpr index_t at(torus_shape shape, index_t i, index_t j, torus::edge_offset o) {
  return 3 * at(shape, i, j, torus::offset{o.di, o.dj}) + o.colour;
}
constexpr index_t at(torus_shape shape, index_t i, index_t j, torus::cell_offset o) {
  return 2 * at(shape, i, j, torus::offset{o.di, o.dj}) + o.half;
}

// Throws input_error unless nx is even and >= 4, ny >= 3, and every id fits index_t.
void check_torus(torus_shape shape);

// "torus:NXxNY" to a valid shape and back. Throws input_error.
torus_shape parse_torus(std::string_view text);
std::string to_string(torus_shape shape);
bool is_torus_spec(std::string_view text);  // starts with "torus:"

// All tables of the torus, edges numbered per vertex. Throws input_error as check_torus.
grid make_torus(torus_shape shape);

struct point {
  double x, y;
};

// Position of lattice point (i, j), which may be fractional (edge and cell centres), on the torus
// of edge length `side`: x = (j + i/2) side modulo ny side, y = i side sqrt(3)/2 (not wrapped).
point torus_point(torus_shape shape, double i, double j, double side);

double domain_length(torus_shape shape, double side);  // x: ny side
double domain_height(torus_shape shape, double side);  // y: nx side sqrt(3)/2

}  // namespace icobench
