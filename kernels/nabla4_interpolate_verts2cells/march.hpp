// One kernel for the whole chain, near to what memory allows: blocks march over rows, see
// shared/march.hpp.
//
// Trades occupancy for traffic and parallelism within a thread: eight warps fill a multiprocessor,
// since each thread holds the state of five levels in more than 200 registers, and shared memory
// the rows of two steps. Of 32 lanes 30 have a result, and each part of a strip begins two rows
// before its first.
//
// H200, doubles, 80 levels, share of the copy bandwidth at 594x514 (298x257):
//   rows read directly                          711 us  48 % (180 us, 47 %)
//   bulk, 64x1x4 with 5 levels                  436     78 % (114, 74 %)
//   multicast to 4 blocks, 64x1x4 with 5        412     83 % (112, 75 %)
//   multicast to 8 blocks, 128x1x2 with 5       408     84 % (125, 67 %)
// In float, 128x1x3 with 7 levels: multicast to 2 blocks 222 us (70), bulk 226 (71), multicast to 4
// 230 (76), with the shape of doubles 343.
//
// What held it up, in the order in which it was found (ncu): addresses with sizes that the compiler
// does not know (12 % of the instructions); eviction hints on the copies, whichever (10 %);
// coefficients that each group of levels reads again (multicast takes 30 % of the reads of the L2
// cache away and the excess of DRAM reads, 1.35 to 1.12 GB); a release of the cluster's barrier to
// device scope, which waits for the stores (twice as slow); teams out of step (bulk 487 to 441 us);
// in floats the arithmetic: sums of weights instead of the formulas take 949 instructions of a step
// to 812, and 237 us to 227. The rows of u and v that a part begins with are asked for before the
// copies are (1 %), rows have no more columns than are used, and steps before the first result no
// rows that only results need (1 % together).
//
// What holds it up now is the way between the two halves of the L2 cache, which half of all sectors
// cross: it is busy for 87 to 89 % of the time (86 for a plain copy kernel, 97 for nabla4_vertical,
// the most that was seen) and moves 61 sectors a nanosecond, as many as that copy, 10 % more of
// them than if each went once. A march that copies and stores, but computes nothing and has no
// coefficients, reaches 80 %, and it is as fast on 120 multiprocessors as on 132, with three steps
// copied ahead as with four, and whatever the distance of levels in memory. DRAM is busy for 74 %,
// shared memory for 50, the issue slots for 32. Rows in memory had better begin at odd multiples of
// 16 bytes (row_pitch): elsewhere streams in step collide, up to 16 per cent.
//
// Tried and no faster, us at 594x514 (298x257) where it took 414 (113): all levels of a row as one
// box of a tensor map, 21 copies a step instead of 148, 486 (132), presumably since no warp is late
// with copies any more and all load and compute at the same time; the same with barriers at which
// warps let go one by one, 424 (112; in float 222, 68); levels copied as soon as the block has let
// go, before the cluster has, 478 (129); three steps copied ahead, which fit once rows are short,
// 418 (112); steps unrolled by two, which saves moving what earlier rows gave, 423 (112); rows
// copied by all warps in turns, 438; first copies before the blocks of a cluster have met, 415
// (114).
// may spill (architecture=gfx90a): seven scalar registers, to lanes of vectors
#pragma once

#include <icobench/kernels/shared/march.hpp>

namespace icobench::kernels {

template <bool bulk, class... Compiled>
struct march_to_cells
    : marching<march_chain<false, stage::nabla4, stage::interpolate, stage::verts2cells>, bulk,
               Compiled...> {
  static constexpr kernel_info info =
      march_info<bulk, Compiled...>("nabla4_interpolate_verts2cells", "inlined_cached");
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    rectangle domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    verts2cells_operands<T> cell;
    index_t levels;

    template <class Choice, class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      march_to_cells::template run<Choice, T>(*this, t);
    }
  };
};

using march_to_cells_direct = march_to_cells<false, compiled_shape<64, 1, 2, 4>>;
using march_to_cells_bulk =
    march_to_cells<true, compiled_in<float, compiled_shape<128, 1, 3, 7>>,
                   compiled_shape<64, 1, 4, 5>, compiled_shape<128, 1, 2, 5>>;
using march_to_cells_multicast =
    march_to_cells<true, compiled_in<float, compiled_shape<128, 1, 3, 7, 2>>,
                   compiled_shape<64, 1, 4, 5, 4>, compiled_shape<128, 1, 2, 5, 8>>;
using nabla4_interpolate_verts2cells_march_variants =
    kernel_list<march_to_cells_direct, march_to_cells_bulk, march_to_cells_multicast>;

}  // namespace icobench::kernels
