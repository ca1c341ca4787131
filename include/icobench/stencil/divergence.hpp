// divergence: of a vector at a cell, from its components normal to the cell's three edges.
//
//   div(c,k) = sum over s < 3 of vec(c2e[c][s],k) geofac_div(c,s)
//
// Source: ICON mo_math_divrot, div. 5 flops for a cell and level. The order of a cell's edges is
// the grid's.
#pragma once

#include <icobench/field.hpp>
#include <icobench/stencil/description.hpp>

namespace icobench {

// The stencil at one cell.
template <class T>
struct divergence {
  neighbours<T, 3> geofac_div;  // [1/m]

  ICOBENCH_FUNCTION T operator()(const neighbours<T, 3>& vec) const {
    return vec[0] * geofac_div[0] + vec[1] * geofac_div[1] + vec[2] * geofac_div[2];
  }
};

// Operands of divergence: vec on edges, the others on cells, geofac_div with 3 slots.
template <class T, layout L = layout::ifirst>
struct divergence_operands {
  view<const T, L> vec, geofac_div;
  view<T, L> out;

  ICOBENCH_FUNCTION divergence<T> stencil(index_t c) const { return {slots<3>(geofac_div, c, 0)}; }
};

namespace stencils {
struct divergence {
  static constexpr const char* name = "divergence";
  static constexpr location on = location::cell;
  static constexpr neighbour_table reads = neighbour_table::c2e;
  static constexpr int flops = 5;
  static constexpr stencil_rules rules{.reach_before = 0};
  static constexpr field_info inputs[] = {{"vec_e", location::edge, 1, level_rule::by_level, "m-1",
                                           "component of a vector normal to the edge"},
                                          {"geofac_div", location::cell, 3, level_rule::once, "m-1",
                                           "factors of the divergence, one for each edge of c2e"}};
  static constexpr field_info outputs[] = {
      {"div_vec_c", location::cell, 1, level_rule::by_level, "m-2", "divergence at cells"}};
  template <class T, layout L>
  using operands = divergence_operands<T, L>;

  template <class Point>
  static void compute(const Point& p) {
    const icobench::divergence<double> formula{p.template slots<3>(1)};
    p.result(0, formula(p.template neighbours<3>(0)));
  }
};
}  // namespace stencils

}  // namespace icobench
