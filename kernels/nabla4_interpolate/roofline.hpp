// Reads what the fused chain has to and writes what it has to, at each vertex its own values: what
// this takes, no variant is likely to beat. It computes sums, which are verified as such.
//
// Trades nothing: no neighbours, few registers, so that as many loads are in flight as can be.
//
// H200, 594x514 (298x257): 397 us (105), 85 % (79) of the copy bandwidth, where the march takes 431
// (114) in the same run; with all registers it wants, hence half the warps, 413. Vertical 1802.
// may spill (min_blocks=4, ordering=per_vertex): registers capped for more warps
#pragma once

#include <shared/nabla4_interpolate.hpp>
#include <shared/roofline.hpp>

namespace icobench::kernels {

template <bool vertical>
struct roofline_to_vertices {
  using computes = stages<stage::nabla4, stage::interpolate>;
  using compiled = compiled_list<compiled_for<vertical ? 1 : 4>>;
  static constexpr access only = access::strided;
  static constexpr launch tuned(access) {
    return {.block = {128, 1, 1}, .levels = vertical ? 10 : 40, .min_blocks = vertical ? 1 : 4};
  }

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
        const bool streaming = vertex.p_u.caching != hint::cached;
        gpu::store(vertex.p_u.address(v, k), sum, streaming);
        gpu::store(vertex.p_v.address(v, k), sum, streaming);
      });
    }
  };
};

template <class Backend>
void register_nabla4_interpolate_roofline(registry& r) {
  add_kloop<Backend, roofline_to_vertices<false>, roofline_to_vertices<true>>(
      r, {.fusion = "roofline",
          .description = "reads and writes what the chain has to, computes sums: a bound",
          .roofline = true});
}

}  // namespace icobench::kernels
