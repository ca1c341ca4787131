#include "src/measure/ceilings.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/measure/host_ceilings.hpp"
#include "src/measure/measure.hpp"
#include "src/measure/statistics.hpp"
#include "src/problem/memory.hpp"
#include "src/support/interrupt.hpp"

namespace icobench {
namespace {

constexpr std::uint64_t seed_b = 1, seed_c = 2;

unsigned blocks_of(const gpu::device& device, int each = 8) {
  return unsigned(each * std::max(device.facts().multiprocessors, 1));
}
constexpr int most_blocks = 32;  // of a multiprocessor, that read

// Enough for a millisecond; simt only shows that it is right.
unsigned repeats_of(const gpu::device& device, unsigned repeats) {
  return device.backend() == "simt" ? 2 : repeats;
}

}  // namespace

double sum_of_inputs(std::size_t count) {
  double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::ptrdiff_t n = 0; n < std::ptrdiff_t(count); ++n) {
    sum += input_value(seed_b, std::uint64_t(n));
  }
  return sum;
}

std::string_view to_string(array_kernel k) {
  constexpr std::array names{"write", "copy", "scale", "add", "triad"};
  return names[std::size_t(k)];
}

ceiling_work::ceiling_work(gpu::device& device, const operations& o, std::size_t count)
    : device_(device),
      operations_(o),
      count_(count),
      a_(device, count * sizeof(double)),
      b_(device, count * sizeof(double)),
      c_(device, count * sizeof(double)),
      sums_(device,
            blocks_of(device, most_blocks) * device_kernels::array_threads * sizeof(double)),
      result_(device, sizeof(located)),
      space_(device),
      blocks_(blocks_of(device)) {}

void ceiling_work::prepare(precision p) {
  if (ready_ && filled_ == p) { return; }
  operations_.fill_inputs(device_, p, seed_b, b_.data(), count_);
  operations_.fill_inputs(device_, p, seed_c, c_.data(), count_);
  filled_ = p;
  ready_ = true;
}

double ceiling_work::bytes_of(array_kernel k, std::size_t count, precision p) {
  const int arrays = k == array_kernel::write                              ? 1
                     : k == array_kernel::copy || k == array_kernel::scale ? 2
                                                                           : 3;
  return double(arrays) * double(count) * double(size_of(p));
}

void ceiling_work::compute(array_kernel k, precision p, unsigned elements) {
  operations_.compute(device_, k, p, a_.data(), b_.data(), c_.data(), count_, elements);
}

void ceiling_work::copy() {
  device_.copy(a_.data(), b_.data(), count_ * sizeof(double));
}

std::string ceiling_work::largest_error(array_kernel k, precision p) {
  located worst{};
  operations_.find_computed_error(device_, k, p, a_.data(), count_, result_.as<located>(), space_);
  device_.download(&worst, result_.data(), sizeof worst);
  if (worst.value <= 0) { return ""; }
  return "element " + std::to_string(worst.index) + " is wrong by " + std::to_string(worst.value);
}

// The sum of what the threads wrote.
std::string ceiling_work::sums_differ(std::size_t count, double expected, double tolerance) {
  std::vector<double> sums(count);
  device_.download(sums.data(), sums_.data(), count * sizeof(double));
  double got = 0;
  for (const double s : sums) { got += s; }
  if (std::fabs(got - expected) <= tolerance * std::fabs(expected)) { return ""; }
  return "sum " + std::to_string(got) + " instead of " + std::to_string(expected);
}

measurement ceiling_work::compute_measurement(array_kernel k, precision p) {
  measurement m;
  m.name = "ceilings/" + std::string(to_string(k)) + "/" + std::string(to_string(p));
  m.parameters = {{"elements", count_}};
  m.bytes = bytes_of(k, count_, p);
  m.run = [this, k, p] {
    prepare(p);
    compute(k, p, 4);
  };
  m.check = [this, k, p] { return largest_error(k, p); };
  return m;
}

