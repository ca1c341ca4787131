// nabla4 on the six edges of a vertex, evaluated where interpolate needs it ("inlined").
#pragma once

#include <icobench/gpu_variant.hpp>

namespace icobench::kernels {

// Ids and, unless they depend on the level, coefficients are loaded once for all levels.
template <class T, layout L, bool vertical>
struct edges_of_vertex {
  index_t e[6];
  neighbours<index_t, 4> diamond[6];
  nabla4<T> stencil[6];

  template <class Mesh>
  ICOBENCH_FUNCTION edges_of_vertex(const Mesh& mesh, const nabla4_operands<T, L>& f, index_t v) {
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 6; ++s) {
      const auto edge = mesh.edge_of_vertex(v, s);
      e[s] = mesh.id(edge);
      diamond[s] = mesh.e2c2v(edge);
      if constexpr (!vertical) { stencil[s] = f.stencil(e[s], 0); }
    }
  }

  ICOBENCH_FUNCTION neighbours<T, 6> operator()(const nabla4_operands<T, L>& f, index_t k) const {
    neighbours<T, 6> result;
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 6; ++s) {
      if constexpr (vertical) {
        result[s] = f.apply(f.stencil(e[s], k), e[s], diamond[s], k);
      } else {
        result[s] = f.apply(stencil[s], e[s], diamond[s], k);
      }
    }
    return result;
  }
};

}  // namespace icobench::kernels
