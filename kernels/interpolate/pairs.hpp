// A thread walks the levels of two neighbouring vertices, with vector loads and stores along i.
//
// Trades parallelism and registers (24 coefficients) for instructions: 10 loads and 2 stores of a
// pair of vertices and level instead of 12 and 4. H200, 594x514: 302 us, as kloop (301 to 304).
#pragma once

#include <icobench/kernels/shared/pairs.hpp>

namespace icobench::kernels {

struct interpolate_pairs {
  static constexpr kernel_info info{
      .chain = "interpolate",
      .schedule = "kloop",
      .feature = "pairs",
      .description = "a thread walks levels of two neighbouring vertices, vector loads",
      .written_for = meshes::strided_per_orientation};
  using computes = stages<stage::interpolate>;
  using compiled = compiled_list<compiled_for<>>;
  static constexpr launch tuned(access, precision) { return {.block = {64, 1, 2}, .levels = 20}; }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .field_alignment = 2, .row_alignment = 2, .threads = &vertex_pair::threads<Mesh>};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    interpolate_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const vertex_pair here(mesh, domain, t.x(), t.y());
      if (here.v < 0) { return; }
      const neighbours<index_t, 6> ids = v2e(here.mesh, here.v);
      const interpolate<two<T>> stencil{slots_of_two<6>(f.coeff_1, here.v),
                                        slots_of_two<6>(f.coeff_2, here.v)};
      for_levels<true>(t, levels, [&](index_t k) {
        const vector2<two<T>> p = stencil(gather_two(f.p_e, ids, k));
        here.store(f.p_u, here.v, k, p.u);
        here.store(f.p_v, here.v, k, p.v);
      });
    }
  };
};

using interpolate_pairs_variants = kernel_list<interpolate_pairs>;

}  // namespace icobench::kernels
