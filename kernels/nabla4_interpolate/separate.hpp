// nabla4, then interpolate: two launches with z_nabla4_e2 in device memory between them.
//
// Trades traffic (z_nabla4_e2 is written and read again, 48 bytes a vertex and level) for
// simplicity: each kernel is tuned for itself.
#pragma once

#include <interpolate/kloop.hpp>
#include <interpolate/naive.hpp>
#include <nabla4/kloop.hpp>
#include <nabla4/naive.hpp>

namespace icobench::kernels {

template <class Backend, bool vertical>
void add_separate_nabla4_interpolate(registry& r, const std::string& chain) {
  add_gpu_variant<Backend, nabla4_naive<vertical>, interpolate_naive>(
      r, {.chain = chain, .schedule = "naive", .description = "two naive launches"});
  add_gpu_variant<Backend, nabla4_kloop<vertical>, interpolate_kloop>(
      r, {.chain = chain, .schedule = "kloop", .description = "two kloop launches"});
}

template <class Backend>
void register_nabla4_interpolate_separate(registry& r) {
  add_separate_nabla4_interpolate<Backend, false>(r, "nabla4_interpolate");
  add_separate_nabla4_interpolate<Backend, true>(r, "nabla4_vertical_interpolate");
}

}  // namespace icobench::kernels
