// A thread has the edges of a point (strided: three) and keeps their cells and lengths in
// registers: naive for one level, kloop for a walk over levels.
//
// The walk trades registers and parallelism for traffic: 8 bytes of table and 8 of length an edge
// are read once for all levels of a thread.
//
// H200, 594x514 (298x257), us: strided naive 329 (81), kloop 413 (98); indirect 488 (93), 445 (93).
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

template <bool walks>
struct gradient_of_points {
  static constexpr kernel_info info{
      .chain = "gradient",
      .schedule = walks ? "kloop" : "naive",
      .description = walks ? "a thread walks levels, coefficients and ids in registers"
                           : "one thread a point and level",
      .seam_levels = walks ? 10 : 0};
  using computes = stages<stage::gradient>;
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
    gradient_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t point = mesh.point(domain, t.x(), t.y());
      if (point < 0) { return; }
      constexpr int count = Mesh::edges_per_point;
      index_t e[count];
      neighbours<index_t, 2> cells[count];
      gradient<T> stencil[count];
      ICOBENCH_UNROLL_ALL
      for (int c = 0; c < count; ++c) {
        const auto edge = mesh.edge_of_point(point, c);
        e[c] = mesh.id(edge);
        cells[c] = mesh.e2c(edge);
        stencil[c] = f.stencil(e[c]);
      }
      for_levels<walks>(t, levels, [&](index_t k) {
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < count; ++c) { f.out(e[c], k) = stencil[c](gather(f.psi, cells[c], k)); }
      });
    }
  };
};

using gradient_points_variants = kernel_list<gradient_of_points<false>, gradient_of_points<true>>;

}  // namespace icobench::kernels
