// Reductions of device memory: sum, minimum, maximum, or anything that combines in any order.
//
// A thread combines every n-th value, eight loads in flight; a block combines its threads by a tree
// in shared memory or by shuffles; and the blocks are combined by a second launch, by the block
// that ends last, or by atomics.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <type_traits>

#include <icobench/gpu/device.hpp>
#include <icobench/gpu/dim3.hpp>
#include <icobench/gpu/qualifiers.hpp>
#include <icobench/launch.hpp>
#include <icobench/types.hpp>

namespace icobench {

// Operators: `identity` is the result of no values. Minimum and maximum skip NaN.
struct sum {
  template <class T>
  ICOBENCH_FUNCTION static constexpr T identity() {
    return T(0);
  }
  template <class T>
  ICOBENCH_FUNCTION constexpr T operator()(T a, T b) const {
    return a + b;
  }
};
struct minimum {
  template <class T>
  ICOBENCH_FUNCTION static constexpr T identity() {
    return T(__builtin_huge_val());
  }
  template <class T>
  ICOBENCH_FUNCTION constexpr T operator()(T a, T b) const {
    return b < a || a != a ? b : a;
  }
};
struct maximum {
  template <class T>
  ICOBENCH_FUNCTION static constexpr T identity() {
    return -T(__builtin_huge_val());
  }
  template <class T>
  ICOBENCH_FUNCTION constexpr T operator()(T a, T b) const {
    return b > a || a != a ? b : a;
  }
};

// A value and where it was found: of the largest ones the first.
struct located {
  double value;
  std::int64_t index;
};
struct largest {
  template <class T>
  ICOBENCH_FUNCTION static constexpr located identity() {
    return {-1, -1};
  }
  ICOBENCH_FUNCTION constexpr located operator()(located a, located b) const {
    const bool second = b.value > a.value || (b.value == a.value && b.index < a.index);
    return second ? b : a;
  }
};

// Sums of |x| and of x * x: the norms L1 and, its root taken, L2.
struct norms {
  double absolute, squares;
};
struct add_norms {
  template <class T>
  ICOBENCH_FUNCTION static constexpr norms identity() {
    return {0, 0};
  }
  ICOBENCH_FUNCTION constexpr norms operator()(norms a, norms b) const {
    return {a.absolute + b.absolute, a.squares + b.squares};
  }
};

// Loads of a reduction: the values themselves; how far they are from what is expected, where NaN
// expects NaN and infinity stands for a number that cannot be right; what values add to norms,
// which is nothing if they are NaN; what their differences from the expected ones add, which is NaN
// if one of the two is.
template <class T>
struct value_at {
  const T* values;
  ICOBENCH_FUNCTION T operator()(std::size_t i) const { return values[i]; }
};
template <class T>
struct error_at {
  const T* values;
  const double* expected;
  ICOBENCH_FUNCTION located operator()(std::size_t i) const {
    const double want = expected[i], have = double(values[i]), difference = have - want;
    if (want != want && have != have) { return largest::identity<located>(); }
    const bool number = difference == difference;
    const double size = difference < 0 ? -difference : difference;
    return {number ? size : __builtin_huge_val(), std::int64_t(i)};
  }
};

ICOBENCH_FUNCTION constexpr norms norms_of(double x) {
  return {x < 0 ? -x : x, x * x};
}
struct norms_at {
  const double* values;
  ICOBENCH_FUNCTION norms operator()(std::size_t i) const {
    const double x = values[i];
    return x == x ? norms_of(x) : norms{0, 0};
  }
};
template <class T>
struct difference_at {
  const T* values;
  const double* expected;
  ICOBENCH_FUNCTION norms operator()(std::size_t i) const {
    const double want = expected[i], have = double(values[i]);
    return want != want && have != have ? norms{0, 0} : norms_of(have - want);
  }
};

// Of 32-bit words: their sum with odd weights, which no change of a single one leaves as it was.
struct weighted_word {
  const std::uint32_t* words;
  ICOBENCH_FUNCTION unsigned long long operator()(std::size_t i) const {
    return words[i] * (2ull * i + 1);
  }
};

enum class within_block { tree, shuffle };
enum class across_blocks { two_passes, last_block, atomics };

// `deterministic`: the same bits on any device, for which it takes the tree and a fixed grid.
// Else a repetition on one device gives the same bits unless atomics add numbers up.
struct reduction {
  within_block block = within_block::shuffle;
  across_blocks grid = across_blocks::last_block;
  bool deterministic = false;
};

namespace detail {

constexpr unsigned reduce_threads = max_block_threads;
constexpr unsigned most_reduce_blocks = 4096, fixed_reduce_blocks = 1024;
constexpr unsigned reduce_loads = 8;  // that a thread has in flight

// What thread 0 gets is the block's.
template <within_block how, class T, class Combine, class Thread>
ICOBENCH_DEVICE T reduce_block(Thread& t, T mine, Combine combine) {
  T* const shared = t.template shared<T>();
  const unsigned rank = t.rank(), threads = reduce_threads;
  if constexpr (how == within_block::tree) {
    shared[rank] = mine;
    t.sync();
    for (unsigned half = threads / 2; half > 0; half /= 2) {
      if (rank < half) { shared[rank] = combine(shared[rank], shared[rank + half]); }
      t.sync();
    }
    return shared[0];
  } else {
    const unsigned width = t.warp_size();
    for (unsigned step = width / 2; step > 0; step /= 2) {
      mine = combine(mine, t.shuffle_down(mine, step));
    }
    if (t.lane() == 0) { shared[rank / width] = mine; }
    t.sync();
    if (rank < width) {
      mine = rank < threads / width ? shared[rank] : Combine::template identity<T>();
      for (unsigned step = width / 2; step > 0; step /= 2) {
        mine = combine(mine, t.shuffle_down(mine, step));
      }
    }
    return mine;
  }
}

template <within_block block, across_blocks grid, class T, class Combine, class Load>
struct reduce_kernel {
  Load load;
  std::size_t count;
  T* partials;  // one a block
  T* result;
  unsigned* arrived;  // blocks that have ended: 0 between launches

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    const Combine combine;
    T mine = Combine::template identity<T>();
    const std::size_t step = t.extent_x();
    std::size_t i = t.x();
    for (; i + (reduce_loads - 1) * step < count; i += reduce_loads * step) {
      T values[reduce_loads];
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < reduce_loads; ++n) { values[n] = load(i + n * step); }
      ICOBENCH_UNROLL_ALL
      for (unsigned n = 0; n < reduce_loads; ++n) { mine = combine(mine, values[n]); }
    }
    for (; i < count; i += step) { mine = combine(mine, load(i)); }
    mine = reduce_block<block>(t, mine, combine);

