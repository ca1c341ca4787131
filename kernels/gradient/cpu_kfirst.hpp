// Points outermost, levels innermost and contiguous: the inner loop is a vector loop over levels.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

struct gradient_kfirst {
  static constexpr kernel_info info{
      .chain = "gradient",
      .schedule = "kfirst",
      .description = "points outermost, vector loop over contiguous levels"};
  using computes = stages<stage::gradient>;
  static constexpr layout memory = layout::kfirst;
  static constexpr launch tuned() { return {}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const gradient_operands<T, memory>& f, index_t levels, const launch&) {
    for_each_point(mesh, d, [=](index_t point) {
      for_constants<Mesh::edges_per_point>([=](auto c) {
        const auto edge = mesh.edge_of_point(point, c);
        const index_t e = mesh.id(edge);
        const auto cells = mesh.e2c(edge);
        const gradient<T> stencil = f.stencil(e);
        ICOBENCH_SIMD
        for (index_t k = 0; k < levels; ++k) { f.out(e, k) = stencil(gather(f.psi, cells, k)); }
      });
    });
  }
};

using gradient_cpu_kfirst_variants = kernel_list<gradient_kfirst>;

}  // namespace icobench::kernels
