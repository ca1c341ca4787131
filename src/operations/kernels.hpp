// Kernels that do nothing but move bytes or multiply and add: what the device can do.
#pragma once

#include <cstddef>
#include <cstdint>

#include <icobench/device/reduce.hpp>
#include <icobench/device/transpose.hpp>
#include <icobench/gpu/memory.hpp>
#include <icobench/gpu/qualifiers.hpp>
#include <icobench/launch.hpp>

namespace icobench {

// a from b and c, element by element.
enum class array_kernel { write, copy, scale, add, triad };

// Input n of array `seed`: in [0.5, 1.5), exact in both precisions, the same on every device (a
// hash, splitmix64).
ICOBENCH_FUNCTION inline double input_value(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t x = (seed << 48) + n + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return 0.5 + double(x >> 41) * 0x1p-23;
}

// Element i of what a kernel makes of `b` and `c`, which are arrays 1 and 2.
template <class T>
ICOBENCH_FUNCTION inline T computed(array_kernel what, T b, T c) {
  const T factor = 2;
  switch (what) {
    case array_kernel::write:
      return factor;
    case array_kernel::copy:
      return b;
    case array_kernel::scale:
      return factor * b;
    case array_kernel::add:
      return b + c;
    default:
      return b + factor * c;  // exact but for the addition: the same with and without FMA
  }
}

namespace device_kernels {

inline constexpr unsigned array_threads = max_block_threads;

// Each thread computes `elements` elements, all of them loaded first; a block's are adjacent.
template <array_kernel what, class T, unsigned elements>
struct array_operation {
  T* a;
  const T* b;
  const T* c;
  std::size_t count;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    const std::size_t first = std::size_t(t.block().x) * (array_threads * elements) + t.thread().x;
    T values[elements];
    ICOBENCH_UNROLL_ALL
    for (unsigned n = 0; n < elements; ++n) {
      if (first + n * array_threads < count) { values[n] = value(first + n * array_threads); }
    }
    ICOBENCH_UNROLL_ALL
    for (unsigned n = 0; n < elements; ++n) {
      if (first + n * array_threads < count) { a[first + n * array_threads] = values[n]; }
    }
  }

 private:
  ICOBENCH_DEVICE T value(std::size_t i) const {
    constexpr bool one = what != array_kernel::write;
    constexpr bool two = what == array_kernel::add || what == array_kernel::triad;
    return computed<T>(what, one ? b[i] : T(0), two ? c[i] : T(0));
  }
};

template <class T>
struct fill_inputs {
  T* a;
  std::uint64_t seed;
  std::size_t count;
  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    for (std::size_t i = t.x(); i < count; i += t.extent_x()) { a[i] = T(input_value(seed, i)); }
  }
};

// Loads of reductions that find the largest error.
ICOBENCH_FUNCTION inline located error_of(double have, double want, std::size_t i) {
  const double difference = have - want;
  const bool number = difference == difference;
  const double size = difference < 0 ? -difference : difference;
  return {number ? size : __builtin_huge_val(), std::int64_t(i)};
}
template <class T>
struct computed_error {
  const T* a;
  array_kernel what;
  ICOBENCH_FUNCTION located operator()(std::size_t i) const {
    const T b = T(input_value(1, i)), c = T(input_value(2, i));
    return error_of(double(a[i]), double(computed<T>(what, b, c)), i);
  }
};
// Of a transpose, or a copy, of array 1: error at the element that comes as i-th in `from`'s order
// without padding.
template <class T>
struct transposed_error {
  const T* to;
  transposition m;
  bool transposed;
  ICOBENCH_FUNCTION located operator()(std::size_t i) const {
    const std::size_t c = i % m.columns, r = i / m.columns % m.rows, n = i / m.columns / m.rows;
    const std::size_t in = r * m.from_pitch + c;
    const T have = to[n * m.to_distance + (transposed ? c * m.to_pitch + r : in)];
    return error_of(double(have), input_value(1, n * m.from_distance + in), i);
  }
};

