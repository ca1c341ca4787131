// Points outermost, levels innermost and contiguous, coefficients in registers.
#pragma once

#include <icobench/kernels/shared/points.hpp>

namespace icobench::kernels {

struct verts2cells_kfirst {
  static constexpr kernel_info info{
      .chain = "verts2cells",
      .schedule = "kfirst",
      .description = "points outermost, vector loop over contiguous levels"};
  using computes = stages<stage::verts2cells>;
  static constexpr layout memory = layout::kfirst;
  static constexpr launch tuned() { return {}; }

  template <class Mesh, class T>
  static void run(const Mesh& mesh, const typename Mesh::domain& d,
                  const verts2cells_operands<T, memory>& f, index_t levels, const launch&) {
    for_each_point(mesh, d, [=](index_t point) {
      for_constants<Mesh::cells_per_point>([=](auto c) {
        const index_t cell = mesh.cell_of_point(point, c);
        const auto corners = mesh.c2v(point, c);
        const verts2cells<T> stencil = f.stencil(cell);
        ICOBENCH_SIMD
        for (index_t k = 0; k < levels; ++k) {
          f.out(cell, k) = stencil(gather(f.p_u, corners, k), gather(f.p_v, corners, k));
        }
      });
    });
  }
};

using verts2cells_cpu_kfirst_variants = kernel_list<verts2cells_kfirst>;

}  // namespace icobench::kernels
