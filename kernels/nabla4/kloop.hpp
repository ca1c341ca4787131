// A thread walks the levels of its point and keeps what does not depend on the level in registers.
//
// Trades registers (30 doubles and 6 ids a strided point, 10 and 4 an indirect one) and parallelism
// for traffic: coefficients and tables are read once for `levels` levels.
//
// H200, 298x257: the walk is not unrolled, since more levels in flight lost 20 to 30 per cent (the
// neighbours of a level left the L1 cache before they were read again), and so did register caps of
// three and four blocks.
//
// H200, 594x514, tables: 536 us with edges per_vertex, whose three neighbouring threads share most
// vertices, 656 per_orientation. Vertices along a Hilbert curve 542, breadth first 544, in random
// order 5635: the rows of a torus are as good as any order, a bad one costs ten times. A thread
// with the three edges of a vertex (tables=by_vertex), as a torus numbers them, is the fastest way
// of all to compute nabla4: 482 us per_vertex (472 with 64x1x2), 501 per_orientation, strided 515.
#pragma once

#include <icobench/kernels/shared/edges_of_point.hpp>
#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

template <bool vertical>
struct nabla4_kloop {
  static constexpr kernel_info info{
      .chain = vertical ? "nabla4_vertical" : "nabla4",
      .schedule = "kloop",
      .description = vertical ? "a thread walks levels, ids in registers"
                              : "a thread walks levels, coefficients and ids in registers",
      .seam_levels = 10};
  using computes = stages<stage::nabla4>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>,
                                 compiled_for<1, table_use::by_vertex>>;
  static constexpr launch tuned(access a, precision) {
    if (vertical) { return {.block = {64, 1, a == access::strided ? 1u : 4u}, .levels = 4}; }
    return a == access::strided ? launch{.block = {32, 1, 4}, .levels = 0}
                                : launch{.block = {128, 1, 1}, .levels = 0};
  }

  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t point = mesh.point(domain, t.x(), t.y());
      if (point < 0) { return; }
      const edges_of_point<Mesh, T, !vertical> edges(mesh, f, point);
      for_levels<true>(t, levels, [&](index_t k) {
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < Mesh::edges_per_point; ++c) {
          f.out(edges.e[c], k) = edges(f, c, k, vertical ? k : 0);
        }
      });
    }
  };
};

using nabla4_kloop_variants = kernel_list<nabla4_kloop<false>, nabla4_kloop<true>>;

}  // namespace icobench::kernels
