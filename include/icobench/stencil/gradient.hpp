// gradient: the component normal to an edge of the gradient of a scalar at cells.
//
//   grad(e,k) = (psi(c1,k) - psi(c0,k)) inv_dual_edge_length(e),  c0, c1 = e2c[e]
//
// Source: ICON mo_math_gradients, grad_fd_norm. 2 flops for an edge and level. The order of an
// edge's two cells is the grid's and gives the sign.
#pragma once

#include <icobench/field.hpp>
#include <icobench/stencil/description.hpp>

namespace icobench {

// The stencil at one edge.
template <class T>
struct gradient {
  T inv_dual_edge_length;  // [1/m]

  ICOBENCH_FUNCTION T operator()(const neighbours<T, 2>& psi) const {
    return (psi[1] - psi[0]) * inv_dual_edge_length;
  }
};

// Operands of gradient: psi on cells, the others on edges.
template <class T, layout L = layout::ifirst>
struct gradient_operands {
  view<const T, L> psi, inv_dual_edge_length;
  view<T, L> out;

  ICOBENCH_FUNCTION gradient<T> stencil(index_t e) const { return {inv_dual_edge_length(e, 0)}; }
};

namespace stencils {
struct gradient {
  static constexpr const char* name = "gradient";
  static constexpr location on = location::edge;
  static constexpr neighbour_table reads = neighbour_table::e2c;
  static constexpr int flops = 2;
  static constexpr stencil_rules rules{.odd_input = 1};
  static constexpr field_info inputs[] = {
      {"psi_c", location::cell, 1, level_rule::by_level, "1", "scalar at cells"},
      {"inv_dual_edge_length", location::edge, 1, level_rule::once, "m-1",
       "inverse distance of the centres of the adjacent cells"}};
  static constexpr field_info outputs[] = {{"vec_e", location::edge, 1, level_rule::by_level, "m-1",
                                            "component of a vector normal to the edge"}};
  template <class T, layout L>
  using operands = gradient_operands<T, L>;

  template <class Point>
  static void compute(const Point& p) {
    p.result(0, icobench::gradient<double>{p.value(1)}(p.template neighbours<2>(0)));
  }
};
}  // namespace stencils

}  // namespace icobench
