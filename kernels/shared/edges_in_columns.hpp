// nabla4 on the six edges of a vertex with its coefficients in shared memory.
#pragma once

#include <icobench/kernels/shared/column.hpp>

namespace icobench::kernels {

// As edges_of_vertex, which see; a thread's 60 coefficients are a column, so that its registers are
// free for the operands of a level on their way.
template <class T>
class edges_in_columns {
 public:
  template <class Mesh, class Thread>
  ICOBENCH_DEVICE edges_in_columns(const Thread& t, const Mesh& mesh, const nabla4_operands<T>& f,
                                   index_t v)
      : coefficients_(t, 0) {
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 6; ++s) {
      const auto edge = mesh.edge_of_vertex(v, s);
      e_[s] = mesh.id(edge);
      diamond_[s] = mesh.e2c2v(edge);
      const nabla4<T> stencil = f.stencil(e_[s], 0);
      const auto mine = [&](int n) -> T& { return coefficients_[10 * s + n]; };
      ICOBENCH_UNROLL_ALL
      for (int m = 0; m < 4; ++m) {
        mine(m) = stencil.normal_1[m];
        mine(4 + m) = stencil.normal_2[m];
      }
      mine(8) = stencil.vert_vert_sq;
      mine(9) = stencil.edge_sq;
    }
  }

  static constexpr std::size_t block_bytes(const gpu::extent3& block) {
    return column<T, 60>::block_bytes(block);
  }

  ICOBENCH_DEVICE neighbours<T, 6> operator()(const nabla4_operands<T>& f, index_t k,
                                              index_t) const {
    neighbours<T, 6> result;
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 6; ++s) {
      const auto mine = [&](int n) { return coefficients_[10 * s + n]; };
      const nabla4<T> stencil{{{mine(0), mine(1), mine(2), mine(3)}},
                              {{mine(4), mine(5), mine(6), mine(7)}},
                              mine(8),
                              mine(9)};
      result[s] = f.apply(stencil, e_[s], diamond_[s], k);
    }
    return result;
  }

 private:
  column<T, 60> coefficients_;
  index_t e_[6];
  neighbours<index_t, 4> diamond_[6];
};

}  // namespace icobench::kernels
