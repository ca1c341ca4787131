// divergence evaluates gradient on the three edges of a cell: vec_e is never stored.
//
// Trades flops (each edge twice, 22 instead of 16 a vertex and level) for 48 bytes of traffic.
//
// H200, 594x514, us: strided naive 295, kloop 251 (separate 602); indirect 462, 291 (separate 710).
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

template <bool walks>
struct inlined_gradient_divergence {
  static constexpr kernel_info info{
      .chain = "gradient_divergence",
      .schedule = walks ? "kloop" : "naive",
      .fusion = "inlined",
      .description = "each cell evaluates the gradient on its three edges",
      .seam_levels = walks ? 10 : 0};
  using computes = stages<stage::gradient, stage::divergence>;
  using compiled = compiled_list<compiled_for<>>;
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
    gradient_operands<T> edge;
    divergence_operands<T> cell;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t point = mesh.point(domain, t.x(), t.y());
      if (point < 0) { return; }
      constexpr int count = Mesh::cells_per_point;
      neighbours<index_t, 2> cells[count][3];
      gradient<T> at_edge[count][3];
      divergence<T> at_cell[count];
      ICOBENCH_UNROLL_ALL
      for (int c = 0; c < count; ++c) {
        at_cell[c] = cell.stencil(mesh.cell_of_point(point, c));
        ICOBENCH_UNROLL_ALL
        for (int s = 0; s < 3; ++s) {
          const auto side = mesh.edge_of_cell(point, c, s);
          cells[c][s] = mesh.e2c(side);
          at_edge[c][s] = edge.stencil(mesh.id(side));
        }
      }
      for_levels<walks>(t, levels, [&](index_t k) {
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < count; ++c) {
          neighbours<T, 3> vec;
          ICOBENCH_UNROLL_ALL
          for (int s = 0; s < 3; ++s) { vec[s] = at_edge[c][s](gather(edge.psi, cells[c][s], k)); }
          cell.out(mesh.cell_of_point(point, c), k) = at_cell[c](vec);
        }
      });
    }
  };
};

using gradient_divergence_inlined_variants =
    kernel_list<inlined_gradient_divergence<false>, inlined_gradient_divergence<true>>;

}  // namespace icobench::kernels
