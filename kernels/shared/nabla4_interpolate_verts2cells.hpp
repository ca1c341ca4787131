// What the variants of nabla4_interpolate_verts2cells share.
#pragma once

#include <shared/levels.hpp>

namespace icobench::kernels {

// Registers Family<walks> as `naive` and as `kloop`.
template <class Backend, template <bool> class Family>
void add_naive_and_kloop(registry& r, variant_info info) {
  info.chain = "nabla4_interpolate_verts2cells";
  info.schedule = "naive";
  add_gpu_variant<Backend, Family<false>>(r, info);
  info.schedule = "kloop";
  add_gpu_variant<Backend, Family<true>>(r, info);
}

}  // namespace icobench::kernels
