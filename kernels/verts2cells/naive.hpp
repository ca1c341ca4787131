// One thread for one point (a cell; strided: both cells of a vertex) and level.
//
// Trades traffic for parallelism: 48 bytes of coefficients a cell (and 12 of table) for every
// level.
#pragma once

#include <icobench/kernels/shared/cells_of_point.hpp>

namespace icobench::kernels {

struct verts2cells_naive {
  static constexpr kernel_info info{
      .chain = "verts2cells", .schedule = "naive", .description = "one thread a point and level"};
  using computes = stages<stage::verts2cells>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>>;
  static constexpr launch tuned(access a, precision) {
    return {.block = {64, 1, 2},
            .tables = a == access::strided ? table_use::slots : table_use::rows};
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .field_alignment = Mesh::kind == access::strided ? 2 : 1, .reject = &one_level_only};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    verts2cells_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t point = mesh.point(domain, t.x(), t.y()), k = index_t(t.z());
      if (point < 0 || k >= levels) { return; }
      const cells_of_point<Mesh> cells(mesh, point);
      verts2cells<T> stencil[Mesh::cells_per_point];
      cells.load(f, stencil);
      cells.compute(f, stencil, k);
    }
  };
};

using verts2cells_naive_variants = kernel_list<verts2cells_naive>;

}  // namespace icobench::kernels
