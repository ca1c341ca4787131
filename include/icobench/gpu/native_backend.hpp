// CUDA and HIP as the backend of kernels: what a source with kernels needs. Compiled by nvcc or
// hipcc only.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include <icobench/gpu/native_kernel.hpp>
#include <icobench/gpu/processor.hpp>

namespace icobench::gpu {

class device;
struct device_facts;

struct native_backend {
#if defined(__HIPCC__)
  static constexpr std::string_view name = "hip";
  static constexpr bool bulk_copies = false;
#else
  static constexpr std::string_view name = "cuda";
  static constexpr bool bulk_copies = true;  // from sm_90 on
#endif

  template <class Compiled, class Kernel>
  static kernel_function compiled() {
    return {reinterpret_cast<const void*>(&entry<Compiled, Kernel>)};
  }

  // Defined in native.hpp. Throws device_error when there is no such device.
  static std::unique_ptr<device> open(int index = 0);
  // Throws device_error where there is no GPU at all.
  static std::vector<device_facts> list();
};

}  // namespace icobench::gpu
