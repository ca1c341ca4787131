// Run-time compilation for NVIDIA's and AMD's GPUs. The vendor's library is found when it is
// needed: the program starts without it. Compiling needs no GPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <icobench/gpu/device.hpp>

#include "src/rtc/kernel_cache.hpp"

namespace icobench {

// Where a compiler at run time finds the library's headers.
struct header_folder {
  std::string path;  // that has icobench/

  // $ICOBENCH_HEADERS, else where this program was built or installed. Throws device_error, which
  // says where it looked.
  static header_folder find();
  // Of all headers in it.
  std::string hash() const;
};

// `driver`: its version, part of what cached kernels are for. `flags`: those of the build, as nvcc
// or clang got them; what changes the code of a kernel is passed on.
std::shared_ptr<gpu::kernel_compiler> make_nvrtc(std::string driver, kernel_cache,
                                                 const std::string& flags = "");
std::shared_ptr<gpu::kernel_compiler> make_hiprtc(std::string driver, kernel_cache,
                                                  const std::string& flags = "");

// The compiler for a device, or null where its backend has none. Devices share what is compiled.
std::shared_ptr<gpu::kernel_compiler> make_compiler(const gpu::device&);

// Compiles by all cores, so that nobody waits for one after another; what fails is reported when
// somebody needs it. Returns how many different ones there were.
std::size_t compile_ahead(gpu::kernel_compiler&, const std::vector<gpu::kernel_source>&,
                          const std::string& architecture);

}  // namespace icobench
