// What a model writes to call the library's kernels on its own arrays in device memory. `Backend`
// is left out on a GPU.
#pragma once

#include <icobench/kernels/nabla4/kloop.hpp>
#include <icobench/kernels/nabla4_interpolate_verts2cells/march.hpp>
#include <icobench/prepare.hpp>

#include "model.hpp"

namespace calls {

// Where the model's arrays lie in device memory: place(array) copies one there.
template <class Place>
icobench::view<const double> input(const model::array& a, Place place, bool by_level) {
  return {place(a), by_level ? a.level_stride : 0, a.slot_stride};
}

template <class Place>
icobench::nabla4_operands<double> nabla4(const model::fields& f, Place place, double* out) {
  return {.u = input(f.u, place, true),
          .v = input(f.v, place, true),
          .normal_1 = input(f.normal_1, place, false),
          .normal_2 = input(f.normal_2, place, false),
          .inv_vert_vert_length = input(f.inv_vert_vert_length, place, false),
          .inv_primal_edge_length = input(f.inv_primal_edge_length, place, false),
          .z = input(f.z, place, true),
          .out = {out, model::edges, 0}};
}

// The three stencils fused, on the torus: neighbours are computed.
template <class Backend, class Place>
icobench::prepared march(const icobench::gpu::processor& device, const model::fields& f,
                         Place place, double* cell) {
  using namespace icobench;
  const torus_mesh mesh{model::nx, model::vertices};
  constexpr int first = model::halo + 1, last = model::halo + 2;  // rows and columns left out
  const rectangle inside{first, first, model::nx - first - last, model::ny - first - last};
  interpolate_operands<double> vertex{};  // nothing of what goes between stencils
  vertex.coeff_1 = input(f.vertex_coeff_1, place, false);
  vertex.coeff_2 = input(f.vertex_coeff_2, place, false);
  verts2cells_operands<double> cells{};
  cells.coeff_1 = input(f.cell_coeff_1, place, false);
  cells.coeff_2 = input(f.cell_coeff_2, place, false);
  cells.out = {cell, model::cells, 0};
  return prepare<kernels::march_to_cells_multicast, Backend>(
      device, mesh, inside, model::levels, nabla4(f, place, nullptr), vertex, cells);
}

// nabla4 on a table of neighbours, as any grid has one: here the torus's, slot after slot.
template <class Backend, class Place>
icobench::prepared table(const icobench::gpu::processor& device, const model::fields& f,
                         Place place_field, const int* diamonds, double* edge) {
  using namespace icobench;
  indirect_mesh<layout::ifirst> mesh{};
  mesh.e2c2v_table = {diamonds, 0, model::edges};
  std::vector<range> rows;  // of edges that are computed: ids begin <= id < end
  for (int colour = 0; colour < 3; ++colour) {
    for (int j = model::halo; j < model::ny - model::halo; ++j) {
      const int row = model::colour_by_colour(model::vertex_id(0, j), colour);
      rows.push_back({row + model::halo, row + model::nx - model::halo});
    }
  }
  return prepare<kernels::nabla4_kloop<false>, Backend>(device, mesh, rows, model::levels,
                                                        nabla4(f, place_field, edge));
}

// [slot][edge]
inline std::vector<int> diamonds() {
  std::vector<int> result(4 * model::edges, 0);
  for (int colour = 0; colour < 3; ++colour) {
    for (int j = 1; j < model::ny - 1; ++j) {
      for (int i = 1; i < model::nx - 1; ++i) {
        const int e = model::colour_by_colour(model::vertex_id(i, j), colour);
        for (int s = 0; s < 4; ++s) {
          result[std::size_t(s * model::edges + e)] = model::diamond_of(i, j, colour).of[s];
        }
      }
    }
  }
  return result;
}

}  // namespace calls