    const bool first = t.rank() == 0;
    const unsigned blocks = t.grid_dim().x;
    if constexpr (grid == across_blocks::atomics) {
      if (!first) { return; }
      if constexpr (std::is_same_v<Combine, sum>) {
        t.atomic_add(result, mine);
      } else {
        t.atomic_update(result, mine, combine);
      }
    } else if (grid == across_blocks::two_passes || blocks == 1) {
      if (first) { partials[t.block().x] = mine; }
    } else {
      unsigned* const place = t.template shared<unsigned>(reduce_threads * sizeof(T));
      if (first) {
        partials[t.block().x] = mine;
        t.fence();
        *place = t.atomic_add(arrived, 1u);
      }
      t.sync();
      if (*place != blocks - 1) { return; }
      t.fence();
      mine = Combine::template identity<T>();
      for (unsigned n = t.rank(); n < blocks; n += reduce_threads) {
        mine = combine(mine, partials[n]);
      }
      t.sync();  // all have read `place` and the shared memory of the block's own reduction
      mine = reduce_block<block>(t, mine, combine);
      if (first) {
        *result = mine;
        *arrived = 0;
      }
    }
  }
};

template <class T>
struct set_value {
  T* to;
  T value;
  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    if (t.x() == 0) { *to = value; }
  }
};

}  // namespace detail

// What reductions on one device need besides: results of blocks. Those that share one must be in
// one stream.
class reduce_space {
 public:
  explicit reduce_space(gpu::device& device)
      : memory_(device, detail::most_reduce_blocks * sizeof(located) + 16) {
    device.fill(memory_.data(), 0, memory_.bytes());
    device.synchronize();
  }
  template <class T>
  T* partials() const {
    static_assert(sizeof(T) <= sizeof(located));
    return reinterpret_cast<T*>(memory_.as<char>() + 16);
  }
  unsigned* arrived() const { return memory_.as<unsigned>(); }

 private:
  gpu::buffer memory_;
};

// Enqueues *result = load(0) combined with ... load(count - 1), on the device, in T. `result` is
// device memory. Throws std::invalid_argument for atomics that should be deterministic or that T is
// too large for.
template <class Backend, class T, class Combine, class Load>
void reduce(gpu::device& device, const Load& load, std::size_t count, Combine, T* result,
            const reduce_space& space, const reduction& how = {}) {
  using namespace detail;
  const auto launch = [&]<within_block b, across_blocks g>() {
    const std::size_t wanted = ceil_div(count, reduce_threads * reduce_loads);
    const unsigned most =
        how.deterministic
            ? fixed_reduce_blocks
            : unsigned(std::clamp(8 * device.facts().multiprocessors, 1, int(most_reduce_blocks)));
    const auto blocks = unsigned(std::clamp<std::size_t>(wanted, 1, most));
    const std::size_t shared = reduce_threads * sizeof(T) + 16;
    const auto start = [&](unsigned n, const auto& kernel) {
      gpu::launch<Backend, compiled_for<>>(device, {n, 1, 1}, {reduce_threads, 1, 1}, shared,
                                           kernel);
    };
    if constexpr (g == across_blocks::atomics) {
      start(1, set_value<T>{result, Combine::template identity<T>()});
    }
    T* const partials = blocks == 1 ? result : space.partials<T>();
    start(blocks,
          reduce_kernel<b, g, T, Combine, Load>{load, count, partials, result, space.arrived()});
    if constexpr (g == across_blocks::two_passes) {
      if (blocks > 1) {
        start(1, reduce_kernel<b, g, T, Combine, value_at<T>>{
                     {partials}, blocks, result, result, space.arrived()});
      }
    }
  };
  const auto choose = [&]<within_block b>() {
    switch (how.grid) {
      case across_blocks::two_passes:
        return launch.template operator()<b, across_blocks::two_passes>();
      case across_blocks::last_block:
        return launch.template operator()<b, across_blocks::last_block>();
      case across_blocks::atomics:
        if constexpr (sizeof(T) <= 8) {
          if (!how.deterministic) {
            return launch.template operator()<b, across_blocks::atomics>();
          }
        }
        throw std::invalid_argument(how.deterministic ? "atomics are not deterministic"
                                                      : "atomics have at most 8 bytes");
    }
  };
  if (how.block == within_block::tree || how.deterministic) {
    choose.template operator()<within_block::tree>();
  } else {
    choose.template operator()<within_block::shuffle>();
  }
}

}  // namespace icobench
