// bench_device ceilings.
#include <algorithm>
#include <chrono>

#include "src/device/device_bench.hpp"
#include "src/measure/ceilings.hpp"
#include "src/measure/statistics.hpp"

namespace icobench {
namespace {

using host_clock = std::chrono::steady_clock;

double seconds_of(gpu::device& device, const std::function<void()>& work) {
  const auto start = host_clock::now();
  work();
  device.synchronize();
  return std::chrono::duration<double>(host_clock::now() - start).count();
}

// As public suites measure, for comparison. BabelStream: the best of a hundred runs by the host's
// clock, each awaited. nvbandwidth: sixteen copies of 512 MiB between two events, the median.
void measure_as_others(device_bench& bench, ceiling_work& work, std::size_t count) {
  gpu::device& device = bench.device();
  const precision p = precision::float64;
  for (const array_kernel k :
       {array_kernel::copy, array_kernel::scale, array_kernel::add, array_kernel::triad}) {
    measurement m;
    m.name = "ceilings/best_of_100/" + std::string(to_string(k));
    m.parameters = {{"elements", count}};
    m.bytes = ceiling_work::bytes_of(k, count, p);
    m.reference = "ceilings/" + std::string(to_string(k)) + "/double";
    m.run = [&, k] { work.compute(k, p, 4); };
    bench.measure_by(m, "host", 1, [&] {
      double best = seconds_of(device, m.run);
      for (int n = 1; n < 100; ++n) { best = std::min(best, seconds_of(device, m.run)); }
      return best;
    });
  }
  const std::size_t bytes = bench.simt() ? 4096 : std::size_t(512) << 20;
  const gpu::buffer from(device, bytes), to(device, bytes);
  device.fill(from.data(), 0x3f, bytes);
  measurement m;
  m.name = "ceilings/sixteen_copies";
  m.parameters = {{"bytes", bytes}};
  m.bytes = 2 * 16 * double(bytes);
  m.reference = "ceilings/runtime_copy";
  m.run = [&] {
    for (int n = 0; n < 16; ++n) { device.copy(to.data(), from.data(), bytes); }
  };
  bench.measure({m});
}

void measure_launches(device_bench& bench) {
  gpu::device& device = bench.device();
  const operations& ops = bench.ops();
  const auto one = [&] { ops.launch_nothing(device); };
  const auto named = [&](const char* name, std::function<void()> run) {
    measurement m;
    m.name = std::string("ceilings/") + name;
    m.run = std::move(run);
    return m;
  };
  bench.measure_by(named("launch/interval", one), "events", 11,
                   [&] { return launch_interval(device, ops); });
  bench.measure_by(named("launch/graph_interval", one), "events", 11, [&] {
    constexpr int launches = 200;
    const auto graph = device.capture([&] {
      for (int n = 0; n < launches; ++n) { one(); }
    });
    graph();
    const auto nothing = [] {};
    return device.time(1, nothing, graph, nothing).front() / launches;
  });
  bench.measure_by(named("launch/enqueue", one), "host", 101, [&] {
    const auto start = host_clock::now();
    one();
    const double seconds = std::chrono::duration<double>(host_clock::now() - start).count();
    device.synchronize();
    return seconds;
  });
  bench.measure_by(named("launch/until_done", one), "host", 101,
                   [&] { return seconds_of(device, one); });
  const auto event = device.make_event();
  bench.measure_by(named("event/enqueue", [&] { event->record(); }), "host", 101, [&] {
    const auto start = host_clock::now();
    event->record();
    const double seconds = std::chrono::duration<double>(host_clock::now() - start).count();
    device.synchronize();
    return seconds;
  });
  bench.measure_by(named("event/empty_interval", [] {}), "events", 101, [&] {
    const auto nothing = [] {};
    // The clock of events ticks coarsely: an interval may read as none.
    return std::max(device.time(1, nothing, nothing, nothing).front(), 1e-9);
  });
}

}  // namespace

void measure_ceilings(device_bench& bench) {
  const std::size_t count = bench.elements(std::size_t(1) << 28);
  ceiling_work work(bench.device(), bench.ops(), count);
  bench.measure(work.memory(precision::float32));
  bench.measure(work.caches());
  bench.measure({work.arithmetic(precision::float64), work.arithmetic(precision::float32)});
  bench.measure(work.memory(precision::float64));
  // Elements that a thread loads before it stores any.
  std::vector<measurement> copies;
  for (const unsigned elements : {1u, 4u, 8u}) {
    copies.push_back(work.copy_of(elements));
    copies.back().reference = "ceilings/runtime_copy";
  }
  bench.measure(std::move(copies));
  std::vector<measurement> reads = work.read_ways();
  for (measurement& m : reads) { m.reference = "ceilings/read/double"; }
  bench.measure(std::move(reads));
  measure_as_others(bench, work, count);
  measure_launches(bench);
}

}  // namespace icobench
