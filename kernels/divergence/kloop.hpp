// A thread walks the levels of its cells and keeps edges and factors in registers.
//
// Trades registers and parallelism for traffic: 24 bytes of factors and 12 of table a cell are read
// once for all levels of a thread.
//
// Not measured yet.
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

struct divergence_kloop {
  static constexpr kernel_info info{
      .chain = "divergence",
      .schedule = "kloop",
      .description = "a thread walks levels, coefficients and ids in registers"};
  using computes = stages<stage::divergence>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>>;
  static constexpr launch tuned(access a, precision) {
    return a == access::strided ? launch{.block = {64, 1, 4}, .levels = 20}
                                : launch{.block = {128, 1, 1}, .levels = 20};
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    divergence_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t point = mesh.point(domain, t.x(), t.y());
      if (point < 0) { return; }
      constexpr int count = Mesh::cells_per_point;
      neighbours<index_t, 3> edges[count];
      divergence<T> stencil[count];
      ICOBENCH_UNROLL_ALL
      for (int c = 0; c < count; ++c) {
        edges[c] = c2e(mesh, point, c);
        stencil[c] = f.stencil(mesh.cell_of_point(point, c));
      }
      for_levels<true>(t, levels, [&](index_t k) {
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < count; ++c) {
          f.out(mesh.cell_of_point(point, c), k) = stencil[c](gather(f.vec, edges[c], k));
        }
      });
    }
  };
};

using divergence_kloop_variants = kernel_list<divergence_kloop>;

}  // namespace icobench::kernels
