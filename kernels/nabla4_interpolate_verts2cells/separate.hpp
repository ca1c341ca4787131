// nabla4, interpolate, verts2cells: three launches, intermediates in device memory.
//
// Trades traffic (80 bytes a vertex and level written and read again) for simplicity.
#pragma once

#include <interpolate/kloop.hpp>
#include <interpolate/naive.hpp>
#include <nabla4/kloop.hpp>
#include <nabla4/naive.hpp>
#include <verts2cells/kloop.hpp>
#include <verts2cells/naive.hpp>

namespace icobench::kernels {

template <class Backend>
void register_nabla4_interpolate_verts2cells_separate(registry& r) {
  const std::string chain = "nabla4_interpolate_verts2cells";
  add_gpu_variant<Backend, nabla4_naive<false>, interpolate_naive, verts2cells_naive>(
      r, {.chain = chain, .schedule = "naive", .description = "three naive launches"});
  add_gpu_variant<Backend, nabla4_kloop<false>, interpolate_kloop, verts2cells_kloop>(
      r, {.chain = chain, .schedule = "kloop", .description = "three kloop launches"});
}

}  // namespace icobench::kernels
