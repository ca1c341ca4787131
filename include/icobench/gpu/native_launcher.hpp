// Launches on CUDA and HIP: what a caller of kernels needs of their runtimes. Compiled by nvcc or
// hipcc only.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <icobench/gpu/native_backend.hpp>
#include <icobench/gpu/processor.hpp>

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define ICOBENCH_GPU(name) hip##name
#define ICOBENCH_ATTRIBUTE(name) hipDeviceAttribute##name
#else
#include <cuda.h>
#include <cuda_runtime.h>

#define ICOBENCH_GPU(name) cuda##name
#define ICOBENCH_ATTRIBUTE(name) cudaDevAttr##name
#endif

namespace icobench::gpu {

namespace native {

inline void check(ICOBENCH_GPU(Error_t) status, const char* what) {
  if (status != ICOBENCH_GPU(Success)) {
    throw device_error(std::string(what) + ": " + ICOBENCH_GPU(GetErrorString)(status));
  }
}

// Bytes of a cache on the memory's side, of which the device's properties say nothing.
inline std::size_t memory_side_cache([[maybe_unused]] std::string_view architecture) {
#if defined(__HIPCC__)
  // the Infinity Cache of MI300 and MI350
  if (architecture.starts_with("gfx94") || architecture.starts_with("gfx950")) {
    return std::size_t(256) << 20;
  }
#endif
  return 0;
}

inline int attribute(decltype(ICOBENCH_ATTRIBUTE(ClockRate)) which, int ordinal) {
  int value = 0;
  return ICOBENCH_GPU(DeviceGetAttribute)(&value, which, ordinal) == ICOBENCH_GPU(Success) ? value
                                                                                           : 0;
}

// Adds launches to a processor, or to what is more than one.
template <class Base>
class launcher : public Base {
 public:
  kernel_facts inspect(const kernel_function& f, extent3 grid, extent3 block,
                       std::size_t shared_bytes) const override {
#if defined(__HIPCC__)
    if (f.image) { return inspect_loaded(f, grid, block, shared_bytes); }
#endif
    const void* const function = f.address;
    ICOBENCH_GPU(FuncAttributes) attributes{};
    check(ICOBENCH_GPU(FuncGetAttributes)(&attributes, function), "kernel attributes");
    // The limit belongs to the function, and its launches may differ: the most it can have.
    const std::size_t most = this->limits().shared_bytes_per_block - attributes.sharedSizeBytes;
    if (shared_bytes > 0) {
      check(ICOBENCH_GPU(FuncSetAttribute)(function,
                                           ICOBENCH_GPU(FuncAttributeMaxDynamicSharedMemorySize),
                                           static_cast<int>(most)),
            "shared memory of the kernel");
    }
    kernel_facts facts{grid, block, shared_bytes, attributes.numRegs, attributes.localSizeBytes, 0};
    check(ICOBENCH_GPU(OccupancyMaxActiveBlocksPerMultiprocessor)(
              &facts.blocks_per_multiprocessor, function, static_cast<int>(block.volume()),
              shared_bytes),
          "occupancy");
    return facts;
  }

  // Clusters do not fit everywhere: their blocks run on one part of the device, and parts differ in
  // size.
  unsigned resident_blocks(const kernel_function& f, extent3 block, std::size_t shared_bytes,
                           [[maybe_unused]] unsigned cluster) const override {
    const kernel_facts facts = inspect(f, {}, block, shared_bytes);
    const int all = this->limits().multiprocessors * facts.blocks_per_multiprocessor;
#if !defined(__HIPCC__)
    if (cluster > 1) {
      clustered_launch launch({{cluster, 1, 1}, block, shared_bytes, cluster});
      int clusters = 0;
      check(cudaOccupancyMaxActiveClusters(&clusters, f.address, &launch.config),
            "resident clusters");
      return std::min(unsigned(all), unsigned(clusters) * cluster);
    }
#endif
    return unsigned(all);
  }

