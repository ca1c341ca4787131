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

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <icobench/gpu/kernel_compiler.hpp>
#include <icobench/registry.hpp>

namespace icobench {

namespace detail {

template <stage... fused>
constexpr stage last_stage(stages<fused...>) {
  stage last{};
  ((last = fused), ...);
  return last;
}
template <stage... fused>
constexpr bool has_edges(stages<fused...>) {
  return ((fused != stage::verts2cells) || ...);
}

template <class Kernel, class Mesh, class T, layout L, stage... fused>
Kernel make_kernel(const storage& s, stages<fused...> computes) {
  return Kernel{s.mesh<Mesh, L>(), s.domain<Mesh>(last_stage(computes)),
                s.operands<fused, T, L>()..., s.levels};
}

template <class Family>
constexpr overlap overlap_of() {
  if constexpr (requires { Family::halo(); }) { return Family::halo(); }
  return {};
}
template <class Family>
constexpr bool needs_torus_order() {
  if constexpr (requires { Family::torus_order; }) { return Family::torus_order; }
  return false;
}
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

// Why a launch will not do for this kernel, else "".
template <class Family>
std::string rejection(const launch& l) {
  constexpr overlap halo = overlap_of<Family>();
  if (l.block.x <= halo.x() || l.block.y <= halo.y()) {
    return "blocks overlap: they need more than " + std::to_string(halo.x()) + " x " +
           std::to_string(halo.y()) + " threads";
  }
  if constexpr (requires { Family::reject(l); }) { return Family::reject(l); }
  return "";
}

constexpr unsigned levels_of_thread(index_t levels, const launch& l) {
  return l.levels == 0 ? ceil_div(unsigned(levels), l.block.z) : unsigned(l.levels);
}

// Blocks that cover the points of the domain and the levels.
template <class Family, class Mesh, class Domain>
gpu::extent3 cover(const Mesh& mesh, const Domain& domain, index_t levels, const launch& l) {
  constexpr overlap halo = overlap_of<Family>();
  gpu::extent3 points{unsigned(domain.extent_x()), unsigned(domain.extent_y()), 1};
  if constexpr (requires { Family::points(domain); }) {
    points = Family::points(domain);
  } else if constexpr (requires { Family::points(mesh); }) {
    points = Family::points(mesh);
  }
  return {ceil_div(points.x, l.block.x - halo.x()), ceil_div(points.y, l.block.y - halo.y()),
          ceil_div(unsigned(levels), l.block.z * levels_of_thread(levels, l))};
}

// A block's shared memory. Throws `unsupported` where the device has less.
template <class Family, class Mesh, class T>
std::size_t shared_bytes(const launch& l, const gpu::device_facts& facts) {
  std::size_t bytes = 0;
  if constexpr (requires { Family::template shared_bytes<Mesh, T>(l); }) {
    bytes = Family::template shared_bytes<Mesh, T>(l);
  }
  if (bytes > facts.shared_bytes_per_block) {
    throw unsupported(to_string(l) + ": needs " + std::to_string(bytes) +
                      " bytes of shared memory a block, the device has " +
                      std::to_string(facts.shared_bytes_per_block));
  }
  return bytes;
}

// Both throw `unsupported` where a backend would refuse the launch or, worse, not notice.
inline void check_block(const launch& l, const gpu::device_facts& facts) {
  const auto threads = l.block.volume();
  const auto limit = facts.max_threads_per_block ? unsigned(facts.max_threads_per_block) : 1024u;
  if (threads > limit) {
    throw unsupported("a block of " + std::to_string(threads) + " threads exceeds the limit of " +
                      std::to_string(limit));
  }
  if (l.block.z > 64) {
    throw unsupported("a block of " + std::to_string(l.block.z) +
                      " threads along levels exceeds the limit of 64");
  }
}
inline void check_grid(const gpu::extent3& grid) {
  if (grid.y > 65535 || grid.z > 65535) {
    throw unsupported("a grid of " + std::to_string(grid.y) + " x " + std::to_string(grid.z) +
                      " blocks in its second and third direction exceeds the limit of 65535");
  }
}

// Tensor maps have rules of alignment.
inline void check_tensor_box(const gpu::tensor_box& box) {
  const auto refuse = [](const std::string& what, std::int64_t bytes) {
    throw unsupported("tensor maps need " + what + " of a multiple of 16 bytes, not " +
                      std::to_string(bytes));
  };
  for (const std::int64_t stride : box.stride) {
    if (stride % 16 != 0) { refuse("rows and planes", stride); }
  }
}

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

// For people.
template <class... Compiled>
std::string choices(compiled_list<Compiled...>) {
  std::string text;
  const auto add = [&]<class C>(C) {
    if constexpr (has_shape<C>) {
      launch shape = C::shape;
      if (shape.cluster == 1) { shape.cluster = 0; }
      text += " " + to_string(shape);
    } else {
      text += " min_blocks=" + std::to_string(C::min_blocks);
      if (C::tables == table_use::rows) { text += ",tables=rows"; }
      if (C::tables == table_use::by_vertex) { text += ",tables=by_vertex"; }
      if (C::max_threads > max_block_threads) {
        text += " (blocks of up to " + std::to_string(C::max_threads) + " threads)";
      }
    }
  };
  (add(Compiled{}), ...);
  return text;
}

template <class... Compiled>
constexpr bool has_shapes(compiled_list<Compiled...>) {
  return (has_shape<Compiled> && ...);
}
template <class Family>
constexpr bool has_own_grid = requires(const rectangle& domain, const launch& l) {
  Family::grid(domain, 1, l, 1u);
};
template <class Family, class Mesh, class T>
constexpr bool has_boxes = requires(typename Family::template kernel<Mesh, T>& kernel,
                                    const launch& l,
                                    gpu::tensor_map (*make)(const gpu::tensor_box&)) {
  Family::describe_boxes(kernel, l, make);
};

// What a search may try of a kernel compiled in one way; `reject` narrows it.
template <class Family, class Mesh, class Compiled>
launch_axes axes_of(Compiled) {
  const launch tuned = Family::tuned(Mesh::kind);
  launch_axes axes = every_launch(Mesh::kind, Compiled::max_threads);
  axes.include(tuned, Compiled::max_threads);
  axes.compiled.min_blocks = Compiled::min_blocks;
  axes.compiled.tables = Compiled::tables;
  if constexpr (has_shape<Compiled>) {
    axes.blocks = {Compiled::shape.block};
    axes.compiled.stages = Compiled::shape.stages;
    axes.compiled.copy_bytes = Compiled::shape.copy_bytes;
    if (!Compiled::any_levels) { axes.levels = {Compiled::shape.levels}; }
  }
  if constexpr (has_own_grid<Family>) {
    axes.orders = {block_order::by_size};
    axes.adjacent = {false};
    axes.stores = {hint::by_kernel};
  }
  axes.narrow(tuned, [](const launch& l) { return rejection<Family>(l).empty(); });
  return axes;
}

// Threads of a block that a kernel is compiled for at run time: few choices, so that launches share
// what is compiled.
constexpr unsigned bound_at_run_time(const gpu::extent3& block) {
  return block.volume() <= max_block_threads ? max_block_threads
         : block.volume() <= 512             ? 512
                                             : 1024;
}

// The same for each number of blocks that a multiprocessor can have at once, and threads a block.
template <class Family, class Mesh, class Compiled>
std::vector<launch_axes> axes_at_run_time(Compiled) {
  std::vector<launch_axes> result;
  for (const unsigned threads : {max_block_threads, 512u, 1024u}) {
    for (const int blocks : {1, 2, 3, 4, 5, 6, 8}) {
      if (unsigned(blocks) * threads > 2048) { continue; }
      launch_axes axes = axes_of<Family, Mesh>(compiled_for<1, Compiled::tables, 1024>{});
      axes.compiled.min_blocks = blocks;
      std::erase_if(axes.blocks,
                    [&](const gpu::extent3& block) { return bound_at_run_time(block) != threads; });
      launch_axes limited = axes;  // all together would be a million launches
      limited.orders = {block_order::by_size};
      limited.adjacent = {false};
      limited.stores = {hint::by_kernel};
      limited.grids = {1, 2, 4, 8, 16, 32};
      axes.constants = {false, true};
      axes.loads = {hint::by_kernel, hint::streaming};
      result.push_back(std::move(axes));
      result.push_back(std::move(limited));
    }
  }
  return result;
}

// Whether a cap of registers is one (more than 255 no thread has), and leaves 64.
constexpr bool caps_registers(const launch& l) {
  const auto threads = l.block.volume() * unsigned(l.min_blocks);
  return threads <= 1024 && (l.min_blocks == 1 || threads > 256);
}

// Other shapes: threads along levels (a march) or along rows (a pipeline).
template <class Family, class Mesh, class Compiled>
std::vector<launch_axes> shapes_at_run_time(Compiled) {
  launch_axes axes = axes_of<Family, Mesh>(Compiled{});
  axes.combine = [](const launch& l) { return caps_registers(l) && rejection<Family>(l).empty(); };
  if (!has_boxes<Family, Mesh, double>) { axes.constants = {false, true}; }
  axes.blocks.clear();
  std::vector<launch_axes> result;
  const auto add = [&](int stages, int copy_bytes, int cluster) {
    launch l = Family::tuned(Mesh::kind);
    l.stages = stages;
    l.copy_bytes = copy_bytes;
    l.cluster = cluster == Compiled::shape.cluster ? 0 : cluster;
    if (!rejection<Family>(l).empty()) { return; }
    for (l.min_blocks = 1; l.min_blocks <= 4; ++l.min_blocks) {
      axes.compiled = l;
      result.push_back(axes);
    }
  };
  if constexpr (Compiled::any_levels) {
    for (const unsigned x : {16u, 32u, 64u, 128u}) {
      for (const unsigned y : {4u, 8u, 12u, 16u, 24u, 32u}) { axes.blocks.push_back({x, y, 1}); }
    }
    for (const int stages : {2, 3, 4, 5}) {
      for (const int copy_bytes : {0, 8, 16}) { add(stages, copy_bytes, 0); }
    }
  } else {
    for (const unsigned x : {32u, 64u, 96u, 128u, 192u, 256u}) {
      for (unsigned z = 1; z <= 8; ++z) { axes.blocks.push_back({x, 1, z}); }
    }
    axes.levels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    for (const int cluster : {1, 2, 4}) { add(0, 0, cluster); }
  }
  return result;
}

template <class Family, class Mesh, class... Compiled>
launch_space space_of(compiled_list<Compiled...>) {
  launch_space space;
  const auto add = [&]<class C>(C choice) {
    if (Mesh::kind == access::strided && C::tables != table_use::slots) { return; }
    space.parts.push_back(axes_of<Family, Mesh>(choice));
    for (const launch_axes& axes : space.at_run_time) {
      if (axes.compiled.tables == C::tables) { return; }
    }
    const auto add_at_run_time = [&](std::vector<launch_axes> all) {
      for (launch_axes& axes : all) { space.at_run_time.push_back(std::move(axes)); }
    };
    if constexpr (has_shape<C>) {
      add_at_run_time(shapes_at_run_time<Family, Mesh>(choice));
    } else {
      add_at_run_time(axes_at_run_time<Family, Mesh>(choice));
    }
  };
  (add(Compiled{}), ...);
  return space;
}

template <class Kernel, class Compiled>
using ordered = in_order<Kernel, std::conditional_t<has_shape<Compiled>, Compiled, compiled_for<>>>;

// Whether threads of a block see each other's values in shared memory.
template <class Family, class Mesh, class T>
constexpr bool shares_memory = requires(const launch& l) {
  Family::template shared_bytes<Mesh, T>(l);
};
template <class Family, class Mesh, class T>
using taking_turns =
    in_turns<typename Family::template kernel<Mesh, T>, shares_memory<Family, Mesh, T>>;

// A type as C++ writes it.
template <class T>
std::string type_name() {
  const char* const mangled = typeid(T).name();
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), &std::free);
  return text ? text.get() : mangled;
}

