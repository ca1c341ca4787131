// What a chain has to read, without its neighbours: a bound in practice for its variants.
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

// The sum of what nabla4 and interpolate read at a vertex and the three edges it owns. Coefficients
// that serve all levels are read once, those with levels (`vertical`) with each.
//
// A point of the domain reads its own values only: what lies around the domain, for a torus of
// 594x514 less than one per cent, is not read.
template <class Mesh, class T, bool vertical>
class inputs_of_vertex {
 public:
  ICOBENCH_DEVICE inputs_of_vertex(const Mesh& mesh, const nabla4_operands<T>& edge,
                                   const interpolate_operands<T>& vertex, index_t v)
      : v_(v) {
    ICOBENCH_UNROLL_ALL
    for (int c = 0; c < 3; ++c) {
      e_[c] = mesh.id(mesh.edge_of_point(v, c));
      if constexpr (!vertical) { coefficients_ += of_edge(edge, e_[c], 0); }
    }
    coefficients_ += sum(slots<6>(vertex.coeff_1, v, 0)) + sum(slots<6>(vertex.coeff_2, v, 0));
  }

  ICOBENCH_DEVICE T operator()(const nabla4_operands<T>& edge, index_t k) const {
    T result = coefficients_ + edge.u(v_, k) + edge.v(v_, k);
    ICOBENCH_UNROLL_ALL
    for (int c = 0; c < 3; ++c) {
      result += edge.z(e_[c], k);
      if constexpr (vertical) { result += of_edge(edge, e_[c], k); }
    }
    return result;
  }

 private:
  ICOBENCH_DEVICE static T of_edge(const nabla4_operands<T>& edge, index_t e, index_t k) {
    return sum(slots<4>(edge.normal_1, e, k)) + sum(slots<4>(edge.normal_2, e, k)) +
           edge.inv_vert_vert_length(e, k) + edge.inv_primal_edge_length(e, k);
  }
  template <int count>
  ICOBENCH_DEVICE static T sum(const neighbours<T, count>& values) {
    T result = values[0];
    ICOBENCH_UNROLL_ALL
    for (int n = 1; n < count; ++n) { result += values[n]; }
    return result;
  }

  index_t v_, e_[3];
  T coefficients_ = 0;
};

}  // namespace icobench::kernels
