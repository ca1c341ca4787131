// nabla4 by a march over rows, see shared/march.hpp: u and v of a row are read once, where `kloop`
// reads them for three rows of edges.
//
// Trades occupancy for traffic: between L2 cache and multiprocessors 58 instead of 80 million
// sectors were to go at 594x514, and with them the crossing between the two halves of the L2 cache
// that kloop keeps busy for 91 per cent of the time. But coefficients are read again for each group
// of levels, and fewer warps wait for memory.
//
// H200, doubles, 80 levels, 594x514 (298x257): read directly 687 us (171), bulk 565 (155),
// multicast 500 (131); kloop 518 (133). Tried and slower: a tile that keeps its coefficients and
// walks levels that are copied ahead (523, three levels at once 555), a walk that prefetches the
// next level to the L2 cache (676), registers capped for 20 warps instead of 16 (573).
#pragma once

#include <shared/march.hpp>

namespace icobench::kernels {

template <bool bulk, class... Compiled>
struct march_of_edges : marching<march_chain<false, stage::nabla4>, bulk, Compiled...> {
  using computes = stages<stage::nabla4>;
  static constexpr launch tuned(access) {
    return bulk ? launch{.block = {128, 1, 2}, .levels = 5}
                : launch{.block = {64, 1, 2}, .levels = 4};
  }

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

template <class Backend>
void register_nabla4_march(registry& r) {
  add_marches<Backend, march_of_edges, 5>(r, march_info("nabla4", "separate"));
}

}  // namespace icobench::kernels
