// The neighbours of any grid, read from tables.
#pragma once

#include <icobench/field.hpp>
#include <icobench/mesh/blocks.hpp>
#include <icobench/mesh/positions.hpp>
#include <icobench/types.hpp>

namespace icobench {

// A point is one edge, vertex or cell. Tables hold storage ids and lie in memory as fields do: slot
// after slot for ifirst, so that neighbouring threads read neighbouring words, row after row for
// kfirst. Every slot holds a valid id (see interpolate.hpp for pentagons).
template <layout L>
struct indirect_mesh {
  static constexpr access kind = access::indirect;
  static constexpr int edges_per_point = 1;
  static constexpr int cells_per_point = 1;
  using domain = range;

  view<const index_t, L> e2c2v_table, v2e_table, c2v_table, e2c_table, c2e_table;
  // Of fused chains: neighbours of neighbours without repetitions, and as packed_positions where
  // each entry of the plain composition is among them.
  view<const index_t, L> v2e2c2v_table;      // 7 vertices of the diamonds of a vertex's edges
  view<const index_t, L> e_v2e2c2v_table;    // [v2e slot][diamond slot] in v2e2c2v
  view<const index_t, L> c2v2e_table;        // 15 edges of a cell's corners
  view<const index_t, L> e_c2v2e_table;      // [corner][v2e slot] in c2v2e
  view<const index_t, L> c2v2e2c2v_table;    // 12 vertices of the diamonds of those edges
  view<const index_t, L> e_c2v2e2c2v_table;  // [c2v2e slot][diamond slot] in c2v2e2c2v
  block_tables blocks{};

  ICOBENCH_FUNCTION const indirect_mesh& renewed(index_t) const { return *this; }

  struct edge {
    index_t number;
  };

  ICOBENCH_FUNCTION index_t point(const range& d, unsigned x, unsigned y) const {
    return index_t(x) < d.extent_x() && y == 0 ? d.begin + index_t(x) : -1;
  }
  ICOBENCH_FUNCTION edge edge_of_point(index_t e, int) const { return {e}; }
  ICOBENCH_FUNCTION index_t id(const edge& e) const { return e.number; }
  ICOBENCH_FUNCTION neighbours<index_t, 4> e2c2v(const edge& e) const {
    return slots<4>(e2c2v_table, e.number, 0);
  }
  ICOBENCH_FUNCTION edge edge_of_vertex(index_t v, int slot) const {
    return {v2e_table(v, slot, 0)};
  }
  ICOBENCH_FUNCTION index_t cell_of_point(index_t c, int) const { return c; }
  ICOBENCH_FUNCTION neighbours<index_t, 3> c2v(index_t c, int) const {
    return slots<3>(c2v_table, c, 0);
  }
  ICOBENCH_FUNCTION neighbours<index_t, 2> e2c(const edge& e) const {
    return slots<2>(e2c_table, e.number, 0);
  }
  ICOBENCH_FUNCTION edge edge_of_cell(index_t c, int, int slot) const {
    return {c2e_table(c, slot, 0)};
  }
  ICOBENCH_FUNCTION neighbours<index_t, 7> v2e2c2v(index_t v) const {
    return slots<7>(v2e2c2v_table, v, 0);
  }
  ICOBENCH_FUNCTION packed_positions<24> e_v2e2c2v(index_t v) const {
    return {slots<3>(e_v2e2c2v_table, v, 0)};
  }
  ICOBENCH_FUNCTION neighbours<index_t, 15> c2v2e(index_t c) const {
    return slots<15>(c2v2e_table, c, 0);
  }
  ICOBENCH_FUNCTION int e_c2v2e(index_t c, int n) const {
    return unpack_position(e_c2v2e_table(c, n / 8, 0), n);
  }
  ICOBENCH_FUNCTION neighbours<index_t, 12> c2v2e2c2v(index_t c) const {
    return slots<12>(c2v2e2c2v_table, c, 0);
  }
  ICOBENCH_FUNCTION int e_c2v2e2c2v(index_t c, int n) const {
    return unpack_position(e_c2v2e2c2v_table(c, n / 8, 0), n);
  }
};

// The same for listed points: the seams of patches.
struct listed_mesh : indirect_mesh<layout::ifirst> {
  using domain = id_list;

  ICOBENCH_FUNCTION const listed_mesh& renewed(index_t) const { return *this; }
  ICOBENCH_FUNCTION index_t point(const id_list& d, unsigned x, unsigned y) const {
    return index_t(x) < d.extent_x() && y == 0 ? d.ids[x] : -1;
  }
};

}  // namespace icobench
