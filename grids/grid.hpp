// The grid on the host: entities, neighbour tables, and what is known of its shape.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <icobench/errors.hpp>
#include <icobench/stencil/description.hpp>
#include <icobench/types.hpp>

namespace icobench {

// In a table: no such neighbour (the sixth edge of a pentagon, the outer cell of a boundary edge).
inline constexpr index_t missing = -1;

// Neighbour table: `slots` 0-based ids for each row, row after row.
struct table {
  index_t slots = 0;
  std::vector<index_t> ids;

  table() = default;
  table(index_t rows, index_t slots_)
      : slots(slots_), ids(std::size_t(rows) * std::size_t(slots_), missing) {}

  index_t rows() const { return slots ? index_t(ids.size() / std::size_t(slots)) : 0; }
  index_t& operator()(index_t row, index_t slot) { return ids[position(row, slot)]; }
  index_t operator()(index_t row, index_t slot) const { return ids[position(row, slot)]; }
  std::size_t position(index_t row, index_t slot) const {
    return std::size_t(row) * std::size_t(slots) + std::size_t(slot);
  }
  bool operator==(const table&) const = default;
};

// A hexagonal torus: `nx` (even) along the fast index i, `ny` along the slow index j.
struct torus_shape {
  index_t nx = 0;
  index_t ny = 0;
  bool operator==(const torus_shape&) const = default;
};

// A point on the unit sphere: x to longitude 0, z to the north pole.
using unit_vector = std::array<double, 3>;

// An icosahedral (triangular) grid. Slots without a neighbour hold `missing`; in v2e and v2c the
// present neighbours come first.
//
// On a torus (`shape` set) ids are those of the closed forms in grids/torus.hpp: vertex j*nx + i,
// edges 3*vertex + colour, cells 2*vertex + {up, down}.
struct grid {
  std::string name;  // "torus:NXxNY", "sphere:RnBk" or the path of the file
  std::string uuid;  // uuidOfHGrid of the file, if any
  index_t vertices = 0;
  index_t edges = 0;
  index_t cells = 0;
  table e2v;    // edges x 2: the ends
  table e2c;    // edges x 2: the adjacent cells
  table c2v;    // cells x 3: the corners
  table v2e;    // vertices x 6
  table e2c2v;  // edges x 4: the diamond: both ends, then the tips of the adjacent cells
  table c2e;    // cells x 3: the sides between corners 0-1, 1-2 and 2-0
  std::optional<torus_shape> shape;
  std::vector<unit_vector> positions;  // of the vertices, where they are known: not on a torus
};

// A table by its name in the descriptions of stencils.
table& table_of(grid&, neighbour_table);
const table& table_of(const grid&, neighbour_table);

}  // namespace icobench
