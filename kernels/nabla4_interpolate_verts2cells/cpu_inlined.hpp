// Each cell evaluates interpolate at its three corners, and they nabla4 on their six edges.
//
// Nothing is stored between the stages, but the work is several times that of the separate stencils
// (912 instead of 109 flops a vertex and level): a lower bound on what fusing without sharing
// costs.
#pragma once

#include <icobench/kernels/shared/edges_of_vertex.hpp>
#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

template <layout L>
struct cpu_inlined_nabla4_interpolate_verts2cells {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate_verts2cells",
      .schedule = L == layout::ifirst ? "ifirst" : "kfirst",
      .fusion = "inlined",
      .description = "each cell evaluates its three corners and their edges"};
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  static constexpr layout memory = L;
  static constexpr launch tuned() { return {.block = {2048, 1, 1}}; }

  template <class T>
  struct corner {
    edges_of_vertex<T, L, true> edges;
    interpolate<T> stencil;
  };

  // One cell at the levels for which `each` calls its argument.
  template <class Mesh, class T, class Each>
  static void compute(const Mesh& mesh, index_t point, int c, const nabla4_operands<T, L>& edge,
                      const interpolate_operands<T, L>& vertex,
                      const verts2cells_operands<T, L>& cell, Each each) {
    const index_t id = mesh.cell_of_point(point, c);
    const auto v = mesh.c2v(point, c);
    const corner<T> corners[3] = {{{mesh, edge, v[0]}, vertex.stencil(v[0])},
                                  {{mesh, edge, v[1]}, vertex.stencil(v[1])},
                                  {{mesh, edge, v[2]}, vertex.stencil(v[2])}};
    const verts2cells<T> stencil = cell.stencil(id);
    each([&](index_t k) {
      neighbours<T, 3> p_u, p_v;
      for (int m = 0; m < 3; ++m) {
        const vector2<T> p = corners[m].stencil(corners[m].edges(edge, k, 0));
        p_u[m] = p.u;
        p_v[m] = p.v;
      }
      cell.out(id, k) = stencil(p_u, p_v);
    });
  }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const nabla4_operands<T, L>& edge, const interpolate_operands<T, L>& vertex,
                  const verts2cells_operands<T, L>& cell, index_t levels, const launch& l) {
    if constexpr (L == layout::kfirst) {
      const auto all_levels = [&](auto at_level) {
        ICOBENCH_SIMD
        for (index_t k = 0; k < levels; ++k) { at_level(k); }
      };
      for_each_point(mesh, d, [=](index_t point) {
        for (int c = 0; c < Mesh::cells_per_point; ++c) {
          compute(mesh, point, c, edge, vertex, cell, all_levels);
        }
      });
    } else {
      for_each_tile(mesh, d, index_t(l.block.x), [=](const tile_of_points& tile) {
        for (index_t k = 0; k < levels; ++k) {
          for (int c = 0; c < Mesh::cells_per_point; ++c) {
            tile.for_runs([=](index_t first, index_t last) {
              ICOBENCH_SIMD
              for (index_t point = first; point < last; ++point) {
                compute(mesh, point, c, edge, vertex, cell, [k](auto at_level) { at_level(k); });
              }
            });
          }
        }
      });
    }
  }
};

using nabla4_interpolate_verts2cells_cpu_inlined_variants =
    kernel_list<cpu_inlined_nabla4_interpolate_verts2cells<layout::ifirst>,
                cpu_inlined_nabla4_interpolate_verts2cells<layout::kfirst>>;

}  // namespace icobench::kernels
