// interpolate evaluates nabla4 on its six edges: z_nabla4_e2 is never stored.
//
// Trades flops (every edge twice, 148 instead of 85 a vertex and level) and loads that the L1 cache
// serves (24 vertices' u and v, of which 7 are distinct) for 48 bytes of traffic. `kloop` keeps
// 72 coefficients in registers, so that 8 warps fit a multiprocessor; `naive` reads them (576 bytes
// and, indirect, 120 of tables) for each level.
//
// Indirect, a level has 54 loads, and a thread that has the coefficients in registers has none left
// for their results. There the 60 of nabla4 are in shared memory, 480 bytes a thread: 1111 us at
// 594x514 and 281 at 298x257 instead of 1468 and 397.
//
// H200, 594x514, kloop: 748 us strided; the separate kloop takes 830 and, indirect, 949.
// may spill (min_blocks=1, min_blocks=3): more operands a level than registers
#pragma once

#include <icobench/kernels/shared/edges_in_columns.hpp>
#include <icobench/kernels/shared/edges_of_vertex.hpp>
#include <icobench/kernels/shared/nabla4_interpolate.hpp>

namespace icobench::kernels {

template <bool vertical, bool walks>
struct inlined_nabla4_interpolate {
  template <class Mesh>
  static constexpr bool in_columns = walks && !vertical && Mesh::kind == access::indirect;

  static constexpr kernel_info info{.chain = nabla4_interpolate_chain(vertical),
                                    .schedule = walks ? "kloop" : "naive",
                                    .fusion = "inlined",
                                    .description = "each vertex evaluates nabla4 on its six edges",
                                    .seam_levels = walks ? 20 : 0};
  using computes = stages<stage::nabla4, stage::interpolate>;
  using compiled = compiled_list<compiled_for<walks ? 1 : 3>>;
  static constexpr launch tuned(access a, precision) {
    if (!walks) {
      const bool narrow = a == access::strided && !vertical;
      return {.block = {narrow ? 16u : 64u, 1, narrow ? 8u : 4u}, .min_blocks = 3};
    }
    if (vertical && a == access::indirect) { return {.block = {64, 1, 2}, .levels = 10}; }
    if (vertical) { return {.block = {32, 4, 1}, .levels = 20}; }
    return a == access::strided ? launch{.block = {32, 4, 1}, .levels = 40}
                                : launch{.block = {64, 1, 1}, .levels = 20};
  }
  static constexpr const char* reject(const launch& l) { return walks ? "" : one_level_only(l); }
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return in_columns<Mesh> ? edges_in_columns<T>::block_bytes(l.block) : 0;
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.reject = &reject,
                                              .shared_bytes = &shared_bytes<Mesh, T>};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t v = mesh.point(domain, t.x(), t.y());
      if (v < 0) { return; }
      const auto edges = [&] {
        if constexpr (in_columns<Mesh>) {
          return edges_in_columns<T>(t, mesh, edge, v);
        } else {
          return edges_of_vertex < T, layout::ifirst, walks && !vertical > (mesh, edge, v);
        }
      }();
      const interpolate<T> stencil = vertex.stencil(v);
      for_levels<walks>(t, levels, [&](index_t k) {
        const vector2<T> p = stencil(edges(edge, k, vertical ? k : 0));
        if constexpr (walks && vertical && Mesh::kind == access::strided) {
          vertex.store_apart(v, k, p);
        } else {
          vertex.store(v, k, p);
        }
      });
    }
  };
};

using nabla4_interpolate_inlined_variants =
    kernel_list<inlined_nabla4_interpolate<false, false>, inlined_nabla4_interpolate<false, true>,
                inlined_nabla4_interpolate<true, false>, inlined_nabla4_interpolate<true, true>>;

}  // namespace icobench::kernels
