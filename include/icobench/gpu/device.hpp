// A device as drivers see it: memory, copies, timing, facts. One class a backend implements it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace icobench::gpu {

// The device or its runtime failed; the message carries the runtime's own words.
class device_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct device_facts {
  std::string name;
  std::string architecture;     // "sm_90", "gfx90a", or the CPU's
  std::string runtime, driver;  // versions, "" where there is none
  std::string pci_bus_id;       // "0000:65:00.0", "" for the CPU
  int multiprocessors = 0;      // cores on a CPU
  int warp_size = 1;
  int max_threads_per_block = 0;
  int max_threads_per_multiprocessor = 0;
  std::size_t memory_bytes = 0;
  std::size_t cache_bytes = 0;             // last level, a cache on the memory's side included
  std::size_t persisting_cache_bytes = 0;  // what a launch may ask the L2 cache to keep
  std::size_t shared_bytes_per_block = 0;  // with opt-in
  bool bulk_copies = false;                // to shared memory, and clusters: sm_90
};

class device {
 public:
  virtual ~device() = default;
  virtual std::string_view backend() const = 0;
  virtual device_facts facts() const = 0;

  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;

  // Enqueued: they return before the work is done, and work runs in the order of the calls.
  virtual void copy(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, unsigned char byte, std::size_t bytes) = 0;
  // Replaces what the caches hold by clean lines that nobody reads.
  virtual void evict_cache() = 0;
  virtual void synchronize() = 0;
  // How much of the last-level cache is for what launches ask it to keep, until the next call. It
  // is lost to all other accesses: with all that an H200 allows, nabla4/strided/kloop takes 1491
  // instead of 518 us at 594x514.
  virtual void set_aside(std::size_t) {}

  // Seconds of `samples` runs of `work`, each preceded by an untimed `before`. All is enqueued
  // before the first wait, so that no host latency lies inside an interval; `meanwhile` runs
  // between the two, while a GPU is busy.
  virtual std::vector<double> time(int samples, const std::function<void()>& before,
                                   const std::function<void()>& work,
                                   const std::function<void()>& meanwhile) = 0;

  // Runs `work` to its end inside a range of this name that the vendor's profiler shows, with the
  // profiler collecting.
  virtual void profile(const std::string& name, const std::function<void()>& work) = 0;
};

// Device memory that frees itself.
class buffer {
 public:
  buffer() = default;
  buffer(device& owner, std::size_t bytes)
      : owner_(&owner), bytes_(bytes), data_(owner.allocate(bytes)) {}
  buffer(buffer&& other) noexcept { swap(other); }
  buffer& operator=(buffer&& other) noexcept {
    buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~buffer() {
    if (data_) { owner_->release(data_); }
  }
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void swap(buffer& other) noexcept {
    std::swap(owner_, other.owner_);
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
  }
  device* owner_ = nullptr;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace icobench::gpu
