// A thread walks the levels of its point; coefficients (6 a cell) and ids stay in registers.
//
// Trades registers and parallelism for traffic: coefficients and table are read once for `levels`
// levels.
#pragma once

#include <icobench/kernels/shared/cells_of_point.hpp>
#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

struct verts2cells_kloop {
  static constexpr kernel_info info{
      .chain = "verts2cells",
      .schedule = "kloop",
      .description = "a thread walks levels, coefficients and ids in registers",
      .seam_levels = 10};
  using computes = stages<stage::verts2cells>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>>;
  static constexpr launch tuned(access a, precision) {
    return a == access::strided ? launch{.block = {64, 2, 1}, .levels = 10}
                                : launch{.block = {64, 1, 4}, .levels = 20};
  }

  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.field_alignment =
                                                  Mesh::kind == access::strided ? 2 : 1};

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

using verts2cells_kloop_variants = kernel_list<verts2cells_kloop>;

}  // namespace icobench::kernels
