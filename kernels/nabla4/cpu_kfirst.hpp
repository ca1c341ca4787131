// Points outermost, levels innermost and contiguous: the inner loop is a vector loop over levels
// with coefficients and addresses in registers.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

template <bool vertical>
struct nabla4_kfirst {
  static constexpr kernel_info info{
      .chain = vertical ? "nabla4_vertical" : "nabla4",
      .schedule = "kfirst",
      .description = "points outermost, vector loop over contiguous levels"};
  using computes = stages<stage::nabla4>;
  static constexpr layout memory = layout::kfirst;
  static constexpr launch tuned() { return {}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const nabla4_operands<T, memory>& f, index_t levels, const launch&) {
    for_each_point(mesh, d, [=](index_t point) {
      for_constants<Mesh::edges_per_point>([=](auto c) {
        const auto edge = mesh.edge_of_point(point, c);
        const index_t e = mesh.id(edge);
        const auto ids = mesh.e2c2v(edge);
        nabla4<T> stencil = f.stencil(e, 0);
        ICOBENCH_SIMD
        for (index_t k = 0; k < levels; ++k) {
          if constexpr (vertical) {
            f.out(e, k) = f.apply(f.stencil(e, k), e, ids, k);
          } else {
            f.out(e, k) = f.apply(stencil, e, ids, k);
          }
        }
      });
    });
  }
};

using nabla4_cpu_kfirst_variants = kernel_list<nabla4_kfirst<false>, nabla4_kfirst<true>>;

}  // namespace icobench::kernels
