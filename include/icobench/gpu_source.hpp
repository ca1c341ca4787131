// What is compiled at run time of the kernel that a class describes, and for which launches.
#pragma once

#include <cxxabi.h>

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
#include <icobench/gpu_family.hpp>

namespace icobench::detail {

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

// Threads of a block that a kernel is compiled for at run time: few choices, so that launches share
// what is compiled.
constexpr unsigned bound_at_run_time(const gpu::extent3& block) {
  return block.volume() <= max_block_threads ? max_block_threads
         : block.volume() <= 512             ? 512
                                             : 1024;
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

// Why nothing is compiled at run time, else "".
template <class Backend>
std::string why_not_at_run_time(const gpu::device& device) {
  if constexpr (requires { Backend::header; }) {
    return device.compiler() ? device.compiler()->unavailable(device.facts().architecture)
                             : "nothing is compiled at run time";
  }
  return "the header of this kernel is not known, so that it could be compiled at run time";
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

}  // namespace icobench::detail
