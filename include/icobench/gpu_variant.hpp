// Turns kernels into a registered variant: for each precision, mesh and edge ordering.
//
// A variant file describes a kernel by a class with
//
//   using computes = stages<stage::nabla4>;      the stages it fuses, first to last
//   using compiled = compiled_list<compiled_for<1>>;      its choices of min_blocks and of uses of
//                                                tables; compiled_in<float, ...>: for floats alone
//   static constexpr launch tuned(access);       the default launch; tuned<T>, if precisions have
//                                                different ones
//   static std::string reject(const launch&);    optional: why a launch will not do, else ""
//   template <class Mesh, class T>
//   struct kernel {                              a function object that the device gets by value
//     Mesh mesh;
//     typename Mesh::domain domain;              the points of the last stage
//     nabla4_operands<T> f;                      the operands of each stage
//     index_t levels;                            all levels; which ones are a thread's, walk_of(t,
//                                                levels) knows
//     template <class Thread> ICOBENCH_DEVICE void operator()(Thread& t) const;
//   };
//
// and, where a kernel needs them, with
//
//   static constexpr access only = access::strided;      the one mesh it is written for
//   static constexpr bool torus_order = true;            its tables have the slot order of a torus
//   ICOBENCH_FUNCTION
//   static constexpr overlap halo();                     by which blocks overlap
//   template <class Domain>
//   static gpu::extent3 points(const Domain&);           threads along x and y, if not one a point
//   static gpu::extent3 points(const Mesh&);             the same where the mesh knows it
//   template <class Mesh, class T>
//   static std::size_t shared_bytes(const launch&);      shared memory of a block
//   static constexpr ordering edges = ordering::per_orientation;   the one numbering it reads
//   static constexpr bool bulk_copies = true;            it uses them
//   template <class Mesh>                                what it says of a launch on a problem: see
//   static std::map<std::string, double> facts(          plan
//       gpu::device&, const storage&, const launch&);
//
// A kernel that is compiled for shapes of its blocks (its choices are each a compiled_shape or a
// compiled_pipeline) has `template <class Shape, class Thread> operator()(Thread&)`. What its host
// code makes of a shape it makes of a launch that has it, with the formulas that Shape::shape goes
// through in device code: other shapes are compiled at run time. `reject` knows those for which
// that cannot be. Where the kernel needs them, there are
//
//   template <class Kernel, class F>
//   static void describe_boxes(Kernel&, const launch&, F tensor_map);   sets its tensor maps, each
//                                                        made by tensor_map(gpu::tensor_box)
//
// and, if each is a compiled_shape,
//
//   static gpu::extent3 grid(const rectangle&, index_t levels, const launch&,   blocks; `resident`
//                            unsigned resident);                                run at once
//   static unsigned cluster(index_t levels, const launch&);   blocks along x that are one
#pragma once

#include <icobench/gpu_kernel.hpp>
#include <icobench/variant_info.hpp>

#if !defined(ICOBENCH_AT_RUN_TIME)

#include <array>
#include <cstddef>
#include <new>
#include <string>
#include <type_traits>

#include <icobench/gpu_description.hpp>

namespace icobench {

namespace detail {

template <class Family, access a>
constexpr bool written_for() {
  if constexpr (requires { Family::only; }) { return Family::only == a; }
  return true;
}
template <class Family, class Mesh>
constexpr bool reads_ordering_of() {
  if constexpr (requires { Family::edges; }) {
    return std::is_same_v<Mesh, strided_mesh<Family::edges>>;
  }
  return true;
}

template <stage... fused>
inline constexpr std::array<stage, sizeof...(fused)> stage_list{fused...};

// The functions of gpu_choice for a kernel on the mesh that reads its tables in one way.
template <class Family, class Mesh, class T>
struct described_kernel {
  using kernel = typename Family::template kernel<Mesh, T>;
  static_assert(std::is_trivially_copyable_v<kernel>);

