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
// shared memory, at 105 accesses a warp and level; hence 500 to 600 us with 12 warps. Measured,
// edges per_orientation (per_vertex; 298x257), where composed_separate takes 846 (213):
//   two levels a barrier, one such batch on its way     722 us (696; 198), spills 32 bytes
//   the same, two batches on their way                  725
//   one level a barrier, one on its way                 745
//   one level a barrier, two, three, four on their way  649, 660, 671 (630, 628, 632; 180)
// With two levels at once a thread had not registers enough, with one on its way the copies took
// longer than the computation. In float 473 us with the first of these.
//
// Larger blocks read less around them, and one of them fills a multiprocessor with as many warps:
// with 320 vertices 653 us (644; 165), with 384 646 (639; 186), with 416 and more registers spill,
// 1413. Whether all multiprocessors end at the same time counts as much: 954 blocks of 320 are 7.2
// rounds at 594x514, 240 are 1.8 at 298x257. They need 80 KB and more of shared memory for the
// weights, which AMD has not. nabla4_interpolate/blocks took 595 with 384 (192: 677). Half the
// levels a block: 791. Longer rows of a block, grown with steps along memory 2.5 times as short,
// would read 1.4 per cent fewer sectors.
//
// What held it up with two levels a barrier (ncu): the pipe of shared memory was busy 75 % of the
// time, L2 84 %, DRAM 50 %, with 1.11 times the compulsory bytes. A warp makes 131 accesses to
// shared memory a level, 20 more than reads and writes explain: copies probably take one for each
// piece of a line that they touch, 6.5 values on average. From L2 come 2.1 GB. Before that, weights
// of edges that each thread composed from memory took 676 to 692, cells in pairs 699.
#pragma once

#include <icobench/kernels/shared/blocks.hpp>

namespace icobench::kernels {

struct blocks_of_cells : in_blocks<true> {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate_verts2cells",
      .schedule = "blocks",
      .fusion = "composed_cached",
      .description = "blocks of neighbouring cells with tables of their own, any grid",
      .written_for = meshes::indirect,
      .seam_levels = 40};
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

using nabla4_interpolate_verts2cells_blocks_variants = kernel_list<blocks_of_cells>;

}  // namespace icobench::kernels
