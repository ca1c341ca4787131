// The backend `simt` of the registry: see simt.hpp.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include <icobench/gpu/host.hpp>

#include "src/simt/simt.hpp"

namespace icobench::gpu {

// All its kernels are compiled with the program: bounds, which are all that run-time compilation
// adds, mean nothing here.
struct simt_device final : host_device {
  simt_device() : host_device("simt") {}
  device_facts facts() const override {
    device_facts result = host_device::facts();
    result.warp_size = static_cast<int>(settings.warp_size);
    result.bulk_copies = true;
    // AMD's, the least of all GPUs, and that of sm_90
    result.shared_bytes_per_block = std::size_t(settings.warp_size == 64 ? 64 : 227) << 10;
    return result;
  }

  // They run one after another: as many as show how work is shared among them.
  unsigned resident_blocks(const kernel_function&, extent3, std::size_t, unsigned) const override {
    return 20;
  }
  kernel_facts inspect(const kernel_function&, extent3 grid, extent3 block,
                       std::size_t shared_bytes) const override {
    return {grid, block, shared_bytes, 0, 0, 0};
  }
  // simt_thread reads the description itself.
  tensor_map make_tensor_map(const tensor_box& box) const override {
    static_assert(sizeof box <= sizeof(tensor_map));
    tensor_map result;
    std::memcpy(result.words, &box, sizeof box);
    return result;
  }
  void launch(const kernel_function& f, const kernel_launch& l, const void* kernel,
              stream_handle) const override {
    const auto body = reinterpret_cast<simt_body>(const_cast<void*>(f.address));
    simt_launch(l.grid, l.block, l.shared_bytes, body, kernel, settings);
  }

  simt_settings settings;  // warp size and order of threads: tests vary them
};

struct simt_backend {
  static constexpr std::string_view name = "simt";
  static constexpr bool bulk_copies = true;

  // One for all bounds: see simt_device.
  template <class Compiled, class Kernel>
  static kernel_function compiled() {
    return {reinterpret_cast<const void*>(&simt_body_of<Kernel>)};
  }

  static std::unique_ptr<device> open(int = 0) { return std::make_unique<simt_device>(); }
  static std::vector<device_facts> list() { return {simt_device().facts()}; }
};

}  // namespace icobench::gpu
