// divergence evaluates gradient on the three edges of a cell: vec_e is never stored.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

template <layout L>
struct cpu_inlined_gradient_divergence {
  static constexpr kernel_info info{
      .chain = "gradient_divergence",
      .schedule = L == layout::ifirst ? "ifirst" : "kfirst",
      .fusion = "inlined",
      .description = "each cell evaluates the gradient on its three edges"};
  using computes = stages<stage::gradient, stage::divergence>;
  static constexpr layout memory = L;
  static constexpr launch tuned() { return {.block = {2048, 1, 1}}; }

  // Cell c of a point at level k.
  template <class Mesh, class T>
  static T at(const Mesh& mesh, index_t point, int c, const gradient_operands<T, L>& edge,
              const divergence<T>& stencil, index_t k) {
    neighbours<T, 3> vec;
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 3; ++s) {
      const auto side = mesh.edge_of_cell(point, c, s);
      vec[s] = edge.stencil(mesh.id(side))(gather(edge.psi, mesh.e2c(side), k));
    }
    return stencil(vec);
  }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const gradient_operands<T, L>& edge, const divergence_operands<T, L>& cell,
                  index_t levels, const launch& l) {
    if constexpr (L == layout::kfirst) {
      for_each_point(mesh, d, [=](index_t point) {
        for_constants<Mesh::cells_per_point>([=](auto c) {
          const index_t id = mesh.cell_of_point(point, c);
          const divergence<T> stencil = cell.stencil(id);
          ICOBENCH_SIMD
          for (index_t k = 0; k < levels; ++k) {
            cell.out(id, k) = at(mesh, point, c, edge, stencil, k);
          }
        });
      });
    } else {
      for_each_tile(mesh, d, index_t(l.block.x), [=](const tile_of_points& tile) {
        for (index_t k = 0; k < levels; ++k) {
          for_constants<Mesh::cells_per_point>([=](auto c) {
            tile.for_runs([=](index_t first, index_t last) {
              ICOBENCH_SIMD
              for (index_t point = first; point < last; ++point) {
                const index_t id = mesh.cell_of_point(point, c);
                cell.out(id, k) = at(mesh, point, c, edge, cell.stencil(id), k);
              }
            });
          });
        }
      });
    }
  }
};

using gradient_divergence_cpu_inlined_variants =
    kernel_list<cpu_inlined_gradient_divergence<layout::ifirst>,
                cpu_inlined_gradient_divergence<layout::kfirst>>;

}  // namespace icobench::kernels
