// Both stencils composed, on blocks of neighbouring vertices of a grid in any order: see
// shared/blocks.hpp.
//
// Trades halos (at 594x514 u and v of 1.32, z of 1.10 times what is needed) and barriers for loads:
// a value comes to a block once, where kloop/composed reads u and v of a vertex seven times, mostly
// from the L1 cache.
//
// H200, 594x514: 683 us, 638 with edges per_vertex; composed takes 584: without cells, whose
// operands it saves from memory, the pipe of shared memory costs more than the L1 cache.
#pragma once

#include <icobench/kernels/shared/blocks.hpp>

namespace icobench::kernels {

struct blocks_of_vertices : in_blocks<false> {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate",
      .schedule = "blocks",
      .fusion = "composed",
      .description = "blocks of neighbouring vertices with tables of their own, any grid",
      .written_for = meshes::indirect};
  using computes = stages<stage::nabla4, stage::interpolate>;

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      blocks_of_vertices::run<T>(*this, t);
    }
  };
};

using nabla4_interpolate_blocks_variants = kernel_list<blocks_of_vertices>;

}  // namespace icobench::kernels
