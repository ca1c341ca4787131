// One thread for one vertex and level.
//
// Trades traffic for parallelism: 96 bytes of coefficients (and 24 of table) for every level.
#pragma once

#include <icobench/kernel.hpp>

namespace icobench::kernels {

struct interpolate_naive {
  static constexpr kernel_info info{
      .chain = "interpolate", .schedule = "naive", .description = "one thread a point and level"};
  using computes = stages<stage::interpolate>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>>;
  static constexpr launch tuned(access a, precision) {
    return {.block = {64, 1, a == access::strided ? 2u : 4u}};
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.reject = &one_level_only};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    interpolate_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t v = mesh.point(domain, t.x(), t.y()), k = index_t(t.z());
      if (v < 0 || k >= levels) { return; }
      f.store(v, k, f.stencil(v)(gather(f.p_e, v2e(mesh, v), k)));
    }
  };
};

using interpolate_naive_variants = kernel_list<interpolate_naive>;

}  // namespace icobench::kernels
