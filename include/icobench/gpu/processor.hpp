// What launches kernels: a device as the library knows it, whatever its runtime.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include <icobench/gpu/kernel_facts.hpp>
#include <icobench/gpu/memory.hpp>

namespace icobench::gpu {

// The device or its runtime failed; the message carries the runtime's own words.
class device_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What launches depend on.
struct processor_limits {
  std::string architecture;  // "sm_90", "gfx90a", or the CPU's
  int multiprocessors = 0;
  std::size_t cache_bytes = 0;             // last level, a cache on the memory's side included
  std::size_t shared_bytes_per_block = 0;  // with opt-in
  bool bulk_copies = false;                // to shared memory, and clusters: sm_90
};

// A kernel as the device's runtime knows it: compiled with the program, or part of an image.
struct kernel_function {
  const void* address = nullptr;
  std::shared_ptr<void> image{};
};

// A launch but for the kernel and its argument.
struct kernel_launch {
  extent3 grid{}, block{};
  std::size_t shared_bytes = 0;
  unsigned cluster = 1;  // blocks along x that are one
};

// cudaStream_t or hipStream_t; the CPU has none.
using stream_handle = void*;

// CUDA's or HIP's kernels: native_backend.hpp.
struct native_backend;

class processor {
 public:
  virtual ~processor() = default;

  virtual processor_limits limits() const = 0;
  // Facts of a launch. Also asks for its shared memory: called before a launch that has more than
  // every kernel may have (48 KB).
  virtual kernel_facts inspect(const kernel_function&, extent3 /*grid*/, extent3 /*block*/,
                               std::size_t /*shared_bytes*/) const {
    throw no_kernels();
  }
  // Blocks that the device runs at once.
  virtual unsigned resident_blocks(const kernel_function&, extent3 /*block*/,
                                   std::size_t /*shared_bytes*/, unsigned /*cluster*/) const {
    throw no_kernels();
  }
  virtual tensor_map make_tensor_map(const tensor_box&) const { throw no_kernels(); }
  // Enqueued. `kernel`: the object that each thread calls.
  virtual void launch(const kernel_function&, const kernel_launch&, const void* /*kernel*/,
                      stream_handle) const {
    throw no_kernels();
  }

 private:
  static device_error no_kernels() { return device_error("this device launches no such kernels"); }
};

}  // namespace icobench::gpu
