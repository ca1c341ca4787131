// nabla4 on the six edges of a vertex, evaluated where interpolate needs it ("inlined").
#pragma once

#include <icobench/kernel.hpp>

namespace icobench::kernels {

// Ids are loaded once for all levels, and so are coefficients if it `keeps` them (60 values);
// otherwise each edge reads its own where they are used.
template <class T, layout L, bool keeps>
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
      if constexpr (keeps) { stencil[s] = f.stencil(e[s], 0); }
    }
  }

  // At level k; the level of the coefficients is 0 unless they have levels too.
  ICOBENCH_FUNCTION neighbours<T, 6> operator()(const nabla4_operands<T, L>& f, index_t k,
                                                index_t k_of_coefficients) const {
    neighbours<T, 6> result;
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 6; ++s) {
      if constexpr (keeps) {
        result[s] = f.apply(stencil[s], e[s], diamond[s], k);
      } else {
        result[s] = f.apply(f.stencil(e[s], k_of_coefficients), e[s], diamond[s], k);
      }
    }
    return result;
  }
};

}  // namespace icobench::kernels
