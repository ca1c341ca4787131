// What follows from the class that describes a kernel (gpu_variant.hpp says what it has): the
// kernel for a problem, its grid and shared memory, the launches that will not do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <icobench/gpu_kernel.hpp>
#include <icobench/registry.hpp>

namespace icobench::detail {

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

// Why no GPU runs such a block, else "": a backend would refuse it or, worse, not notice.
inline std::string block_rejection(const gpu::extent3& block) {
  if (block.volume() > 1024) {
    return "a block of " + std::to_string(block.volume()) + " threads exceeds the limit of 1024";
  }
  if (block.z > 64) {
    return "a block of " + std::to_string(block.z) +
           " threads along levels exceeds the limit of 64";
  }
  return "";
}

// Why a launch will not do for this kernel, else "".
template <class Family>
std::string rejection(const launch& l) {
  constexpr overlap halo = overlap_of<Family>();
  if (l.block.x <= halo.x() || l.block.y <= halo.y()) {
    return "blocks overlap: they need more than " + std::to_string(halo.x()) + " x " +
           std::to_string(halo.y()) + " threads";
  }
  if (const std::string reason = block_rejection(l.block); !reason.empty()) { return reason; }
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

// Throws `unsupported` where a backend would refuse the grid.
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

}  // namespace icobench::detail
