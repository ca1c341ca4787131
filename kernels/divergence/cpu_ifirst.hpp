// Vector loops over a tile of contiguous points, level after level.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

struct divergence_ifirst {
  static constexpr kernel_info info{
      .chain = "divergence",
      .schedule = "ifirst",
      .description = "vector loops over a tile of contiguous points, level after level"};
  using computes = stages<stage::divergence>;
  static constexpr layout memory = layout::ifirst;
  static constexpr launch tuned() { return {.block = {2048, 1, 1}}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const divergence_operands<T, memory>& f, index_t levels, const launch& l) {
    for_each_tile(mesh, d, index_t(l.block.x), [=](const tile_of_points& tile) {
      for (index_t k = 0; k < levels; ++k) {
        for_constants<Mesh::cells_per_point>([=](auto c) {
          tile.for_runs([=](index_t first, index_t last) {
            ICOBENCH_SIMD
            for (index_t point = first; point < last; ++point) {
              const index_t id = mesh.cell_of_point(point, c);
              f.out(id, k) = f.stencil(id)(gather(f.vec, c2e(mesh, point, c), k));
            }
          });
        });
      }
    });
  }
};

using divergence_cpu_ifirst_variants = kernel_list<divergence_ifirst>;

}  // namespace icobench::kernels
