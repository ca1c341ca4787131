// One kernel for the whole chain, near to what memory allows: blocks march over rows, see
// shared/march.hpp.
//
// Trades occupancy for traffic and parallelism within a thread: eight warps fill a multiprocessor,
// since each thread holds the state of five levels in more than 200 registers, and shared memory
// the rows of two steps. Of 32 lanes 30 have a result, and each part of a strip begins two rows
// before its first.
//
// H200, doubles, 80 levels, share of the copy bandwidth at 594x514 (298x257):
//   rows read directly                          713 us  48 % (185 us, 46 %)
//   bulk, 64x1x4 with 5 levels                  487     70 % (129, 65 %)
//   multicast to 4 blocks, 64x1x4 with 5        423     81 % (112, 75 %)
//   multicast to 4 blocks, 128x1x2 with 5       409     83 % (126, 66 %)
// What held it up, in the order in which it was found (ncu): addresses with sizes that the compiler
// does not know (12 % of the instructions); eviction hints on the copies, whichever (10 %); the L2
// cache, at 90 % of its throughput since each group of levels reads the coefficients again
// (multicast takes 30 % of its reads away and the excess of DRAM reads, 1.35 to 1.12 GB); a release
// of the cluster's barrier to device scope, which waits for the stores (twice as slow). Clusters of
// four fit 120 of the 132 multiprocessors, which is now the largest loss, with L2 still at 90 %.
#pragma once

#include <shared/march.hpp>

namespace icobench::kernels {

template <bool bulk, class... Compiled>
struct march_to_cells : marching<true, bulk, Compiled...> {
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  static constexpr launch tuned(access) {
    return {.block = {64, 1, bulk ? 4u : 2u}, .levels = bulk ? 5 : 4};
  }

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

template <class Backend>
void register_nabla4_interpolate_verts2cells_march(registry& r) {
  variant_info info{.chain = "nabla4_interpolate_verts2cells",
                    .schedule = "march",
                    .fusion = "inlined_cached",
                    .description = "blocks march over rows and keep what earlier rows gave"};
  add_gpu_variant<Backend,
                  march_to_cells<false, compiled_shape<64, 1, 2, 4>, compiled_shape<64, 1, 4, 4>,
                                 compiled_shape<64, 1, 2, 2>>>(r, info);
  info.feature = "bulk";
  info.description = "a march whose rows are copied ahead to shared memory";
  add_if_bulk_copies<
      Backend, march_to_cells<true, compiled_shape<64, 1, 4, 5>, compiled_shape<128, 1, 2, 5>>>(
      r, info);
  info.feature = "multicast";
  info.description = "a march with rows copied ahead, coefficients for four blocks at once";
  add_if_bulk_copies<Backend, march_to_cells<true, compiled_shape<64, 1, 4, 5, 4>,
                                             compiled_shape<128, 1, 2, 5, 4>>>(r, info);
}

}  // namespace icobench::kernels
