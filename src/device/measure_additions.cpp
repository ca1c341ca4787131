// bench_device additions: c = a + b of vectors that are on the host before and after.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "src/device/device_bench.hpp"

namespace icobench {
namespace {

using host_clock = std::chrono::steady_clock;
using gpu::memory_kind;

// Managed memory is for small sizes here: on some systems much of it hangs the GPU.
constexpr std::size_t most_managed = std::size_t(64) << 20;
constexpr std::size_t page = 4096;

class addition {
 public:
  addition(device_bench& bench, std::size_t count)
      : bench_(bench), device_(bench.device()), ops_(bench.ops()), count_(count) {}

  void pageable() {
    std::vector<double> a(count_), b(count_), c(count_);
    copied("pageable", a.data(), b.data(), c.data());
  }
  void pinned() {
    const gpu::buffer a(device_, bytes(), memory_kind::pinned),
        b(device_, bytes(), memory_kind::pinned), c(device_, bytes(), memory_kind::pinned);
    copied("pinned", a.as<double>(), b.as<double>(), c.as<double>());
  }
  void unified(const char* how, bool prefetch, bool advise);
  void split(int pieces);

 private:
  std::size_t bytes() const { return count_ * sizeof(double); }

  void fill(double* a, double* b, double* c) const {
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t n = 0; n < std::ptrdiff_t(count_); ++n) {
      a[n] = input_value(1, std::uint64_t(n));
      b[n] = input_value(2, std::uint64_t(n));
      c[n] = std::nan("");
    }
  }
  std::string check(const double* c) const {
    for (std::size_t n = 0; n < count_; ++n) {
      const double want = input_value(1, n) + input_value(2, n);
      if (!(std::fabs(c[n] - want) <= 0)) {
        return "element " + std::to_string(n) + ": " + std::to_string(c[n]) + " instead of " +
               std::to_string(want);
      }
    }
    return "";
  }
  measurement named(const std::string& how) const {
    measurement m;
    m.name = "additions/" + how + "/" + std::to_string(count_);
    m.parameters = {{"elements", count_}};
    m.bytes = 3 * double(bytes());
    return m;
  }
  void add(void* a, const void* b, const void* c, std::size_t count) const {
    ops_.compute(device_, array_kernel::add, precision::float64, a, b, c, count, 4);
  }
  // From inputs on the host to the result on the host, by the host's clock.
  void measure(measurement m, const std::function<void()>& before) {
    const auto run = m.run;
    m.run = [=] {
      before();
      run();
    };
    bench_.measure_by(std::move(m), "host", 21, [&] {
      before();
      device_.synchronize();
      const auto start = host_clock::now();
      run();
      return std::chrono::duration<double>(host_clock::now() - start).count();
    });
  }
  void copied(const std::string& how, double* a, double* b, double* c);
  void take_timeline(const std::string& name, const std::vector<std::unique_ptr<gpu::stream>>&,
                     const std::function<void(int, const std::function<void(int)>&)>& enqueue);

