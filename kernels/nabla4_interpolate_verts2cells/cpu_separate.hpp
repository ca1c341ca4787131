// nabla4, interpolate, verts2cells, with intermediates in memory.
#pragma once

#include <interpolate/cpu_ifirst.hpp>
#include <interpolate/cpu_kfirst.hpp>
#include <nabla4/cpu_ifirst.hpp>
#include <nabla4/cpu_kfirst.hpp>
#include <verts2cells/cpu_ifirst.hpp>
#include <verts2cells/cpu_kfirst.hpp>

namespace icobench::kernels {

template <class Backend>
void register_nabla4_interpolate_verts2cells_cpu_separate(registry& r) {
  const std::string chain = "nabla4_interpolate_verts2cells";
  const std::string text = "the loops of the three stencils one after another";
  add_cpu_variant<nabla4_ifirst<false>, interpolate_ifirst, verts2cells_ifirst>(
      r, {.chain = chain, .schedule = "ifirst", .description = text});
  add_cpu_variant<nabla4_kfirst<false>, interpolate_kfirst, verts2cells_kfirst>(
      r, {.chain = chain, .schedule = "kfirst", .description = text});
}

}  // namespace icobench::kernels
