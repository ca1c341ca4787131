// The fastest kernel that is known for a chain and a mesh, on the device that is there.
//
//   const auto run = icobench::prepare_fastest(device, mesh, inside, levels, edge, vertex, cell);
//
// The operands say which chain: see prepare.hpp. The order of preference is that of an H200 at
// 298x257 and 594x514, 80 levels in doubles (docs/results_h200.md). On tables, chains of nabla4 and
// interpolate want block tables (mesh.blocks), without which composed ones are taken
// (mesh.v2e2c2v_table ...).
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include <icobench/kernels/divergence/points.hpp>
#include <icobench/kernels/gradient/points.hpp>
#include <icobench/kernels/gradient_divergence/inlined.hpp>
#include <icobench/kernels/interpolate/kloop.hpp>
#include <icobench/kernels/nabla4/kloop.hpp>
#include <icobench/kernels/nabla4/march.hpp>
#include <icobench/kernels/nabla4_interpolate/blocks.hpp>
#include <icobench/kernels/nabla4_interpolate/composed.hpp>
#include <icobench/kernels/nabla4_interpolate/march.hpp>
#include <icobench/kernels/nabla4_interpolate_verts2cells/blocks.hpp>
#include <icobench/kernels/nabla4_interpolate_verts2cells/composed.hpp>
#include <icobench/kernels/nabla4_interpolate_verts2cells/march.hpp>
#include <icobench/kernels/verts2cells/kloop.hpp>
#include <icobench/kernels/verts2cells/march.hpp>
#include <icobench/prepare.hpp>

namespace icobench {

namespace detail {

// The kernels of a chain, fastest first.
using all_preferences =
    std::tuple<kernel_list<kernels::march_of_edges_multicast, kernels::nabla4_kloop<false>>,
               kernel_list<kernels::interpolate_kloop>,
               kernel_list<kernels::march_of_cells_multicast, kernels::verts2cells_kloop>,
               kernel_list<kernels::march_to_vertices_multicast, kernels::blocks_of_vertices,
                           kernels::composed_nabla4_interpolate>,
               kernel_list<kernels::march_to_cells_multicast, kernels::blocks_of_cells,
                           kernels::composed_nabla4_interpolate_verts2cells<false>>,
               kernel_list<kernels::gradient_of_points<true>>,
               kernel_list<kernels::divergence_of_points<true>>,
               kernel_list<kernels::inlined_gradient_divergence<true>>>;

// Calls f.operator()<K>() for each kernel that takes these operands on this mesh, in order.
template <class Mesh, class T, class... Operands, class F>
void for_each_preference(const F& f) {
  const auto try_kernel = [&]<class K>() {
    if constexpr (are_operands<T, Operands...>(typename K::computes{}) &&
                  is_written_for<Mesh>(K::info)) {
      f.template operator()<K>();
    }
  };
  const auto try_list = [&]<class... K>(kernel_list<K...>) {
    (try_kernel.template operator()<K>(), ...);
  };
  std::apply([&](auto... lists) { (try_list(lists), ...); }, all_preferences{});
}

}  // namespace detail

// Throws `unsupported` with the reasons of all candidates where none can be had.
template <class Backend = gpu::native_backend, class Mesh, class T,
          template <class, layout> class... Operands>
prepared prepare_fastest(const gpu::processor& p, const Mesh& mesh,
                         const domain_list<typename Mesh::domain>& domains, level_range levels,
                         const Operands<T, layout::ifirst>&... operands) {
  std::optional<prepared> found;
  std::string reasons;
  detail::for_each_preference<Mesh, T, Operands<T, layout::ifirst>...>([&]<class K>() {
    if (found) { return; }
    try {
      found = prepare<K, Backend>(p, mesh, domains, levels, operands...);
    } catch (const unsupported& reason) {
      reasons += (reasons.empty() ? "" : "; ") + std::string(reason.what());
    }
  });
  if (!found) { throw unsupported(reasons.empty() ? "no kernel takes these operands" : reasons); }
  return *found;
}

}  // namespace icobench
