// A thread walks the levels of the edges of two neighbouring vertices, with vector loads and stores
// along i.
//
// Trades parallelism and registers (60 coefficients) for instructions: z and results of two edges
// are one load and store. H200, 594x514 (298x257): 912 us (230), kloop 517 (131), as 216 registers
// leave a multiprocessor 9 warps to wait for loads with.
#pragma once

#include <icobench/kernels/shared/pairs.hpp>

namespace icobench::kernels {

struct nabla4_pairs {
  static constexpr kernel_info info{
      .chain = "nabla4",
      .schedule = "kloop",
      .feature = "pairs",
      .description = "a thread walks levels of two neighbouring vertices, vector loads",
      .written_for = meshes::strided_per_orientation};
  using computes = stages<stage::nabla4>;
  using compiled = compiled_list<compiled_for<>>;
  static constexpr launch tuned(access, precision) { return {.block = {32, 1, 4}, .levels = 0}; }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .field_alignment = 2, .row_alignment = 2, .threads = &vertex_pair::threads<Mesh>};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> f;
    index_t levels;

    ICOBENCH_DEVICE nabla4<two<T>> stencil(index_t e) const {
      const two<T> vert_vert = load_two(f.inv_vert_vert_length, e, 0, 0);
      const two<T> edge = load_two(f.inv_primal_edge_length, e, 0, 0);
      return {slots_of_two<4>(f.normal_1, e), slots_of_two<4>(f.normal_2, e), vert_vert * vert_vert,
              edge * edge};
    }

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const vertex_pair here(mesh, domain, t.x(), t.y());
      if (here.v < 0) { return; }
      index_t e[3];
      nabla4<two<T>> at_edge[3];
      ICOBENCH_UNROLL_ALL
      for (int c = 0; c < 3; ++c) {
        e[c] = here.mesh.id(here.mesh.edge_of_point(here.v, c));
        at_edge[c] = stencil(e[c]);
      }
      for_levels<true>(t, levels, [&](index_t k) {
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < 3; ++c) {
          const auto ids = here.mesh.e2c2v(here.mesh.edge_of_point(here.v, c));
          here.store(f.out, e[c], k,
                     at_edge[c](gather_two(f.u, ids, k), gather_two(f.v, ids, k),
                                load_two(f.z, e[c], 0, k)));
        }
      });
    }
  };
};

using nabla4_pairs_variants = kernel_list<nabla4_pairs>;

}  // namespace icobench::kernels
