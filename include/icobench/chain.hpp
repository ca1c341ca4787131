// Fields, stencils and chains as data: what each stage reads and writes.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include <icobench/types.hpp>

namespace icobench {

constexpr std::string_view to_string(access a) {
  return a == access::strided ? "strided" : "indirect";
}
constexpr std::string_view to_string(ordering o) {
  return o == ordering::per_vertex ? "per_vertex" : "per_orientation";
}
constexpr std::string_view to_string(layout l) {
  return l == layout::ifirst ? "ifirst" : "kfirst";
}
constexpr std::string_view to_string(location l) {
  return l == location::vertex ? "vertex" : l == location::edge ? "edge" : "cell";
}
constexpr std::string_view to_string(precision p) {
  return p == precision::float64 ? "double" : "float";
}
constexpr std::size_t size_of(precision p) {
  return p == precision::float64 ? 8 : 4;
}

template <class T>
inline constexpr precision precision_of = sizeof(T) == sizeof(double) ? precision::float64
                                                                      : precision::float32;

// Every field of the suite, by its ICON name.
enum class field {
  u_vert,
  v_vert,
  primal_normal_vert_v1,
  primal_normal_vert_v2,
  inv_vert_vert_length,
  inv_primal_edge_length,
  z_nabla2_e,
  z_nabla4_e2,  // nabla4 writes it, interpolate reads it
  ptr_coeff_1,
  ptr_coeff_2,
  p_u,  // interpolate writes them, verts2cells reads them
  p_v,
  cell_coeff_1,
  cell_coeff_2,
  p_cell,
};
inline constexpr std::size_t field_count = 15;

struct field_info {
  std::string_view name;
  location on;
  int slots;
  enum { once, by_level, by_level_if_vertical } values;  // does it depend on the level?
};

inline constexpr std::array<field_info, field_count> field_table{{
    {"u_vert", location::vertex, 1, field_info::by_level},
    {"v_vert", location::vertex, 1, field_info::by_level},
    {"primal_normal_vert_v1", location::edge, 4, field_info::by_level_if_vertical},
    {"primal_normal_vert_v2", location::edge, 4, field_info::by_level_if_vertical},
    {"inv_vert_vert_length", location::edge, 1, field_info::by_level_if_vertical},
    {"inv_primal_edge_length", location::edge, 1, field_info::by_level_if_vertical},
    {"z_nabla2_e", location::edge, 1, field_info::by_level},
    {"z_nabla4_e2", location::edge, 1, field_info::by_level},
    {"ptr_coeff_1", location::vertex, 6, field_info::once},
    {"ptr_coeff_2", location::vertex, 6, field_info::once},
    {"p_u", location::vertex, 1, field_info::by_level},
    {"p_v", location::vertex, 1, field_info::by_level},
    {"cell_coeff_1", location::cell, 3, field_info::once},
    {"cell_coeff_2", location::cell, 3, field_info::once},
    {"p_cell", location::cell, 1, field_info::by_level},
}};
constexpr const field_info& info(field f) {
  return field_table[std::size_t(f)];
}

struct stage_info {
  std::string_view name;
  location on;  // what it computes
  std::span<const field> inputs, outputs;
  int flops;  // for each point and level; a multiply and an add count one each
};

namespace detail {
inline constexpr field nabla4_inputs[] = {field::u_vert,
                                          field::v_vert,
                                          field::primal_normal_vert_v1,
                                          field::primal_normal_vert_v2,
                                          field::inv_vert_vert_length,
                                          field::inv_primal_edge_length,
                                          field::z_nabla2_e};
inline constexpr field nabla4_outputs[] = {field::z_nabla4_e2};
inline constexpr field interpolate_inputs[] = {field::z_nabla4_e2, field::ptr_coeff_1,
                                               field::ptr_coeff_2};
inline constexpr field interpolate_outputs[] = {field::p_u, field::p_v};
inline constexpr field verts2cells_inputs[] = {field::p_u, field::p_v, field::cell_coeff_1,
                                               field::cell_coeff_2};
inline constexpr field verts2cells_outputs[] = {field::p_cell};
}  // namespace detail

inline constexpr std::array<stage_info, stage_count> stage_table{{
    {"nabla4", location::edge, detail::nabla4_inputs, detail::nabla4_outputs, 21},
    {"interpolate", location::vertex, detail::interpolate_inputs, detail::interpolate_outputs, 22},
    {"verts2cells", location::cell, detail::verts2cells_inputs, detail::verts2cells_outputs, 12},
}};
constexpr const stage_info& info(stage s) {
  return stage_table[std::size_t(s)];
}

// Stencils run one after another. `vertical`: normals and lengths of nabla4 depend on the level.
struct chain {
  std::string_view name;
  std::span<const stage> stages;
  bool vertical;
  index_t default_halo;  // rows and columns of a torus left out on each side

  constexpr bool has(stage s) const {
    for (const stage t : stages) {
      if (t == s) { return true; }
    }
    return false;
  }
  constexpr bool by_level(field f) const {
    return info(f).values == field_info::by_level ||
           (vertical && info(f).values == field_info::by_level_if_vertical);
  }
  constexpr std::span<const field> outputs() const { return info(stages.back()).outputs; }
};

namespace detail {
inline constexpr stage all_stages[] = {stage::nabla4, stage::interpolate, stage::verts2cells};
constexpr std::span<const stage> run_of_stages(std::size_t first, std::size_t count) {
  return std::span<const stage>(all_stages).subspan(first, count);
}
}  // namespace detail

inline constexpr std::array<chain, 7> chain_table{{
    {"nabla4", detail::run_of_stages(0, 1), false, 2},
    {"nabla4_vertical", detail::run_of_stages(0, 1), true, 2},
    {"interpolate", detail::run_of_stages(1, 1), false, 1},
    {"verts2cells", detail::run_of_stages(2, 1), false, 4},
    {"nabla4_interpolate", detail::run_of_stages(0, 2), false, 2},
    {"nabla4_vertical_interpolate", detail::run_of_stages(0, 2), true, 2},
    {"nabla4_interpolate_verts2cells", detail::run_of_stages(0, 3), false, 2},
}};

// The chain of that name, or nullptr.
constexpr const chain* find_chain(std::string_view name) {
  for (const chain& c : chain_table) {
    if (c.name == name) { return &c; }
  }
  return nullptr;
}

// Fields that come into the chain from outside, in the order of the field table.
inline std::vector<field> inputs(const chain& c) {
  std::vector<field> result;
  for (std::size_t f = 0; f < field_count; ++f) {
    bool read = false, written = false;
    for (const stage s : c.stages) {
      for (const field g : info(s).inputs) { read |= g == field(f); }
      for (const field g : info(s).outputs) { written |= g == field(f); }
    }
    if (read && !written) { result.push_back(field(f)); }
  }
  return result;
}

// Every field the chain touches: inputs, intermediates, outputs.
inline std::vector<field> fields(const chain& c) {
  std::vector<field> result = inputs(c);
  for (const stage s : c.stages) {
    result.insert(result.end(), info(s).outputs.begin(), info(s).outputs.end());
  }
  return result;
}

}  // namespace icobench
