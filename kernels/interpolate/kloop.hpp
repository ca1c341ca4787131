// A thread walks the levels of its vertex; 12 coefficients and 6 ids stay in registers.
//
// Trades registers and parallelism for traffic: coefficients and table are read once for `levels`
// levels.
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

struct interpolate_kloop {
  static constexpr kernel_info info{
      .chain = "interpolate",
      .schedule = "kloop",
      .description = "a thread walks levels, coefficients and ids in registers",
      .seam_levels = 10};
  using computes = stages<stage::interpolate>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>>;
  static constexpr launch tuned(access a, precision) {
    return a == access::strided ? launch{.block = {128, 1, 1}, .levels = 20}
                                : launch{.block = {64, 1, 4}, .levels = 20};
  }

  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    interpolate_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t v = mesh.point(domain, t.x(), t.y());
      if (v < 0) { return; }
      const neighbours<index_t, 6> edges = v2e(mesh, v);
      const interpolate<T> stencil = f.stencil(v);
      for_levels<true>(t, levels,
                       [&](index_t k) { f.store(v, k, stencil(gather(f.p_e, edges, k))); });
    }
  };
};

using interpolate_kloop_variants = kernel_list<interpolate_kloop>;

}  // namespace icobench::kernels
