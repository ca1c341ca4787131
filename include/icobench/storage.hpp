// One problem in a device's memory, in one numbering and layout: what a variant computes on.
#pragma once

#include <array>
#include <bit>
#include <span>
#include <vector>

#include <icobench/chain.hpp>
#include <icobench/field.hpp>
#include <icobench/mesh/mesh.hpp>

namespace icobench {

struct storage {
  index_t levels = 0;
  std::array<raw_view, field_count> fields{};

  // Strided access: see strided_mesh.
  index_t row = 0, plane = 0;
  std::array<rectangle, stage_count> rectangles{};
  // Indirect access: see indirect_mesh.
  std::array<raw_view, neighbour_table_count> tables{};
  raw_view v2e2c2v, e_v2e2c2v;                      // if the chain fuses nabla4 and interpolate
  raw_view c2v2e, e_c2v2e, c2v2e2c2v, e_c2v2e2c2v;  // if it fuses all three
  // Row after row (see mesh/rows.hpp), the last one on a torus only.
  std::array<std::span<const index_t>, neighbour_table_count> rows{};
  std::span<const index_t> diamonds;
  index_t owner_step = 0, colour_step = 0;
  block_tables blocks;       // if it fuses and is not vertical; ifirst
  bool torus_order = false;  // slots of all tables are in the order of torus_offsets.hpp
  std::array<range, stage_count> ranges{};
  // Patched access: the rectangles of each patch, which become `rectangles` in turn, and the points
  // that they leave. Row, plane, tables and blocks (of the last stage's seams) are set, too.
  std::vector<std::array<rectangle, stage_count>> patches;
  std::array<id_list, stage_count> seams{};

  // The same problem, lying nowhere.
  storage without_data() const {
    storage result = *this;
    for (raw_view& v : result.fields) { v.data = nullptr; }
    for (raw_view& v : result.tables) { v.data = nullptr; }
    for (raw_view* const v : {&result.v2e2c2v, &result.e_v2e2c2v, &result.c2v2e, &result.e_c2v2e,
                              &result.c2v2e2c2v, &result.e_c2v2e2c2v}) {
      v->data = nullptr;
    }
    result.rows = {};
    result.diamonds = {};
    result.blocks = {.blocks = blocks.blocks};
    for (id_list& seam : result.seams) { seam.ids = nullptr; }
    return result;
  }

  template <layout L>
  view<const index_t, L> table_view(neighbour_table t) const {
    return tables[std::size_t(t)].as<const index_t, L>();
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
      const auto rows_of = [&](neighbour_table t) { return rows[std::size_t(t)].data(); };
      return {rows_of(neighbour_table::e2c2v), rows_of(neighbour_table::v2e),
              rows_of(neighbour_table::c2v), rows_of(neighbour_table::e2c),
              rows_of(neighbour_table::c2e)};
    } else if constexpr (std::is_same_v<Mesh, vertex_row_mesh>) {
      return {diamonds.data(), owner_step, colour_step};
    } else if constexpr (std::is_same_v<Mesh, listed_mesh>) {
      return {mesh<indirect_mesh<L>, L>()};
    } else {
      using enum neighbour_table;
      return {table_view<L>(e2c2v),
              table_view<L>(v2e),
              table_view<L>(c2v),
              table_view<L>(e2c),
              table_view<L>(c2e),
              v2e2c2v.as<const index_t, L>(),
              e_v2e2c2v.as<const index_t, L>(),
              this->c2v2e.as<const index_t, L>(),
              e_c2v2e.as<const index_t, L>(),
              c2v2e2c2v.as<const index_t, L>(),
              e_c2v2e2c2v.as<const index_t, L>(),
              blocks};
    }
  }
  template <class Mesh>
  typename Mesh::domain domain(stage s) const {
    if constexpr (Mesh::kind == access::strided) {
      return rectangles[std::size_t(s)];
    } else if constexpr (std::is_same_v<Mesh, listed_mesh>) {
      return seams[std::size_t(s)];
    } else {
      return typename Mesh::domain{ranges[std::size_t(s)]};
    }
  }

  // The operands of a stencil: a view of each input, then of each output.
  template <stage s, class T, layout L>
  auto operands() const {
    using all = typename stencil_of<s>::template operands<T, L>;
    constexpr const stage_info& of = info(s);
    std::array<raw_view, of.inputs.size() + of.outputs.size()> views{};
    static_assert(sizeof(views) == sizeof(all), "operands are a view of each input and output");
    auto next = views.begin();
    for (const field f : of.inputs) { *next++ = fields[std::size_t(f)]; }
    for (const field f : of.outputs) { *next++ = fields[std::size_t(f)]; }
    return std::bit_cast<all>(views);
  }
};

}  // namespace icobench
