// Points outermost, levels innermost and contiguous: the inner loop is a vector loop over levels.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

struct divergence_kfirst {
  static constexpr kernel_info info{
      .chain = "divergence",
      .schedule = "kfirst",
      .description = "points outermost, vector loop over contiguous levels"};
  using computes = stages<stage::divergence>;
  static constexpr layout memory = layout::kfirst;
  static constexpr launch tuned() { return {}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const divergence_operands<T, memory>& f, index_t levels, const launch&) {
    for_each_point(mesh, d, [=](index_t point) {
      for_constants<Mesh::cells_per_point>([=](auto c) {
        const index_t id = mesh.cell_of_point(point, c);
        const auto edges = c2e(mesh, point, c);
        const divergence<T> stencil = f.stencil(id);
        ICOBENCH_SIMD
        for (index_t k = 0; k < levels; ++k) { f.out(id, k) = stencil(gather(f.vec, edges, k)); }
      });
    });
  }
};

using divergence_cpu_kfirst_variants = kernel_list<divergence_kfirst>;

}  // namespace icobench::kernels
