// What the variants of nabla4_interpolate and nabla4_vertical_interpolate share.
#pragma once

#include <shared/levels.hpp>

namespace icobench::kernels {

// Registers a kernel for each of the chains as `kloop`.
template <class Backend, class Family, class Vertical>
void add_kloop(registry& r, variant_info info) {
  info.schedule = "kloop";
  info.chain = "nabla4_interpolate";
  add_gpu_variant<Backend, Family>(r, info);
  info.chain = "nabla4_vertical_interpolate";
  add_gpu_variant<Backend, Vertical>(r, info);
}

// Registers Family<vertical, walks> for both chains as `naive` and as `kloop`.
template <class Backend, template <bool, bool> class Family>
void add_naive_and_kloop(registry& r, variant_info info) {
  const auto add = [&]<bool vertical, bool walks>() {
    info.chain = vertical ? "nabla4_vertical_interpolate" : "nabla4_interpolate";
    info.schedule = walks ? "kloop" : "naive";
    add_gpu_variant<Backend, Family<vertical, walks>>(r, info);
  };
  add.template operator()<false, false>();
  add.template operator()<false, true>();
  add.template operator()<true, false>();
  add.template operator()<true, true>();
}

}  // namespace icobench::kernels
