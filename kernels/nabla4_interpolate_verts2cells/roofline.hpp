// Reads what the fused chain has to and writes what it has to, at each vertex its own values and
// those of its cells: what this takes, no variant is likely to beat. It computes sums, which are
// verified as such.
//
// Trades nothing: no neighbours, few registers, so that as many loads are in flight as can be.
//
// H200, 594x514 (298x257): 382 us (103), 90 % (82) of the copy bandwidth, where the march takes 412
// (112); with all registers it wants, hence half the warps, 443 (120).
// may spill (min_blocks=4): four registers at most, capped for more warps
#pragma once

#include <icobench/kernels/shared/cells_of_point.hpp>
#include <icobench/kernels/shared/roofline.hpp>

namespace icobench::kernels {

struct roofline_to_cells {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate_verts2cells",
      .schedule = "kloop",
      .fusion = "roofline",
      .description = "reads and writes what the chain has to, computes sums: a bound",
      .written_for = meshes::strided,
      .roofline = true};
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  using compiled = compiled_list<compiled_for<4>>;
  static constexpr launch tuned(access, precision) {
    return {.block = {128, 1, 1}, .levels = 40, .min_blocks = 4};
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.field_alignment =
                                                  Mesh::kind == access::strided ? 2 : 1};

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
      const index_t v = mesh.point(domain, t.x(), t.y());
      if (v < 0) { return; }
      const inputs_of_vertex<Mesh, T, false> read(mesh, edge, vertex, v);
      const index_t first = mesh.cell_of_point(v, 0);
      T of_cells = 0;
      ICOBENCH_UNROLL_ALL
      for (int c = 0; c < 2; ++c) {
        const verts2cells<T> stencil = cell.stencil(first + c);
        ICOBENCH_UNROLL_ALL
        for (int m = 0; m < 3; ++m) { of_cells += stencil.coeff_1[m] + stencil.coeff_2[m]; }
      }
      for_levels<true>(t, levels, [&](index_t k) {
        const T sum = read(edge, k) + of_cells;
        const T both[2] = {sum, sum};
        store_cells(cell, first, k, both);
      });
    }
  };
};

using nabla4_interpolate_verts2cells_roofline_variants = kernel_list<roofline_to_cells>;

}  // namespace icobench::kernels
