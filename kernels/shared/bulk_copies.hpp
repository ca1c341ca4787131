// Variants for devices that copy by themselves.
#pragma once

#include <icobench/gpu_variant.hpp>

namespace icobench::kernels {

// Registers a strided variant with bulk copies where the backend has them.
template <class Backend, class Family>
void add_if_bulk_copies(registry& r, const variant_info& info) {
  if constexpr (Backend::bulk_copies) {
    add_gpu_variant<Backend, Family>(r, info);
  } else {
    r.add_absent(info, access::strided, Backend::name, "bulk copies and clusters are sm_90's");
  }
}

}  // namespace icobench::kernels
