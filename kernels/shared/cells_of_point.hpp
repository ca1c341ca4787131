// What the GPU variants of verts2cells share: the cells of a point at one level.
#pragma once

#include <icobench/kernel.hpp>

namespace icobench::kernels {

// Stores the cells of a point: those of a strided one have neighbouring ids, so that one store of
// two elements serves both, streaming because nobody reads the result soon.
template <int count, class T>
ICOBENCH_FUNCTION inline void store_cells(const verts2cells_operands<T>& f, index_t first,
                                          index_t k, const T (&result)[count]) {
  if constexpr (count == 2) {
    gpu::store_pair_streaming(f.out.address(first, k), result[0], result[1]);
  } else {
    f.out(first, k) = result[0];
  }
}

// A strided point has two cells: four distinct vertices instead of six are read.
template <class Mesh>
struct cells_of_point {
  static constexpr int count = Mesh::cells_per_point;
  index_t first;
  neighbours<index_t, 3> corners[count];

  ICOBENCH_FUNCTION cells_of_point(const Mesh& mesh, index_t point)
      : first(mesh.cell_of_point(point, 0)) {
    ICOBENCH_UNROLL_ALL
    for (int c = 0; c < count; ++c) { corners[c] = mesh.c2v(point, c); }
  }

  template <class T>
  ICOBENCH_FUNCTION void load(const verts2cells_operands<T>& f,
                              verts2cells<T> (&cell)[count]) const {
    ICOBENCH_UNROLL_ALL
    for (int c = 0; c < count; ++c) { cell[c] = f.stencil(first + c); }
  }

  template <class T>
  ICOBENCH_FUNCTION void compute(const verts2cells_operands<T>& f,
                                 const verts2cells<T> (&cell)[count], index_t k) const {
    T result[count];
    ICOBENCH_UNROLL_ALL
    for (int c = 0; c < count; ++c) {
      result[c] = cell[c](gather(f.p_u, corners[c], k), gather(f.p_v, corners[c], k));
    }
    store_cells(f, first, k, result);
  }

  // The same from p_u and p_v in shared memory, numbered as this mesh does, for the cells from
  // `first_cell` on.
  template <class T>
  ICOBENCH_FUNCTION void compute(const verts2cells_operands<T>& f, index_t first_cell,
                                 const verts2cells<T> (&cell)[count], const T* p_u, const T* p_v,
                                 index_t k) const {
    T result[count];
    ICOBENCH_UNROLL_ALL
    for (int c = 0; c < count; ++c) {
      const auto& at = corners[c];
      result[c] =
          cell[c]({{p_u[at[0]], p_u[at[1]], p_u[at[2]]}}, {{p_v[at[0]], p_v[at[1]], p_v[at[2]]}});
    }
    store_cells(f, first_cell, k, result);
  }
};

}  // namespace icobench::kernels
