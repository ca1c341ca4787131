// A thread walks the levels of two neighbouring vertices, with vector loads and stores along i.
//
// Trades parallelism and registers (24 coefficients) for instructions: 10 loads and 2 stores of a
// pair of vertices and level instead of 12 and 4. H200, 594x514: 302 us, as kloop (301 to 304).
#pragma once

#include <shared/pairs.hpp>

namespace icobench::kernels {

struct interpolate_pairs {
  using computes = stages<stage::interpolate>;
  using compiled = compiled_list<compiled_for<>>;
  static constexpr access only = access::strided;
  static constexpr ordering edges = ordering::per_orientation;
  static constexpr launch tuned(access) { return {.block = {64, 1, 2}, .levels = 20}; }
  static gpu::extent3 points(const rectangle& d) { return vertex_pair::threads(d); }

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

template <class Backend>
void register_interpolate_pairs(registry& r) {
  add_gpu_variant<Backend, interpolate_pairs>(
      r, {.chain = "interpolate",
          .schedule = "kloop",
          .feature = "pairs",
          .description = "a thread walks levels of two neighbouring vertices, vector loads"});
}

}  // namespace icobench::kernels
