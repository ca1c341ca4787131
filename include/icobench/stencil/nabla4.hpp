// nabla4: fourth-order diffusion tendency on edges, from vertex velocities.
//
//   tang(e,k) = sum over the ends s = 0,1 of the edge  u(v,k) n1(e,s) + v(v,k) n2(e,s)
//   norm(e,k) = the same over the tips s = 2,3 of the adjacent cells
//   out(e,k)  = 4 ((norm - 2 z) ivv(e)^2 + (tang - 2 z) ipe(e)^2)
//
// Source: ICON mo_nh_diffusion, calculate_nabla4. 21 flops for an edge and level with the squares
// hoisted.
#pragma once

#include <icobench/field.hpp>
#include <icobench/stencil/description.hpp>

namespace icobench {

// nabla4 at one edge as a sum of its operands, each times a weight.
template <class T>
struct nabla4_weights {
  neighbours<T, 4> u, v;
  T z;

  ICOBENCH_FUNCTION T operator()(const neighbours<T, 4>& at_u, const neighbours<T, 4>& at_v,
                                 T at_z) const {
    T sum = at_z * z;
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 4; ++s) {
      sum += at_u[s] * u[s];
      sum += at_v[s] * v[s];
    }
    return sum;
  }
};

// The stencil at one edge: its coefficients are loaded once and serve any number of levels.
template <class T>
struct nabla4 {
  neighbours<T, 4> normal_1;  // primal_normal_vert_v1: first component at the four diamond vertices
  neighbours<T, 4> normal_2;  // primal_normal_vert_v2
  T vert_vert_sq;             // inv_vert_vert_length squared [1/m^2]
  T edge_sq;                  // inv_primal_edge_length squared [1/m^2]

  // u, v at the diamond, z = nabla2 of the edge. Products are summed in pairs, as the reference
  // implementation does: results agree with its serialized data to the bit.
  ICOBENCH_FUNCTION T operator()(const neighbours<T, 4>& u, const neighbours<T, 4>& v, T z) const {
    const T tang =
        (u[0] * normal_1[0] + v[0] * normal_2[0]) + (u[1] * normal_1[1] + v[1] * normal_2[1]);
    const T norm =
        (u[2] * normal_1[2] + v[2] * normal_2[2]) + (u[3] * normal_1[3] + v[3] * normal_2[3]);
    const T twice_z = T(2) * z;
    return T(4) * ((norm - twice_z) * vert_vert_sq + (tang - twice_z) * edge_sq);
  }

  // The same as one weighted sum: fewer operations a level, rounded differently.
  ICOBENCH_FUNCTION nabla4_weights<T> weights() const {
    nabla4_weights<T> w;
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 4; ++s) {
      const T scale = T(4) * (s < 2 ? edge_sq : vert_vert_sq);
      w.u[s] = scale * normal_1[s];
      w.v[s] = scale * normal_2[s];
    }
    w.z = T(-8) * (vert_vert_sq + edge_sq);
    return w;
  }
};

// Operands of nabla4: u, v on vertices; the others on edges, normals with 4 slots. In
// nabla4_vertical normals and lengths have levels too.
template <class T, layout L = layout::ifirst>
struct nabla4_operands {
  view<const T, L> u, v, normal_1, normal_2, inv_vert_vert_length, inv_primal_edge_length, z;
  view<T, L> out;

  ICOBENCH_FUNCTION nabla4<T> stencil(index_t e, index_t k) const {
    const T vert_vert = inv_vert_vert_length(e, k);
    const T edge = inv_primal_edge_length(e, k);
    return {slots<4>(normal_1, e, k), slots<4>(normal_2, e, k), vert_vert * vert_vert, edge * edge};
  }
  // The stencil at edge e, level k, whose diamond vertices are `ids`.
  ICOBENCH_FUNCTION T apply(const nabla4<T>& at_edge, index_t e, const neighbours<index_t, 4>& ids,
                            index_t k) const {
    return at_edge(gather(u, ids, k), gather(v, ids, k), z(e, k));
  }
};

namespace stencils {
struct nabla4 {
  static constexpr const char* name = "nabla4";
  static constexpr location on = location::edge;
  static constexpr neighbour_table reads = neighbour_table::e2c2v;
  static constexpr int flops = 21;
  static constexpr stencil_rules rules{.halo = 2, .vertical = "nabla4_vertical"};
  static constexpr field_info inputs[] = {
      {"u_vert", location::vertex, 1, level_rule::by_level, "m s-1",
       "first component of the velocity at vertices"},
      {"v_vert", location::vertex, 1, level_rule::by_level, "m s-1",
       "second component of the velocity at vertices"},
      {"primal_normal_vert_v1", location::edge, 4, level_rule::by_level_if_vertical, "1",
       "first component of the edge normal at the vertices of its diamond"},
      {"primal_normal_vert_v2", location::edge, 4, level_rule::by_level_if_vertical, "1",
       "second component of the edge normal at the vertices of its diamond"},
      {"inv_vert_vert_length", location::edge, 1, level_rule::by_level_if_vertical, "m-1",
       "inverse distance of the tips of the adjacent cells"},
      {"inv_primal_edge_length", location::edge, 1, level_rule::by_level_if_vertical, "m-1",
       "inverse length of the edge"},
      {"z_nabla2_e", location::edge, 1, level_rule::by_level, "m-1 s-1",
       "Laplacian of the normal velocity"}};
  static constexpr field_info outputs[] = {
      {"z_nabla4_e2", location::edge, 1, level_rule::by_level, "m-3 s-1",
       "Laplacian of the Laplacian of the normal velocity (nabla4)"}};
  template <class T, layout L>
  using operands = nabla4_operands<T, L>;

  template <class Point>
  static void compute(const Point& p) {
    const double vert_vert = p.value(4), edge = p.value(5);
    const icobench::nabla4<double> formula{p.template slots<4>(2), p.template slots<4>(3),
                                           vert_vert * vert_vert, edge * edge};
    p.result(0, formula(p.template neighbours<4>(0), p.template neighbours<4>(1), p.value(6)));
  }
};
}  // namespace stencils

}  // namespace icobench
