// Reads what the fused chain has to and writes what it has to, at each vertex its own values: what
// this takes, no variant is likely to beat. It computes sums, which are verified as such.
//
// Trades nothing: no neighbours, few registers, so that as many loads are in flight as can be.
//
// H200, 594x514 (298x257): 397 us (105), 85 % (79) of the copy bandwidth, where the march takes 431
// (114) in the same run; with all registers it wants, hence half the warps, 413. Vertical 1802.
// may spill (min_blocks=4, ordering=per_vertex): registers capped for more warps
#pragma once

#include <icobench/kernels/shared/nabla4_interpolate.hpp>
#include <icobench/kernels/shared/roofline.hpp>

namespace icobench::kernels {

template <bool vertical>
struct roofline_to_vertices {
  static constexpr kernel_info info{
      .chain = nabla4_interpolate_chain(vertical),
      .schedule = "kloop",
      .fusion = "roofline",
      .description = "reads and writes what the chain has to, computes sums: a bound",
      .written_for = meshes::strided,
      .roofline = true};
  using computes = stages<stage::nabla4, stage::interpolate>;
  using compiled = compiled_list<compiled_for<vertical ? 1 : 4>>;
  static constexpr launch tuned(access, precision) {
    return {.block = {128, 1, 1}, .levels = vertical ? 10 : 40, .min_blocks = vertical ? 1 : 4};
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t v = mesh.point(domain, t.x(), t.y());
      if (v < 0) { return; }
      const inputs_of_vertex<Mesh, T, vertical> read(mesh, edge, vertex, v);
      for_levels<true>(t, levels, [&](index_t k) {
        const T sum = read(edge, k);
        gpu::store_streaming(vertex.p_u.address(v, k), sum);
        gpu::store_streaming(vertex.p_v.address(v, k), sum);
      });
    }
  };
};

using nabla4_interpolate_roofline_variants =
    kernel_list<roofline_to_vertices<false>, roofline_to_vertices<true>>;

}  // namespace icobench::kernels