// A kernel's words; those of padding are 0.
template <class Family, class Mesh, class T>
auto words_of(const storage& s) {
  using Kernel = typename Family::template kernel<Mesh, T>;
  static_assert(std::is_trivially_copyable_v<Kernel>);
  alignas(Kernel) unsigned char bytes[sizeof(Kernel)] = {};
  new (bytes) Kernel(make_kernel<Kernel, Mesh, T, layout::ifirst>(s, typename Family::computes{}));
  std::array<std::uint32_t, sizeof(Kernel) / sizeof(std::uint32_t)> words;
  std::memcpy(words.data(), bytes, sizeof words);
  return words;
}

// Those that compare so with what they would be with another storage.
template <class Family, class Mesh, class T, class Compare>
std::vector<std::pair<std::uint32_t, std::uint32_t>> words_that(const Compare& compare,
                                                                const storage& s,
                                                                const storage& other) {
  const auto words = words_of<Family, Mesh, T>(s), others = words_of<Family, Mesh, T>(other);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> result;
  for (std::uint32_t n = 0; n < words.size(); ++n) {
    if (compare(words[n], others[n])) { result.emplace_back(n, words[n]); }
  }
  return result;
}

// Fields know how they are to be stored and loaded.
template <stage... fused>
storage with_hints(storage s, const launch& l, stages<fused...>) {
  const auto set = [&](field f, hint h) { s.fields[std::size_t(f)].caching = h; };
  const auto add = [&](const stage_info& of) {
    for (const field f : of.outputs) { set(f, l.stores); }
    for (const field f : of.inputs) {
      if (info(f).on == of.on) { set(f, l.loads); }
    }
  };
  (add(info(fused)), ...);
  return s;
}

