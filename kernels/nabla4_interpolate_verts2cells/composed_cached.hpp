// A block evaluates nabla4 and interpolate, composed to one stencil, at the vertices of a tile into
// shared memory, and from there verts2cells: each vertex once instead of by each of six cells, and
// with a quarter of the flops of the two stencils one after another as inlined_v2v does them.
//
// Trades shared memory (16 bytes a thread and level in flight), a barrier for every four levels and
// the rim of the tile (a column and a row: 128 threads for 15 x 7 pairs of cells are 1.22 times the
// work on vertices) for the 80 bytes a vertex and level of the intermediates. A thread reads 20
// values a level and vertex (composed: 47) and keeps 40 weights (composed: 78); those of its cells
// are read again every four levels, from the L1 cache. Results are rounded in another order.
//
// H200, 594x514 (298x257), levels=0: 754 us (188) where the separate kloop takes 1073 (277) and
// inlined_cached 1077 (271). Three of these blocks fit a multiprocessor; of 32x8, which took 965
// (984 with 40 levels, 1209 with registers capped), one did.
#pragma once

#include <icobench/kernels/shared/cells_of_point.hpp>
#include <icobench/kernels/shared/composed_vertex.hpp>
#include <icobench/kernels/shared/levels.hpp>
#include <icobench/kernels/shared/tile.hpp>

namespace icobench::kernels {

struct composed_cached_verts2cells {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate_verts2cells",
      .schedule = "kloop",
      .fusion = "composed_cached",
      .description = "two stencils composed, on a tile into shared memory, then verts2cells",
      .written_for = meshes::strided};
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  // With 170 registers two blocks fit a multiprocessor, with 168 three.
  using compiled = compiled_list<compiled_for<3, table_use::slots, 128>, compiled_for<>>;
  ICOBENCH_FUNCTION static constexpr overlap halo() { return {0, 1, 0, 1}; }
  static constexpr launch tuned(access, precision) {
    return {.block = {16, 8, 1}, .levels = 0, .min_blocks = 3};
  }
  static constexpr int batch = 4;  // levels between two barriers
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return 2 * batch * 2 * std::size_t(l.block.volume()) * sizeof(T);
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .halo = halo(), .field_alignment = 2, .shared_bytes = &shared_bytes<Mesh, T>};

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
      const index_t plane = threads.plane;
      const composed_vertex<Mesh, T> at_vertex(t, mesh, edge, vertex, point.id);
      const walk mine = walk_of(t, levels);
      const index_t count = rounds(t, levels);
      // Two batches in turns: who writes one has passed the barrier after the last read of it.
      T* cache = t.template shared<T>();
      T* other = cache + 2 * batch * plane;
      ICOBENCH_NO_UNROLL
      for (index_t begin = 0; begin < count; begin += batch) {
        const auto each_level = [&](auto at) {
          ICOBENCH_NO_UNROLL
          for (int n = 0; n < batch; ++n) {
            const index_t k = mine.first + (begin + n) * mine.step;
            if (k < mine.end) { at(k, cache + 2 * n * plane); }
          }
        };
        each_level([&](index_t k, T* p) {
          const vector2<T> here = at_vertex(mesh, edge, k);
          p[me] = here.u;
          p[plane + me] = here.v;
        });
        t.sync();
        if (point.has_result) {
          finish(threads, me, gpu::renew(point.id, mine.first + begin), each_level);
        }
        T* const last = cache;
        cache = other;
        other = last;
      }
    }

   private:
    template <class Threads, class EachLevel>
    ICOBENCH_DEVICE void finish(const Threads& threads, index_t me, index_t point,
                                const EachLevel& each_level) const {
      const cells_of_point<Mesh> here(mesh, point);
      const cells_of_point<Threads> in_block(threads, me);
      verts2cells<T> stencil[2];
      here.load(cell, stencil);
      each_level([&](index_t k, const T* p) {
        in_block.compute(cell, here.first, stencil, p, p + threads.plane, k);
      });
    }
  };
};

using nabla4_interpolate_verts2cells_composed_cached_variants =
    kernel_list<composed_cached_verts2cells>;

}  // namespace icobench::kernels
