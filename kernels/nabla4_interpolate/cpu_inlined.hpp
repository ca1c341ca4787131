// interpolate evaluates nabla4 on demand: z_nabla4_e2 is never stored.
//
// Trades flops (every edge twice, 148 instead of 85 a vertex and level) for 48 bytes of traffic.
#pragma once

#include <icobench/kernels/shared/edges_of_vertex.hpp>
#include <icobench/kernels/shared/nabla4_interpolate.hpp>
#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

template <layout L, bool vertical>
struct cpu_inlined_nabla4_interpolate {
  static constexpr kernel_info info{.chain = nabla4_interpolate_chain(vertical),
                                    .schedule = L == layout::ifirst ? "ifirst" : "kfirst",
                                    .fusion = "inlined",
                                    .description = "each vertex evaluates nabla4 on its six edges"};
  using computes = stages<stage::nabla4, stage::interpolate>;
  static constexpr layout memory = L;
  static constexpr launch tuned() { return {.block = {2048, 1, 1}}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const nabla4_operands<T, L>& edge, const interpolate_operands<T, L>& vertex,
                  index_t levels, const launch& l) {
    if constexpr (L == layout::kfirst) {
      for_each_point(mesh, d, [=](index_t v) {
        const edges_of_vertex<T, L, !vertical> edges(mesh, edge, v);
        const interpolate<T> stencil = vertex.stencil(v);
        ICOBENCH_SIMD
        for (index_t k = 0; k < levels; ++k) {
          vertex.store(v, k, stencil(edges(edge, k, vertical ? k : 0)));
        }
      });
    } else {
      for_each_tile(mesh, d, index_t(l.block.x), [=](const tile_of_points& tile) {
        for (index_t k = 0; k < levels; ++k) {
          tile.for_runs([=](index_t first, index_t last) {
            ICOBENCH_SIMD
            for (index_t v = first; v < last; ++v) {
              const edges_of_vertex<T, L, !vertical> edges(mesh, edge, v);
              vertex.store(v, k, vertex.stencil(v)(edges(edge, k, vertical ? k : 0)));
            }
          });
        }
      });
    }
  }
};

using nabla4_interpolate_cpu_inlined_variants =
    kernel_list<cpu_inlined_nabla4_interpolate<layout::ifirst, false>,
                cpu_inlined_nabla4_interpolate<layout::kfirst, false>,
                cpu_inlined_nabla4_interpolate<layout::ifirst, true>,
                cpu_inlined_nabla4_interpolate<layout::kfirst, true>>;

}  // namespace icobench::kernels
