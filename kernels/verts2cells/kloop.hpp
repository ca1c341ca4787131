// A thread walks the levels of its point; coefficients (6 a cell) and ids stay in registers.
//
// Trades registers and parallelism for traffic: coefficients and table are read once for `levels`
// levels.
#pragma once

#include <shared/cells_of_point.hpp>
#include <shared/levels.hpp>

namespace icobench::kernels {

struct verts2cells_kloop {
  using computes = stages<stage::verts2cells>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>>;
  static constexpr launch tuned(access a) {
    return a == access::strided ? launch{.block = {64, 2, 1}, .levels = 10}
                                : launch{.block = {64, 1, 4}, .levels = 20};
  }

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    verts2cells_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t point = mesh.point(domain, t.x(), t.y());
      if (point < 0) { return; }
      const cells_of_point<Mesh> cells(mesh, point);
      verts2cells<T> stencil[Mesh::cells_per_point];
      cells.load(f, stencil);
      for_levels<true>(t, levels, [&](index_t k) { cells.compute(f, stencil, k); });
    }
  };
};

template <class Backend>
void register_verts2cells_kloop(registry& r) {
  add_gpu_variant<Backend, verts2cells_kloop>(
      r, {.chain = "verts2cells",
          .schedule = "kloop",
          .description = "a thread walks levels, coefficients and ids in registers"});
}

}  // namespace icobench::kernels
