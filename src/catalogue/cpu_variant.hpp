// Makes variants of plain loops on the CPU: see include/icobench/loops.hpp.
#pragma once

#include <tuple>

#include <icobench/gpu/host.hpp>
#include <icobench/loops.hpp>

#include "src/catalogue/gpu_variant.hpp"

namespace icobench {

struct cpu_backend {
  static constexpr std::string_view name = "cpu";
  static std::unique_ptr<gpu::device> open(int = 0) {
    return std::make_unique<gpu::host_device>(name);
  }
  static std::vector<gpu::device_facts> list() { return {gpu::host_device(name).facts()}; }
};

namespace detail {

template <class Loops, class Mesh, class T, stage... fused>
std::function<void()> bind_loops(const storage& s, const launch& l, stages<fused...> computes) {
  constexpr layout L = Loops::memory;
  return [mesh = s.mesh<Mesh, L>(), domain = s.domain<Mesh>(last_stage(computes)),
          operands = std::make_tuple(s.operands<fused, T, L>()...), levels = s.levels, l] {
    std::apply(
        [&](const auto&... each) {
          Loops::template run<Mesh, T>(mesh, domain, each..., levels, l);
        },
        operands);
  };
}

template <class Mesh, class T, class Loops>
plan prepare_cpu(gpu::device&, const storage& s, const std::vector<launch>& launches) {
  launch tile;
  tile.block.x = launches.at(0).block.x;
  if (launches[0] != tile) {
    throw unsupported(to_string(launches[0]) + ": loops on the CPU have the points of a tile only");
  }
  plan result;
  result.run = bind_loops<Loops, Mesh, T>(s, launches.at(0), typename Loops::computes{});
  return result;
}

}  // namespace detail

// Adds the variant that runs these loops, strided and indirect, in both precisions and both edge
// orderings.
template <class Backend, cpu_loops Loops>
void add_variant(registry& r) {
  constexpr layout L = Loops::memory;
  const auto add = [&]<class Mesh, class T>(ordering o) {
    r.add(Loops::info, Mesh::kind,
          {.backend = "cpu",
           .precision_ = precision_of<T>,
           .ordering_ = o,
           .layout_ = L,
           .defaults = {Loops::tuned()},
           .prepare = &detail::prepare_cpu<Mesh, T, Loops>});
  };
  const auto add_meshes = [&]<class T>() {
    constexpr auto pv = ordering::per_vertex, po = ordering::per_orientation;
    add.template operator()<strided_mesh<po>, T>(po);
    add.template operator()<strided_mesh<pv>, T>(pv);
    add.template operator()<indirect_mesh<L>, T>(po);
    add.template operator()<indirect_mesh<L>, T>(pv);
  };
  for_each_precision(add_meshes);
}

}  // namespace icobench