measurement ceiling_work::read(precision p, const read_shape& shape) {
  measurement m;
  m.name = "ceilings/read/" + std::string(to_string(p));
  m.parameters = {{"elements", count_}};
  m.bytes = double(count_) * double(size_of(p));
  m.run = [=, this] {
    prepare(p);
    operations_.read(device_, p, shape, b_.data(), count_, sums_.as<double>());
  };
  m.check = [=, this] {
    return sums_differ(shape.blocks * device_kernels::array_threads, sum_of_inputs(count_),
                       p == precision::float64 ? 1e-12 : 1e-5);
  };
  return m;
}

std::vector<measurement> ceiling_work::read_ways() {
  std::vector<measurement> all;
  for (const bool in_chunks : {false, true}) {
    for (const int blocks : {4, 8, 16, most_blocks}) {
      for (const unsigned loads : {4u, 8u}) {
        all.push_back(read(precision::float64, {blocks_of(device_, blocks), loads, in_chunks}));
        all.back().name += "/" + std::to_string(blocks) + "_blocks_" + std::to_string(loads) +
                           "_loads" + (in_chunks ? "_in_chunks" : "");
      }
    }
  }
  return all;
}

std::vector<measurement> ceiling_work::write_ways() {
  std::vector<measurement> all;
  for (const unsigned n : {1u, 4u, 8u}) { all.push_back(compute_by(array_kernel::write, n)); }
  return all;
}

std::vector<measurement> ceiling_work::copy_ways() {
  std::vector<measurement> all{memory(precision::float64).back()};
  for (const unsigned n : {1u, 4u, 8u}) { all.push_back(copy_of(n)); }
  return all;
}

std::vector<measurement> ceiling_work::triad_ways() {
  std::vector<measurement> all;
  for (const unsigned n : {1u, 4u, 8u}) { all.push_back(compute_by(array_kernel::triad, n)); }
  return all;
}

std::vector<measurement> ceiling_work::memory(precision p) {
  std::vector<measurement> all{read(p, {blocks_})};
  for (const array_kernel k : {array_kernel::write, array_kernel::copy, array_kernel::scale,
                               array_kernel::add, array_kernel::triad}) {
    all.push_back(compute_measurement(k, p));
  }
  if (p == precision::float64) {
    measurement copy = compute_measurement(array_kernel::copy, p);
    copy.name = "ceilings/runtime_copy";
    copy.run = [this, p] {
      prepare(p);
      this->copy();
    };
    all.push_back(std::move(copy));
  }
  return all;
}

measurement ceiling_work::compute_by(array_kernel k, unsigned elements) {
  measurement m = compute_measurement(k, precision::float64);
  m.name = "ceilings/" + std::string(to_string(k)) + "_by_" + std::to_string(elements) + "/double";
  m.run = [=, this] {
    prepare(precision::float64);
    compute(k, precision::float64, elements);
  };
  return m;
}

std::vector<measurement> ceiling_work::caches() {
  // A quarter of the L2: parts of it are far from some multiprocessors, and blocks run at once.
  const std::size_t l2 = std::max<std::size_t>(device_.facts().l2_bytes, 1 << 18) / 4;
  const auto fitting = unsigned(l2 / (device_kernels::l2_reads::block_elements * sizeof(double)));
  const unsigned blocks = std::clamp(fitting, 1u, blocks_);
  const std::size_t elements = blocks * device_kernels::l2_reads::block_elements;
  if (elements > count_) { return {}; }
  const unsigned repeats = repeats_of(device_, 400);
  const std::size_t threads = std::size_t(blocks_) * device_kernels::array_threads;
  measurement from_l2;
  from_l2.name = "ceilings/l2_read";
  from_l2.parameters = {{"bytes", elements * sizeof(double)}, {"repeats", repeats}};
  from_l2.bytes = double(elements) * sizeof(double) * repeats;
  from_l2.run = [=, this] {
    prepare(precision::float64);
    device_.fill(sums_.data(), 0, threads * sizeof(double));
    operations_.read_l2(device_, blocks, b_.as<double>(), sums_.as<double>(), repeats);
  };
  from_l2.check = [=, this] {
    return sums_differ(threads, sum_of_inputs(elements) * repeats, 1e-12);
  };

  const unsigned rounds = repeats_of(device_, 4000);
  measurement from_shared;
  from_shared.name = "ceilings/shared_read";
  from_shared.parameters = {{"blocks", blocks_}, {"repeats", rounds}};
  from_shared.bytes =
      double(threads) * rounds * device_kernels::shared_reads::loads * 2 * sizeof(float);
  from_shared.run = [=, this] {
    operations_.read_shared(device_, blocks_, 0.25f, sums_.as<float>(), rounds);
  };
  from_shared.check = [=, this]() -> std::string {
    std::vector<float> sums(threads);
    device_.download(sums.data(), sums_.data(), sums.size() * sizeof(float));
    const float each = 0.5f * float(rounds * device_kernels::shared_reads::loads);  // exact
    return std::all_of(sums.begin(), sums.end(), [&](float s) { return !(s < each || s > each); })
               ? ""
               : "a sum is not " + std::to_string(each);
  };
  return {std::move(from_l2), std::move(from_shared)};
}

