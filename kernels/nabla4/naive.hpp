// One thread for one point and level: the text a reader checks the others against.
//
// Trades traffic for parallelism: no loop and few registers, but coefficients (80 bytes an edge)
// and tables are read again for every level.
#pragma once

#include <icobench/kernel.hpp>

namespace icobench::kernels {

template <bool vertical>
struct nabla4_naive {
  static constexpr kernel_info info{.chain = vertical ? "nabla4_vertical" : "nabla4",
                                    .schedule = "naive",
                                    .description = "one thread a point and level"};
  using computes = stages<stage::nabla4>;
  using compiled = compiled_list<compiled_for<>, compiled_for<1, table_use::rows>,
                                 compiled_for<1, table_use::by_vertex>>;
  static constexpr launch tuned(access a, precision) {
    if (vertical && a == access::strided) { return {.block = {128, 1, 1}}; }
    return a == access::strided ? launch{.block = {32, 2, 2}} : launch{.block = {64, 1, 2}};
  }
  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{.reject = &one_level_only};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    nabla4_operands<T> f;
    index_t levels;

    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      const index_t point = mesh.point(domain, t.x(), t.y()), k = index_t(t.z());
      if (point < 0 || k >= levels) { return; }
      ICOBENCH_UNROLL_ALL
      for (int c = 0; c < Mesh::edges_per_point; ++c) {
        const auto edge = mesh.edge_of_point(point, c);
        const index_t e = mesh.id(edge);
        f.out(e, k) = f.apply(f.stencil(e, vertical ? k : 0), e, mesh.e2c2v(edge), k);
      }
    }
  };
};

using nabla4_naive_variants = kernel_list<nabla4_naive<false>, nabla4_naive<true>>;

}  // namespace icobench::kernels
