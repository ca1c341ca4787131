// A device of CUDA or HIP: what calls their runtimes. Compiled by nvcc or hipcc only.
#pragma once

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <icobench/gpu/native_backend.hpp>
#include <icobench/launch.hpp>

#if defined(__HIPCC__)
#include <dlfcn.h>
#include <hip/hip_runtime.h>
#define ICOBENCH_GPU(name) hip##name
#define ICOBENCH_DEVICE_PROPERTIES hipDeviceProp_t
#define ICOBENCH_ATTRIBUTE(name) hipDeviceAttribute##name
#define ICOBENCH_PINNED_ALLOCATE hipHostMalloc
#define ICOBENCH_PINNED_FREE hipHostFree
#else
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#define ICOBENCH_GPU(name) cuda##name
#define ICOBENCH_DEVICE_PROPERTIES cudaDeviceProp
#define ICOBENCH_ATTRIBUTE(name) cudaDevAttr##name
#define ICOBENCH_PINNED_ALLOCATE cudaHostAlloc
#define ICOBENCH_PINNED_FREE cudaFreeHost
#endif

namespace icobench::gpu {

namespace native {

inline void check(ICOBENCH_GPU(Error_t) status, const char* what) {
  if (status != ICOBENCH_GPU(Success)) {
    throw device_error(std::string(what) + ": " + ICOBENCH_GPU(GetErrorString)(status));
  }
}

// Reads a buffer larger than the cache. The sum is stored under a condition that never holds, so
// that the compiler keeps the loads and no line becomes dirty.
struct cache_reader {
  const double* data;
  std::size_t count;
  double* sink;
  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    double sum = 0;
    for (std::size_t i = t.x(); i < count; i += t.extent_x()) { sum += data[i]; }
    if (sum == 1.7e308) { *sink = sum; }
  }
};

// One that waits for the first stream, which waits for it; or, for captures, one that does not.
class stream final : public gpu::stream {
 public:
  explicit stream(bool independent = false) {
    check(
        ICOBENCH_GPU(StreamCreateWithFlags)(
            &handle_, independent ? ICOBENCH_GPU(StreamNonBlocking) : ICOBENCH_GPU(StreamDefault)),
        "create stream");
  }
  stream(const stream&) = delete;
  ~stream() override { (void)ICOBENCH_GPU(StreamDestroy)(handle_); }
  ICOBENCH_GPU(Stream_t) handle() const { return handle_; }

 private:
  ICOBENCH_GPU(Stream_t) handle_ = nullptr;
};

// `current`: where the device keeps its current stream.
class event final : public gpu::event {
 public:
  explicit event(const ICOBENCH_GPU(Stream_t) & current) : current_(current) {
    check(ICOBENCH_GPU(EventCreate)(&handle_), "create event");
  }
  event(const event&) = delete;
  ~event() override { (void)ICOBENCH_GPU(EventDestroy)(handle_); }
  void record() override { check(ICOBENCH_GPU(EventRecord)(handle_, current_), "record event"); }
  void await() const override {
    check(ICOBENCH_GPU(StreamWaitEvent)(current_, handle_, 0), "wait for event");
  }
  double seconds_since(const gpu::event& start) const override {
    float milliseconds = 0;
    check(ICOBENCH_GPU(EventElapsedTime)(&milliseconds, static_cast<const event&>(start).handle_,
                                         handle_),
          "elapsed time");
    return 1e-3 * milliseconds;
  }

 private:
  const ICOBENCH_GPU(Stream_t) & current_;
  ICOBENCH_GPU(Event_t) handle_ = nullptr;
};

// A named range in the vendor's profiler, for as long as it lives: NVTX, or rocTX where its library
// is installed.
class range {
 public:
#if defined(__HIPCC__)
  explicit range(const std::string& name) {
    if (const auto push = symbol<int (*)(const char*)>("roctxRangePushA")) { push(name.c_str()); }
  }
  ~range() {
    if (const auto pop = symbol<int (*)()>("roctxRangePop")) { pop(); }
  }
#else
  explicit range(const std::string& name) {
    nvtxRangePushA(name.c_str());
  }
  ~range() {
    nvtxRangePop();
  }
#endif
  range(const range&) = delete;
  range& operator=(const range&) = delete;

#if defined(__HIPCC__)
 private:
  template <class Function>
  static Function symbol(const char* name) {
    static void* const library = [] {
      void* const newer = dlopen("librocprofiler-sdk-roctx.so", RTLD_LAZY);  // of rocprofv3
      return newer ? newer : dlopen("libroctx64.so", RTLD_LAZY);
    }();
    return library ? reinterpret_cast<Function>(dlsym(library, name)) : nullptr;
  }
#endif
};

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

class device final : public gpu::device {
 public:
  explicit device(int ordinal) : ordinal_(ordinal) {
    check(ICOBENCH_GPU(SetDevice)(ordinal), "choose device");
    facts_ = read_facts(ordinal);
#if !defined(__HIPCC__)
    largest_window_ = std::size_t(attribute(cudaDevAttrMaxAccessPolicyWindowSize, ordinal));
#endif
  }
  std::string_view backend() const override {
    return native_backend::name;
  }
  device_facts facts() const override {
    return facts_;
  }

