// One thread for one vertex and level.
//
// Trades traffic for parallelism: 96 bytes of coefficients (and 24 of table) for every level.
#pragma once

#include <icobench/gpu_variant.hpp>

namespace icobench::kernels {

struct interpolate_naive {
  using computes = stages<stage::interpolate>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>>;
  static constexpr launch tuned(access a) {
    return {.block = {64, 1, a == access::strided ? 2u : 4u}};
  }

  static std::string reject(const launch& l) { return one_level_only(l); }

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    interpolate_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t v = mesh.point(domain, t.x(), t.y()), k = index_t(t.z());
      if (v < 0 || k >= levels) { return; }
      f.store(v, k, f.stencil(v)(gather(f.p_e, v2e(mesh, v), k)));
    }
  };
};

template <class Backend>
void register_interpolate_naive(registry& r) {
  add_gpu_variant<Backend, interpolate_naive>(
      r,
      {.chain = "interpolate", .schedule = "naive", .description = "one thread a point and level"});
}

}  // namespace icobench::kernels