measurement ceiling_work::arithmetic(precision p) {
  using kernel = device_kernels::multiply_add<double>;
  const unsigned repeats = repeats_of(device_, 500);
  const double threads = double(blocks_) * device_kernels::array_threads;
  measurement m;
  m.name = "ceilings/multiply_add/" + std::string(to_string(p));
  m.parameters = {{"blocks", blocks_}, {"repeats", repeats}};
  m.flops = 2 * threads * kernel::chains * kernel::steps * repeats;
  m.run = [=, this] { operations_.multiply_add(device_, p, blocks_, sums_.data(), repeats); };
  m.check = [=, this]() -> std::string {
    std::vector<char> bytes(std::size_t(threads) * size_of(p));
    device_.download(bytes.data(), sums_.data(), bytes.size());
    const auto warp = unsigned(device_.facts().warp_size);
    const auto wrong = [&](const auto* results) {
      for (unsigned n = 0; n < unsigned(threads); ++n) {
        const double expected = kernel::chains * (n % warp) + 28;  // 28 = 0 + ... + 7
        if (std::fabs(double(results[n]) - expected) > 0) { return true; }
      }
      return false;
    };
    const bool bad = p == precision::float64 ? wrong(reinterpret_cast<const double*>(bytes.data()))
                                             : wrong(reinterpret_cast<const float*>(bytes.data()));
    return bad ? "a chain ends with another number" : "";
  };
  return m;
}

double launch_interval(gpu::device& device, const operations& o) {
  constexpr int launches = 200;
  const auto nothing = [] {};
  const auto many = [&] {
    for (int n = 0; n < launches; ++n) { o.launch_nothing(device); }
  };
  device.time(1, nothing, many, nothing);
  return median(device.time(5, nothing, many, nothing)) / launches;
}

namespace {

constexpr auto nothing = [] {};
constexpr double long_run = 0.1;  // seconds

double least_seconds(gpu::device& device, const measurement& m, int samples) {
  const auto seconds = device.time(samples, nothing, m.run, nothing);
  return *std::min_element(seconds.begin(), seconds.end());
}

struct fastest_way {
  double rate = 0;
  std::string name;
};

// A few samples of each way, more of the best three; fewer where memory is slow.
fastest_way find_fastest(gpu::device& device, const std::vector<measurement>& ways) {
  std::vector<std::pair<double, const measurement*>> found;
  for (const measurement& m : ways) {
    if (interrupted()) { return {}; }
    const double first = least_seconds(device, m, 1);  // which also prepares
    found.emplace_back(least_seconds(device, m, first < long_run ? 3 : 1) / m.bytes, &m);
  }
  std::sort(found.begin(), found.end());
  found.resize(std::min<std::size_t>(found.size(), 3));
  for (auto& [seconds, m] : found) {
    if (interrupted()) { return {}; }
    if (seconds * m->bytes > long_run) { break; }
    seconds = std::min(seconds, least_seconds(device, *m, 5) / m->bytes);
  }
  const auto& [seconds, m] = *std::min_element(found.begin(), found.end());
  return {1 / seconds, m->name};
}

template <class Work>
void measure_memory(gpu::device& device, Work& work, ceilings& result,
                    std::vector<measurement> (Work::*read)(),
                    std::vector<measurement> (Work::*write)(),
                    std::vector<measurement> (Work::*copy)(),
                    std::vector<measurement> (Work::*triad)()) {
  const auto find = [&](const char* name, double& rate, auto ways) {
    const fastest_way best = find_fastest(device, (work.*ways)());
    rate = best.rate;
    result.ways[name] = best.name;
  };
  find("read", result.read, read);
  find("write", result.write, write);
  find("copy", result.copy, copy);
  find("triad", result.triad, triad);
}

ceilings measure_host(gpu::device& device) {
  ceilings result;
  // So much that the cache, which is swept, keeps nothing; a sixteenth of what is left.
  const std::size_t wanted =
      std::max<std::size_t>(device.facts().cache_bytes / 2 * 3, std::size_t(128) << 20);
  result.bytes = std::min(wanted, free_memory(device) / 16);
  host_ceiling_work work(device, result.bytes / sizeof(double));
  result.bytes = work.bytes();
  using w = host_ceiling_work;
  measure_memory(device, work, result, &w::read, &w::write, &w::copy, &w::triad);
  result.huge_page_share = work.huge_page_share();
  return result;
}

}  // namespace

