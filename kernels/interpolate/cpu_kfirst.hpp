// Points outermost, levels innermost and contiguous, coefficients in registers.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

struct interpolate_kfirst {
  static constexpr kernel_info info{
      .chain = "interpolate",
      .schedule = "kfirst",
      .description = "points outermost, vector loop over contiguous levels"};
  using computes = stages<stage::interpolate>;
  static constexpr layout memory = layout::kfirst;
  static constexpr launch tuned() { return {}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const interpolate_operands<T, memory>& f, index_t levels, const launch&) {
    for_each_point(mesh, d, [=](index_t v) {
      const auto edges = v2e(mesh, v);
      const interpolate<T> stencil = f.stencil(v);
      ICOBENCH_SIMD
      for (index_t k = 0; k < levels; ++k) { f.store(v, k, stencil(gather(f.p_e, edges, k))); }
    });
  }
};

using interpolate_cpu_kfirst_variants = kernel_list<interpolate_kfirst>;

}  // namespace icobench::kernels
