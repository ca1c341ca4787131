// As inlined_v2v, but the two edges that the neighbour to the west owns or computes come from its
// lane by shuffles: five edges a vertex instead of six, and neither shared memory nor barriers.
//
// Trades the first lane of each row of a warp (it has no western neighbour: 31 of 32 lanes have a
// result) for a sixth of the flops and 10 of 72 coefficients in registers.
//
// H200, 594x514: 746 us, no faster than the six edges of inlined_v2v (735); vertical 1997 instead
// of 2158, where coefficients come with each level.
#pragma once

#include <icobench/kernels/shared/nabla4_interpolate.hpp>
#include <icobench/kernels/shared/tile.hpp>

namespace icobench::kernels {

template <bool vertical>
struct shuffled_nabla4_interpolate {
  static constexpr kernel_info info{
      .chain = nabla4_interpolate_chain(vertical),
      .schedule = "kloop",
      .fusion = "inlined_v2v",
      .feature = "shuffle",
      .description = "five edges a vertex, two of them also for the neighbour by shuffle",
      .written_for = meshes::strided};
  using computes = stages<stage::nabla4, stage::interpolate>;
  using compiled = compiled_list<compiled_for<>>;
  ICOBENCH_FUNCTION static constexpr overlap halo() { return {1, 0, 0, 0}; }
  static constexpr launch tuned(access, precision) {
    return {.block = {32, 4, 1}, .levels = vertical ? 10 : 40};
  }
  static constexpr const char* reject(const launch& l) {
    const bool in_one_warp = l.block.x <= 32 && (l.block.x & (l.block.x - 1)) == 0;
    return in_one_warp ? "" : "x has to be a power of two up to 32: a row shuffles within a warp";
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.halo = halo(), .reject = &reject};

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
      const index_t v = point.id, row = mesh.row;
      const unsigned width = t.block_dim().x;
      // East, north below, north, southeast, southeast above: by owner and colour; and where their
      // diamonds are among the vertices around, which for the last one are eight.
      const typename Mesh::edge own[5] = {{v, 1}, {v - row, 0}, {v, 0}, {v, 2}, {v + row, 2}};
      const neighbours<index_t, 8> around{
          {v - 1, v, v + row - 1, v - row, v + 1, v + row, v - row + 1, v + row + 1}};
      constexpr std::uint8_t positions[5][4] = {
          {1, 4, 5, 6}, {3, 1, 0, 6}, {1, 5, 2, 4}, {1, 6, 4, 3}, {5, 4, 7, 1}};
      neighbours<index_t, 5> e;
      nabla4<T> stencil[5];
      ICOBENCH_UNROLL_ALL
      for (int n = 0; n < 5; ++n) {
        e[n] = mesh.id(own[n]);
        if constexpr (!vertical) { stencil[n] = edge.stencil(e[n], 0); }
      }
      const interpolate<T> at_vertex = vertex.stencil(v);
      const walk mine = walk_of(t, levels);
      const index_t count = rounds(t, levels);  // every lane takes part in every shuffle
      ICOBENCH_NO_UNROLL
      for (index_t n = 0; n < count; ++n) {
        const index_t walked = mine.first + n * mine.step;
        const index_t k = walked < mine.end ? walked : 0;
        const neighbours<T, 8> u = gather(edge.u, around, k), w = gather(edge.v, around, k);
        const neighbours<T, 5> z = gather(edge.z, e, k);
        neighbours<T, 5> p;
        ICOBENCH_UNROLL_ALL
        for (int s = 0; s < 5; ++s) {
          if constexpr (vertical) { stencil[s] = edge.stencil(e[s], k); }
          const auto& at = positions[s];
          p[s] = stencil[s]({{u[at[0]], u[at[1]], u[at[2]], u[at[3]]}},
                            {{w[at[0]], w[at[1]], w[at[2]], w[at[3]]}}, z[s]);
        }
        const T west = t.shuffle_up(p[0], 1, width), southeast = t.shuffle_up(p[4], 1, width);
        if (walked < mine.end && point.has_result) {
          vertex.store(v, k, at_vertex({{west, p[0], p[1], p[2], p[3], southeast}}));
        }
      }
    }
  };
};

using nabla4_interpolate_shuffle_variants =
    kernel_list<shuffled_nabla4_interpolate<false>, shuffled_nabla4_interpolate<true>>;

}  // namespace icobench::kernels
