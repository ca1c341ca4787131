// interpolate (v2e): RBF reconstruction of a vector at a vertex from its six edges.
//
//   p_u(v,k) = sum over s < 6 of p_e(v2e[v][s],k) c1(v,s);   p_v likewise with c2
//
// Source: ICON mo_intp_rbf, rbf_vec_interpol_vertex. 22 flops for a vertex and level.
// A vertex with fewer edges (pentagon) has coefficient 0 and any valid edge in the missing slots.
#pragma once

#include <icobench/field.hpp>
#include <icobench/stencil/description.hpp>

namespace icobench {

template <class T>
struct vector2 {
  T u, v;
};

// The stencil at one vertex.
template <class T>
struct interpolate {
  neighbours<T, 6> coeff_1, coeff_2;  // ptr_coeff_1, ptr_coeff_2

  ICOBENCH_FUNCTION vector2<T> operator()(const neighbours<T, 6>& p_e) const {
    vector2<T> sum{p_e[0] * coeff_1[0], p_e[0] * coeff_2[0]};
    ICOBENCH_UNROLL_ALL
    for (int s = 1; s < 6; ++s) {
      sum.u += p_e[s] * coeff_1[s];
      sum.v += p_e[s] * coeff_2[s];
    }
    return sum;
  }
};

// Operands of interpolate: p_e on edges, the others on vertices, coefficients with 6 slots.
template <class T, layout L = layout::ifirst>
struct interpolate_operands {
  view<const T, L> p_e, coeff_1, coeff_2;
  view<T, L> p_u, p_v;

  ICOBENCH_FUNCTION interpolate<T> stencil(index_t v) const {
    return {slots<6>(coeff_1, v, 0), slots<6>(coeff_2, v, 0)};
  }
  ICOBENCH_FUNCTION void store(index_t v, index_t k, const vector2<T>& p) const {
    p_u(v, k) = p.u;
    p_v(v, k) = p.v;
  }
  // See gpu::store_apart.
  ICOBENCH_FUNCTION void store_apart(index_t v, index_t k, const vector2<T>& p) const {
    gpu::store_apart(p_u.address(v, k), p.u);
    gpu::store_apart(p_v.address(v, k), p.v);
  }
};

namespace stencils {
struct interpolate {
  static constexpr const char* name = "interpolate";
  static constexpr location on = location::vertex;
  static constexpr neighbour_table reads = neighbour_table::v2e;
  static constexpr int flops = 22;
  static constexpr stencil_rules rules{.pentagons = true};
  static constexpr field_info inputs[] = {
      {"z_nabla4_e2", location::edge, 1, level_rule::by_level, "m-3 s-1",
       "Laplacian of the Laplacian of the normal velocity (nabla4)"},
      {"ptr_coeff_1", location::vertex, 6, level_rule::once, "1",
       "coefficients of the first component, one for each edge of v2e"},
      {"ptr_coeff_2", location::vertex, 6, level_rule::once, "1",
       "coefficients of the second component, one for each edge of v2e"}};
  static constexpr field_info outputs[] = {
      {"p_u", location::vertex, 1, level_rule::by_level, "m-3 s-1",
       "first component of the vector reconstructed at vertices"},
      {"p_v", location::vertex, 1, level_rule::by_level, "m-3 s-1",
       "second component of the vector reconstructed at vertices"}};
  template <class T, layout L>
  using operands = interpolate_operands<T, L>;

  template <class Point>
  static void compute(const Point& p) {
    const icobench::interpolate<double> formula{p.template slots<6>(1), p.template slots<6>(2)};
    const auto sum = formula(p.template neighbours<6>(0));
    p.result(0, sum.u);
    p.result(1, sum.v);
  }
};
}  // namespace stencils

}  // namespace icobench
