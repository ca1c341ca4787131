// nabla4 and interpolate composed to one stencil at a vertex.
#pragma once

#include <icobench/kernels/shared/column.hpp>

namespace icobench::kernels {

// Both stencils are linear: p_u and p_v are weighted sums of u and v at seven vertices and z at six
// edges. Composing the weights takes about 300 flops, then a level takes 40 multiply-adds.
template <class T>
struct composed_weights {
  neighbours<T, 28> of_vertices;  // [vertex][p_u of u, p_u of v, p_v of u, p_v of v]
  neighbours<T, 12> of_edges;     // [edge][p_u, p_v]

  // u and v at the vertices, z at the edges.
  ICOBENCH_FUNCTION vector2<T> operator()(const neighbours<T, 7>& u, const neighbours<T, 7>& v,
                                          const neighbours<T, 6>& z) const {
    vector2<T> of_u{}, of_v{}, of_z{};
    ICOBENCH_UNROLL_ALL
    for (int m = 0; m < 7; ++m) {
      of_u.u += u[m] * of_vertices[4 * m];
      of_v.u += v[m] * of_vertices[4 * m + 1];
      of_u.v += u[m] * of_vertices[4 * m + 2];
      of_v.v += v[m] * of_vertices[4 * m + 3];
    }
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 6; ++s) {
      of_z.u += z[s] * of_edges[2 * s];
      of_z.v += z[s] * of_edges[2 * s + 1];
    }
    return {of_u.u + of_v.u + of_z.u, of_u.v + of_v.v + of_z.v};
  }
};

// Adds to the weights of vertex m what an edge, weighted by c_u and c_v, has of its u and v.
template <class Weights, class T>
ICOBENCH_DEVICE void add_weights(Weights& of_vertices, int m, T c_u, T c_v, T of_u, T of_v) {
  of_vertices[4 * m] += c_u * of_u;
  of_vertices[4 * m + 1] += c_u * of_v;
  of_vertices[4 * m + 2] += c_v * of_u;
  of_vertices[4 * m + 3] += c_v * of_v;
}

// A vertex's weights are collected from the four diamonds it is part of. Strided, where they go is
// known to the compiler; indirect, the table e_v2e2c2v says it at run time, and the weights are
// collected in shared memory: `scratch` values a thread.
template <class Mesh, class T>
class composed_vertex {
 public:
  static constexpr int scratch = Mesh::kind == access::indirect ? 28 : 0;

  template <class Thread>
  ICOBENCH_DEVICE composed_vertex(const Thread& t, const Mesh& mesh, const nabla4_operands<T>& edge,
                                  const interpolate_operands<T>& vertex, index_t v)
      : vertex_(v), around_(mesh.v2e2c2v(v)), edges_(v2e(mesh, v)) {
    if constexpr (scratch == 0) {
      compose(mesh, edge, vertex, v, weights_.of_vertices);
    } else {
      column<T, scratch> collected(t, 0);
      compose(mesh, edge, vertex, v, collected);
      ICOBENCH_UNROLL_ALL
      for (int n = 0; n < 28; ++n) { weights_.of_vertices[n] = collected[n]; }
    }
  }

  // Closed forms take fewer registers than their ids; ids from tables are kept.
  ICOBENCH_DEVICE vector2<T> operator()(const Mesh& mesh, const nabla4_operands<T>& edge,
                                        index_t k) const {
    if constexpr (Mesh::kind == access::strided) {
      const Mesh again = mesh.renewed(k);
      const index_t v = gpu::renew(vertex_, k);
      return sum(edge, again.v2e2c2v(v), v2e(again, v), k);
    } else {
      return sum(edge, around_, edges_, k);
    }
  }

 private:
  ICOBENCH_DEVICE vector2<T> sum(const nabla4_operands<T>& edge,
                                 const neighbours<index_t, 7>& around,
                                 const neighbours<index_t, 6>& edges, index_t k) const {
    return weights_(gather(edge.u, around, k), gather(edge.v, around, k), gather(edge.z, edges, k));
  }

  template <class Weights>
  ICOBENCH_DEVICE void compose(const Mesh& mesh, const nabla4_operands<T>& edge,
                               const interpolate_operands<T>& vertex, index_t v,
                               Weights& of_vertices) {
    ICOBENCH_UNROLL_ALL
    for (int n = 0; n < 28; ++n) { of_vertices[n] = 0; }
    const auto position = mesh.e_v2e2c2v(v);
    const interpolate<T> outer = vertex.stencil(v);
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < 6; ++s) {
      const nabla4_weights<T> inner = edge.stencil(edges_[s], 0).weights();
      const T c_u = outer.coeff_1[s], c_v = outer.coeff_2[s];
      weights_.of_edges[2 * s] = c_u * inner.z;
      weights_.of_edges[2 * s + 1] = c_v * inner.z;
      ICOBENCH_UNROLL_ALL
      for (int d = 0; d < 4; ++d) {
        add_weights(of_vertices, position[4 * s + d], c_u, c_v, inner.u[d], inner.v[d]);
      }
    }
  }

  index_t vertex_;
  neighbours<index_t, 7> around_;
  neighbours<index_t, 6> edges_;
  composed_weights<T> weights_;
};

}  // namespace icobench::kernels
