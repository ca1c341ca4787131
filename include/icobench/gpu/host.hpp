// The CPU as a device: its memory is the host's and work is done when the call returns. Serves the
// backends `cpu` (native loops) and `simt` (GPU kernels).
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>

#include <icobench/gpu/device.hpp>
#include <icobench/types.hpp>

// Of loops over gigabytes, which sanitizers would make ten times as long.
#define ICOBENCH_NOT_SANITIZED \
  __attribute__((no_sanitize("address"))) __attribute__((no_sanitize("undefined")))

namespace icobench::gpu {

// Work is done when the call returns, so that marks are always reached.
class host_event final : public event {
 public:
  void record() override { at_ = clock::now(); }
  void await() const override {}
  double seconds_since(const event& start) const override {
    return std::chrono::duration<double>(at_ - static_cast<const host_event&>(start).at_).count();
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point at_;
};

class host_device : public device {
 public:
  explicit host_device(std::string_view backend) : backend_(backend) {}

  std::string_view backend() const override { return backend_; }

  device_facts facts() const override {
    device_facts facts;
    facts.name = cpu_name();
    facts.architecture = "cpu";
    facts.multiprocessors = static_cast<int>(std::thread::hardware_concurrency());
    facts.unified_addressing = true;
    facts.memory_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                         static_cast<std::size_t>(sysconf(_SC_PAGE_SIZE));
    facts.cache_bytes = last_level_cache_bytes();
    return facts;
  }

  void* allocate(std::size_t bytes, memory_kind = memory_kind::device) override {
    void* memory = std::aligned_alloc(alignment, round_up(bytes, alignment));
#if defined(MADV_HUGEPAGE)
    // Levels are megabytes apart, so that small pages overrun the TLB. Only a hint.
    if (memory) { madvise(memory, bytes, MADV_HUGEPAGE); }
#endif
    if (!memory) { throw device_error("allocate " + std::to_string(bytes) + " bytes: no memory"); }
    return memory;
  }
  void release(void* memory, memory_kind = memory_kind::device) noexcept override {
    std::free(memory);
  }
  void upload(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    std::memcpy(to, from, bytes);
  }
  void copy(void* to, const void* from, std::size_t bytes) override {
    if (bytes < std::size_t(1) << 20) {
      std::memcpy(to, from, bytes);
    } else {
      copy_in_parallel(to, from, bytes);
    }
  }
  void fill(void* to, unsigned char byte, std::size_t bytes) override {
    std::memset(to, byte, bytes);
  }
  ICOBENCH_NOT_SANITIZED void evict_cache() override {
    if (!flush_.data()) {
      flush_ = buffer(*this, 2 * last_level_cache_bytes());
      std::memset(flush_.data(), 0, flush_.bytes());
    }
    const auto* data = static_cast<const double*>(flush_.data());
    const auto count = static_cast<std::ptrdiff_t>(flush_.bytes() / sizeof(double));
    double sum = 0;
#pragma omp parallel for simd schedule(static) reduction(+ : sum)
    for (std::ptrdiff_t i = 0; i < count; ++i) { sum += data[i]; }
    evicted_ = sum;
  }
  void synchronize() override {}

  void prefetch(void*, std::size_t, bool) override {}
  void advise_read_mostly(void*, std::size_t) override {}
  std::unique_ptr<stream> make_stream() override {
    return std::make_unique<stream>();
  }
  std::unique_ptr<event> make_event() override {
    return std::make_unique<host_event>();
  }
  void on(stream&, const std::function<void()>& work) override {
    work();
  }
  std::function<void()> capture(const std::function<void()>& work) override {
    return work;
  }

  std::vector<double> time(int samples, const std::function<void()>& before,
                           const std::function<void()>& work,
                           const std::function<void()>& meanwhile) override {
    using clock = std::chrono::steady_clock;
    std::vector<double> seconds;
    for (int i = 0; i < samples; ++i) {
      before();
      const auto start = clock::now();
      work();
      seconds.push_back(std::chrono::duration<double>(clock::now() - start).count());
    }
    meanwhile();
    return seconds;
  }
  void profile(const std::string&, const std::function<void()>& work) override {
    work();
  }

 private:
  ICOBENCH_NOT_SANITIZED static void copy_in_parallel(void* to, const void* from,
                                                      std::size_t bytes) {
    const auto* source = static_cast<const double*>(from);
    auto* target = static_cast<double*>(to);
    const auto count = static_cast<std::ptrdiff_t>(bytes / sizeof(double));
#pragma omp parallel for simd schedule(static)
    for (std::ptrdiff_t i = 0; i < count; ++i) { target[i] = source[i]; }
    std::memcpy(target + count, source + count, bytes % sizeof(double));
  }

  // A huge page: also more than any vector or cache line asks for.
  static constexpr std::size_t alignment = std::size_t(2) << 20;

  static std::string cpu_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
      const std::size_t name = line.find(": ");
      if (line.starts_with("model name") && name != line.npos) { return line.substr(name + 2); }
    }
    return "unknown CPU";
  }
  static std::size_t last_level_cache_bytes() {
    for (const int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
      if (const long bytes = sysconf(level); bytes > 0) { return static_cast<std::size_t>(bytes); }
    }
    return std::size_t(32) << 20;
  }

  std::string backend_;
  buffer flush_;
  volatile double evicted_ = 0;  // keeps the loads of evict_cache
};

}  // namespace icobench::gpu

#undef ICOBENCH_NOT_SANITIZED
