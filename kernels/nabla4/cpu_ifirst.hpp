// Points contiguous: vector loops over a tile of points, level after level.
//
// Levels outermost over the whole grid would read coefficients (80 bytes an edge) again for every
// level; a tile of them stays in the cache instead.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

template <bool vertical>
struct nabla4_ifirst {
  static constexpr kernel_info info{
      .chain = vertical ? "nabla4_vertical" : "nabla4",
      .schedule = "ifirst",
      .description = "vector loops over a tile of contiguous points, level after level"};
  using computes = stages<stage::nabla4>;
  static constexpr layout memory = layout::ifirst;
  static constexpr launch tuned() { return {.block = {2048, 1, 1}}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const nabla4_operands<T, memory>& f, index_t levels, const launch& l) {
    for_each_tile(mesh, d, index_t(l.block.x), [=](const tile_of_points& tile) {
      for (index_t k = 0; k < levels; ++k) {
        for_constants<Mesh::edges_per_point>([=](auto c) {
          tile.for_runs([=](index_t first, index_t last) {
            ICOBENCH_SIMD
            for (index_t point = first; point < last; ++point) {
              const auto edge = mesh.edge_of_point(point, c);
              const index_t e = mesh.id(edge);
              f.out(e, k) = f.apply(f.stencil(e, vertical ? k : 0), e, mesh.e2c2v(edge), k);
            }
          });
        });
      }
    });
  }
};

using nabla4_cpu_ifirst_variants = kernel_list<nabla4_ifirst<false>, nabla4_ifirst<true>>;

}  // namespace icobench::kernels
