// As inlined, but u and v of the seven distinct vertices around are read once and handed to the six
// edges, instead of four an edge.
//
// Trades 34 of 48 loads for 14 values more in registers. Tables of the indirect kernels: v2e and
// v2e2c2v (52 bytes a vertex instead of 120). Which of the seven an edge takes is fixed, hence
// they need the slot order of a torus.
//
// The feature `general` reads it from the table e_v2e2c2v (12 bytes a vertex): right for pentagons
// and any slot order. As registers cannot be indexed by numbers that are known at run time only,
// the seven lie in shared memory, each thread's in a column of its own: no barrier, no bank
// conflict, 48 reads from shared memory a level.
//
// H200, 594x514, kloop: 722 us strided, 697 indirect, general 988 (values in shared memory); the
// separate kloop takes 812 and 933.
// may spill (min_blocks=3): registers capped for more warps
#pragma once

#include <icobench/kernels/shared/column.hpp>
#include <icobench/kernels/shared/nabla4_interpolate.hpp>

namespace icobench::kernels {

template <bool vertical, bool walks, bool general>
struct inlined_v2v {
  static constexpr kernel_info info{
      .chain = nabla4_interpolate_chain(vertical),
      .schedule = walks ? "kloop" : "naive",
      .fusion = "inlined_v2v",
      .feature = general ? "general" : "",
      .description = general ? "as inlined_v2v, for any slot order and pentagons"
                             : "each vertex evaluates nabla4 on its six edges, u and v read once",
      .written_for = general ? meshes::indirect : meshes::all,
      .torus_order = !general};
  using computes = stages<stage::nabla4, stage::interpolate>;
  using compiled = compiled_list<compiled_for<walks ? 1 : 3>>;
  static constexpr launch tuned(access a, precision) {
    if (!walks) {
      if (a == access::indirect) { return {.block = {64, 1, 4}, .min_blocks = 3}; }
      return {.block = vertical ? gpu::extent3{64, 4, 1} : gpu::extent3{16, 1, 8}, .min_blocks = 3};
    }
    if (vertical) { return {.block = {64, 1, 2}, .levels = 10}; }
    return a == access::strided ? launch{.block = {32, 4, 1}, .levels = 40}
                                : launch{.block = {128, 1, 1}, .levels = 40};
  }
  static constexpr const char* reject(const launch& l) { return walks ? "" : one_level_only(l); }
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return general ? 2 * column<T, 7>::block_bytes(l.block) : 0;
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
      const neighbours<index_t, 7> around = mesh.v2e2c2v(v);
      const neighbours<index_t, 6> edges = v2e(mesh, v);
      nabla4<T> kept[6];
      if constexpr (walks && !vertical) {
        ICOBENCH_UNROLL_ALL
        for (int s = 0; s < 6; ++s) { kept[s] = edge.stencil(edges[s], 0); }
      }
      const interpolate<T> stencil = vertex.stencil(v);
      const auto compute = [&](const auto& position, auto& u, auto& w) {
        for_levels<walks>(t, levels, [&](index_t k) {
          copy(gather(edge.u, around, k), u);
          copy(gather(edge.v, around, k), w);
          const neighbours<T, 6> z = gather(edge.z, edges, k);
          neighbours<T, 6> p_e;
          ICOBENCH_UNROLL_ALL
          for (int s = 0; s < 6; ++s) {
            neighbours<T, 4> u_s, w_s;
            ICOBENCH_UNROLL_ALL
            for (int d = 0; d < 4; ++d) {
              u_s[d] = u[position[4 * s + d]];
              w_s[d] = w[position[4 * s + d]];
            }
            if constexpr (walks && !vertical) {
              p_e[s] = kept[s](u_s, w_s, z[s]);
            } else {
              p_e[s] = edge.stencil(edges[s], vertical ? k : 0)(u_s, w_s, z[s]);
            }
          }
          const vector2<T> p = stencil(p_e);
          if constexpr (general && walks) {
            store_in_branch(
                t, [&] { vertex.store(v, k, p); }, [&] { vertex.store_apart(v, k, p); });
          } else {
            vertex.store(v, k, p);
          }
        });
      };
      if constexpr (general) {
        column<T, 7> u(t, 0), w(t, 7);
        compute(mesh.e_v2e2c2v(v), u, w);
      } else {
        neighbours<T, 7> u, w;
        compute(torus_e_v2e2c2v(), u, w);
      }
    }

   private:
    template <class Values>
    ICOBENCH_DEVICE static void copy(const neighbours<T, 7>& from, Values& to) {
      ICOBENCH_UNROLL_ALL
      for (int m = 0; m < 7; ++m) { to[m] = from[m]; }
    }
  };
};

using nabla4_interpolate_inlined_v2v_variants =
    kernel_list<inlined_v2v<false, false, false>, inlined_v2v<false, true, false>,
                inlined_v2v<true, false, false>, inlined_v2v<true, true, false>,
                inlined_v2v<false, false, true>, inlined_v2v<false, true, true>,
                inlined_v2v<true, false, true>, inlined_v2v<true, true, true>>;

}  // namespace icobench::kernels
