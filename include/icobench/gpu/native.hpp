// A device of CUDA or HIP: what calls their runtimes. Compiled by nvcc or hipcc only.
#pragma once

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include <icobench/gpu/device.hpp>
#include <icobench/gpu/native_backend.hpp>
#include <icobench/gpu/native_launcher.hpp>
#include <icobench/launch.hpp>

#if defined(__HIPCC__)
#include <dlfcn.h>
#define ICOBENCH_DEVICE_PROPERTIES hipDeviceProp_t
#define ICOBENCH_PINNED_ALLOCATE hipHostMalloc
#define ICOBENCH_PINNED_FREE hipHostFree
#else
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

#define ICOBENCH_DEVICE_PROPERTIES cudaDeviceProp
#define ICOBENCH_PINNED_ALLOCATE cudaHostAlloc
#define ICOBENCH_PINNED_FREE cudaFreeHost
#endif

namespace icobench::gpu {

namespace native {

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

class device final : public launcher<gpu::device> {
 public:
  explicit device(int ordinal) : ordinal_(ordinal) {
    check(ICOBENCH_GPU(SetDevice)(ordinal), "choose device");
    facts_ = read_facts(ordinal);
  }
  std::string_view backend() const override { return native_backend::name; }
  device_facts facts() const override { return facts_; }
  std::size_t free_bytes() const override {
    std::size_t free = 0, total = 0;
    check(ICOBENCH_GPU(MemGetInfo)(&free, &total), "free memory");
    return free;
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
  stream_handle current_stream() const override { return current_; }
  void synchronize() override { check(ICOBENCH_GPU(DeviceSynchronize)(), "synchronize"); }

  bool loads_images() const override { return true; }
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
  ICOBENCH_GPU(Stream_t) current_ = nullptr;
};

// As the vendor's tools write it: a part of a GPU (MIG) is one of its own, as its name says.
inline std::string uuid_of(int ordinal) {
#if defined(__HIPCC__)
  hipUUID uuid{};  // hexadecimal digits
  if (hipDeviceGetUuid(&uuid, ordinal) != hipSuccess) { return ""; }
  return "GPU-" + std::string(uuid.bytes, sizeof uuid.bytes);
#else
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, ordinal), "device properties");
  const bool part = std::string(properties.name).find(" MIG ") != std::string::npos;
  std::string text = part ? "MIG-" : "GPU-";
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
  const processor_limits limits = read_limits(ordinal);
  facts.architecture = limits.architecture;
  facts.shared_bytes_per_block = limits.shared_bytes_per_block;
  facts.bulk_copies = limits.bulk_copies;
  int runtime = 0, driver = 0;
  check(ICOBENCH_GPU(RuntimeGetVersion)(&runtime), "runtime version");
  check(ICOBENCH_GPU(DriverGetVersion)(&driver), "driver version");
  facts.runtime = std::to_string(runtime);
  facts.driver = std::to_string(driver);
  facts.uuid = uuid_of(ordinal);
  facts.multiprocessors = limits.multiprocessors;
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
  facts.cache_bytes = limits.cache_bytes;
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
