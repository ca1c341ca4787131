// Vector loops over a tile of contiguous points, level after level.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

struct gradient_ifirst {
  static constexpr kernel_info info{
      .chain = "gradient",
      .schedule = "ifirst",
      .description = "vector loops over a tile of contiguous points, level after level"};
  using computes = stages<stage::gradient>;
  static constexpr layout memory = layout::ifirst;
  static constexpr launch tuned() { return {.block = {2048, 1, 1}}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const gradient_operands<T, memory>& f, index_t levels, const launch& l) {
    for_each_tile(mesh, d, index_t(l.block.x), [=](const tile_of_points& tile) {
      for (index_t k = 0; k < levels; ++k) {
        for_constants<Mesh::edges_per_point>([=](auto c) {
          tile.for_runs([=](index_t first, index_t last) {
            ICOBENCH_SIMD
            for (index_t point = first; point < last; ++point) {
              const auto edge = mesh.edge_of_point(point, c);
              const index_t e = mesh.id(edge);
              f.out(e, k) = f.stencil(e)(gather(f.psi, mesh.e2c(edge), k));
            }
          });
        });
      }
    });
  }
};

using gradient_cpu_ifirst_variants = kernel_list<gradient_ifirst>;

}  // namespace icobench::kernels
