// Turns kernels into a registered variant: for each precision, mesh and edge ordering.
//
// A variant file describes a kernel by a class with
//
//   using computes = stages<stage::nabla4>;      the stages it fuses, first to last
//   using compiled = compiled_list<compiled_for<1>>;      min_blocks, uses of tables to choose from
//   static constexpr launch tuned(access);       the default launch
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

namespace icobench {

// For the `reject` of kernels whose threads do not walk levels.
inline std::string one_level_only(const launch& l) {
  return l.levels == 1 ? "" : "a thread of this kernel computes one level";
}

}  // namespace icobench

#if !defined(ICOBENCH_AT_RUN_TIME)

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <icobench/gpu_space.hpp>
#include <icobench/registry.hpp>

namespace icobench {

namespace detail {

struct prepared_kernel {
  gpu::kernel_facts facts;
  std::size_t set_aside;
  std::function<void()> run;
};

// Bytes of what the stages read that does not depend on the level.
template <class Mesh, class T, stage... fused>
std::size_t coefficient_bytes(const storage& s, stages<fused...>) {
  const auto of_stage = [&](stage computed) {
    const auto domain = s.domain<Mesh>(computed);
    const std::size_t per_point = computed == stage::nabla4        ? Mesh::edges_per_point
                                  : computed == stage::verts2cells ? Mesh::cells_per_point
                                                                   : 1;
    std::size_t slots = 0;
    for (const field f : info(computed).inputs) {
      if (s.fields[std::size_t(f)].stride == 0) { slots += std::size_t(info(f).slots); }
    }
    return std::size_t(domain.extent_x()) * std::size_t(domain.extent_y()) * per_point * slots *
           sizeof(T);
  };
  return (of_stage(fused) + ...);
}

// The order of blocks for `by_size`. H200 (60 MB of L2), `naive` at 298x257 and 594x514: with 7 MB
// of coefficients points first is 8 per cent faster (interpolate), with 18 MB there is no
// difference (nabla4), with 29 MB levels first is 21 and with 73 MB 65 per cent faster.
inline bool levels_first(const launch& l, std::size_t coefficient_bytes,
                         const gpu::device_facts& facts) {
  return l.order == block_order::levels_first ||
         (l.order == block_order::by_size && coefficient_bytes > facts.cache_bytes / 4);
}

template <stage... fused>
constexpr std::size_t count(stages<fused...>) {
  return sizeof...(fused);
}

// Why the hints of a launch mean nothing to this kernel, else "".
template <class Family, class Mesh>
std::string hints_rejection(const launch& l, const gpu::device_facts& facts) {
  constexpr typename Family::computes computes;
  if (l.persist == kept::nothing) { return ""; }
  if (facts.persisting_cache_bytes == 0) {
    return "no cache of this device keeps lines on request";
  }
  if (l.persist == kept::tables && (Mesh::kind == access::strided || count(computes) > 1)) {
    return "the table of one stencil can be kept, this kernel reads none or several";
  }
  return "";
}

inline gpu::memory_range range_of(const raw_view& v, int slots, std::size_t element_bytes) {
  return {v.data, std::size_t(v.slot_stride) * std::size_t(slots) * element_bytes};
}

// What the cache is to keep: see launch.
template <class T, stage... fused>
gpu::memory_range kept_range(const storage& s, const launch& l, stages<fused...> computes) {
  if (l.persist == kept::tables) {
    switch (last_stage(computes)) {
      case stage::nabla4:
        return range_of(s.e2c2v, 4, sizeof(index_t));
      case stage::interpolate:
        return range_of(s.v2e, 6, sizeof(index_t));
      default:
        return range_of(s.c2v, 3, sizeof(index_t));
    }
  }
  gpu::memory_range all;
  if (l.persist == kept::coefficients) {
    // Those of all stages lie one after another: see resident_problem.
    const auto add = [&](stage computed) {
      for (const field f : info(computed).inputs) {
        const raw_view& v = s.fields[std::size_t(f)];
        if (v.stride != 0) { continue; }
        const auto one = range_of(v, info(f).slots, sizeof(T));
        if (!all.begin) { all.begin = one.begin; }
        all.bytes =
            std::size_t(static_cast<const char*>(one.begin) - static_cast<const char*>(all.begin)) +
            one.bytes;
      }
    };
    (add(fused), ...);
  }
  return all;
}

// The kernel compiled with the program, or for this launch at run time.
template <class Backend, class Family, class Compiled, class Mesh, class T>
typename Backend::function function_of(const gpu::device& device, const storage& s,
                                       const launch& l) {
  if (!is_compiled_for<Compiled>(l)) {
    return Backend::load(*device.compiler()->compile(
        source_of<Backend, Family, Compiled, Mesh, T>(s, l), device.facts().architecture));
  }
  using Kernel = ordered<typename Family::template kernel<Mesh, T>, Compiled>;
  return Backend::template compiled<typename Backend::template instance<Compiled>, Kernel>();
}

template <class Backend, class Family, class Compiled, class Mesh, class T>
prepared_kernel prepare_compiled(const gpu::device& device, const storage& s, const launch& l) {
  using Kernel = typename Family::template kernel<Mesh, T>;
  const typename Family::computes computes;
  auto kernel = make_kernel<Kernel, Mesh, T, layout::ifirst>(s, computes);
  using ordered_kernel = ordered<Kernel, Compiled>;
  const gpu::device_facts facts = device.facts();
  const std::size_t shared = shared_bytes<Family, Mesh, T>(l, facts);
  gpu::extent3 grid;
  unsigned cluster = 1;
  if constexpr (has_boxes<Family, Mesh, T>) {
    Family::describe_boxes(kernel, l, [](const gpu::tensor_box& box) {
      check_tensor_box(box);
      return Backend::make_tensor_map(box);
    });
  }
  const auto function = function_of<Backend, Family, Compiled, Mesh, T>(device, s, l);
  if constexpr (has_own_grid<Family>) {
    cluster = Family::cluster(s.levels, l);
    grid = Family::grid(kernel.domain, s.levels, l,
                        Backend::resident_blocks(device, function, l.block, shared, cluster));
  } else {
    grid = cover<Family>(kernel.mesh, kernel.domain, s.levels, l);
  }
  // Kernels that make their own grid know the order of its blocks.
  bool by_levels =
      !has_own_grid<Family> && levels_first(l, coefficient_bytes<Mesh, T>(s, computes), facts);
  // Points along y or z have a limit that those along x have not.
  if (l.order == block_order::by_size && std::max(grid.x, grid.y) > 65535) { by_levels = false; }
  if (by_levels) { grid = {grid.z, grid.x, grid.y}; }
  check_grid(grid);
  const ordered_kernel in_turn{kernel, by_levels,
                               l.adjacent ? index_t(levels_of_thread(s.levels, l)) : 0};
  const gpu::memory_range kept = kept_range<T>(s, l, computes);
  const std::size_t set_aside = std::min(kept.bytes, facts.persisting_cache_bytes);
  const auto window = Backend::keep(kept, set_aside);
  const auto prepared = [&](gpu::extent3 blocks, const auto& called) -> prepared_kernel {
    gpu::kernel_facts of_kernel = Backend::inspect(device, function, blocks, l.block, shared);
    of_kernel.compiled_at_run_time = !is_compiled_for<Compiled>(l);
    return {of_kernel, set_aside,
            [&device, function, blocks, block = l.block, shared, called, cluster, window] {
              Backend::launch(device, function, blocks, block, shared, called, cluster, window);
            }};
  };
  if constexpr (Backend::loads_images && !has_shape<Compiled>) {
    if (l.grid > 0) {
      const auto most = std::min<unsigned long long>(
          grid.volume(), unsigned(l.grid) * unsigned(facts.multiprocessors));
      return prepared({unsigned(most), 1, 1}, taking_turns<Family, Mesh, T>{in_turn, grid});
    }
  }
  return prepared(grid, in_turn);
}

template <class Backend, class Family, class Mesh, class T>
prepared_kernel prepare_kernel(const gpu::device& device, storage s, const launch& l) {
  const auto refuse = [&l](const std::string& reason) {
    if (!reason.empty()) { throw unsupported(to_string(l) + ": " + reason); }
  };
  const gpu::device_facts facts = device.facts();
  refuse(rejection<Family>(l));
  refuse(hints_rejection<Family, Mesh>(l, facts));
  if (Mesh::kind == access::indirect && needs_torus_order<Family>() && !s.torus_order) {
    throw unsupported("its tables have to be in the slot order of a torus");
  }
  if (l.tables == table_use::by_vertex && !s.diamonds) {
    refuse("edges in threes, as a torus numbers them, are needed");
  }
  if constexpr (requires { requires Family::bulk_copies; }) {
    if (!facts.bulk_copies) {
      throw unsupported("bulk copies need sm_90, the device is " + facts.architecture);
    }
    // Levels and slots are aligned by the storage; rows of floats may start anywhere.
    if ((s.row | s.plane) % 2 != 0) { throw unsupported("bulk copies need rows of even length"); }
  }
  constexpr bool own_grid = has_own_grid<Family>;
  if (own_grid && (l.adjacent || l.order != block_order::by_size || l.stores != hint::by_kernel ||
                   l.loads != hint::by_kernel)) {
    refuse("this kernel orders its blocks, levels, stores and loads itself");
  }
  s = with_hints(s, l, typename Family::computes{});
  prepared_kernel result;
  const auto prepare = [&]<class C>(C) {
    using reading = typename mesh_reading<Mesh, C::tables>::type;
    result = prepare_compiled<Backend, Family, C, reading, T>(device, s, with_cluster<C>(l));
  };
  if (use_compiled<Mesh, Family>(l, prepare)) { return result; }
  const bool run_time_only = l.constants || l.grid > 0 || l.loads != hint::by_kernel;
  const std::string reason =
      run_time_only
          ? "constants, hints for loads and limits of the grid are compiled at run time"
          : "min_blocks=" + std::to_string(l.min_blocks) +
                (own_grid ? ", the block or the levels are" : " or the use of tables is") +
                " not among the compiled choices:" + choices(typename Family::compiled{});
  const std::string no_compiler = why_not_at_run_time<Backend>(device);
  if (!no_compiler.empty()) { refuse(reason + "; " + no_compiler); }
  constexpr bool shaped = has_shapes(typename Family::compiled{});
  if ((l.grid > 0 || shaped) && !Backend::loads_images) {
    refuse(reason + "; not for this backend");
  }
  if (!use_at_run_time<Mesh, Family>(l, prepare)) {
    refuse(reason + (run_time_only ? ", which this kernel is not" : ""));
  }
  return result;
}

template <class Backend, class Mesh, class T, class... Families>
plan prepare_gpu(gpu::device& device, const storage& s, const std::vector<launch>& launches) {
  plan result;
  std::vector<std::function<void()>> runs;
  std::size_t n = 0;
  const auto add = [&]<class Family>(const Family*) {
    const launch& l = launches.at(n++);
    prepared_kernel k = prepare_kernel<Backend, Family, Mesh, T>(device, s, l);
    result.kernels.push_back(k.facts);
    result.set_aside = std::max(result.set_aside, k.set_aside);
    runs.push_back(std::move(k.run));
    if constexpr (requires { Family::template facts<Mesh>(device, s, l); }) {
      result.facts.merge(Family::template facts<Mesh>(device, s, l));
    }
  };
  (add(static_cast<const Families*>(nullptr)), ...);
  result.run = [runs = std::move(runs)] {
    for (const auto& run : runs) { run(); }
  };
  return result;
}

}  // namespace detail

// Registers the variant that launches these kernels one after another, for the backend this source
// is compiled for, on the meshes they are written for, in both precisions and both edge orderings.
template <class Backend, class... Families>
void add_gpu_variant(registry& r, const variant_info& info) {
  const auto add = [&]<class Mesh, class T>(ordering o) {
    if constexpr (((detail::written_for<Families, Mesh::kind>() &&
                    detail::reads_ordering_of<Families, Mesh>()) &&
                   ...)) {
      r.add(info, Mesh::kind,
            {.backend = std::string(Backend::name),
             .precision_ = precision_of<T>,
             .ordering_ = o,
             .layout_ = layout::ifirst,
             .defaults = {Families::tuned(Mesh::kind)...},
             .spaces = {detail::space_of<Families, Mesh>(typename Families::compiled{})...},
             .prepare = &detail::prepare_gpu<Backend, Mesh, T, Families...>,
             .sources = &detail::sources_of<Backend, Mesh, T, Families...>,
             .needs_torus = (detail::needs_torus_order<Families>() || ...)});
    }
  };
  const auto add_meshes = [&]<class T>() {
    // Cells have one numbering only, so a kernel without edges serves both orderings.
    constexpr bool edges = (detail::has_edges(typename Families::computes{}) || ...);
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

// At run time kernels are compiled, and registrations read only.
struct registry {
  template <class... Any>
  void add_absent(const Any&...);
};
template <class Backend, class... Families>
void add_gpu_variant(registry&, const variant_info&);

}  // namespace icobench

#endif