  template <stage... fused>
  static kernel make(const storage& s, stages<fused...> computes) {
    return kernel{s.mesh<Mesh, layout::ifirst>(), s.domain<Mesh>(last_stage(computes)),
                  s.operands<fused, T, layout::ifirst>()..., s.levels};
  }
  template <class Compiled>
  static void make_ordered(void* to, const storage& s, bool levels_first, index_t adjacent) {
    new (to)
        in_order<kernel, Compiled>{make(s, typename Family::computes{}), levels_first, adjacent};
  }
  static void set_boxes(void* object, const launch& l, const gpu::device& device) {
    Family::describe_boxes(*static_cast<kernel*>(object), l, [&](const gpu::tensor_box& box) {
      check_tensor_box(box);
      return device.make_tensor_map(box);
    });
  }
  static constexpr bool has_boxes =
      requires(kernel & k, const launch& l, gpu::tensor_map (*make)(const gpu::tensor_box&)) {
    Family::describe_boxes(k, l, make);
  };

  static gpu::extent3 points(const storage& s) {
    const auto domain = s.domain<Mesh>(last_stage(typename Family::computes{}));
    if constexpr (requires { Family::points(domain); }) {
      return Family::points(domain);
    } else if constexpr (requires(const Mesh& mesh) { Family::points(mesh); }) {
      return Family::points(s.mesh<Mesh, layout::ifirst>());
    } else {
      return {unsigned(domain.extent_x()), unsigned(domain.extent_y()), 1};
    }
  }
  static constexpr bool shares_memory = requires(const launch& l) {
    Family::template shared_bytes<Mesh, T>(l);
  };
  static std::size_t shared_bytes(const launch& l) {
    if constexpr (shares_memory) { return Family::template shared_bytes<Mesh, T>(l); }
    return 0;
  }
};

template <class Mesh>
std::size_t elements_of(const storage& s, stage computed) {
  const auto domain = s.domain<Mesh>(computed);
  const int per_point = computed == stage::nabla4        ? Mesh::edges_per_point
                        : computed == stage::verts2cells ? Mesh::cells_per_point
                                                         : 1;
  return std::size_t(domain.extent_x()) * std::size_t(domain.extent_y()) * std::size_t(per_point);
}

template <class Backend, class Family, class Mesh, class T, class Compiled>
constexpr gpu_choice choice_of() {
  using of = described_kernel<Family, Mesh, T>;
  using bounds = std::conditional_t<has_shape<Compiled>, Compiled, compiled_for<>>;
  using ordered = in_order<typename of::kernel, bounds>;
  using turns = in_turns<typename of::kernel, of::shares_memory>;
  static_assert(offsetof(turns, grid) == sizeof(turns::ordered));
  static_assert(alignof(turns) <= alignof(gpu::tensor_map), "see kernel_object");
  gpu_choice c{.bounds = bounds_of<Compiled>(),
               .function = &Backend::template compiled<Compiled, ordered>,
               .kernel_bytes = sizeof(typename of::kernel),
               .ordered_bytes = sizeof(ordered),
               .in_turns_bytes = sizeof(turns),
               .kernel_type = &typeid(typename of::kernel),
               .ordered_type = &typeid(ordered),
               .in_turns_type = &typeid(turns),
               .make_ordered = &of::template make_ordered<bounds>,
               .points = &of::points,
               .elements = &elements_of<Mesh>,
               .shared_bytes = &of::shared_bytes};
  if constexpr (of::has_boxes) { c.set_boxes = &of::set_boxes; }
  return c;
}

// Whether a choice is one for this mesh, uses of tables are for tables, and this precision.
template <class Mesh, class T, class Compiled>
inline constexpr bool is_choice_of = (Mesh::kind == access::indirect ||
                                      Compiled::tables == table_use::slots) &&
                                     is_compiled_in<T, Compiled>();
template <class Backend, class Family, class Mesh, class T, class... Compiled>
constexpr auto choices_of(compiled_list<Compiled...>) {
  constexpr int count = (int(is_choice_of<Mesh, T, Compiled>) + ...);
  static_assert(count > 0, "nothing is compiled for this mesh and precision");
  std::array<gpu_choice, count> result{};
  std::size_t n = 0;
  const auto add = [&]<class C>(C) {
    if constexpr (is_choice_of<Mesh, T, C>) {
      using reading = typename mesh_reading<Mesh, C::tables>::type;
      result[n++] = choice_of<Backend, Family, reading, T, C>();
    }
  };
  (add(Compiled{}), ...);
  return result;
}
template <class Backend, class Family, class Mesh, class T>
inline constexpr auto choices = choices_of<Backend, Family, Mesh, T>(typename Family::compiled{});

template <class Family>
gpu::extent3 grid_of(const storage& s, const launch& l, unsigned resident) {
  return Family::grid(
      s.domain<strided_mesh<ordering::per_orientation>>(last_stage(typename Family::computes{})),
      s.levels, l, resident);
}

template <class Family, class T>
constexpr launch tuned_of(access a) {
  if constexpr (requires { Family::template tuned<T>(a); }) {
    return Family::template tuned<T>(a);
  } else {
    return Family::tuned(a);
  }
}

template <class Backend, class Family, class Mesh, class T, stage... fused>
constexpr gpu_description describe(stages<fused...>) {
  gpu_description d{.mesh = Mesh::kind,
                    .tuned = tuned_of<Family, T>(Mesh::kind),
                    .value_bytes = sizeof(T),
                    .computes = stage_list<fused...>,
                    .choices = choices<Backend, Family, Mesh, T>};
  if constexpr (requires { Backend::header; }) { d.header = Backend::header; }
  if constexpr (requires { Family::halo(); }) { d.halo = Family::halo(); }
  if constexpr (requires { Family::bulk_copies; }) { d.bulk_copies = Family::bulk_copies; }
  if constexpr (requires { Family::torus_order; }) { d.torus_order = Family::torus_order; }
  if constexpr (requires(const launch& l) { Family::reject(l); }) { d.reject = &Family::reject; }
  if constexpr (requires(const rectangle& domain, const launch& l) {
                  Family::grid(domain, 1, l, 1u);
                }) {
    static_assert(Mesh::kind == access::strided);
    d.grid = &grid_of<Family>;
    d.cluster = &Family::cluster;
  }
  if constexpr (requires(gpu::device & device, const storage& s, const launch& l) {
                  Family::template facts<Mesh>(device, s, l);
                }) {
    d.facts = &Family::template facts<Mesh>;
  }
  return d;
}
template <class Backend, class Family, class Mesh, class T>
inline constexpr gpu_description description =
    describe<Backend, Family, Mesh, T>(typename Family::computes{});

template <stage... fused>
constexpr bool has_edges(stages<fused...>) {
  return ((fused != stage::verts2cells) || ...);
}

}  // namespace detail

// For the `reject` of kernels whose threads do not walk levels.
inline std::string one_level_only(const launch& l) {
  return l.levels == 1 ? "" : "a thread of this kernel computes one level";
}

// Registers the variant that launches this kernel, for the backend this source is compiled for, on
// the meshes it is written for, in both precisions and both edge orderings.
template <class Backend, class Family>
void add_gpu_variant(registry& r, const variant_info& info) {
  const auto add = [&]<class Mesh, class T>(ordering o) {
    if constexpr (detail::written_for<Family, Mesh::kind>() &&
                  detail::reads_ordering_of<Family, Mesh>()) {
      r.add(info, Mesh::kind,
            implement(Backend::name, precision_of<T>, o,
                      detail::description<Backend, Family, Mesh, T>));
    }
  };
  const auto add_meshes = [&]<class T>() {
    // Cells have one numbering only, so a kernel without edges serves both orderings.
    constexpr bool edges = detail::has_edges(typename Family::computes{});
    constexpr auto other = edges ? ordering::per_vertex : ordering::per_orientation;
    using po = strided_mesh<ordering::per_orientation>;
    add.template operator()<po, T>(ordering::per_orientation);
    add.template operator()<strided_mesh<other>, T>(ordering::per_vertex);
    add.template operator()<indirect_mesh<layout::ifirst>, T>(ordering::per_orientation);
    add.template operator()<indirect_mesh<layout::ifirst>, T>(ordering::per_vertex);
  };
  for_each_precision(add_meshes);
}

}  // namespace icobench

#else

namespace icobench {

// At run time kernels are compiled, and registrations and rejections read only.
struct registry {
  template <class... Any>
  void add_absent(const Any&...);
};
template <class Backend, class Family>
void add_gpu_variant(registry&, const variant_info&);
std::string one_level_only(const launch&);

}  // namespace icobench

#endif
