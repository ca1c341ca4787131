// Each cell evaluates interpolate at its three corners, and they nabla4 on their six edges.
//
// Trades flops (912 instead of 109 a vertex and level) and loads (each cell reads 18 edges' 10
// coefficients and diamonds) for the 80 bytes a vertex and level of the intermediates: a bound on
// what fusing without sharing costs. As no register file holds 220 coefficients, `kloop` reads them
// from the L1 cache for each level, where the threads of a block, all at the same few cells, find
// them again.
//
// H200, 594x514: 2670 us strided, 7955 indirect, the separate kloop 1073 and 1196.
// may spill (min_blocks=2, min_blocks=3): registers capped, for tuning
#pragma once

#include <icobench/kernels/shared/cells_of_point.hpp>
#include <icobench/kernels/shared/edges_of_vertex.hpp>
#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

template <bool walks>
struct inlined_nabla4_interpolate_verts2cells {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate_verts2cells",
      .schedule = walks ? "kloop" : "naive",
      .fusion = "inlined",
      .description = "each cell evaluates its three corners and they their six edges"};
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  using compiled = compiled_list<compiled_for<2>, compiled_for<3>>;
  static constexpr launch tuned(access a, precision) {
    if (a == access::strided && !walks) { return {.block = {16, 1, 4}, .min_blocks = 2}; }
    return {
        .block = {32, 1, 8}, .levels = walks ? 0 : 1, .min_blocks = a == access::strided ? 2 : 3};
  }
  static constexpr const char* reject(const launch& l) { return walks ? "" : one_level_only(l); }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .field_alignment = Mesh::kind == access::strided ? 2 : 1, .reject = &reject};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    verts2cells_operands<T> cell;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t point = mesh.point(domain, t.x(), t.y());
      if (point < 0) { return; }
      for_levels<walks>(t, levels, [&](index_t k) {
        const Mesh again = mesh.renewed(k);
        const cells_of_point<Mesh> here(again, gpu::renew(point, k));
        T result[here.count];
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < here.count; ++c) {
          neighbours<T, 3> p_u, p_v;
          ICOBENCH_UNROLL_ALL
          for (int m = 0; m < 3; ++m) {
            const index_t v = here.corners[c][m];
            const edges_of_vertex<T, layout::ifirst, false> edges(again, edge, v);
            const vector2<T> p = vertex.stencil(v)(edges(edge, k, 0));
            p_u[m] = p.u;
            p_v[m] = p.v;
          }
          result[c] = cell.stencil(here.first + c)(p_u, p_v);
        }
        store_cells(cell, here.first, k, result);
      });
    }
  };
};

using nabla4_interpolate_verts2cells_inlined_variants =
    kernel_list<inlined_nabla4_interpolate_verts2cells<false>,
                inlined_nabla4_interpolate_verts2cells<true>>;

}  // namespace icobench::kernels
