// Fields, stencils and chains as data: what each stage reads and writes.
#pragma once

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <icobench/stencil/list.hpp>

namespace icobench {

constexpr std::string_view to_string(access a) {
  return a == access::strided ? "strided" : a == access::indirect ? "indirect" : "patched";
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

// Every field of the stencils, by number: info(f) has its name; field_named("u_vert") is one.
enum class field : int {};

namespace detail {

constexpr bool same_text(const char* a, const char* b) {
  return std::string_view(a) == b;
}

struct field_list {
  field_info all[64] = {};
  std::size_t count = 0;

  // Two stencils that name one field have to mean the same by it: else it does not compile.
  constexpr void add(const field_info& f) {
    for (std::size_t n = 0; n < count; ++n) {
      const field_info& g = all[n];
      if (!same_text(g.name, f.name)) { continue; }
      if (g.on != f.on || g.slots != f.slots || g.values != f.values ||
          !same_text(g.units, f.units) || !same_text(g.description, f.description)) {
        throw "two stencils describe a field of one name differently";
      }
      return;
    }
    all[count++] = f;
  }
};

inline constexpr field_list field_list_of_all = [] {
  field_list list;
  for_each_stencil([&]<class Stencil>() {
    for (const field_info& f : Stencil::inputs) { list.add(f); }
    for (const field_info& f : Stencil::outputs) { list.add(f); }
  });
  return list;
}();

}  // namespace detail

inline constexpr std::size_t field_count = detail::field_list_of_all.count;

inline constexpr std::array<field_info, field_count> field_table = [] {
  std::array<field_info, field_count> table{};
  for (std::size_t n = 0; n < field_count; ++n) { table[n] = detail::field_list_of_all.all[n]; }
  return table;
}();
constexpr const field_info& info(field f) {
  return field_table[std::size_t(f)];
}

// Throws (as a constant: does not compile) where no stencil has such a field.
constexpr field field_named(std::string_view name) {
  for (std::size_t n = 0; n < field_count; ++n) {
    if (field_table[n].name == name) { return field(n); }
  }
  throw std::invalid_argument("no field is named " + std::string(name));
}

struct stage_info {
  std::string_view name;
  location on;            // what it computes
  neighbour_table reads;  // whose neighbours it reads
  std::span<const field> inputs, outputs;
  int flops;  // for each point and level; a multiply and an add count one each
  stencil_rules rules;
};

namespace detail {
template <std::size_t count>
constexpr std::array<field, count> named(const field_info (&infos)[count]) {
  std::array<field, count> result{};
  for (std::size_t n = 0; n < count; ++n) { result[n] = field_named(infos[n].name); }
  return result;
}
template <class Stencil>
inline constexpr auto inputs_of = named(Stencil::inputs);
template <class Stencil>
inline constexpr auto outputs_of = named(Stencil::outputs);
}  // namespace detail

inline constexpr std::array<stage_info, stage_count> stage_table = [] {
  std::array<stage_info, stage_count> table{};
  std::size_t n = 0;
  for_each_stencil([&]<class Stencil>() {
    table[n++] = {Stencil::name,
                  Stencil::on,
                  Stencil::reads,
                  detail::inputs_of<Stencil>,
                  detail::outputs_of<Stencil>,
                  Stencil::flops,
                  Stencil::rules};
  });
  return table;
}();
constexpr const stage_info& info(stage s) {
  return stage_table[std::size_t(s)];
}

// The number of a description.
template <class Stencil>
constexpr stage stage_number() {
  int number = 0, n = 0;
  for_each_stencil([&]<class Other>() {
    if (detail::same_text(Other::name, Stencil::name)) { number = n; }
    ++n;
  });
  return stage(number);
}

// Stencils run one after another. `vertical`: normals and lengths of nabla4 depend on the level.
struct chain {
  std::string_view name;
  std::span<const stage> stages;
  bool vertical = false;
  index_t default_halo = 0;  // rows and columns of a torus left out on each side

  constexpr bool has(stage s) const {
    for (const stage t : stages) {
      if (t == s) { return true; }
    }
    return false;
  }
  constexpr bool by_level(field f) const {
    return info(f).values == level_rule::by_level ||
           (vertical && info(f).values == level_rule::by_level_if_vertical);
  }
  constexpr std::span<const field> outputs() const { return info(stages.back()).outputs; }
};

namespace detail {
inline constexpr std::array<stage, stage_count> all_stages = [] {
  std::array<stage, stage_count> all{};
  for (int n = 0; n < stage_count; ++n) { all[std::size_t(n)] = stage(n); }
  return all;
}();

// Calls add(chain) for single stencils, each followed by its vertical twin, then for the others.
template <class Add>
constexpr void for_each_chain(const Add& add) {
  for (const stage& s : all_stages) {
    const stage_info& single = info(s);
    add(chain{single.name, {&s, 1}, false, single.rules.halo});
    if (single.rules.vertical) {
      add(chain{single.rules.vertical, {&s, 1}, true, single.rules.halo});
    }
  }
  for (const chain_of_stencils& c : chains_of_stencils) {
    add(chain{c.name, {c.stages, std::size_t(c.count)}, c.vertical, c.halo});
  }
}
inline constexpr std::size_t chain_count = [] {
  std::size_t count = 0;
  for_each_chain([&](const chain&) { ++count; });
  return count;
}();
}  // namespace detail

inline constexpr std::array<chain, detail::chain_count> chain_table = [] {
  std::array<chain, detail::chain_count> table{};
  std::size_t n = 0;
  detail::for_each_chain([&](const chain& c) { table[n++] = c; });
  return table;
}();

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
