// A block computes nabla4 on a tile of edges into shared memory, then interpolate on the vertices
// within: z_nabla4_e2 never leaves the multiprocessor and each edge is computed about once.
//
// Trades shared memory (24 bytes a thread and level), a barrier and the rim of the tile (one column
// and two rows: 256 threads for 31 x 6 vertices are 1.38 times the work on edges) for the 48 bytes
// a vertex and level of z_nabla4_e2 and a quarter of the flops of inlined. One barrier for all
// levels of a block, so that a thread never holds the coefficients of both stencils.
//
// The feature `sync_per_level` has two levels in shared memory, whatever their number, and a
// barrier for each level: longer walks, but 42 coefficients at once.
//
// H200, 594x514: batched 649 us with ten levels (663 with eight, 693 with six), the separate kloop
// 830; a barrier for each level 837; naive 1183. Blocks of 512 threads (their rim is smaller) are
// as fast, 641 against 642, but in the vertical chain they are faster: kloop 1948 instead of 2014,
// naive 2143 instead of 2442. Naive keeps no coefficients: with 64 registers 32 warps fit, where
// 16 that keep them take 1356.
// may spill (min_blocks=2): registers capped for more warps
#pragma once

#include <icobench/kernels/shared/edges_of_point.hpp>
#include <icobench/kernels/shared/nabla4_interpolate.hpp>
#include <icobench/kernels/shared/tile.hpp>

namespace icobench::kernels {

// Coefficients of edges are kept for several levels only.
template <bool vertical, bool batched, bool walks = true>
struct inlined_cached {
  static constexpr kernel_info info{
      .chain = nabla4_interpolate_chain(vertical),
      .schedule = walks ? "kloop" : "naive",
      .fusion = "inlined_cached",
      .feature = batched ? "" : "sync_per_level",
      .description = batched
                         ? "nabla4 on a tile into shared memory, one barrier, interpolate within"
                         : "nabla4 on a tile into shared memory, a barrier for each level",
      .written_for = meshes::strided};
  using computes = stages<stage::nabla4, stage::interpolate>;
  using compiled = compiled_list<compiled_for_threads<batched && (vertical || !walks) ? 512u : 256u,
                                                      batched && !(walks && vertical) ? 2 : 1>>;
  ICOBENCH_FUNCTION static constexpr overlap halo() { return {1, 0, 1, 1}; }
  static constexpr launch tuned(access, precision) {
    if (!batched) { return {.block = {32, 6, 1}, .levels = 20}; }
    if (!walks) {
      return {.block = {32, vertical ? 8u : 16u, vertical ? 2u : 1u},
              .min_blocks = 2,
              .order = vertical ? block_order::points_first : block_order::by_size};
    }
    // Coefficients with levels are nothing to keep in the L2 cache for: points first.
    if (vertical) {
      return {.block = {32, 16, 1}, .levels = 4, .order = block_order::points_first};
    }
    return {.block = {32, 8, 1}, .levels = 10, .min_blocks = 2};
  }
  static constexpr const char* reject(const launch& l) {
    if (!walks) { return one_level_only(l); }
    return batched && l.levels == 0 ? "a block keeps its levels in shared memory: say how many"
                                    : "";
  }
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return 3 * std::size_t(l.block.volume()) * (batched ? unsigned(l.levels) : 2) * sizeof(T);
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .halo = halo(), .reject = &reject, .shared_bytes = &shared_bytes<Mesh, T>};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const tile_point<Mesh> point(mesh, domain, halo(), t);
      const auto threads = mesh_of_block(t);
      const auto me = index_t(t.rank());
      const index_t count = rounds(t, levels);
      const walk w = walk_of(t, levels);
      const auto level = [&](index_t round) { return w.first + round * w.step; };
      const auto cache = [&](index_t slot) {
        return t.template shared<T>() + slot * 3 * threads.plane;
      };

      const edges_of_point<Mesh, T, walks && !vertical> edges(mesh, edge, point.id);
      const auto compute_edges = [&](index_t k, T* z_nabla4) {
        if (k >= w.end) { return; }
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < 3; ++c) {
          z_nabla4[threads.id({me, c})] = edges(edge, c, k, vertical ? k : 0);
        }
      };
      const auto compute_vertex = [&](const interpolate<T>& stencil, index_t k, const T* z_nabla4) {
        if (k >= w.end || !point.has_result) { return; }
        vertex.store(point.id, k, stencil(edges_of_thread(threads, z_nabla4, me)));
      };

      if constexpr (batched) {
        ICOBENCH_NO_UNROLL
        for (index_t n = 0; n < count; ++n) { compute_edges(level(n), cache(n)); }
        t.sync();
        const interpolate<T> stencil = vertex.stencil(point.id);
        ICOBENCH_NO_UNROLL
        for (index_t n = 0; n < count; ++n) { compute_vertex(stencil, level(n), cache(n)); }
      } else {
        // Two levels in turns: who writes one has passed the barrier after the last read of it.
        const interpolate<T> stencil = vertex.stencil(point.id);
        ICOBENCH_NO_UNROLL
        for (index_t n = 0; n < count; ++n) {
          compute_edges(level(n), cache(n % 2));
          t.sync();
          compute_vertex(stencil, level(n), cache(n % 2));
        }
      }
    }
  };
};

using nabla4_interpolate_inlined_cached_variants =
    kernel_list<inlined_cached<false, true, false>, inlined_cached<false, true>,
                inlined_cached<true, true, false>, inlined_cached<true, true>,
                inlined_cached<false, false>, inlined_cached<true, false>>;

}  // namespace icobench::kernels
