// Points contiguous: vector loops over a tile of points, level after level, so that the tile's
// coefficients (96 bytes a vertex) stay in the cache.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

struct interpolate_ifirst {
  static constexpr kernel_info info{
      .chain = "interpolate",
      .schedule = "ifirst",
      .description = "vector loops over a tile of contiguous points, level after level"};
  using computes = stages<stage::interpolate>;
  static constexpr layout memory = layout::ifirst;
  static constexpr launch tuned() { return {.block = {2048, 1, 1}}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const interpolate_operands<T, memory>& f, index_t levels, const launch& l) {
    for_each_tile(mesh, d, index_t(l.block.x), [=](const tile_of_points& tile) {
      for (index_t k = 0; k < levels; ++k) {
        tile.for_runs([=](index_t first, index_t last) {
          ICOBENCH_SIMD
          for (index_t v = first; v < last; ++v) {
            f.store(v, k, f.stencil(v)(gather(f.p_e, v2e(mesh, v), k)));
          }
        });
      }
    });
  }
};

using interpolate_cpu_ifirst_variants = kernel_list<interpolate_ifirst>;

}  // namespace icobench::kernels
