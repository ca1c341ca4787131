// Loops over the points of a domain on the CPU.
#pragma once

#include <algorithm>

#include <icobench/cpu_variant.hpp>

// Tells the compiler that the iterations of the loop that follows are independent.
#define ICOBENCH_SIMD _Pragma("omp simd")

namespace icobench::kernels {

// Runs body(point) for every point, points shared among the threads.
template <ordering o, class Body>
void for_each_point(const strided_mesh<o>& mesh, const rectangle& d, Body body) {
#pragma omp parallel for schedule(static)
  for (index_t j = 0; j < d.nj; ++j) {
    for (index_t i = 0; i < d.ni; ++i) { body((d.j0 + j) * mesh.row + d.i0 + i); }
  }
}
template <layout L, class Body>
void for_each_point(const indirect_mesh<L>&, const range& d, Body body) {
#pragma omp parallel for schedule(static)
  for (index_t id = d.begin; id < d.end; ++id) { body(id); }
}

// Runs body(first, last) for runs of neighbouring points of at most `tile`, shared among the
// threads; a run does not leave its row.
template <ordering o, class Body>
void for_each_tile(const strided_mesh<o>& mesh, const rectangle& d, index_t tile, Body body) {
  const index_t tiles = (d.ni + tile - 1) / tile;
#pragma omp parallel for collapse(2) schedule(static)
  for (index_t j = 0; j < d.nj; ++j) {
    for (index_t t = 0; t < tiles; ++t) {
      const index_t row = (d.j0 + j) * mesh.row + d.i0;
      body(row + t * tile, row + std::min(d.ni, (t + 1) * tile));
    }
  }
}
template <layout L, class Body>
void for_each_tile(const indirect_mesh<L>&, const range& d, index_t tile, Body body) {
#pragma omp parallel for schedule(static)
  for (index_t first = d.begin; first < d.end; first += tile) {
    body(first, std::min(d.end, first + tile));
  }
}

}  // namespace icobench::kernels
