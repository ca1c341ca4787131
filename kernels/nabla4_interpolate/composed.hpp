// Both stencils are linear, so their composition is one: p_u and p_v of a vertex are weighted sums
// of u and v at seven vertices and z at six edges.
//
// Trades about 300 flops a thread, to compose the weights, for 68 of 148 flops a level: 40 weights
// stay in registers instead of 72 coefficients, so that 16 warps fit a multiprocessor, not 8. That
// pays for walks over many levels only, and results are rounded in another order.
//
// H200, 594x514: 599 us strided, 575 indirect with 40 levels a thread, the fastest on tables
// (separate kloop: 812, 933). Indirect with registers capped at 128 it spills: 1166.
// may spill (min_blocks=2): registers capped, for tuning
#pragma once

#include <icobench/kernels/shared/composed_vertex.hpp>
#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

struct composed_nabla4_interpolate {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate",
      .schedule = "kloop",
      .fusion = "composed",
      .description = "one stencil of 40 weights, composed once for all levels of a thread"};
  using computes = stages<stage::nabla4, stage::interpolate>;
  using compiled = compiled_list<compiled_for<1>, compiled_for<2>>;
  static constexpr launch tuned(access a, precision) {
    return a == access::strided ? launch{.block = {32, 4, 1}, .levels = 0, .min_blocks = 2}
                                : launch{.block = {128, 1, 1}, .levels = 40};
  }
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return column<T, composed_vertex<Mesh, T>::scratch>::block_bytes(l.block);
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.shared_bytes = &shared_bytes<Mesh, T>};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t v = mesh.point(domain, t.x(), t.y());
      if (v < 0) { return; }
      const composed_vertex<Mesh, T> at_vertex(t, mesh, edge, vertex, v);
      for_levels<true>(t, levels, [&](index_t k) { vertex.store(v, k, at_vertex(mesh, edge, k)); });
    }
  };
};

using nabla4_interpolate_composed_variants = kernel_list<composed_nabla4_interpolate>;

}  // namespace icobench::kernels
