// Makes variants of kernels: for each precision, mesh and edge ordering.
#pragma once

#include <array>
#include <string_view>

#include <icobench/prepare.hpp>

#include "src/catalogue/registry.hpp"

namespace icobench {

// A kernel on one mesh, in one precision, with what the suite needs beside a caller: how each of
// its choices is bound to a storage, and where its source is.
struct gpu_variant {
  const kernel_description* kernel = nullptr;
  std::span<bound_kernel (*const)(const storage&)> binds{};  // for each choice of the description
  std::string_view header{};                                 // "nabla4/kloop.hpp" among the kernels

  bound_kernel bind(const kernel_choice& c, const storage& s) const {
    return binds[std::size_t(&c - kernel->choices.data())](s);
  }
};

// The implementation that launches this kernel, whose description has to last.
implementation implement(std::string_view backend, precision, ordering, const gpu_variant&);

namespace detail {

template <class K, class Mesh, class T, class Compiled, stage... fused>
bound_kernel bind_storage(const storage& s, stages<fused...> computes) {
  return typed_kernel<K, Mesh, T, Compiled>::bind(computes, s.mesh<Mesh, layout::ifirst>(),
                                                  s.domain<Mesh>(last_stage(computes)), s.levels,
                                                  s.operands<fused, T, layout::ifirst>()...);
}

template <class K, class Mesh, class T>
inline constexpr auto binds = [] {
  using compiled = typename K::compiled;
  std::array<bound_kernel (*)(const storage&), count_choices<Mesh, T>(compiled{})> result{};
  std::size_t n = 0;
  for_each_choice<Mesh, T>(compiled{}, [&]<class C, class Reading>() {
    result[n++] = [](const storage& s) {
      return bind_storage<K, Reading, T, C>(s, typename K::computes{});
    };
  });
  return result;
}();

template <class Backend, class K, class Mesh, class T>
inline constexpr gpu_variant catalogued{&description<Backend, K, Mesh, T>, binds<K, Mesh, T>,
                                        Backend::header};

template <stage... fused>
constexpr bool has_edges(stages<fused...>) {
  const auto has = [](stage s) {
    const neighbour_table_info& t = info(info(s).reads);
    return t.of == location::edge || t.to == location::edge;
  };
  return (has(fused) || ...);
}

}  // namespace detail

// Calls f.operator()<T>() for each precision that variants are compiled for.
template <class F>
void for_each_precision(const F& f) {
  f.template operator()<double>();
#ifndef ICOBENCH_DOUBLE_ONLY
  f.template operator()<float>();
#endif
}

// Adds the variant that launches this kernel, for the backend this source is compiled for, on the
// meshes it is written for, in both precisions and both edge orderings.
template <class Backend, gpu_kernel K>
void add_variant(registry& r) {
  if constexpr (K::info.bulk_copies && !Backend::bulk_copies) {
    r.add_absent(K::info, access::strided, Backend::name, "bulk copies and clusters are sm_90's");
  } else {
    const auto add = [&]<class Mesh, class T>(ordering o) {
      if constexpr (detail::is_written_for<Mesh>(K::info)) {
        r.add(
            K::info, Mesh::kind,
            implement(Backend::name, precision_of<T>, o, detail::catalogued<Backend, K, Mesh, T>));
      }
    };
    const auto add_meshes = [&]<class T>() {
      // Cells have one numbering only, so a kernel without edges serves both orderings.
      constexpr bool edges = detail::has_edges(typename K::computes{});
      constexpr auto other = edges ? ordering::per_vertex : ordering::per_orientation;
      using po = strided_mesh<ordering::per_orientation>;
      add.template operator()<po, T>(ordering::per_orientation);
      add.template operator()<strided_mesh<other>, T>(ordering::per_vertex);
      add.template operator()<indirect_mesh<layout::ifirst>, T>(ordering::per_orientation);
      add.template operator()<indirect_mesh<layout::ifirst>, T>(ordering::per_vertex);
    };
    for_each_precision(add_meshes);
    if constexpr (K::info.seam_levels > 0) {
      for_each_precision([&]<class T>() {
        implementation i = implement(Backend::name, precision_of<T>, ordering::per_vertex,
                                     detail::catalogued<Backend, K, listed_mesh, T>);
        i.defaults[0].levels = K::info.seam_levels;
        r.add_seams(K::info.chain, std::move(i));
      });
    }
  }
}

template <class Backend, class... Kernels>
bool add_variants(registry& r, kernel_list<Kernels...>) {
  (add_variant<Backend, Kernels>(r), ...);
  return true;
}

}  // namespace icobench