  device_bench& bench_;
  gpu::device& device_;
  const operations& ops_;
  std::size_t count_;
};

void addition::copied(const std::string& how, double* a, double* b, double* c) {
  const gpu::buffer on_a(device_, bytes()), on_b(device_, bytes()), on_c(device_, bytes());
  measurement m = named(how);
  m.run = [&] {
    device_.copy(on_a.data(), a, bytes());
    device_.copy(on_b.data(), b, bytes());
    add(on_c.data(), on_a.data(), on_b.data(), count_);
    device_.copy(c, on_c.data(), bytes());
    device_.synchronize();
  };
  m.check = [&] { return check(c); };
  fill(a, b, c);
  measure(std::move(m), [] {});
}

// The host has written the inputs and reads a value of each page of the result: else their pages
// would stay where the run before left them.
void addition::unified(const char* how, bool prefetch, bool advise) {
  if (3 * bytes() > most_managed) { return; }
  const gpu::buffer a(device_, bytes(), memory_kind::managed),
      b(device_, bytes(), memory_kind::managed), c(device_, bytes(), memory_kind::managed);
  fill(a.as<double>(), b.as<double>(), c.as<double>());
  if (advise) {
    device_.advise_read_mostly(a.data(), bytes());
    device_.advise_read_mostly(b.data(), bytes());
  }
  measurement m = named(how);
  double touched = 0;
  m.run = [&] {
    if (prefetch) {
      device_.prefetch(a.data(), bytes(), true);
      device_.prefetch(b.data(), bytes(), true);
      device_.prefetch(c.data(), bytes(), true);
    }
    add(c.data(), a.data(), b.data(), count_);
    if (prefetch) { device_.prefetch(c.data(), bytes(), false); }
    device_.synchronize();
    for (std::size_t n = 0; n < count_; n += page / sizeof(double)) {
      touched += c.as<double>()[n];
    }
  };
  m.check = [&] { return check(c.as<double>()); };
  measure(std::move(m), [&] { fill(a.as<double>(), b.as<double>(), c.as<double>()); });
}

// A stream for each piece: its inputs are copied while others are added or copied back.
void addition::split(int pieces) {
  const gpu::buffer a(device_, bytes(), memory_kind::pinned),
      b(device_, bytes(), memory_kind::pinned), c(device_, bytes(), memory_kind::pinned);
  const gpu::buffer on_a(device_, bytes()), on_b(device_, bytes()), on_c(device_, bytes());
  std::vector<std::unique_ptr<gpu::stream>> streams;
  for (int n = 0; n < pieces; ++n) { streams.push_back(device_.make_stream()); }
  // Pieces differ by an element at most. `mark` is called before, between and after the steps.
  const auto enqueue = [&](int piece, const std::function<void(int)>& mark) {
    const auto at = [&](int n) { return count_ * std::size_t(n) / std::size_t(pieces); };
    const std::size_t first = at(piece), count = at(piece + 1) - first;
    const std::size_t size = count * sizeof(double);
    mark(0);
    device_.copy(on_a.as<double>() + first, a.as<double>() + first, size);
    device_.copy(on_b.as<double>() + first, b.as<double>() + first, size);
    mark(1);
    add(on_c.as<double>() + first, on_a.as<double>() + first, on_b.as<double>() + first, count);
    mark(2);
    device_.copy(c.as<double>() + first, on_c.as<double>() + first, size);
    mark(3);
  };
  measurement m = named("streams" + std::to_string(pieces));
  m.parameters["pieces"] = pieces;
  m.run = [&] {
    for (int n = 0; n < pieces; ++n) {
      device_.on(*streams[std::size_t(n)], [&] { enqueue(n, [](int) {}); });
    }
    device_.synchronize();
  };
  m.check = [&] { return check(c.as<double>()); };
  fill(a.as<double>(), b.as<double>(), c.as<double>());
  const std::string name = m.name;
  measure(std::move(m), [] {});
  take_timeline(name, streams, enqueue);
}

// Events tell when each stream came to each step, a wait for a busy copy engine included. What
// could be hidden are the two shorter ones of: all copies to the device, all additions, all copies
// back, one after another; overlap is the share of it that was.
void addition::take_timeline(
    const std::string& name, const std::vector<std::unique_ptr<gpu::stream>>& streams,
    const std::function<void(int, const std::function<void(int)>&)>& enqueue) {
  json* const record = bench_.find(name);
  if (!record) { return; }
  constexpr const char* steps[] = {"to_device", "add", "to_host"};
  const auto once = [&](bool one_stream, json* timeline, double(&sums)[3]) {
    const auto zero = device_.make_event();
    std::vector<std::unique_ptr<gpu::event>> marks(4 * streams.size());
    for (auto& mark : marks) { mark = device_.make_event(); }
    zero->record();
    for (std::size_t n = 0; n < streams.size(); ++n) {
      device_.on(*streams[one_stream ? 0 : n],
                 [&] { enqueue(int(n), [&](int s) { marks[4 * n + std::size_t(s)]->record(); }); });
    }
    device_.synchronize();
    double last = 0;
    for (std::size_t n = 0; n < streams.size(); ++n) {
      for (std::size_t s = 0; s < 3; ++s) {
        const double start = marks[4 * n + s]->seconds_since(*zero);
        const double end = marks[4 * n + s + 1]->seconds_since(*zero);
        sums[s] += end - start;
        last = std::max(last, end);
        if (timeline) {
          timeline->push_back({{"stream", n}, {"step", steps[s]}, {"start", start}, {"end", end}});
        }
      }
    }
    return last - marks[0]->seconds_since(*zero);
  };
  json timeline = json::array();
  double ignored[3] = {}, serial[3] = {};
  once(false, nullptr, ignored);
  const double side_by_side = once(false, &timeline, ignored);
  const double one_after_another = once(true, nullptr, serial);
  const double longest = *std::max_element(std::begin(serial), std::end(serial));
  const double hidden = std::accumulate(std::begin(serial), std::end(serial), 0.0) - longest;
  (*record)["timeline"] = timeline;
  (*record)["serial_seconds"] = one_after_another;
  (*record)["overlap"] =
      hidden > 0 ? std::clamp((one_after_another - side_by_side) / hidden, 0.0, 1.0) : 0.0;
}

}  // namespace

void measure_additions(device_bench& bench) {
  // The sizes of two well-known lessons: the first is all latency.
  std::vector<std::size_t> sizes{bench.elements(10000)};
  if (bench.options().elements == 0 && !bench.simt()) { sizes.push_back(25600004); }
  // Unified memory between: a million elements.
  if (sizes.size() > 1) { sizes.insert(sizes.begin() + 1, 1000003); }
  for (const std::size_t count : sizes) {
    addition a(bench, count);
    a.pageable();
    a.pinned();
    if (bench.simt() || bench.device().facts().managed_memory) {
      a.unified("unified", false, false);
      a.unified("unified_prefetch", true, false);
      a.unified("unified_prefetch_advise", true, true);
    }
    a.split(bench.options().pieces);
  }
}

}  // namespace icobench
