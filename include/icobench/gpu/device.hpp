// A device as drivers see it: memory, copies, timing, facts. One class a backend implements it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <icobench/gpu/kernel_compiler.hpp>
#include <icobench/gpu/processor.hpp>

namespace icobench::gpu {

// What is unknown or does not exist is 0, "" or false.
struct device_facts {
  int index = 0;  // among the devices of its backend
  std::string name;
  std::string architecture;     // "sm_90", "gfx90a", or the CPU's
  std::string runtime, driver;  // versions
  std::string pci_bus_id;       // "0000:65:00.0"
  std::string uuid;             // as the vendor's tools write it: "GPU-..."
  int multiprocessors = 0;      // cores on a CPU
  double clock_hz = 0;          // the highest of the multiprocessors
  int warp_size = 1;
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  int registers_per_multiprocessor = 0;  // of 32 bits
  std::size_t memory_bytes = 0;
  double memory_clock_hz = 0;
  int memory_bus_bits = 0;
  std::size_t l2_bytes = 0;
  std::size_t cache_bytes = 0;             // last level, a cache on the memory's side included
  std::size_t shared_bytes_per_block = 0;  // with opt-in
  std::size_t shared_bytes_per_multiprocessor = 0;
  bool unified_addressing = false;  // a pointer says by itself whose memory it is
  bool managed_memory = false;      // memory whose pages move between host and device
  bool concurrent_managed = false;  // the host may touch it meanwhile; prefetch and advice work
  bool concurrent_kernels = false;  // kernels of several streams overlap
  int copy_engines = 0;             // copies that run beside kernels
  std::vector<int> peers;           // devices whose memory it can reach, by index
  bool bulk_copies = false;         // to shared memory, and clusters: sm_90
};

// Memory of the device; memory of the host that the device copies from and to while both go on;
// memory whose pages move to where they are used.
enum class memory_kind { device, pinned, managed };

// Work in the order of its calls; that of different streams may overlap.
class stream {
 public:
  virtual ~stream() = default;
};

// A mark in the work of a stream.
class event {
 public:
  virtual ~event() = default;
  // Marks what the current stream has got so far.
  virtual void record() = 0;
  // What the current stream gets from now on waits until the mark is reached.
  virtual void await() const = 0;
  // Between two marks that have been reached.
  virtual double seconds_since(const event& start) const = 0;
};

class device : public processor {
 public:
  // Who compiles kernels for it at run time; without one (null) there are those that were compiled
  // with the program.
  void compile_with(std::shared_ptr<kernel_compiler> compiler) { compiler_ = std::move(compiler); }
  kernel_compiler* compiler() const { return compiler_.get(); }

  virtual std::string_view backend() const = 0;
  virtual device_facts facts() const = 0;
  processor_limits limits() const override {
    const device_facts f = facts();
    return {f.architecture, f.multiprocessors, f.cache_bytes, f.shared_bytes_per_block,
            f.bulk_copies};
  }
  // Memory that is not in use, by others either.
  virtual std::size_t free_bytes() const { return facts().memory_bytes; }
  // That of `on`, or the first one.
  virtual stream_handle current_stream() const { return nullptr; }

  // Throws device_error, also for a kind that the device does not have.
  virtual void* allocate(std::size_t bytes, memory_kind = memory_kind::device) = 0;
  virtual void release(void* memory, memory_kind = memory_kind::device) noexcept = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;

  // Enqueued: they return before the work is done, and work runs in the order of the calls. Copies
  // may also come from the host's memory or go there; only those of pinned memory overlap.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, unsigned char byte, std::size_t bytes) = 0;
  // Replaces what the caches hold by clean lines that nobody reads.
  virtual void evict_cache() = 0;
  virtual void synchronize() = 0;

  // Managed memory: brings pages to the device or the host (enqueued); tells that they are mostly
  // read, so that both may keep a copy. Nothing happens where the device cannot.
  virtual void prefetch(void* managed, std::size_t bytes, bool to_device) = 0;
  virtual void advise_read_mostly(void* managed, std::size_t bytes) = 0;

  // Whether it loads kernels that were compiled at run time; `load` throws device_error if not.
  virtual bool loads_images() const { return false; }
  virtual kernel_function load(const compiled_kernel&) const {
    throw device_error("this device loads no kernels");
  }

  virtual std::unique_ptr<stream> make_stream() = 0;
  virtual std::unique_ptr<event> make_event() = 0;
  // What `work` enqueues goes to this stream, which is the current one meanwhile; all else goes to
  // the first one, which overlaps with none.
  virtual void on(stream&, const std::function<void()>& work) = 0;
  // What `work` enqueues, as one graph: the function that is returned enqueues it all at once.
  virtual std::function<void()> capture(const std::function<void()>& work) = 0;

  // Seconds of `samples` runs of `work`, each preceded by an untimed `before`. All is enqueued
  // before the first wait, so that no host latency lies inside an interval; `meanwhile` runs
  // between the two, while a GPU is busy.
  virtual std::vector<double> time(int samples, const std::function<void()>& before,
                                   const std::function<void()>& work,
                                   const std::function<void()>& meanwhile) = 0;

  // Runs `work` to its end inside a range of this name that the vendor's profiler shows, with the
  // profiler collecting.
  virtual void profile(const std::string& name, const std::function<void()>& work) = 0;

 private:
  std::shared_ptr<kernel_compiler> compiler_;
};

// Enqueues a launch of a kernel that was compiled with the program, for launches like Compiled.
template <class Backend, class Compiled, class Kernel>
void launch(const device& d, extent3 grid, extent3 block, std::size_t shared_bytes,
            const Kernel& kernel) {
  d.launch(Backend::template compiled<Compiled, Kernel>(), {grid, block, shared_bytes}, &kernel,
           d.current_stream());
}

// Memory that frees itself, the device's if nothing else is said.
class buffer {
 public:
  buffer() = default;
  buffer(device& owner, std::size_t bytes, memory_kind kind = memory_kind::device)
      : owner_(&owner), bytes_(bytes), kind_(kind), data_(owner.allocate(bytes, kind)) {}
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~buffer() {
    if (data_) { owner_->release(data_, kind_); }
  }
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(buffer& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(bytes_, other.bytes_);
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
  }
  device* owner_ = nullptr;
  std::size_t bytes_ = 0;
  memory_kind kind_ = memory_kind::device;
  void* data_ = nullptr;
};

}  // namespace icobench::gpu