  void* allocate(std::size_t bytes, memory_kind kind) override {
    void* memory = nullptr;
    if (kind == memory_kind::pinned) {
      check(ICOBENCH_PINNED_ALLOCATE(&memory, bytes, 0),
            ("allocate " + std::to_string(bytes) + " bytes of pinned memory").c_str());
    } else if (kind == memory_kind::managed) {
      if (!facts_.managed_memory) { throw device_error("the device has no managed memory"); }
      check(ICOBENCH_GPU(MallocManaged)(&memory, bytes, ICOBENCH_GPU(MemAttachGlobal)),
            ("allocate " + std::to_string(bytes) + " bytes of managed memory").c_str());
    } else {
      check(ICOBENCH_GPU(Malloc)(&memory, bytes),
            ("allocate " + std::to_string(bytes) + " bytes on the device").c_str());
    }
    return memory;
  }
  void release(void* memory, memory_kind kind) noexcept override {
    if (kind == memory_kind::pinned) {
      (void)ICOBENCH_PINNED_FREE(memory);
    } else {
      (void)ICOBENCH_GPU(Free)(memory);
    }
  }
  void upload(void* to, const void* from, std::size_t bytes) override {
    check(ICOBENCH_GPU(Memcpy)(to, from, bytes, ICOBENCH_GPU(MemcpyHostToDevice)), "upload");
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    check(ICOBENCH_GPU(Memcpy)(to, from, bytes, ICOBENCH_GPU(MemcpyDeviceToHost)), "download");
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    check(ICOBENCH_GPU(MemcpyAsync)(to, from, bytes, ICOBENCH_GPU(MemcpyDefault), current_),
          "copy");
  }
  void fill(void* to, unsigned char byte, std::size_t bytes) override {
    check(ICOBENCH_GPU(MemsetAsync)(to, byte, bytes, current_), "fill");
  }
  void evict_cache() override {
    if (!flush_.data()) {
      flush_ = buffer(*this, 3 * std::max<std::size_t>(facts_.cache_bytes, 1 << 20));
      fill(flush_.data(), 0, flush_.bytes());
    }
    auto* data = static_cast<double*>(flush_.data());
    const cache_reader reader{data, flush_.bytes() / sizeof(double), data};
    gpu::launch<native_backend, compiled_for<>>(
        *this, {static_cast<unsigned>(8 * facts_.multiprocessors), 1, 1}, {max_block_threads, 1, 1},
        0, reader);
  }
#if !defined(__HIPCC__)
  void set_aside(std::size_t bytes) override {
    if (bytes == set_aside_) { return; }
    check(cudaCtxResetPersistingL2Cache(), "forget what the cache kept");
    check(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, bytes), "set part of the cache aside");
    set_aside_ = bytes;
  }
#endif
  void synchronize() override {
    check(ICOBENCH_GPU(DeviceSynchronize)(), "synchronize");
  }

