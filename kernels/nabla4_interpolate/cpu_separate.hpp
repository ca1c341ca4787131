// nabla4, then interpolate, with z_nabla4_e2 in memory between them.
#pragma once

#include <interpolate/cpu_ifirst.hpp>
#include <interpolate/cpu_kfirst.hpp>
#include <nabla4/cpu_ifirst.hpp>
#include <nabla4/cpu_kfirst.hpp>

namespace icobench::kernels {

template <bool vertical>
void add_cpu_separate_nabla4_interpolate(registry& r, const std::string& chain) {
  const std::string text = "the loops of both stencils one after another";
  add_cpu_variant<nabla4_ifirst<vertical>, interpolate_ifirst>(
      r, {.chain = chain, .schedule = "ifirst", .description = text});
  add_cpu_variant<nabla4_kfirst<vertical>, interpolate_kfirst>(
      r, {.chain = chain, .schedule = "kfirst", .description = text});
}

template <class Backend>
void register_nabla4_interpolate_cpu_separate(registry& r) {
  add_cpu_separate_nabla4_interpolate<false>(r, "nabla4_interpolate");
  add_cpu_separate_nabla4_interpolate<true>(r, "nabla4_vertical_interpolate");
}

}  // namespace icobench::kernels
