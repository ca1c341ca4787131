// verts2cells (c2v): a cell value from the vectors at its three corners.
//
//   out(c,k) = (sum over m < 3 of p_u(c2v[c][m],k) d1(c,m) + p_v(c2v[c][m],k) d2(c,m)) / 2
//
// 12 flops for a cell and level; halving is exact.
#pragma once

#include <icobench/field.hpp>
#include <icobench/stencil/description.hpp>

namespace icobench {

// verts2cells at one cell as a sum of its operands, each times a weight.
template <class T>
struct verts2cells_weights {
  neighbours<T, 3> u, v;

  ICOBENCH_FUNCTION T operator()(const neighbours<T, 3>& p_u, const neighbours<T, 3>& p_v) const {
    T sum = p_u[0] * u[0];
    sum += p_v[0] * v[0];
    ICOBENCH_UNROLL_ALL
    for (int m = 1; m < 3; ++m) {
      sum += p_u[m] * u[m];
      sum += p_v[m] * v[m];
    }
    return sum;
  }
};

// The stencil at one cell.
template <class T>
struct verts2cells {
  neighbours<T, 3> coeff_1, coeff_2;

  ICOBENCH_FUNCTION T operator()(const neighbours<T, 3>& p_u, const neighbours<T, 3>& p_v) const {
    T sum = p_u[0] * coeff_1[0] + p_v[0] * coeff_2[0];
    ICOBENCH_UNROLL_ALL
    for (int m = 1; m < 3; ++m) { sum += p_u[m] * coeff_1[m] + p_v[m] * coeff_2[m]; }
    return T(0.5) * sum;
  }

  // The same as one weighted sum: fewer operations a level, rounded differently.
  ICOBENCH_FUNCTION verts2cells_weights<T> weights() const {
    verts2cells_weights<T> w;
    ICOBENCH_UNROLL_ALL
    for (int m = 0; m < 3; ++m) {
      w.u[m] = T(0.5) * coeff_1[m];
      w.v[m] = T(0.5) * coeff_2[m];
    }
    return w;
  }
};

// Operands of verts2cells: p_u, p_v on vertices, the others on cells, coefficients with 3 slots.
template <class T, layout L = layout::ifirst>
struct verts2cells_operands {
  view<const T, L> p_u, p_v, coeff_1, coeff_2;
  view<T, L> out;

  ICOBENCH_FUNCTION verts2cells<T> stencil(index_t c) const {
    return {slots<3>(coeff_1, c, 0), slots<3>(coeff_2, c, 0)};
  }
};

namespace stencils {
struct verts2cells {
  static constexpr const char* name = "verts2cells";
  static constexpr location on = location::cell;
  static constexpr neighbour_table reads = neighbour_table::c2v;
  static constexpr int flops = 12;
  static constexpr stencil_rules rules{.halo = 4, .reach_before = 0};
  static constexpr field_info inputs[] = {
      {"p_u", location::vertex, 1, level_rule::by_level, "m-3 s-1",
       "first component of the vector reconstructed at vertices"},
      {"p_v", location::vertex, 1, level_rule::by_level, "m-3 s-1",
       "second component of the vector reconstructed at vertices"},
      {"cell_coeff_1", location::cell, 3, level_rule::once, "1",
       "coefficients of the first component, one for each corner of c2v"},
      {"cell_coeff_2", location::cell, 3, level_rule::once, "1",
       "coefficients of the second component, one for each corner of c2v"}};
  static constexpr field_info outputs[] = {
      {"p_cell", location::cell, 1, level_rule::by_level, "m-3 s-1", "value at cells"}};
  template <class T, layout L>
  using operands = verts2cells_operands<T, L>;

  template <class Point>
  static void compute(const Point& p) {
    const icobench::verts2cells<double> formula{p.template slots<3>(2), p.template slots<3>(3)};
    p.result(0, formula(p.template neighbours<3>(0), p.template neighbours<3>(1)));
  }
};
}  // namespace stencils

}  // namespace icobench
