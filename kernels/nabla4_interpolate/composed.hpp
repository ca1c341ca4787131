// Both stencils are linear, so their composition is one: p_u and p_v of a vertex are weighted sums
// of u and v at seven vertices and z at six edges.
//
// Trades about 1000 flops a thread, to compose the weights, for 108 of 148 flops a level: 40
// weights stay in registers instead of 72 coefficients, and 20 values are read. That pays for walks
// over many levels only, and results are rounded in another order.
//
// The weights of a vertex are collected from the four diamonds it is part of. Strided, where they
// go is known to the compiler; indirect, it comes from the table e_v2e2c2v, so that any grid will
// do, and the weights are collected in shared memory (28 values a thread).
//
// Not measured yet.
#pragma once

#include <shared/column.hpp>
#include <shared/levels.hpp>

namespace icobench::kernels {

struct composed_nabla4_interpolate {
  using computes = stages<stage::nabla4, stage::interpolate>;
  using compiled = compiled_list<compiled_for<1>, compiled_for<2>>;
  static constexpr launch tuned(access a) {
    return a == access::strided ? launch{.block = {32, 4, 1}, .levels = 0, .min_blocks = 2}
                                : launch{.block = {128, 1, 1}, .levels = 0, .min_blocks = 2};
  }
  template <class Mesh, class T>
  static std::size_t shared_bytes(const launch& l) {
    return Mesh::kind == access::indirect ? column<T, 28>::block_bytes(l.block) : 0;
  }

  template <class T>
  struct weights {
    neighbours<T, 28> at_vertices;  // [vertex][p_u of u, p_u of v, p_v of u, p_v of v]
    neighbours<T, 12> at_edges;     // [edge][p_u, p_v]
  };

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t v = mesh.point(domain, t.x(), t.y());
      if (v < 0) { return; }
      const neighbours<index_t, 7> around = mesh.v2e2c2v(v);
      const neighbours<index_t, 6> edges = v2e(mesh, v);
      weights<T> w;
      if constexpr (Mesh::kind == access::strided) {
        compose(v, edges, w.at_vertices, w.at_edges);
      } else {
        column<T, 28> at_vertices(t, 0);
        compose(v, edges, at_vertices, w.at_edges);
        ICOBENCH_UNROLL_ALL
        for (int n = 0; n < 28; ++n) { w.at_vertices[n] = at_vertices[n]; }
      }
      for_levels<true>(t, levels, [&](index_t k) {
        const neighbours<T, 7> u_here = gather(edge.u, around, k);
        const neighbours<T, 7> v_here = gather(edge.v, around, k);
        const neighbours<T, 6> z = gather(edge.z, edges, k);
        vector2<T> of_u{}, of_v{}, of_z{};
        ICOBENCH_UNROLL_ALL
        for (int m = 0; m < 7; ++m) {
          of_u.u += u_here[m] * w.at_vertices[4 * m];
          of_v.u += v_here[m] * w.at_vertices[4 * m + 1];
          of_u.v += u_here[m] * w.at_vertices[4 * m + 2];
          of_v.v += v_here[m] * w.at_vertices[4 * m + 3];
        }
        ICOBENCH_UNROLL_ALL
        for (int s = 0; s < 6; ++s) {
          of_z.u += z[s] * w.at_edges[2 * s];
          of_z.v += z[s] * w.at_edges[2 * s + 1];
        }
        vertex.store(v, k, {of_u.u + of_v.u + of_z.u, of_u.v + of_v.v + of_z.v});
      });
    }

   private:
    template <class Weights>
    ICOBENCH_DEVICE void compose(index_t v, const neighbours<index_t, 6>& edges,
                                 Weights& at_vertices, neighbours<T, 12>& at_edges) const {
      ICOBENCH_UNROLL_ALL
      for (int n = 0; n < 28; ++n) { at_vertices[n] = 0; }
      const auto position = mesh.e_v2e2c2v(v);
      const interpolate<T> outer = vertex.stencil(v);
      ICOBENCH_UNROLL_ALL
      for (int s = 0; s < 6; ++s) {
        const nabla4_weights<T> inner = edge.stencil(edges[s], 0).weights();
        const T c_u = outer.coeff_1[s], c_v = outer.coeff_2[s];
        at_edges[2 * s] = c_u * inner.z;
        at_edges[2 * s + 1] = c_v * inner.z;
        ICOBENCH_UNROLL_ALL
        for (int d = 0; d < 4; ++d) {
          const int m = position[4 * s + d];
          at_vertices[4 * m] += c_u * inner.u[d];
          at_vertices[4 * m + 1] += c_u * inner.v[d];
          at_vertices[4 * m + 2] += c_v * inner.u[d];
          at_vertices[4 * m + 3] += c_v * inner.v[d];
        }
      }
    }
  };
};

template <class Backend>
void register_nabla4_interpolate_composed(registry& r) {
  add_gpu_variant<Backend, composed_nabla4_interpolate>(
      r, {.chain = "nabla4_interpolate",
          .schedule = "kloop",
          .fusion = "composed",
          .description = "one stencil of 40 weights, composed once for all levels of a thread"});
}

}  // namespace icobench::kernels
