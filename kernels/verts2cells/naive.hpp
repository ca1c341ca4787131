// One thread for one point (a cell; strided: both cells of a vertex) and level.
//
// Trades traffic for parallelism: 48 bytes of coefficients a cell (and 12 of table) for every
// level.
#pragma once

#include <shared/cells_of_point.hpp>

namespace icobench::kernels {

struct verts2cells_naive {
  using computes = stages<stage::verts2cells>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>>;
  static constexpr launch tuned(access a) {
    return {.block = {64, 1, 2},
            .tables = a == access::strided ? table_use::slots : table_use::rows};
  }
  static std::string reject(const launch& l) { return one_level_only(l); }

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

template <class Backend>
void register_verts2cells_naive(registry& r) {
  add_gpu_variant<Backend, verts2cells_naive>(
      r,
      {.chain = "verts2cells", .schedule = "naive", .description = "one thread a point and level"});
}

}  // namespace icobench::kernels
