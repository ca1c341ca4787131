// The levels of a thread.
#pragma once

#include <icobench/kernel.hpp>

namespace icobench::kernels {

// Calls at(k) for the levels that a thread walks (`kloop`), or for its one level (`naive`).
template <bool walks, class Thread, class F>
ICOBENCH_DEVICE inline void for_levels(const Thread& t, index_t levels, F at) {
  if constexpr (walks) {
    const walk w = walk_of(t, levels);
    ICOBENCH_NO_UNROLL
    for (index_t k = w.first; k < w.end; k += w.step) { at(k); }
  } else {
    if (const index_t k = index_t(t.z()); k < levels) { at(k); }
  }
}

// Calls store() in a branch: that a block has a depth no compiler knows, and only where `never`
// stores in another way the branch is kept. Across it nvcc moves no load, which pays where loads
// moved ahead fill the registers: nabla4_interpolate/indirect/kloop/inlined_v2v/general takes 0.82
// of the time so (H200, 594x514), nabla4_interpolate_verts2cells/strided/naive/inlined_c2v 0.97.
template <class Thread, class Store, class Never>
ICOBENCH_DEVICE inline void store_in_branch(const Thread& t, const Store& store,
                                            const Never& never) {
  if (t.extent_z() != 0) {
    store();
  } else {
    never();
  }
}

// How many levels the threads of a block take, the same for all: those that wait for each other
// have to go through as many, whether the last one exists or not.
template <class Thread>
ICOBENCH_DEVICE inline index_t rounds(const Thread& t, index_t levels) {
  return (levels + index_t(t.extent_z()) - 1) / index_t(t.extent_z());
}

}  // namespace icobench::kernels
