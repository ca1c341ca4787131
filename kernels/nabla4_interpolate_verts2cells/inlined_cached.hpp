// A block computes nabla4 on a tile of edges into shared memory, interpolate on the vertices within
// into shared memory too, then verts2cells on the cells within those: nothing leaves the
// multiprocessor in between.
//
// Trades shared memory (40 bytes a thread and level), two barriers and the rim of the tile (two
// columns and three rows: 256 threads for 30 x 5 pairs of cells are 1.71 times the work) for the 80
// bytes a vertex and level of the intermediates. A block takes all its levels through one stage,
// then the next, so that a thread never holds the coefficients of two.
//
// The feature `nabla4_only` has only nabla4 in shared memory (24 bytes) and one barrier; each
// thread then computes the four corners of its cells in registers: interpolate four times, with 60
// coefficients.
//
// H200, 594x514: 1077 us with six levels between barriers, as much as the separate kloop (1073),
// since a third of the threads compute for the rim; 1161 with five, 1217 with four, nabla4_only
// 1458.
// may spill (min_blocks=2): registers capped for more warps
#pragma once

#include <icobench/kernels/shared/cells_of_point.hpp>
#include <icobench/kernels/shared/edges_of_point.hpp>
#include <icobench/kernels/shared/levels.hpp>
#include <icobench/kernels/shared/tile.hpp>

namespace icobench::kernels {

template <bool nabla4_only, bool walks>
struct inlined_cached_verts2cells {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate_verts2cells",
      .schedule = walks ? "kloop" : "naive",
      .fusion = "inlined_cached",
      .feature = nabla4_only ? "nabla4_only" : "",
      .description =
          nabla4_only ? "nabla4 on a tile into shared memory, each thread the corners of its cells"
                      : "nabla4 and interpolate on a tile into shared memory",
      .written_for = meshes::strided};
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  using compiled = compiled_list<compiled_for<nabla4_only ? 1 : 2>>;
  ICOBENCH_FUNCTION static constexpr overlap halo() { return {1, 1, 1, 2}; }
  static constexpr launch tuned(access, precision) {
    return {.block = {32, 8, 1},
            .levels = !walks        ? 1
                      : nabla4_only ? 8
                                    : 6,
            .min_blocks = nabla4_only ? 1 : 2};
  }
  static constexpr const char* reject(const launch& l) {
    if (!walks) { return one_level_only(l); }
    return l.levels == 0 ? "a block keeps its levels in shared memory: say how many" : "";
  }
  static constexpr int planes = nabla4_only ? 3 : 5;  // a level: three edges, p_u, p_v
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return planes * std::size_t(l.block.volume()) * unsigned(l.levels) * sizeof(T);
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.halo = halo(),
                                              .field_alignment = 2,
                                              .reject = &reject,
                                              .shared_bytes = &shared_bytes<Mesh, T>};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    verts2cells_operands<T> cell;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const tile_point<Mesh> point(mesh, domain, halo(), t);
      const auto threads = mesh_of_block(t);
      const auto me = index_t(t.rank());
      T* const cache = t.template shared<T>();
      // Calls at(k, its planes) for the levels of the thread.
      const auto each_level = [&](auto at) {
        T* level = cache;
        for_levels<true>(t, levels, [&](index_t k) {
          at(k, level);
          level += planes * threads.plane;
        });
      };

      {
        const edges_of_point<Mesh, T, true> edges(mesh, edge, point.id);
        each_level([&](index_t k, T* level) {
          ICOBENCH_UNROLL_ALL
          for (int c = 0; c < 3; ++c) { level[threads.id({me, c})] = edges(edge, c, k, 0); }
        });
      }
      t.sync();
      if constexpr (nabla4_only) {
        if (!point.has_result) { return; }
        finish_from_edges(threads, me, point.id, each_level);
      } else {
        if (has_six_edges(t)) {
          const interpolate<T> stencil = vertex.stencil(point.id);
          each_level([&](index_t, T* level) {
            const vector2<T> p = stencil(edges_of_thread(threads, level, me));
            level[3 * threads.plane + me] = p.u;
            level[4 * threads.plane + me] = p.v;
          });
        }
        t.sync();
        if (!point.has_result) { return; }
        finish_from_vertices(threads, me, point.id, each_level);
      }
    }

   private:
    template <class Threads, class EachLevel>
    ICOBENCH_DEVICE void finish_from_vertices(const Threads& threads, index_t me, index_t point,
                                              const EachLevel& each_level) const {
      const cells_of_point<Mesh> here(mesh, point);
      const cells_of_point<Threads> in_block(threads, me);
      verts2cells<T> stencil[2];
      here.load(cell, stencil);
      each_level([&](index_t k, const T* level) {
        in_block.compute(cell, here.first, stencil, level + 3 * threads.plane,
                         level + 4 * threads.plane, k);
      });
    }

    template <class Threads, class EachLevel>
    ICOBENCH_DEVICE void finish_from_edges(const Threads& threads, index_t me, index_t point,
                                           const EachLevel& each_level) const {
      const cells_of_point<Mesh> here(mesh, point);
      verts2cells<T> stencil[2];
      here.load(cell, stencil);
      // The corners (0, 0), (1, 0), (0, 1), (1, 1).
      interpolate<T> at_corner[4];
      ICOBENCH_UNROLL_ALL
      for (int n = 0; n < 4; ++n) {
        at_corner[n] = vertex.stencil(point + (n / 2) * mesh.row + n % 2);
      }
      each_level([&](index_t k, const T* level) {
        vector2<T> p[4];
        ICOBENCH_UNROLL_ALL
        for (int n = 0; n < 4; ++n) {
          p[n] = at_corner[n](edges_of_thread(threads, level, me + (n / 2) * threads.row + n % 2));
        }
        const T result[2] = {stencil[0]({{p[0].u, p[2].u, p[1].u}}, {{p[0].v, p[2].v, p[1].v}}),
                             stencil[1]({{p[1].u, p[2].u, p[3].u}}, {{p[1].v, p[2].v, p[3].v}})};
        store_cells(cell, here.first, k, result);
      });
    }
  };
};

// The same kernels for one level.
using nabla4_interpolate_verts2cells_inlined_cached_variants =
    kernel_list<inlined_cached_verts2cells<false, false>, inlined_cached_verts2cells<false, true>,
                inlined_cached_verts2cells<true, false>, inlined_cached_verts2cells<true, true>>;

}  // namespace icobench::kernels
