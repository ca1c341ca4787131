// The backend `simt` of the registry: see simt.hpp.
#pragma once

#include <cstring>
#include <memory>

#include <icobench/gpu/host.hpp>
#include <icobench/gpu/kernel_facts.hpp>
#include <icobench/gpu/simt.hpp>
#include <icobench/launch.hpp>

namespace icobench::gpu {

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
  simt_settings settings;  // warp size and order of threads: tests vary them
};

struct simt_backend {
  static constexpr std::string_view name = "simt";
  static constexpr bool bulk_copies = true;

  // Register caps mean nothing here: one instance serves every choice.
  template <class Compiled>
  using instance = compiled_for<>;

  struct kept_window {};  // no cache to keep lines in
  static kept_window keep(const memory_range&, std::size_t) { return {}; }

  // All kernels are compiled with the program: bounds, which are all that run-time compilation
  // adds, mean nothing here.
  static constexpr bool loads_images = false;
  struct function {};
  template <class Compiled, class Kernel>
  static function compiled() {
    return {};
  }
  static function load(const compiled_kernel&) { return {}; }

  // They run one after another: as many as show how work is shared among them.
  static unsigned resident_blocks(const device&, const function&, extent3, std::size_t, unsigned) {
    return 20;
  }
  static kernel_facts inspect(const device&, const function&, extent3 grid, extent3 block,
                              std::size_t shared_bytes) {
    return {grid, block, shared_bytes, 0, 0, 0};
  }

  template <class Kernel>
  static void launch(const device& d, const function&, extent3 grid, extent3 block,
                     std::size_t shared_bytes, const Kernel& kernel, unsigned = 1,
                     const kept_window& = {}) {
    simt_launch(grid, block, shared_bytes, kernel, static_cast<const simt_device&>(d).settings);
  }
  template <class Compiled, class Kernel>
  static void launch(const device& d, extent3 grid, extent3 block, std::size_t shared_bytes,
                     const Kernel& kernel) {
    launch(d, function{}, grid, block, shared_bytes, kernel);
  }

  // simt_thread reads the description itself.
  static tensor_map make_tensor_map(const tensor_box& box) {
    static_assert(sizeof box <= sizeof(tensor_map));
    tensor_map result;
    std::memcpy(result.words, &box, sizeof box);
    return result;
  }

  static std::unique_ptr<device> open(int = 0) { return std::make_unique<simt_device>(); }
  static std::vector<device_facts> list() { return {simt_device().facts()}; }
};

}  // namespace icobench::gpu
