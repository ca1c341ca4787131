// nabla4 on the edges that a point stands for: three of a vertex, or the one itself.
#pragma once

#include <icobench/kernel.hpp>

namespace icobench::kernels {

// Ids are loaded once for all levels, and so are coefficients if it `keeps` them.
template <class Mesh, class T, bool keeps>
struct edges_of_point {
  static constexpr int count = Mesh::edges_per_point;
  index_t e[count];
  neighbours<index_t, 4> diamond[count];
  nabla4<T> stencil[count];

  ICOBENCH_FUNCTION edges_of_point(const Mesh& mesh, const nabla4_operands<T>& f, index_t point) {
    ICOBENCH_UNROLL_ALL
    for (int c = 0; c < count; ++c) {
      const auto edge = mesh.edge_of_point(point, c);
      e[c] = mesh.id(edge);
      diamond[c] = mesh.e2c2v(edge);
      if constexpr (keeps) { stencil[c] = f.stencil(e[c], 0); }
    }
  }

  // Edge c at level k; the level of the coefficients is 0 unless they have levels too.
  ICOBENCH_FUNCTION T operator()(const nabla4_operands<T>& f, int c, index_t k,
                                 index_t k_of_coefficients) const {
    if constexpr (keeps) {
      return f.apply(stencil[c], e[c], diamond[c], k);
    } else {
      return f.apply(f.stencil(e[c], k_of_coefficients), e[c], diamond[c], k);
    }
  }
};

}  // namespace icobench::kernels
