// Blocks of threads as tiles of a strided rectangle that overlap, and what they compute together.
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

// The rectangle with the points around it that its results need.
ICOBENCH_FUNCTION inline rectangle grown(const rectangle& d, const overlap& halo) {
  return {d.i0 - index_t(halo.left), d.j0 - index_t(halo.below), d.ni + index_t(halo.x()),
          d.nj + index_t(halo.y())};
}

// The point that a thread of a tile has. Threads at the rim of their tile have no result, nor have
// those outside the domain, but none may leave before the last barrier: outside the grown
// rectangle they have its first point.
template <class Mesh>
struct tile_point {
  index_t id;
  bool has_result;

  template <class Thread>
  ICOBENCH_DEVICE tile_point(const Mesh& mesh, const rectangle& domain, const overlap& halo,
                             const Thread& t) {
    const gpu::index3 at = t.thread(), block = t.block();
    const gpu::extent3 dim = t.block_dim();
    const unsigned x = block.x * (dim.x - halo.x()) + at.x;
    const unsigned y = block.y * (dim.y - halo.y()) + at.y;
    const rectangle around = grown(domain, halo);
    const index_t here = mesh.point(around, x, y);
    id = here >= 0 ? here : mesh.point(around, 0, 0);
    has_result = at.x >= halo.left && at.x < dim.x - halo.right && at.y >= halo.below &&
                 at.y < dim.y - halo.above &&
                 mesh.point(domain, x - halo.left, y - halo.below) >= 0;
  }
};

// Whether a thread's vertex has all its six edges in the tile.
template <class Thread>
ICOBENCH_DEVICE inline bool has_six_edges(const Thread& t) {
  const gpu::index3 at = t.thread();
  return at.x >= 1 && at.y >= 1 && at.y + 1 < t.block_dim().y;
}

// The threads of a block as the vertices of a torus, x along i and y along j: its closed forms give
// the places in shared memory of what other threads of the block computed, in planes as large as
// the block, one an orientation.
template <class Thread>
ICOBENCH_DEVICE inline strided_mesh<ordering::per_orientation> mesh_of_block(const Thread& t) {
  return {index_t(t.block_dim().x), index_t(t.block_dim().volume())};
}

// What these edges of the vertex of thread `owner` have, in planes in shared memory.
template <class Threads, class T>
ICOBENCH_DEVICE inline neighbours<T, 6> edges_of_thread(const Threads& threads, const T* planes,
                                                        index_t owner) {
  const neighbours<index_t, 6> ids = v2e(threads, owner);
  neighbours<T, 6> p_e;
  ICOBENCH_UNROLL_ALL
  for (int s = 0; s < 6; ++s) { p_e[s] = planes[ids[s]]; }
  return p_e;
}

}  // namespace icobench::kernels
