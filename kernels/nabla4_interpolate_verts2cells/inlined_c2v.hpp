// As inlined, but each distinct operand once: a cell has 12 vertices of u and v, 15 edges and 3
// corners (instead of 72, 18 and 3), both cells of a vertex together 14, 19 and 4.
//
// Trades registers for flops (786 a vertex and level with one cell a thread, 511 with both, against
// 912) and loads. Strided, one thread has both cells of a vertex; with the feature `one_cell` only
// one: rows of threads alternate between upward and downward cells, so that a warp has one kind.
// Indirect, what the tables list is indexed at run time and lies in shared memory (39 values a
// thread); any grid will do.
//
// Coefficients (nabla4: 150 a cell) are read for each level, see inlined.
//
// H200, 594x514: 2315 us strided, 6759 indirect, the separate kloop 1073 and 1196: coefficients are
// read again in each level, as they do not fit the registers.
// may spill (min_blocks=2, min_blocks=3): registers capped, for tuning
#pragma once

#include <icobench/kernels/shared/cells_around.hpp>
#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

template <bool walks, bool one_cell>
struct inlined_c2v {
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate_verts2cells",
      .schedule = walks ? "kloop" : "naive",
      .fusion = "inlined_c2v",
      .feature = one_cell ? "one_cell" : "",
      .description = one_cell
                         ? "one cell a thread, rows of threads for upward and downward cells"
                         : "each cell (strided: both cells of a vertex) evaluates distinct edges",
      .written_for = one_cell ? meshes::strided : meshes::all};
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  using compiled = std::conditional_t<one_cell, compiled_list<compiled_for<2>>,
                                      compiled_list<compiled_for<2>, compiled_for<3>>>;
  static constexpr launch tuned(access a, precision) {
    if (a == access::indirect) {
      return {.block = {32, 1, 4}, .levels = walks ? 0 : 1, .min_blocks = 3};
    }
    if (one_cell) { return {.block = {32, 2, 4}, .levels = walks ? 0 : 1, .min_blocks = 2}; }
    if (!walks) { return {.block = {16, 1, 4}, .min_blocks = 2}; }
    return {.block = {32, 1, 8}, .levels = 0, .min_blocks = 2, .order = block_order::points_first};
  }
  static constexpr const char* reject(const launch& l) { return walks ? "" : one_level_only(l); }
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return Mesh::kind == access::indirect ? column<T, 39>::block_bytes(l.block) : 0;
  }
  template <class Mesh>
  static gpu::extent3 threads(const Mesh&, const typename Mesh::domain& d) {
    return {unsigned(d.extent_x()), unsigned(d.extent_y()) * (one_cell ? 2 : 1), 1};
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .field_alignment = Mesh::kind == access::strided ? 2 : 1,
      .reject = &reject,
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
        compute<indirect_cell<Mesh>>(t, point, column<T, 12>(t, 0), column<T, 12>(t, 12),
                                     column<T, 15>(t, 24));
      } else if constexpr (!one_cell) {
        compute_strided<cells::both>(t, point);
      } else if (t.y() % 2 == 0) {
        compute_strided<cells::up>(t, point);
      } else {
        compute_strided<cells::down>(t, point);
      }
    }

   private:
    template <cells which, class Thread>
    ICOBENCH_DEVICE void compute_strided(Thread& t, index_t point) const {
      using around = strided_cells<which, Mesh>;
      compute<around>(t, point, neighbours<T, around::vertex_count>{},
                      neighbours<T, around::vertex_count>{}, neighbours<T, around::edge_count>{});
    }

    // u, v and p_e hold what is indexed by positions.
    template <class Around, class Thread, class Vertices, class Edges>
    ICOBENCH_DEVICE void compute(Thread& t, index_t point, Vertices u, Vertices v,
                                 Edges p_e) const {
      for_levels<walks>(t, levels, [&](index_t k) {
        const Around around(mesh.renewed(k), gpu::renew(point, k));
        const auto u_here = gather(edge.u, around.vertex, k);
        const auto v_here = gather(edge.v, around.vertex, k);
        const auto z = gather(edge.z, around.edge, k);
        ICOBENCH_UNROLL_ALL
        for (int n = 0; n < Around::vertex_count; ++n) {
          u[n] = u_here[n];
          v[n] = v_here[n];
        }
        ICOBENCH_UNROLL_ALL
        for (int n = 0; n < Around::edge_count; ++n) {
          neighbours<T, 4> u_n, v_n;
          ICOBENCH_UNROLL_ALL
          for (int d = 0; d < 4; ++d) {
            u_n[d] = u[around.vertex_of_edge(n, d)];
            v_n[d] = v[around.vertex_of_edge(n, d)];
          }
          p_e[n] = edge.stencil(around.edge[n], 0)(u_n, v_n, z[n]);
        }
        neighbours<vector2<T>, Around::corner_count> p;
        ICOBENCH_UNROLL_ALL
        for (int n = 0; n < Around::corner_count; ++n) {
          neighbours<T, 6> p_n;
          ICOBENCH_UNROLL_ALL
          for (int s = 0; s < 6; ++s) { p_n[s] = p_e[around.edge_of_corner(n, s)]; }
          p[n] = vertex.stencil(around.corner[n])(p_n);
        }
        T result[Around::cell_count];
        ICOBENCH_UNROLL_ALL
        for (int c = 0; c < Around::cell_count; ++c) {
          neighbours<T, 3> p_u, p_v;
          ICOBENCH_UNROLL_ALL
          for (int m = 0; m < 3; ++m) {
            p_u[m] = p[around.corner_of_cell(c, m)].u;
            p_v[m] = p[around.corner_of_cell(c, m)].v;
          }
          result[c] = cell.stencil(around.first_cell + c)(p_u, p_v);
        }
        const auto store = [&] { store_cells(cell, around.first_cell, k, result); };
        if constexpr (Around::cell_count == 2 && !walks) {
          store_in_branch(t, store, [&] {
            for (int c = 0; c < 2; ++c) { cell.out(around.first_cell + c, k) = result[c]; }
          });
        } else {
          store();
        }
      });
    }
  };
};

using nabla4_interpolate_verts2cells_inlined_c2v_variants =
    kernel_list<inlined_c2v<false, false>, inlined_c2v<true, false>, inlined_c2v<false, true>,
                inlined_c2v<true, true>>;

}  // namespace icobench::kernels
