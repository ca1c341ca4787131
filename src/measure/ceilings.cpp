#include "src/measure/ceilings.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "src/measure/measure.hpp"
#include "src/measure/statistics.hpp"

namespace icobench {
namespace {

constexpr std::uint64_t seed_b = 1, seed_c = 2;

unsigned blocks_of(const gpu::device& device) {
  return unsigned(8 * std::max(device.facts().multiprocessors, 1));
}

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
      sums_(device, blocks_of(device) * device_kernels::array_threads * sizeof(double)),
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
std::string ceiling_work::sums_differ(double expected, double tolerance) {
  std::vector<double> sums(sums_.bytes() / sizeof(double));
  device_.download(sums.data(), sums_.data(), sums_.bytes());
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

std::vector<measurement> ceiling_work::memory(precision p) {
  std::vector<measurement> all;
  measurement read;
  read.name = "ceilings/read/" + std::string(to_string(p));
  read.parameters = {{"elements", count_}};
  read.bytes = double(count_) * double(size_of(p));
  read.run = [this, p] {
    prepare(p);
    operations_.read(device_, p, blocks_, b_.data(), count_, sums_.as<double>());
  };
  read.check = [this, p] {
    return sums_differ(sum_of_inputs(count_), p == precision::float64 ? 1e-12 : 1e-5);
  };
  all.push_back(std::move(read));
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

measurement ceiling_work::copy_of(unsigned elements) {
  measurement m = compute_measurement(array_kernel::copy, precision::float64);
  m.name = "ceilings/copy_by_" + std::to_string(elements) + "/double";
  m.run = [this, elements] {
    prepare(precision::float64);
    compute(array_kernel::copy, precision::float64, elements);
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
  measurement from_l2;
  from_l2.name = "ceilings/l2_read";
  from_l2.parameters = {{"bytes", elements * sizeof(double)}, {"repeats", repeats}};
  from_l2.bytes = double(elements) * sizeof(double) * repeats;
  from_l2.run = [=, this] {
    prepare(precision::float64);
    device_.fill(sums_.data(), 0, sums_.bytes());
    operations_.read_l2(device_, blocks, b_.as<double>(), sums_.as<double>(), repeats);
  };
  from_l2.check = [=, this] { return sums_differ(sum_of_inputs(elements) * repeats, 1e-12); };

  const unsigned rounds = repeats_of(device_, 4000);
  const double threads = double(blocks_) * device_kernels::array_threads;
  measurement from_shared;
  from_shared.name = "ceilings/shared_read";
  from_shared.parameters = {{"blocks", blocks_}, {"repeats", rounds}};
  from_shared.bytes = threads * rounds * device_kernels::shared_reads::loads * 2 * sizeof(float);
  from_shared.run = [=, this] {
    operations_.read_shared(device_, blocks_, 0.25f, sums_.as<float>(), rounds);
  };
  from_shared.check = [=, this]() -> std::string {
    std::vector<float> sums(std::size_t(blocks_) * device_kernels::array_threads);
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

ceilings measure_ceilings(gpu::device& device, double copy) {
  ceilings result;
  result.copy = copy;
  const operations* const o = find_operations(device.backend());
  if (!o || copy <= 0) { return result; }
  // Several times the cache, and small beside the memory.
  const gpu::device_facts facts = device.facts();
  const std::size_t count =
      std::clamp<std::size_t>(facts.memory_bytes / 64, 8, std::size_t(1) << 30) / sizeof(double);
  ceiling_work work(device, *o, count);
  sampling rules;
  rules.cache = cache_mode::warm;
  // For a tenth of a second: an H200 that was idle reads and writes 12 per cent slower for the
  // first 10 to 20 ms.
  rules.warm_up = 1000;
  rules.budget_seconds = 0.5;
  rules.min_samples = 11;
  const auto rate = [&](const measurement& m) {
    return (m.bytes + m.flops) / median(sample(device, m.run, rules).seconds);
  };
  for (const measurement& m : work.memory(precision::float64)) {
    if (m.name == "ceilings/read/double") { result.read = rate(m); }
    if (m.name == "ceilings/write/double") { result.write = rate(m); }
    if (m.name == "ceilings/triad/double") { result.triad = rate(m); }
  }
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
