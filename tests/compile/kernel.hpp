// A small kernel that is right, but for what a case defines.
#pragma once

#include <icobench/prepare.hpp>

#include "src/simt/backend.hpp"

#ifndef TRAIT
#define TRAIT .halo
#endif
#ifndef INFO
#define INFO info
#endif

struct small {
  using computes = icobench::stages<icobench::stage::interpolate>;
  static constexpr icobench::kernel_info INFO{.chain = "interpolate", .schedule = "small"};
  using compiled = icobench::compiled_list<icobench::compiled_for<>>;
  static constexpr icobench::launch tuned(icobench::access, icobench::precision) { return {}; }
  template <class Mesh, class T>
  static constexpr icobench::kernel_traits<Mesh> traits{TRAIT = {1, 0, 0, 0}};

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    typename Mesh::domain domain;
    icobench::interpolate_operands<T> f;
    icobench::index_t levels;
    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread&) const {}
  };
};

template <class Operands>
void call(const icobench::gpu::processor& device, const Operands& operands) {
  icobench::prepare<small, icobench::gpu::simt_backend>(device, icobench::torus_mesh{},
                                                        icobench::rectangle{}, 1, operands)();
}
