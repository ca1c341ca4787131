// The whole chain in one kernel on a grid in any order: see shared/blocks.hpp.
//
// Trades halos and tables for intermediates that never go to memory. At 594x514 a block of 192
// vertices has 334 cells; for each vertex that its cells stand for it computes 1.18, reads u and v
// of 1.56 and z of 1.30 times three edges, and 78 bytes of tables. Since rows of a block are 15
// vertices long, 1.36 times as many bytes come in sectors of 32. Results are rounded in another
// order than the reference's.
//
// Predicted for the H200, 594x514, 80 levels: 1.9 GB copied and 0.3 GB of coefficients from the L2
// cache, 0.4 GB written, 430 us at the rate that a march gets from it; as long for the banks of
// shared memory, at 105 accesses a warp and level; hence 500 to 600 us with 12 warps. Measured:
//   each thread composes its weights from memory              676 us (composed_separate 846)
//   the same without places changed against bank conflicts    692
//   the same, batches of 1 or 4 levels instead of 2           745, 1057
//   the same, 188 registers, one block a multiprocessor       910
//   weights of edges once a block, cells in pairs             699    (composed_separate 856)
//   the same, two batches ahead                               725
//   the same, edges per_vertex, in longer pieces of lines     683
// and 195 us at 298x257 (composed_separate 213), 473 us in float. The weights of edges made
// nabla4_interpolate/blocks faster (709 to 683), so the pairs were suspected, which read four
// vertices of two cells that share an edge instead of six: they are gone, and what is here takes
// 697 to 724 (298x257: 200), which leaves the 32 bytes that it spills. Longer rows of a block,
// grown with steps along memory 2.5 times as short, would read 1.4 per cent fewer sectors.
//
// What holds it up (ncu): the pipe of shared memory is busy 75 % of the time, L2 84 %, DRAM 50 %,
// with 1.11 times the compulsory bytes. A warp makes 131 accesses to shared memory a level, 20
// more than reads and writes explain: copies probably take one for each piece of a line that they
// touch, 6.5 values on average. From L2 come 2.1 GB.
// may spill (precision=double, architecture=sm_90): 32 bytes, for two blocks a multiprocessor
#pragma once

#include <shared/blocks.hpp>

namespace icobench::kernels {

struct blocks_of_cells : in_blocks<true> {
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;

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
      blocks_of_cells::run<T>(*this, t);
    }
  };
};

template <class Backend>
void register_nabla4_interpolate_verts2cells_blocks(registry& r) {
  add_gpu_variant<Backend, blocks_of_cells>(
      r, {.chain = "nabla4_interpolate_verts2cells",
          .schedule = "blocks",
          .fusion = "composed_cached",
          .description = "blocks of neighbouring cells with tables of their own, any grid"});
}

}  // namespace icobench::kernels