  bool loads_images() const override {
    return true;
  }
  kernel_function load(const compiled_kernel& k) const override {
#if defined(__HIPCC__)
    hipModule_t module = nullptr;
    const auto bytes = std::make_shared<std::vector<char>>(k.image);  // HIP may not copy them
    check(hipModuleLoadData(&module, bytes->data()), "load a kernel compiled at run time");
    std::shared_ptr<void> image(
        module, [bytes](void* loaded) { (void)hipModuleUnload(static_cast<hipModule_t>(loaded)); });
    hipFunction_t kernel = nullptr;
    check(hipModuleGetFunction(&kernel, module, compiled_kernel::name),
          "find a kernel compiled at run time");
    return {kernel, std::move(image)};
#else
    cudaLibrary_t library = nullptr;
    check(cudaLibraryLoadData(&library, k.image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "load a kernel compiled at run time");
    std::shared_ptr<void> image(
        library, [](void* loaded) { (void)cudaLibraryUnload(static_cast<cudaLibrary_t>(loaded)); });
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library, compiled_kernel::name),
          "find a kernel compiled at run time");
    return {static_cast<const void*>(kernel), std::move(image)};
#endif
  }

  kernel_facts inspect(const kernel_function& f, extent3 grid, extent3 block,
                       std::size_t shared_bytes) const override {
#if defined(__HIPCC__)
    if (f.image) { return inspect_loaded(f, grid, block, shared_bytes); }
#endif
    const void* const function = f.address;
    ICOBENCH_GPU(FuncAttributes) attributes{};
    check(ICOBENCH_GPU(FuncGetAttributes)(&attributes, function), "kernel attributes");
    // The limit belongs to the function, and its launches may differ: the most it can have.
    const std::size_t most = facts_.shared_bytes_per_block - attributes.sharedSizeBytes;
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
    const int all = facts_.multiprocessors * facts.blocks_per_multiprocessor;
#if !defined(__HIPCC__)
    if (cluster > 1) {
      attributed_launch launch({{cluster, 1, 1}, block, shared_bytes, cluster});
      int clusters = 0;
      check(cudaOccupancyMaxActiveClusters(&clusters, f.address, &launch.config),
            "resident clusters");
      return std::min(unsigned(all), unsigned(clusters) * cluster);
    }
#endif
    return unsigned(all);
  }

  void launch(const kernel_function& f, const kernel_launch& l, const void* kernel) const override {
    void* arguments[] = {const_cast<void*>(kernel)};
#if defined(__HIPCC__)
    if (f.image) {
      check(
          hipModuleLaunchKernel(loaded(f), l.grid.x, l.grid.y, l.grid.z, l.block.x, l.block.y,
                                l.block.z, unsigned(l.shared_bytes), current_, arguments, nullptr),
          "launch");
      return;
    }
#else
    if (l.cluster > 1 || l.kept.bytes > 0) {
      attributed_launch launch(l);
      if (l.kept.bytes > 0) { launch.keep(window_of(l)); }
      launch.config.stream = current_;
      check(cudaLaunchKernelExC(&launch.config, f.address, arguments), "launch");
      return;
    }
#endif
    check(ICOBENCH_GPU(LaunchKernel)(f.address, dim3(l.grid.x, l.grid.y, l.grid.z),
                                     dim3(l.block.x, l.block.y, l.block.z), arguments,
                                     l.shared_bytes, current_),
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

  void prefetch(void* managed, std::size_t bytes, bool to_device) override {
    if (!facts_.concurrent_managed) { return; }
    const auto place = location(to_device);
#if !defined(__HIPCC__) && CUDART_VERSION >= 13000
    check(cudaMemPrefetchAsync(managed, bytes, place, 0, current_), "prefetch");
#else
    check(ICOBENCH_GPU(MemPrefetchAsync)(managed, bytes, place, current_), "prefetch");
#endif
  }
  void advise_read_mostly(void* managed, std::size_t bytes) override {
    if (!facts_.concurrent_managed) { return; }
    check(ICOBENCH_GPU(MemAdvise)(managed, bytes, ICOBENCH_GPU(MemAdviseSetReadMostly),
                                  location(true)),
          "advise");
  }

  std::unique_ptr<gpu::stream> make_stream() override {
    return std::make_unique<stream>();
  }
  std::unique_ptr<gpu::event> make_event() override {
    return std::make_unique<event>(current_);
  }
  void on(gpu::stream& s, const std::function<void()>& work) override {
    enqueue_on(static_cast<const stream&>(s).handle(), work);
  }
  std::function<void()> capture(const std::function<void()>& work) override {
    const stream own(true);
    ICOBENCH_GPU(Graph_t) graph = nullptr;
    check(
        ICOBENCH_GPU(StreamBeginCapture)(own.handle(), ICOBENCH_GPU(StreamCaptureModeThreadLocal)),
        "begin to capture");
    enqueue_on(own.handle(), work);
    check(ICOBENCH_GPU(StreamEndCapture)(own.handle(), &graph), "end of the capture");
    ICOBENCH_GPU(GraphExec_t) executable = nullptr;
    const auto status = ICOBENCH_GPU(GraphInstantiateWithFlags)(&executable, graph, 0);
    (void)ICOBENCH_GPU(GraphDestroy)(graph);
    check(status, "instantiate graph");
    const std::shared_ptr<std::remove_pointer_t<ICOBENCH_GPU(GraphExec_t)>> kept(
        executable, [](auto* e) { (void)ICOBENCH_GPU(GraphExecDestroy)(e); });
    return [this, kept] { check(ICOBENCH_GPU(GraphLaunch)(kept.get(), current_), "launch graph"); };
  }

  std::vector<double> time(int samples, const std::function<void()>& before,
                           const std::function<void()>& work,
                           const std::function<void()>& meanwhile) override {
    std::vector<std::unique_ptr<event>> marks;
    for (int i = 0; i < 2 * samples; ++i) { marks.push_back(std::make_unique<event>(current_)); }
    for (int i = 0; i < samples; ++i) {
      before();
      marks[2 * i]->record();
      work();
      marks[2 * i + 1]->record();
    }
    meanwhile();
    synchronize();
    std::vector<double> seconds;
    for (int i = 0; i < samples; ++i) {
      seconds.push_back(marks[2 * i + 1]->seconds_since(*marks[2 * i]));
    }
    return seconds;
  }

  void profile(const std::string& name, const std::function<void()>& work) override {
    synchronize();
#if !defined(__HIPCC__)
    check(cudaProfilerStart(), "start the profiler");
#endif
    {
      const range named(name);
      work();
      synchronize();
    }
#if !defined(__HIPCC__)
    check(cudaProfilerStop(), "stop the profiler");
#endif
  }

  static device_facts read_facts(int ordinal);

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
  // The runtime's own description, which refers to its attributes.
  struct attributed_launch {
    cudaLaunchAttribute attributes[2]{};
    cudaLaunchConfig_t config{};

    explicit attributed_launch(const kernel_launch& l) {
      config.gridDim = dim3(l.grid.x, l.grid.y, l.grid.z);
      config.blockDim = dim3(l.block.x, l.block.y, l.block.z);
      config.dynamicSmemBytes = l.shared_bytes;
      config.attrs = attributes;
      if (l.cluster > 1) {
        add(cudaLaunchAttributeClusterDimension).clusterDim = {l.cluster, 1, 1};
      }
    }
    attributed_launch(const attributed_launch&) = delete;
    void keep(const cudaAccessPolicyWindow& window) {
      add(cudaLaunchAttributeAccessPolicyWindow).accessPolicyWindow = window;
    }

   private:
    cudaLaunchAttributeValue& add(cudaLaunchAttributeID id) {
      auto& added = attributes[config.numAttrs++];
      added.id = id;
      return added.val;
    }
  };
  cudaAccessPolicyWindow window_of(const kernel_launch& l) const {
    cudaAccessPolicyWindow window{};
    window.base_ptr = const_cast<void*>(l.kept.begin);
    window.num_bytes = std::min(l.kept.bytes, largest_window_);
    window.hitRatio = std::min(1.0f, float(l.set_aside) / float(window.num_bytes));
    window.hitProp = cudaAccessPropertyPersisting;
    window.missProp = cudaAccessPropertyStreaming;
    return window;
  }
#endif

  void enqueue_on(ICOBENCH_GPU(Stream_t) stream, const std::function<void()>& work) {
    const auto before = std::exchange(current_, stream);
    try {
      work();
    } catch (...) {
      current_ = before;
      throw;
    }
    current_ = before;
  }
#if !defined(__HIPCC__) && CUDART_VERSION >= 13000
  cudaMemLocation location(bool on_device) const {
    cudaMemLocation result{};
    result.type = on_device ? cudaMemLocationTypeDevice : cudaMemLocationTypeHost;
    result.id = on_device ? ordinal_ : 0;
    return result;
  }
#else
  int location(bool on_device) const {
    return on_device ? ordinal_ : ICOBENCH_GPU(CpuDeviceId);
  }
#endif

  int ordinal_;
  device_facts facts_;
  buffer flush_;
  [[maybe_unused]] std::size_t set_aside_ = 0;
  [[maybe_unused]] std::size_t largest_window_ = 0;  // of memory that a launch may have kept
  ICOBENCH_GPU(Stream_t) current_ = nullptr;
};

// As the vendor's tools write it.
inline std::string uuid_of(int ordinal) {
#if defined(__HIPCC__)
  hipUUID uuid{};  // hexadecimal digits
  if (hipDeviceGetUuid(&uuid, ordinal) != hipSuccess) { return ""; }
  return "GPU-" + std::string(uuid.bytes, sizeof uuid.bytes);
#else
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "device properties");
  std::string text = "GPU-";
  for (int n = 0; n < 16; ++n) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%s%02x", n == 4 || n == 6 || n == 8 || n == 10 ? "-" : "",
                  static_cast<unsigned char>(properties.uuid.bytes[n]));
    text += digits;
  }
  return text;
