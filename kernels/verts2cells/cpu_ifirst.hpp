// Points contiguous: vector loops over a tile of points, level after level, so that the tile's
// coefficients (48 bytes a cell) stay in the cache.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

struct verts2cells_ifirst {
  static constexpr kernel_info info{
      .chain = "verts2cells",
      .schedule = "ifirst",
      .description = "vector loops over a tile of contiguous points, level after level"};
  using computes = stages<stage::verts2cells>;
  static constexpr layout memory = layout::ifirst;
  static constexpr launch tuned() { return {.block = {2048, 1, 1}}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const verts2cells_operands<T, memory>& f, index_t levels, const launch& l) {
    for_each_tile(mesh, d, index_t(l.block.x), [=](const tile_of_points& tile) {
      for (index_t k = 0; k < levels; ++k) {
        tile.for_runs([=](index_t first, index_t last) {
          ICOBENCH_SIMD
          for (index_t point = first; point < last; ++point) {
            for_constants<Mesh::cells_per_point>([=](auto c) {
              const index_t cell = mesh.cell_of_point(point, c);
              const auto corners = mesh.c2v(point, c);
              f.out(cell, k) =
                  f.stencil(cell)(gather(f.p_u, corners, k), gather(f.p_v, corners, k));
            });
          }
        });
      }
    });
  }
};

using verts2cells_cpu_ifirst_variants = kernel_list<verts2cells_ifirst>;

}  // namespace icobench::kernels
