// The three stencils are linear, so their composition is one: a cell is a weighted sum of u and v
// at 12 vertices and z at 15 edges.
//
// Trades about 550 flops a cell, to compose the weights, for walks that take 78 flops a cell and
// level (separate stencils 55, inlined_c2v 393 or, both cells together, 256) and keep 39 weights in
// registers instead of 192 coefficients. It needs walks over many levels, and its results are
// rounded in another order.
//
// Strided, one thread has both cells of a vertex (78 weights, 47 values a level), or one with the
// feature `one_cell` (39 and 39: twice the warps, but 78 loads a vertex). Indirect, the weights are
// collected in shared memory, since the tables tell at run time where they go; any grid will do.
//
// H200, 594x514: 1335 us strided, 1493 indirect (separate kloop: 1073, 1196): to compose the
// weights costs more than they save in 80 levels.
// may spill (min_blocks=2): registers capped, for tuning
#pragma once

#include <icobench/kernels/shared/cells_around.hpp>
#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

template <bool one_cell>
struct composed_nabla4_interpolate_verts2cells {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate_verts2cells",
      .schedule = "kloop",
      .fusion = "composed",
      .feature = one_cell ? "one_cell" : "",
      .description =
          one_cell
              ? "one stencil of 39 weights a cell, composed once for all levels, one cell a thread"
              : "one stencil of 39 weights a cell, composed once for all levels",
      .written_for = one_cell ? meshes::strided : meshes::all};
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  using compiled = compiled_list<compiled_for<1>, compiled_for<2>>;
  static constexpr launch tuned(access a, precision) {
    if (a == access::indirect) { return {.block = {128, 1, 1}, .levels = 0}; }
    return one_cell ? launch{.block = {32, 4, 1}, .levels = 0, .min_blocks = 2}
                    : launch{.block = {32, 4, 1}, .levels = 0};
  }
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return column < T,
           Mesh::kind == access::strided && !one_cell ? 47 : 39 > ::block_bytes(l.block);
  }
  template <class Mesh>
  static gpu::extent3 threads(const Mesh&, const typename Mesh::domain& d) {
    return {unsigned(d.extent_x()), unsigned(d.extent_y()) * (one_cell ? 2 : 1), 1};
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .field_alignment = Mesh::kind == access::strided ? 2 : 1,
      .shared_bytes = &shared_bytes<Mesh, T>,
      .threads = &threads<Mesh>};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    verts2cells_operands<T> cell;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t point = mesh.point(domain, t.x(), one_cell ? t.y() / 2 : t.y());
      if (point < 0) { return; }
      if constexpr (Mesh::kind == access::indirect) {
        run<indirect_cell<Mesh>>(t, point);
      } else if constexpr (!one_cell) {
        run<strided_cells<cells::both, Mesh>>(t, point);
      } else if (t.y() % 2 == 0) {
        run<strided_cells<cells::up, Mesh>>(t, point);
      } else {
        run<strided_cells<cells::down, Mesh>>(t, point);
      }
    }

   private:
    template <class Around, class Thread>
    ICOBENCH_DEVICE void run(Thread& t, index_t point) const {
      constexpr int count = Around::cell_count;
      const Around around(mesh, point);
      neighbours<T, Around::vertex_count> w_u[count], w_v[count];
      neighbours<T, Around::edge_count> w_z[count];
      ICOBENCH_UNROLL_ALL
      for (int c = 0; c < count; ++c) {
        const column<T, Around::vertex_count> of_u(t, 0), of_v(t, Around::vertex_count);
        const column<T, Around::edge_count> of_z(t, 2 * Around::vertex_count);
        compose(around, point, c, of_u, of_v, of_z);
        ICOBENCH_UNROLL_ALL
        for (int n = 0; n < Around::vertex_count; ++n) {
          w_u[c][n] = of_u[n];
          w_v[c][n] = of_v[n];
        }
        ICOBENCH_UNROLL_ALL
        for (int n = 0; n < Around::edge_count; ++n) { w_z[c][n] = of_z[n]; }
      }
      for_levels<true>(t, levels, [&](index_t k) {
        // Closed forms take fewer registers than their 33 ids; those from tables are kept.
        const Around here =
            Mesh::kind == access::strided ? Around(mesh.renewed(k), gpu::renew(point, k)) : around;
        const auto u = gather(edge.u, here.vertex, k);
        const auto v = gather(edge.v, here.vertex, k);
        const auto z = gather(edge.z, here.edge, k);
        T result[count];
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < count; ++c) {
          T of_u = 0, of_v = 0, of_z = 0;
          ICOBENCH_UNROLL_ALL
          for (int n = 0; n < Around::vertex_count; ++n) {
            if (around.uses_vertex(c, n)) {
              of_u += u[n] * w_u[c][n];
              of_v += v[n] * w_v[c][n];
            }
          }
          ICOBENCH_UNROLL_ALL
          for (int n = 0; n < Around::edge_count; ++n) {
            if (around.uses_edge(c, n)) { of_z += z[n] * w_z[c][n]; }
          }
          result[c] = of_u + of_v + of_z;
        }
        store_cells(cell, around.first_cell, k, result);
      });
    }

    // First what interpolate and verts2cells make of each edge, in of_z; then nabla4 of that.
    template <class Around, class Vertices, class Edges>
    ICOBENCH_DEVICE void compose(const Around& around, index_t point, int c, const Vertices& of_u,
                                 const Vertices& of_v, const Edges& of_z) const {
      for (int n = 0; n < Around::vertex_count; ++n) { of_u[n] = of_v[n] = 0; }
      for (int n = 0; n < Around::edge_count; ++n) { of_z[n] = 0; }
      const verts2cells_weights<T> outer = cell.stencil(around.first_cell + c).weights();
      ICOBENCH_UNROLL_ALL
      for (int m = 0; m < 3; ++m) {
        const int corner = around.corner_of_cell(c, m);
        ICOBENCH_NO_UNROLL
        for (int s = 0; s < 6; ++s) {
          const index_t v = around.corner[corner];
          of_z[around.edge_of_corner(corner, s)] +=
              outer.u[m] * vertex.coeff_1(v, s, 0) + outer.v[m] * vertex.coeff_2(v, s, 0);
        }
      }
      ICOBENCH_NO_UNROLL
      for (int n = 0; n < Around::edge_count; ++n) {
        const nabla4<T> inner = edge.stencil(Around::edge_at(mesh, point, n), 0);
        const nabla4_weights<T> w = inner.weights();
        const T of_edge = of_z[n];
        of_z[n] = of_edge * w.z;
        ICOBENCH_UNROLL_ALL
        for (int d = 0; d < 4; ++d) {
          const int at = around.vertex_of_edge(n, d);
          of_u[at] += of_edge * w.u[d];
          of_v[at] += of_edge * w.v[d];
        }
      }
    }
  };
};

using nabla4_interpolate_verts2cells_composed_variants =
    kernel_list<composed_nabla4_interpolate_verts2cells<false>,
                composed_nabla4_interpolate_verts2cells<true>>;

}  // namespace icobench::kernels