  void launch(const kernel_function& f, const kernel_launch& l, const void* kernel,
              stream_handle handle) const override {
    const auto stream = static_cast<ICOBENCH_GPU(Stream_t)>(handle);
    void* arguments[] = {const_cast<void*>(kernel)};
#if defined(__HIPCC__)
    if (f.image) {
      check(hipModuleLaunchKernel(loaded(f), l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y,
                                  l.block.z, unsigned(l.shared_bytes), stream, arguments, nullptr),
            "launch");
      return;
    }
#else
    if (l.cluster > 1) {
      clustered_launch launch(l);
      launch.config.stream = stream;
      check(cudaLaunchKernelExC(&launch.config, f.address, arguments), "launch");
      return;
    }
#endif
    check(ICOBENCH_GPU(LaunchKernel)(f.address, dim3(l.grid.x, l.grid.y, l.grid.z),
                                     dim3(l.block.x, l.block.y, l.block.z), arguments,
                                     l.shared_bytes, stream),
          "launch");
  }
#if !defined(__HIPCC__)
  // The driver makes it; it is found at run time, so that programs start without one.
  tensor_map make_tensor_map(const tensor_box& box) const override {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult status{};
#if CUDART_VERSION >= 12050
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000,
                                           cudaEnableDefault, &status),
          "tensor maps");
#else
    check(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &found, cudaEnableDefault, &status),
          "tensor maps");
#endif
    if (status != cudaDriverEntryPointSuccess) {
      throw device_error("the driver makes no tensor maps");
    }
    const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
    cuuint64_t extent[4], stride[3];
    cuuint32_t size[4], every[4];
    for (int d = 0; d < 4; ++d) {
      extent[d] = cuuint64_t(box.extent[d]);
      size[d] = cuuint32_t(box.size[d]);
      every[d] = 1;
      if (d > 0) { stride[d - 1] = cuuint64_t(box.stride[d - 1]); }
    }
    static_assert(sizeof(tensor_map) == sizeof(CUtensorMap) &&
                  alignof(tensor_map) >= alignof(CUtensorMap));
    tensor_map result;
    const CUresult made = encode(
        reinterpret_cast<CUtensorMap*>(&result),
        box.element_bytes == 8 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT64 : CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        4, const_cast<void*>(box.data), extent, stride, size, every, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (made != CUDA_SUCCESS) {
      throw device_error("a tensor map is refused: driver error " + std::to_string(int(made)));
    }
    return result;
  }
#endif

 private:
#if defined(__HIPCC__)
  // The address of a kernel in an image, which HIP has other calls for.
  static hipFunction_t loaded(const kernel_function& f) {
    return static_cast<hipFunction_t>(const_cast<void*>(f.address));
  }
  // Dynamic shared memory needs no permission on AMD.
  static kernel_facts inspect_loaded(const kernel_function& f, extent3 grid, extent3 block,
                                     std::size_t shared_bytes) {
    kernel_facts facts{grid, block, shared_bytes};
    int local_bytes = 0;
    check(hipFuncGetAttribute(&facts.registers, HIP_FUNC_ATTRIBUTE_NUM_REGS, loaded(f)),
          "kernel attributes");
    check(hipFuncGetAttribute(&local_bytes, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, loaded(f)),
          "kernel attributes");
    facts.local_bytes = std::size_t(local_bytes);
    check(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
              &facts.blocks_per_multiprocessor, loaded(f), int(block.volume()), shared_bytes),
          "occupancy");
    return facts;
  }
#else
  // The runtime's own description, which refers to its attribute.
  struct clustered_launch {
    cudaLaunchAttribute attribute{};
    cudaLaunchConfig_t config{};

    explicit clustered_launch(const kernel_launch& l) {
      config.gridDim = dim3(l.grid.x, l.grid.y, l.grid.z);
      config.blockDim = dim3(l.block.x, l.block.y, l.block.z);
      config.dynamicSmemBytes = l.shared_bytes;
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim = {l.cluster, 1, 1};
      config.attrs = &attribute;
      config.numAttrs = 1;
    }
    clustered_launch(const clustered_launch&) = delete;
  };
#endif
};

inline processor_limits read_limits(int ordinal) {
  processor_limits limits;
#if defined(__HIPCC__)
  hipDeviceProp_t properties{};
  check(hipGetDeviceProperties(&properties, ordinal), "device properties");
  limits.architecture = properties.gcnArchName;
  limits.shared_bytes_per_block = properties.sharedMemPerBlock;
  limits.multiprocessors = properties.multiProcessorCount;
#else
  // Single attributes: all properties take milliseconds.
  const int major = attribute(cudaDevAttrComputeCapabilityMajor, ordinal);
  limits.architecture = "sm_" + std::to_string(major) +
                        std::to_string(attribute(cudaDevAttrComputeCapabilityMinor, ordinal));
  limits.shared_bytes_per_block =
      std::size_t(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal));
  limits.multiprocessors = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  limits.bulk_copies = major >= 9;
#endif
  limits.cache_bytes = std::max(std::size_t(attribute(ICOBENCH_ATTRIBUTE(L2CacheSize), ordinal)),
                                memory_side_cache(limits.architecture));
  return limits;
}

inline int current_device() {
  int ordinal = 0;
  check(ICOBENCH_GPU(GetDevice)(&ordinal), "current device");
  return ordinal;
}

// The device that is current when it is made. Throws device_error.
class current final : public launcher<processor> {
 public:
  current() : limits_(read_limits(current_device())) {}
  processor_limits limits() const override { return limits_; }

 private:
  processor_limits limits_;
};

}  // namespace native

// The caller's GPU.
using current_device = native::current;

}  // namespace icobench::gpu
