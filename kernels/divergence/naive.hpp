// One thread for the cells of a point (strided: two) and a level.
//
// Trades traffic for parallelism: factors and edges are read for every level.
//
// Not measured yet.
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

struct divergence_naive {
  static constexpr kernel_info info{
      .chain = "divergence", .schedule = "naive", .description = "one thread a point and level"};
  using computes = stages<stage::divergence>;
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
      for_levels<false>(t, levels, [&](index_t k) {
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < count; ++c) {
          f.out(mesh.cell_of_point(point, c), k) = stencil[c](gather(f.vec, edges[c], k));
        }
      });
    }
  };
};

using divergence_naive_variants = kernel_list<divergence_naive>;

}  // namespace icobench::kernels