// Reads an array, pairs of elements at once, `loads` pairs in flight; blocks read in turns, or each
// a chunk of its own. The sum of what a thread read is what it writes.
template <class T, unsigned loads>
struct reads {
  const T* data;
  std::size_t count;
  double* sums;  // one a thread
  bool in_chunks;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    const auto* const pairs = reinterpret_cast<const gpu::pair<T>*>(data);
    const std::size_t all = count / 2, blocks = t.grid_dim().x;
    const std::size_t chunk = in_chunks ? (all + blocks - 1) / blocks : all;
    const std::size_t begin = in_chunks ? t.block().x * chunk : 0;
    const std::size_t n = begin + chunk < all ? begin + chunk : all;
    const std::size_t step = in_chunks ? std::size_t(array_threads) : t.extent_x();
    T first = 0, second = 0;
    std::size_t i = begin + (in_chunks ? t.thread().x : t.x());
    for (; i + (loads - 1) * step < n; i += loads * step) {
      gpu::pair<T> values[loads];
      ICOBENCH_UNROLL_ALL
      for (unsigned l = 0; l < loads; ++l) { values[l] = pairs[i + l * step]; }
      ICOBENCH_UNROLL_ALL
      for (unsigned l = 0; l < loads; ++l) {
        first += values[l].first;
        second += values[l].second;
      }
    }
    for (; i < n; i += step) {
      first += pairs[i].first;
      second += pairs[i].second;
    }
    if (count % 2 == 1 && t.x() == 0) { first += data[count - 1]; }
    sums[t.x()] = double(first) + double(second);
  }
};

// Reads an array that fits the L2 cache again and again, each time other blocks another part. The
// sum of what a thread read is what it writes.
struct l2_reads {
  static constexpr unsigned loads = 4;  // of pairs, in flight
  static constexpr std::size_t block_elements = std::size_t(2) * loads * array_threads;

  const double* data;  // block_elements for each block
  double* sums;        // one a thread
  unsigned repeats;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    const unsigned blocks = t.grid_dim().x;
    double sum = 0;
    ICOBENCH_NO_UNROLL
    for (unsigned r = 0; r < repeats; ++r) {
      // 37 is odd and no divisor of a number of multiprocessors.
      const double* part = data + (t.block().x + 37 * r) % blocks * block_elements;
      gpu::pair<double> values[loads];
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < loads; ++n) {
        values[n] = gpu::load_pair_l2(part + 2 * (n * array_threads + t.thread().x));
      }
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < loads; ++n) { sum += values[n].first + values[n].second; }
    }
    sums[t.x()] = sum;
  }
};

// Reads a block's shared memory again and again: neighbouring threads neighbouring pairs.
struct shared_reads {
  static constexpr unsigned loads = 8, pairs = (loads + 1) * array_threads;
  static constexpr unsigned shared_bytes = pairs * 2 * sizeof(float);

  float* sums;  // one a thread
  float value;  // in all of the shared memory
  unsigned repeats;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    auto* const memory = t.template shared<gpu::pair<float>>();
    const unsigned rank = t.thread().x;
    for (unsigned n = rank; n < pairs; n += array_threads) { memory[n] = {value, value}; }
    t.sync();
    float first = 0, second = 0;
    ICOBENCH_NO_UNROLL
    for (unsigned r = 0; r < repeats; ++r) {
      // One address in each round: more arithmetic would take longer than the loads.
      const gpu::pair<float>* const from = memory + rank + r % array_threads;
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < loads; ++n) {
        const gpu::pair<float> both = from[n * array_threads];
        first += both.first;
        second += both.second;
      }
    }
    sums[t.x()] = first + second;
  }
};

// Multiplies and adds in independent chains: x becomes b - x and, after an even number of steps, is
// what it was. Neither factor is known to the compiler.
template <class T>
struct multiply_add {
  static constexpr unsigned chains = 8, steps = 16;

  T* results;  // one a thread
  T minus_one, b;
  unsigned repeats;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    T x[chains];
    ICOBENCH_UNROLL_ALL
    for (unsigned n = 0; n < chains; ++n) { x[n] = T(t.lane() + n); }
    ICOBENCH_NO_UNROLL
    for (unsigned r = 0; r < repeats; ++r) {
      ICOBENCH_UNROLL_ALL
      for (unsigned s = 0; s < steps; ++s) {
        ICOBENCH_UNROLL_ALL
        for (unsigned n = 0; n < chains; ++n) { x[n] = x[n] * minus_one + b; }
      }
    }
    T all = 0;
    ICOBENCH_UNROLL_ALL
    for (unsigned n = 0; n < chains; ++n) { all += x[n]; }
    results[t.x()] = all;
  }
};

struct nothing {
  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread&) const {}
};

}  // namespace device_kernels
}  // namespace icobench
