// A thread has the cells of a point (strided: two) and keeps their edges and factors in registers:
// naive for one level, kloop for a walk over levels.
//
// The walk trades registers and parallelism for traffic: 24 bytes of factors and 12 of table a cell
// are read once for all levels of a thread.
//
// H200, 594x514 (298x257), us: strided naive 326 (69), kloop 266 (66); indirect 394 (80), 274 (73).
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

template <bool walks>
struct divergence_of_points {
  static constexpr kernel_info info{
      .chain = "divergence",
      .schedule = walks ? "kloop" : "naive",
      .description = walks ? "a thread walks levels, coefficients and ids in registers"
                           : "one thread a point and level",
      .seam_levels = walks ? 10 : 0};
  using computes = stages<stage::divergence>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>>;
  static constexpr launch tuned(access a, precision) {
    if (!walks) { return {.block = {64, 1, a == access::strided ? 2u : 4u}}; }
    return a == access::strided ? launch{.block = {64, 1, 4}, .levels = 20}
                                : launch{.block = {128, 1, 1}, .levels = 20};
  }
  static constexpr const char* reject(const launch& l) { return walks ? "" : one_level_only(l); }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.reject = &reject};

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
      for_levels<walks>(t, levels, [&](index_t k) {
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < count; ++c) {
          f.out(mesh.cell_of_point(point, c), k) = stencil[c](gather(f.vec, edges[c], k));
        }
      });
    }
  };
};

using divergence_points_variants =
    kernel_list<divergence_of_points<false>, divergence_of_points<true>>;

}  // namespace icobench::kernels