// The shape of a launch as C++ writes it: one like Compiled.
template <class Compiled>
std::string shape_name(const launch& l) {
  const auto list = [](auto... numbers) {
    std::string text;
    ((text += (text.empty() ? "<" : ", ") + std::to_string(numbers)), ...);
    return text + ">";
  };
  const gpu::extent3& b = l.block;
  return Compiled::any_levels
             ? "icobench::compiled_pipeline" + list(b.x, b.y, l.stages, l.copy_bytes, l.min_blocks)
             : "icobench::compiled_shape" + list(b.x, b.y, b.z, l.levels, l.cluster, l.min_blocks);
}

// What is compiled at run time for this launch. A backend knows the header that its variants are in
// where the program's sources say so.
template <class Backend, class Family, class Compiled, class Mesh, class T>
gpu::kernel_source source_of(const storage& s, const launch& l) {
  if constexpr (requires { Backend::header; }) {
    using Kernel = typename Family::template kernel<Mesh, T>;
    using ordered_kernel = ordered<Kernel, Compiled>;
    gpu::kernel_source source{std::string(Backend::header), type_name<ordered_kernel>(),
                              sizeof(ordered_kernel), l.min_blocks, bound_at_run_time(l.block)};
    if constexpr (has_shape<Compiled>) {  // the object is the same for each
      source.type = "icobench::detail::in_order<" + type_name<Kernel>() + ", " +
                    shape_name<Compiled>(l) + ">";
      source.max_threads = unsigned(l.block.volume());
    } else if (l.grid > 0) {
      source.type = type_name<taking_turns<Family, Mesh, T>>();
      source.size = sizeof(taking_turns<Family, Mesh, T>);
    }
    if (l.constants) {
      source.constants = words_that<Family, Mesh, T>(std::equal_to<>(), s, s.without_data());
    } else if (l.loads != hint::by_kernel) {
      storage other = s;
      for (raw_view& f : other.fields) { f.caching = hint(int(f.caching) + 1); }
      source.constants = words_that<Family, Mesh, T>(std::not_equal_to<>(), s, other);
    }
    return source;
  }
  return {};
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
  check_block(l, facts);
  const std::size_t shared = shared_bytes<Family, Mesh, T>(l, facts);
  const auto function = function_of<Backend, Family, Compiled, Mesh, T>(device, s, l);
  gpu::extent3 grid;
  unsigned cluster = 1;
  if constexpr (has_boxes<Family, Mesh, T>) {
    Family::describe_boxes(kernel, l, [](const gpu::tensor_box& box) {
      check_tensor_box(box);
      return Backend::make_tensor_map(box);
    });
  }
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

// Calls use(C{}) with the first C of the list that `accepts` takes: a mesh has only some uses of
// tables. Whether there was one.
template <class Mesh, class Accepts, class Use, class... Compiled>
bool use_first(compiled_list<Compiled...>, const Accepts& accepts, const Use& use) {
  const auto tried = [&]<class C>(C choice) {
    if constexpr (Mesh::kind == access::indirect || C::tables == table_use::slots) {
      if (!accepts(choice)) { return false; }
      use(choice);
      return true;
    }
    return false;
  };
  return (tried(Compiled{}) || ...);
}

// The choice whose bounds are those of the launch.
template <class Mesh, class Family, class Use>
bool use_compiled(const launch& l, const Use& use) {
  return use_first<Mesh>(
      typename Family::compiled{}, [&]<class C>(C) { return is_compiled_for<C>(l); }, use);
}
// The choice that is the same but for bounds, or the first shape: others are compiled like it.
// Tensor maps have to be where the object is, not where its constants are.
template <class Mesh, class Family, class Use>
bool use_at_run_time(const launch& l, const Use& use) {
  const auto differs_in_bounds = [&]<class C>(C) {
    if (l.tables != C::tables) { return false; }
    if constexpr (has_shape<C>) {
      return l.grid == 0 && (C::any_levels ? l.cluster : l.stages | l.copy_bytes) == 0 &&
             !((l.constants || l.loads != hint::by_kernel) && has_boxes<Family, Mesh, double>);
    }
    return (l.stages | l.copy_bytes | l.cluster) == 0;
  };
  return use_first<Mesh>(typename Family::compiled{}, differs_in_bounds, use);
}

// Why nothing is compiled at run time, else "".
template <class Backend>
std::string why_not_at_run_time(const gpu::device& device) {
  if constexpr (requires { Backend::header; }) {
    return device.compiler() ? device.compiler()->unavailable(device.facts().architecture)
                             : "nothing is compiled at run time";
  }
  return "the header of this kernel is not known, so that it could be compiled at run time";
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

// For each launch that is not compiled with the program but can be at run time: what to compile.
template <class Backend, class Mesh, class T, class... Families>
std::vector<gpu::kernel_source> sources_of(const storage& s, const std::vector<launch>& launches) {
  std::vector<gpu::kernel_source> result;
  std::size_t n = 0;
  const auto add = [&]<class Family>(const Family*) {
    const launch& l = launches.at(n++);
    if (!rejection<Family>(l).empty() || use_compiled<Mesh, Family>(l, [](auto) {})) { return; }
    use_at_run_time<Mesh, Family>(l, [&]<class C>(C) {
      using reading = typename mesh_reading<Mesh, C::tables>::type;
      result.push_back(source_of<Backend, Family, C, reading, T>(
          with_hints(s, l, typename Family::computes{}), with_cluster<C>(l)));
    });
  };
  (add(static_cast<const Families*>(nullptr)), ...);
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