#endif
}

inline device_facts device::read_facts(int ordinal) {
  ICOBENCH_DEVICE_PROPERTIES properties{};
  check(ICOBENCH_GPU(GetDeviceProperties)(&properties, ordinal), "device properties");
  device_facts facts;
  facts.index = ordinal;
  facts.name = properties.name;
#if defined(__HIPCC__)
  facts.architecture = properties.gcnArchName;
  facts.shared_bytes_per_block = properties.sharedMemPerBlock;
#else
  facts.architecture = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
  facts.shared_bytes_per_block = properties.sharedMemPerBlockOptin;
  facts.bulk_copies = properties.major >= 9;
  facts.persisting_cache_bytes = std::size_t(properties.persistingL2CacheMaxSize);
#endif
  int runtime = 0, driver = 0;
  check(ICOBENCH_GPU(RuntimeGetVersion)(&runtime), "runtime version");
  check(ICOBENCH_GPU(DriverGetVersion)(&driver), "driver version");
  facts.runtime = std::to_string(runtime);
  facts.driver = std::to_string(driver);
  facts.uuid = uuid_of(ordinal);
  facts.multiprocessors = properties.multiProcessorCount;
  facts.clock_hz = 1e3 * attribute(ICOBENCH_ATTRIBUTE(ClockRate), ordinal);
  facts.memory_bus_bits = properties.memoryBusWidth;
  facts.memory_clock_hz = 1e3 * attribute(ICOBENCH_ATTRIBUTE(MemoryClockRate), ordinal);
  facts.warp_size = properties.warpSize;
  facts.max_threads_per_block = properties.maxThreadsPerBlock;
  facts.max_threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
  facts.registers_per_multiprocessor =
      attribute(ICOBENCH_ATTRIBUTE(MaxRegistersPerMultiprocessor), ordinal);
  facts.shared_bytes_per_multiprocessor = static_cast<std::size_t>(
      attribute(ICOBENCH_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor), ordinal));
  facts.memory_bytes = properties.totalGlobalMem;
  facts.l2_bytes = properties.l2CacheSize;
  facts.cache_bytes = std::max<std::size_t>(facts.l2_bytes, memory_side_cache(facts.architecture));
  facts.unified_addressing = attribute(ICOBENCH_ATTRIBUTE(UnifiedAddressing), ordinal) != 0;
  facts.managed_memory = properties.managedMemory != 0;
  facts.concurrent_managed = properties.concurrentManagedAccess != 0;
  facts.concurrent_kernels = properties.concurrentKernels != 0;
  facts.copy_engines = attribute(ICOBENCH_ATTRIBUTE(AsyncEngineCount), ordinal);
  int count = 0;
  check(ICOBENCH_GPU(GetDeviceCount)(&count), "number of devices");
  for (int other = 0; other < count; ++other) {
    int reached = 0;
    if (other != ordinal &&
        ICOBENCH_GPU(DeviceCanAccessPeer)(&reached, ordinal, other) == ICOBENCH_GPU(Success) &&
        reached) {
      facts.peers.push_back(other);
    }
  }
  char bus_id[32] = "";
  check(ICOBENCH_GPU(DeviceGetPCIBusId)(bus_id, sizeof bus_id, ordinal), "PCI bus id");
  facts.pci_bus_id = bus_id;
  return facts;
}

inline int device_count() {
  int count = 0;
  check(ICOBENCH_GPU(GetDeviceCount)(&count), "no GPU");
  if (count == 0) { throw device_error("no GPU: the runtime finds none"); }
  return count;
}

}  // namespace native

inline std::unique_ptr<device> native_backend::open(int index) {
  if (const int count = native::device_count(); index < 0 || index >= count) {
    throw device_error("there is no device " + std::to_string(index) + ", only " +
                       std::to_string(count));
  }
  return std::make_unique<native::device>(index);
}

inline std::vector<device_facts> native_backend::list() {
  std::vector<device_facts> result;
  for (int n = 0; n < native::device_count(); ++n) {
    result.push_back(native::device::read_facts(n));
  }
  return result;
}

}  // namespace icobench::gpu
