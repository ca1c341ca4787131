// Loops over the points of a domain on the CPU.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

#include <icobench/loops.hpp>

// Tells the compiler that the iterations of the loop that follows are independent. `omp simd` says
// so too, but makes g++ keep the small arrays of the body in memory, one for each lane, and give
// up. For the same reason lambdas around such loops capture by value.
#if defined(__clang__)
#define ICOBENCH_SIMD _Pragma("clang loop vectorize(assume_safety)")
#else
#define ICOBENCH_SIMD _Pragma("GCC ivdep")
#endif

// Iterations of the loop that follows are shared among threads, where the caller has OpenMP.
#if defined(_OPENMP)
#define ICOBENCH_PARALLEL_FOR _Pragma("omp parallel for schedule(static)")
#else
#define ICOBENCH_PARALLEL_FOR
#endif

namespace icobench::kernels {

// Calls f with each of 0 ... count - 1 as a constant: with the colour of an edge known, a vector
// loop over points has no branch.
template <int count, class F>
void for_constants(F f) {
  [&]<int... n>(std::integer_sequence<int, n...>) {
    (f(std::integral_constant<int, n>{}), ...);
  }
  (std::make_integer_sequence<int, count>{});
}

// Runs body(point) for every point, points shared among the threads.
template <ordering o, class Body>
void for_each_point(const strided_mesh<o>& mesh, const rectangle& d, Body body) {
  ICOBENCH_PARALLEL_FOR
  for (index_t j = 0; j < d.nj; ++j) {
    for (index_t i = 0; i < d.ni; ++i) { body((d.j0 + j) * mesh.row + d.i0 + i); }
  }
}
template <layout L, class Body>
void for_each_point(const indirect_mesh<L>&, const range& d, Body body) {
  ICOBENCH_PARALLEL_FOR
  for (index_t id = d.begin; id < d.end; ++id) { body(id); }
}

// Runs of neighbouring points, at equal distances.
struct tile_of_points {
  index_t first, runs, distance, length;

  // Calls f(first, last) for each run.
  template <class F>
  void for_runs(F f) const {
    for (index_t r = 0; r < runs; ++r) {
      const index_t begin = first + r * distance;
      f(begin, begin + length);
    }
  }
};

// Runs body(tile) for tiles of about `points` points, shared among the threads.
//
// A strided tile is whole rows, however long: levels are far apart in memory, and the longer the
// piece of each that a tile reads, the better the prefetchers and the TLB do.
template <ordering o, class Body>
void for_each_tile(const strided_mesh<o>& mesh, const rectangle& d, index_t points, Body body) {
  const index_t rows = std::max(1, points / d.ni);
  ICOBENCH_PARALLEL_FOR
  for (index_t j = 0; j < d.nj; j += rows) {
    body(tile_of_points{(d.j0 + j) * mesh.row + d.i0, std::min(rows, d.nj - j), mesh.row, d.ni});
  }
}
template <layout L, class Body>
void for_each_tile(const indirect_mesh<L>&, const range& d, index_t points, Body body) {
  ICOBENCH_PARALLEL_FOR
  for (index_t first = d.begin; first < d.end; first += points) {
    body(tile_of_points{first, 1, 0, std::min(points, d.end - first)});
  }
}

}  // namespace icobench::kernels