ceilings measure_ceilings(gpu::device& device) {
  if (device.backend() == "cpu") { return measure_host(device); }
  ceilings result;
  const operations* const o = find_operations(device.backend());
  if (!o) { return result; }
  // Many times the cache; more than 4 GiB teaches nothing new.
  result.bytes = std::clamp<std::size_t>(free_memory(device) / 16, 64, std::size_t(4) << 30);
  ceiling_work work(device, *o, result.bytes / sizeof(double));
  sampling rules;
  rules.cache = cache_mode::warm;
  // For a tenth of a second: an H200 that was idle reads and writes 12 per cent slower for the
  // first 10 to 20 ms.
  rules.warm_up = 1000;
  rules.budget_seconds = 0.5;
  rules.min_samples = 11;
  const auto rate = [&](const measurement& m) {
    return interrupted() ? 0 : m.flops / median(sample(device, m.run, rules).seconds);
  };
  sample(device, work.read_ways().front().run, rules);
  using w = ceiling_work;
  measure_memory(device, work, result, &w::read_ways, &w::write_ways, &w::copy_ways,
                 &w::triad_ways);
  result.flops_double = rate(work.arithmetic(precision::float64));
  result.flops_float = rate(work.arithmetic(precision::float32));
  result.launch_seconds = launch_interval(device, *o);
  return result;
}

double ceilings::memory(double write_share) const {
  if (read <= 0 || triad <= 0 || write <= 0) { return copy; }
  constexpr std::array shares{0.0, 1.0 / 3, 0.5, 1.0};
  const std::array measured{read, triad, copy, write};
  const double share = std::clamp(write_share, 0.0, 1.0);
  std::size_t n = 1;
  while (n + 1 < shares.size() && share > shares[n]) { ++n; }
  const double between = (share - shares[n - 1]) / (shares[n] - shares[n - 1]);
  return 1 / ((1 - between) / measured[n - 1] + between / measured[n]);
}

double floor_of_run::seconds() const {
  return std::max({memory_seconds, arithmetic_seconds, launch_seconds});
}

std::string_view floor_of_run::binding() const {
  return memory_seconds >= seconds()       ? "memory"
         : arithmetic_seconds >= seconds() ? "arithmetic"
                                           : "launches";
}

floor_of_run find_floor(const ceilings& c, double bytes, double bytes_written, double flops,
                        precision p, std::size_t launches) {
  floor_of_run result;
  const double bandwidth = c.memory(bytes > 0 ? bytes_written / bytes : 0);
  if (bandwidth > 0) { result.memory_seconds = bytes / bandwidth; }
  if (c.flops(p) > 0) { result.arithmetic_seconds = flops / c.flops(p); }
  result.launch_seconds = double(launches) * c.launch_seconds;
  return result;
}

}  // namespace icobench
