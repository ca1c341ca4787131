// What a source of headers_test sees of the library: compiled into two of them.
#pragma once

#include <every_header.hpp>

#include <vector>

namespace icobench::test {

struct seen {
  std::vector<const void*> addresses;   // of what a program must have once
  std::vector<double> on_cpu, on_simt;  // nabla4 by the loops of the CPU, by the kernel of GPUs
};

seen from_second_source();

// Each source has its own copy: a shared one would agree with itself.
namespace {

constexpr rectangle shape{0, 0, 8, 7}, inside{1, 1, 6, 5};
constexpr index_t levels = 3, vertices = shape.ni * shape.nj, edges = 3 * vertices;
using mesh = strided_mesh<ordering::per_orientation>;

// Arrays of ones, but u = vertex + level / 4: nabla4 differs from edge to edge.
template <layout L>
struct fields {
  std::vector<double> u = make(vertices), once = std::vector<double>(4 * edges, 1.0),
                      z = std::vector<double>(edges * levels, 1.0),
                      out = std::vector<double>(edges * levels, 0.0);

  static index_t stride(index_t entities) { return L == layout::ifirst ? entities : levels; }
  static std::vector<double> make(index_t entities) {
    std::vector<double> values(std::size_t(entities * levels));
    const view<double, L> v{values.data(), stride(entities), 0};
    for (index_t h = 0; h < entities; ++h) {
      for (index_t k = 0; k < levels; ++k) { v(h, k) = h + 0.25 * k; }
    }
    return values;
  }
  nabla4_operands<double, L> operands() {
    constexpr bool ifirst = L == layout::ifirst;
    const view<const double, L> uv{u.data(), stride(vertices), 0};
    const view<const double, L> slots{once.data(), ifirst ? 0 : 4, ifirst ? edges : 1};
    const view<const double, L> one{once.data(), ifirst ? 0 : 1, 0};
    return {uv,
            uv,
            slots,
            slots,
            one,
            one,
            {z.data(), stride(edges), 0},
            {out.data(), stride(edges), 0}};
  }
  // (edge, level), level fastest
  std::vector<double> result() const {
    const view<const double, L> v{out.data(), stride(edges), 0};
    std::vector<double> values;
    for (index_t e = 0; e < edges; ++e) {
      for (index_t k = 0; k < levels; ++k) { values.push_back(v(e, k)); }
    }
    return values;
  }
};

seen look() {
  const mesh m{shape.ni, vertices};
  fields<layout::kfirst> f;
  using loops = kernels::nabla4_kfirst<false>;
  loops::run<mesh, double>(m, inside, f.operands(), levels, loops::tuned());
  fields<layout::ifirst> g;
  gpu::simt_device device;
  using kernel = kernels::nabla4_kloop<false>::kernel<mesh, double>;
  gpu::launch<gpu::simt_backend, compiled_for<>>(device, {1, 5, 1}, {6, 1, 2}, 0,
                                                 kernel{m, inside, g.operands(), levels});
  return {{&chain_table, &field_table, &torus::diamond, &torus::pair_c2v2e,
           reinterpret_cast<const void*>(&parse_launch), &launch_choices,
           reinterpret_cast<const void*>(&detail::make_ready),
           reinterpret_cast<const void*>(&gpu::simt_backend::open)},
          f.result(),
          g.result()};
}

}  // namespace
}  // namespace icobench::test
