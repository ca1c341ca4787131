// nabla4 by a march over rows, see shared/march.hpp: u and v of a row are read once, where `kloop`
// reads them for three rows of edges.
//
// Trades occupancy for traffic. At 594x514 (ncu) 61 instead of 80 million sectors go between L2
// cache and multiprocessors, and 27.7 instead of 32.4 cross from one half of the L2 cache to the
// other, a way that kloop keeps busy for 91 per cent of the time. But each cluster of blocks reads
// the coefficients again (in clusters of four DRAM reads are 1.12 of compulsory).
//
// H200, doubles, 80 levels, 594x514 (298x257): read directly 528 us (130), bulk 555 (149),
// multicast to 8 blocks 480 (126), 78 % of the copy bandwidth; to 4, where two clusters read the
// coefficients once each, 500 (128); kloop 512 (130). Tried and slower: a tile that keeps its
// coefficients and walks levels that are copied ahead (523, three levels at once 555), a walk that
// prefetches the next level to the L2 cache (676), registers capped for 20 warps instead of 16
// (573). In float 256 us (86) with 8 levels a thread, 338 with 5; 80 levels make five groups then,
// hence clusters of one block.
#pragma once

#include <icobench/kernels/shared/march.hpp>

namespace icobench::kernels {

template <bool bulk, class... Compiled>
struct march_of_edges : marching<march_chain<false, stage::nabla4>, bulk, Compiled...> {
  static constexpr kernel_info info = march_info<bulk, Compiled...>("nabla4", "separate");
  using computes = stages<stage::nabla4>;

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    rectangle domain;
    nabla4_operands<T> edge;
    index_t levels;

    template <class Choice, class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      march_of_edges::template run<Choice, T>(*this, t);
    }
  };
};

using march_of_edges_direct = march_of_edges<false, compiled_shape<64, 1, 2, 4>>;
using march_of_edges_bulk =
    march_of_edges<true, compiled_shape<128, 1, 2, 5>, compiled_shape<64, 1, 4, 5>>;
using march_of_edges_multicast =
    march_of_edges<true, compiled_in<float, compiled_shape<128, 1, 2, 8, 4>>,
                   compiled_shape<128, 1, 2, 5, 8>, compiled_shape<64, 1, 4, 5, 4>>;
using nabla4_march_variants =
    kernel_list<march_of_edges_direct, march_of_edges_bulk, march_of_edges_multicast>;

}  // namespace icobench::kernels
