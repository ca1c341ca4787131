// One problem in a device's memory, in one numbering and layout: what a variant computes on.
#pragma once

#include <span>

#include <icobench/chain.hpp>
#include <icobench/field.hpp>
#include <icobench/mesh/mesh.hpp>
#include <icobench/stencil/interpolate.hpp>
#include <icobench/stencil/nabla4.hpp>
#include <icobench/stencil/verts2cells.hpp>

namespace icobench {

struct storage {
  index_t levels = 0;
  std::array<raw_view, field_count> fields{};

  // Strided access: see strided_mesh.
  index_t row = 0, plane = 0;
  std::array<rectangle, stage_count> rectangles{};
  // Indirect access: see indirect_mesh.
  raw_view e2c2v, v2e, c2v;
  raw_view v2e2c2v, e_v2e2c2v;                      // if the chain fuses nabla4 and interpolate
  raw_view c2v2e, e_c2v2e, c2v2e2c2v, e_c2v2e2c2v;  // if it fuses all three
  // Row after row (see mesh/rows.hpp), the last one on a torus only.
  std::span<const index_t> e2c2v_rows, v2e_rows, c2v_rows, diamonds;
  index_t owner_step = 0, colour_step = 0;
  block_tables blocks;       // if it fuses and is not vertical; ifirst
  bool torus_order = false;  // slots of all tables are in the order of torus_offsets.hpp
  std::array<range, stage_count> ranges{};

  // The same problem, lying nowhere.
  storage without_data() const {
    storage result = *this;
    for (raw_view& v : result.fields) { v.data = nullptr; }
    for (raw_view* const v :
         {&result.e2c2v, &result.v2e, &result.c2v, &result.v2e2c2v, &result.e_v2e2c2v,
          &result.c2v2e, &result.e_c2v2e, &result.c2v2e2c2v, &result.e_c2v2e2c2v}) {
      v->data = nullptr;
    }
    result.e2c2v_rows = result.v2e_rows = result.c2v_rows = result.diamonds = {};
    result.blocks = {.blocks = blocks.blocks};
    return result;
  }

  template <class T, layout L>
  view<T, L> get(field f) const {
    return fields[std::size_t(f)].as<T, L>();
  }

  template <class Mesh, layout L>
  Mesh mesh() const {
    if constexpr (Mesh::kind == access::strided) {
      return {row, plane};
    } else if constexpr (std::is_same_v<Mesh, row_mesh>) {
      return {e2c2v_rows.data(), v2e_rows.data(), c2v_rows.data()};
    } else if constexpr (std::is_same_v<Mesh, vertex_row_mesh>) {
      return {diamonds.data(), owner_step, colour_step};
    } else {
      return {e2c2v.as<const index_t, L>(),       v2e.as<const index_t, L>(),
              c2v.as<const index_t, L>(),         v2e2c2v.as<const index_t, L>(),
              e_v2e2c2v.as<const index_t, L>(),   c2v2e.as<const index_t, L>(),
              e_c2v2e.as<const index_t, L>(),     c2v2e2c2v.as<const index_t, L>(),
              e_c2v2e2c2v.as<const index_t, L>(), blocks};
    }
  }
  template <class Mesh>
  typename Mesh::domain domain(stage s) const {
    if constexpr (Mesh::kind == access::strided) {
      return rectangles[std::size_t(s)];
    } else {
      return typename Mesh::domain{ranges[std::size_t(s)]};
    }
  }

  template <stage s, class T, layout L>
  auto operands() const {
    if constexpr (s == stage::nabla4) {
      return nabla4_operands<T, L>{get<const T, L>(field::u_vert),
                                   get<const T, L>(field::v_vert),
                                   get<const T, L>(field::primal_normal_vert_v1),
                                   get<const T, L>(field::primal_normal_vert_v2),
                                   get<const T, L>(field::inv_vert_vert_length),
                                   get<const T, L>(field::inv_primal_edge_length),
                                   get<const T, L>(field::z_nabla2_e),
                                   get<T, L>(field::z_nabla4_e2)};
    } else if constexpr (s == stage::interpolate) {
      return interpolate_operands<T, L>{
          get<const T, L>(field::z_nabla4_e2), get<const T, L>(field::ptr_coeff_1),
          get<const T, L>(field::ptr_coeff_2), get<T, L>(field::p_u), get<T, L>(field::p_v)};
    } else {
      return verts2cells_operands<T, L>{get<const T, L>(field::p_u), get<const T, L>(field::p_v),
                                        get<const T, L>(field::cell_coeff_1),
                                        get<const T, L>(field::cell_coeff_2),
                                        get<T, L>(field::p_cell)};
    }
  }
};

}  // namespace icobench
