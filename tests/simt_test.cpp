// The simt backend: what kernels compute on it, and that it reports each kind of broken kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "src/simt/backend.hpp"

namespace {

using icobench::gpu::extent3;
using icobench::gpu::index3;
using icobench::gpu::simt_error;
using icobench::gpu::simt_launch;
using icobench::gpu::simt_settings;
using icobench::gpu::simt_thread;
using icobench::gpu::thread_order;

constexpr std::array<thread_order, 3> orders = {thread_order::forward, thread_order::reverse,
                                                thread_order::random};

// Every warp size with every order.
std::vector<simt_settings> all_settings() {
  std::vector<simt_settings> all;
  for (const unsigned warp_size : {32u, 64u})
    for (const thread_order order : orders) all.push_back({warp_size, order, 7});
  return all;
}

// Generic lambdas are kernels, too: a test says what it needs where it needs it.
template <class Kernel>
std::string error_of(extent3 grid, extent3 block, const Kernel& kernel,
                     const simt_settings& settings = {}) {
  try {
    simt_launch(grid, block, 64 * sizeof(double), kernel, settings);
  } catch (const simt_error& error) { return error.what(); }
  return "";
}

std::string here(int line) {
  return std::string(__FILE__) + ":" + std::to_string(line);
}

::testing::AssertionResult contains(const std::string& text,
                                    const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    if (text.find(part) == std::string::npos)
      return ::testing::AssertionFailure() << "no \"" << part << "\" in \"" << text << "\"";
  return ::testing::AssertionSuccess();
}

// Second difference of the second difference on a ring: a tile with two halo points on each side,
// one barrier before each of the two steps that read what other threads wrote.
template <bool with_second_barrier>
struct ring_stencil {
  const double* in;
  double* out;
  unsigned size;

  template <class Thread>
  void operator()(Thread& t) const {
    const unsigned width = t.block_dim().x;  // the tile and its two inner halo points
    double* outer = t.template shared<double>();
    double* inner = t.template shared<double>((width + 2) * sizeof(double));
    const unsigned first = t.block().x * (width - 2);
    for (unsigned k = t.rank(); k < width + 2; k += width)
      outer[k] = in[(first + k + size - 2) % size];
    t.sync();
    const unsigned k = t.thread().x;
    inner[k] = outer[k] - 2 * outer[k + 1] + outer[k + 2];
    if constexpr (with_second_barrier) t.sync();
    const unsigned point = first + k - 1;
    if (k >= 1 && k + 1 < width && point < size)
      out[point] = inner[k - 1] - 2 * inner[k] + inner[k + 1];
  }
};

std::vector<double> ring_input(unsigned size) {
  std::vector<double> values(size);
  for (unsigned i = 0; i < size; ++i) values[i] = std::sin(0.37 * i) + 0.01 * (i % 13);
  return values;
}

std::vector<double> second_difference(const std::vector<double>& in) {
  const std::size_t size = in.size();
  std::vector<double> out(size);
  for (std::size_t i = 0; i < size; ++i)
    out[i] = in[(i + size - 1) % size] - 2 * in[i] + in[(i + 1) % size];
  return out;
}

template <bool with_second_barrier>
std::vector<double> run_ring(const std::vector<double>& in, unsigned width,
                             const simt_settings& settings) {
  const auto size = static_cast<unsigned>(in.size());
  std::vector<double> out(size, -1);
  simt_launch({(size + width - 3) / (width - 2)}, {width}, (2 * width + 2) * sizeof(double),
              ring_stencil<with_second_barrier>{in.data(), out.data(), size}, settings);
  return out;
}

TEST(simt, stencil_with_two_barriers_agrees_with_plain_loop) {
  for (const simt_settings& settings : all_settings())
    for (const unsigned size : {7u, 64u, 1001u})
      for (const unsigned width : {3u, 33u, 128u, 1024u}) {
        const std::vector<double> in = ring_input(size);
        const std::vector<double> expected = second_difference(second_difference(in));
        EXPECT_EQ(run_ring<true>(in, width, settings), expected) << size << " " << width;
      }
}

TEST(simt, missing_barrier_gives_wrong_result_in_every_order) {
  const std::vector<double> in = ring_input(512);
  const std::vector<double> expected = second_difference(second_difference(in));
  for (const thread_order order : orders) {
    const std::vector<double> out = run_ring<false>(in, 66, {32, order, 1});
    EXPECT_NE(out, expected);
    EXPECT_TRUE(std::any_of(out.begin(), out.end(), [](double v) { return std::isnan(v); }));
  }
}

// The value of the last thread of the block before it is overwritten: with the last thread to
// arrive going on first, no order would show the missing barrier.
TEST(simt, race_with_last_thread_shows) {
  const auto kernel = [](double* out) {
    return [out](auto& t) {
      double* s = t.template shared<double>();
      s[t.rank()] = t.rank();
      t.sync();
      if (t.rank() == 63) s[0] = -1;
      out[t.rank()] = s[0];
    };
  };
  std::vector<double> forward(64), reverse(64);
  simt_launch({}, {64}, 64 * sizeof(double), kernel(forward.data()));
  simt_launch({}, {64}, 64 * sizeof(double), kernel(reverse.data()),
              {32, thread_order::reverse, 1});
  EXPECT_EQ(forward[62], 0);
  EXPECT_EQ(reverse[62], -1);
}

// Sum over a block: shuffles in sections of `width`, then through shared memory.
struct block_sum {
  double* sums;
  unsigned width;

  template <class Thread>
  void operator()(Thread& t) const {
    double value = t.x() + 1.0;
    for (unsigned delta = width / 2; delta > 0; delta /= 2)
      value += t.shuffle_down(value, delta, width);
    value = t.shuffle(value, 0, width);
    double* partial = t.template shared<double>();
    if (t.lane() % width == 0) partial[t.rank() / width] = value;
    t.sync();
    const unsigned sections = t.block_dim().x / width;
    if (t.rank() == 0) sums[t.block().x] = std::accumulate(partial, partial + sections, 0.0);
  }
};

TEST(simt, block_reduction_with_shuffles) {
  for (const simt_settings& settings : all_settings())
    for (const unsigned width : {1u, 16u, 32u, 64u}) {
      if (width > settings.warp_size) continue;
      std::vector<double> sums(5);
      simt_launch({5}, {192}, 192 * sizeof(double), block_sum{sums.data(), width}, settings);
      for (unsigned b = 0; b < 5; ++b) EXPECT_EQ(sums[b], 192.0 * (192.0 * b + 96.5)) << width;
    }
}

TEST(simt, shuffles_follow_rules_of_cuda) {
  for (const simt_settings& settings : all_settings())
    for (const unsigned width : {2u, 8u, 32u, 0u}) {
      const unsigned section = width == 0 ? settings.warp_size : width;
      std::vector<std::array<unsigned, 4>> got(128);
      const auto kernel = [&](auto& t) {
        const unsigned me = t.rank();
        got[me] = {t.shuffle(me, 9, width), t.shuffle_up(me, 3, width),
                   t.shuffle_down(me, 3, width), t.shuffle_xor(me, 9, width)};
      };
      simt_launch({}, {128}, 0, kernel, settings);
      for (unsigned me = 0; me < 128; ++me) {
        const unsigned begin = me - me % section, other = me ^ 9;
        EXPECT_EQ(got[me][0], begin + 9 % section);
        EXPECT_EQ(got[me][1], me < begin + 3 ? me : me - 3);
        EXPECT_EQ(got[me][2], me + 3 >= begin + section ? me : me + 3);
        EXPECT_EQ(got[me][3], other >= begin + section ? me : other);
      }
    }
}

TEST(simt, shuffles_take_any_small_type) {
  const auto kernel = [](auto& t) {
    const std::complex<double> pair(t.lane(), -1.0 * t.lane());
    EXPECT_EQ(t.shuffle_xor(pair, 1u), std::complex<double>(t.lane() ^ 1u, -1.0 * (t.lane() ^ 1u)));
    EXPECT_EQ(t.shuffle(static_cast<std::int8_t>(t.lane()), 5u), 5);
  };
  simt_launch({}, {64}, 0, kernel);
}

TEST(simt, positions_cover_grid_once) {
  const extent3 grid = {3, 2, 5}, block = {33, 1, 3};
  for (const simt_settings& settings : all_settings()) {
    std::vector<int> visits(static_cast<std::size_t>(grid.volume() * block.volume()));
    const auto kernel = [&](auto& t) {
      EXPECT_EQ(t.block_dim(), block);
      EXPECT_EQ(t.grid_dim(), grid);
      EXPECT_EQ(t.rank(), t.thread().x + 33 * t.thread().z);
      EXPECT_EQ(t.lane(), t.rank() % settings.warp_size);
      EXPECT_EQ(t.warp_size(), settings.warp_size);
      EXPECT_EQ(t.extent_z(), 15u);
      ++visits[(t.z() * t.extent_y() + t.y()) * t.extent_x() + t.x()];
      t.sync_warp();
      t.sync();
    };
    simt_launch(grid, block, 0, kernel, settings);
    EXPECT_EQ(std::count(visits.begin(), visits.end(), 1), std::ssize(visits));
  }
}

TEST(simt, many_blocks) {
  for (const thread_order order : orders) {
    std::vector<unsigned> out(50'000);
    const auto kernel = [&](auto& t) {
      unsigned* shared = t.template shared<unsigned>();
      shared[t.rank()] = t.x();
      t.sync();
      out[t.x()] = shared[t.rank() ^ 1];
    };
    simt_launch({25'000}, {2}, 2 * sizeof(unsigned), kernel, {32, order, 3});
    for (unsigned i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], i ^ 1);
  }
}

TEST(simt, order_of_threads_and_blocks) {
  const auto run = [](thread_order order, unsigned seed) {
    std::vector<unsigned> visited;
    const auto kernel = [&](auto& t) {
      t.sync();
      visited.push_back(t.x());
    };
    simt_launch({4}, {40}, 0, kernel, {32, order, seed});
    return visited;
  };
  std::vector<unsigned> ascending(160);
  std::iota(ascending.begin(), ascending.end(), 0u);
  EXPECT_EQ(run(thread_order::forward, 1), ascending);
  EXPECT_EQ(run(thread_order::random, 1), run(thread_order::random, 1));
  EXPECT_NE(run(thread_order::random, 1), run(thread_order::random, 2));
  EXPECT_TRUE(std::ranges::is_permutation(run(thread_order::random, 1), ascending));
  std::ranges::reverse(ascending);
  EXPECT_EQ(run(thread_order::reverse, 1), ascending);
}

TEST(simt, shared_memory_is_aligned_and_poisoned_for_each_block) {
  int blocks = 0;
  const auto kernel = [&](auto& t) {
    double* values = t.template shared<double>();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values) % 128, 0u);
    EXPECT_TRUE(std::isnan(values[t.rank()]));
    EXPECT_TRUE(std::isnan(*t.template shared<float>(t.rank() * sizeof(double))));
    t.sync();
    values[t.rank()] = 1;
    if (t.rank() == 0) ++blocks;
  };
  simt_launch({3}, {8}, 8 * sizeof(double), kernel);
  EXPECT_EQ(blocks, 3);
}

// Each thread copies its value into one of two stages while the one before is summed.
template <int left, bool with_barrier>
std::vector<double> sums_of_copies() {
  const std::vector<double> in{1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<double> out(4);
  const auto kernel = [&](auto& t) {
    double* stage = t.template shared<double>();
    const unsigned me = t.rank(), next = (me + 1) % 4;
    double sum = 0;
    t.template copy_async<8>(stage + me, &in[me]);
    t.commit_async();
    t.template copy_async<8>(stage + 4 + me, &in[4 + me]);
    t.commit_async();
    t.template wait_async<left>();
    if (with_barrier) t.sync();
    sum += stage[me] + stage[next];
    t.template wait_async<0>();
    t.sync();
    out[me] = sum + stage[4 + me] + stage[4 + next];
  };
  simt_launch({1}, {4}, 8 * sizeof(double), kernel);
  return out;
}

TEST(simt, async_copies_are_there_after_the_wait_and_the_barrier) {
  EXPECT_EQ((sums_of_copies<1, true>()), (std::vector<double>{14, 18, 22, 18}));
  const auto some_nan = [](const std::vector<double>& values) {
    return std::ranges::any_of(values, [](double x) { return std::isnan(x); });
  };
  EXPECT_TRUE(some_nan(sums_of_copies<2, true>()));
  EXPECT_TRUE(some_nan(sums_of_copies<1, false>()));
}

TEST(simt, reports_misaligned_async_copies) {
  const float values[4] = {};
  const auto kernel = [&](auto& t) {
    t.template copy_async<8>(t.template shared<char>(4), values);
  };
  EXPECT_TRUE(contains(error_of({}, {1}, kernel), {"misaligned copy", "copies 8 bytes", __FILE__}));
}

// A thread copies a value that all read, then another one to the same place.
std::string copies_in_turns(bool released) {
  alignas(16) static const double values[] = {1, 0, 2, 0};
  double sum = 0;
  const std::string error = error_of({1}, {4}, [&](auto& t) {
    auto& barrier = *t.template shared<icobench::gpu::bulk_barrier>();
    auto* const value = t.template shared<double>(16);
    if (t.rank() == 0) { t.init_bulk(barrier, 1); }
    t.sync();
    for (unsigned n = 0; n < 2; ++n) {
      if (t.rank() == 0) {
        t.expect_bulk(barrier, 16);
        t.copy_bulk(value, values + 2 * n, 16, barrier, false);
      }
      t.wait_bulk(barrier, n);
      sum += *value;
      if (released) { t.release_bulk(); }
      t.sync();
    }
  });
  EXPECT_EQ(sum, released ? 4 * (1 + 2) : 4 * 1);
  return error;
}

TEST(simt, bulk_copies_overwrite_what_was_released) {
  EXPECT_EQ(copies_in_turns(true), "");
  EXPECT_TRUE(contains(copies_in_turns(false),
                       {"a copy overwrites what a thread may read", "release_bulk", __FILE__}));
}

// A thread announces bytes and copies 16 of them, all wait.
std::string copy_of_16(unsigned calls, unsigned announced, unsigned phase, unsigned from = 0) {
  alignas(16) static const double values[] = {1, 2, 3, 4};
  return error_of({1}, {4}, [&](auto& t) {
    auto& barrier = *t.template shared<icobench::gpu::bulk_barrier>();
    if (t.rank() == 0 && calls > 0) { t.init_bulk(barrier, calls); }
    t.sync();
    if (t.rank() == 0) {
      t.expect_bulk(barrier, announced);
      t.copy_bulk(t.template shared<double>(16), values + from, 16, barrier, false);
    }
    t.wait_bulk(barrier, phase);
  });
}

TEST(simt, bulk_copies_are_those_announced) {
  EXPECT_EQ(copy_of_16(1, 16, 0), "");
  EXPECT_TRUE(contains(copy_of_16(1, 32, 0),
                       {"not those announced", "use 0", "bytes are 16 more", __FILE__}));
  EXPECT_TRUE(
      contains(copy_of_16(1, 0, 0), {"a copy that was not announced", "16 bytes", __FILE__}));
  EXPECT_TRUE(contains(copy_of_16(2, 16, 0), {"not those announced", "1 of 2 calls"}));
  EXPECT_TRUE(contains(copy_of_16(1, 16, 1), {"the wrong phase", "as phase 1", __FILE__}));
  EXPECT_TRUE(contains(copy_of_16(0, 16, 0), {"a barrier that was not made", __FILE__}));
  EXPECT_TRUE(contains(copy_of_16(1, 16, 0, 1), {"misaligned copy", "16 bytes", __FILE__}));
}

TEST(simt, boxes_are_zero_outside_the_field) {
  std::vector<float> field(4 * 3 * 2);  // 4 x 3, one plane, 2 levels
  std::iota(field.begin(), field.end(), 0.0f);
  const icobench::gpu::tensor_map map =
      icobench::gpu::simt_device().make_tensor_map({.data = field.data(),
                                                    .element_bytes = 4,
                                                    .stride = {16, 48, 48},
                                                    .extent = {4, 3, 1, 2},
                                                    .size = {8, 2, 1, 1}});
  std::vector<float> got;
  const auto kernel = [&](auto& t) {
    auto* box = t.template shared<float>();
    icobench::gpu::bulk_barrier barrier{};
    t.init_bulk(barrier, 1);
    t.expect_bulk(barrier, 16 * sizeof(float));
    t.copy_box(box, map, {-4, 2, 0, 1}, barrier);
    got.assign(box, box + 16);
  };
  simt_launch({1}, {1}, 16 * sizeof(float), kernel);
  std::vector<float> expected(16, 0);
  std::copy(field.begin() + 20, field.end(), expected.begin() + 4);  // j = 2 of level 1
  EXPECT_EQ(got, expected);
  const auto odd = [&](auto& t) {
    icobench::gpu::bulk_barrier barrier{};
    t.copy_box(t.template shared<float>(), map, {1, 0, 0, 0}, barrier);
  };
  EXPECT_TRUE(contains(error_of({}, {1}, odd), {"misaligned copy", "a box", __FILE__}));
}

TEST(simt, reports_divergent_block_barrier) {
  constexpr int first_line = __LINE__ + 3, second_line = __LINE__ + 5;
  const auto kernel = [](auto& t) {
    if (t.thread().x < 2)
      t.sync();
    else
      t.sync();
  };
  EXPECT_TRUE(contains(
      error_of({2}, {4, 2}, kernel),
      {"divergent barrier", "block (0,0,0), thread (2,0,0) waits",
       "block barrier at " + here(second_line), "thread (0,0,0) waits at " + here(first_line)}));
}

TEST(simt, reports_divergent_shuffle) {
  constexpr int line = __LINE__ + 2;
  const auto kernel = [](auto& t) {
    if (t.lane() == 3) t.shuffle(1.0, 0);
    t.sync_warp();
  };
  for (const simt_settings& settings : all_settings())
    EXPECT_TRUE(contains(error_of({}, {64}, kernel, settings),
                         {"divergent barrier", "warp barrier or shuffle", here(line), ",0,0)"}));
}

// In some orders threads leave before any waits, in others after: both have to be reported.
TEST(simt, reports_thread_that_left_before_block_barrier) {
  constexpr int line = __LINE__ + 4;
  for (const unsigned leaver : {0u, 20u, 39u}) {
    const auto kernel = [=](auto& t) {
      if (t.rank() == leaver) return;
      t.sync();
    };
    for (const simt_settings& settings : all_settings())
      EXPECT_TRUE(contains(error_of({2}, {40}, kernel, settings),
                           {"a thread left the kernel while others wait", "block barrier",
                            here(line), "thread (" + std::to_string(leaver) + ",0,0)"}));
  }
}

TEST(simt, reports_lane_that_left_before_warp_barrier) {
  for (const unsigned leaver : {0u, 20u, 31u}) {
    const auto barrier = [=](auto& t) {
      if (t.lane() != leaver) t.sync_warp();
    };
    const auto shuffle = [=](auto& t) {
      if (t.lane() != leaver) t.shuffle(t.lane(), leaver);
    };
    for (const simt_settings& settings : all_settings()) {
      const std::vector<std::string> parts = {"a thread left the kernel while others wait",
                                              "warp barrier or shuffle", __FILE__,
                                              "thread (" + std::to_string(leaver) + ",0,0)"};
      EXPECT_TRUE(contains(error_of({}, {32}, barrier, settings), parts));
      EXPECT_TRUE(contains(error_of({}, {32}, shuffle, settings), parts));
    }
  }
}

TEST(simt, reports_barrier_in_loop_that_threads_leave_early) {
  const auto kernel = [](auto& t) {
    for (unsigned k = 0; k < t.rank() / 16 + 1; ++k) t.sync();
  };
  for (const simt_settings& settings : all_settings())
    EXPECT_TRUE(contains(error_of({}, {64}, kernel, settings),
                         {"a thread left the kernel while others wait", "block barrier"}));
}

TEST(simt, reports_deadlock_between_barriers) {
  constexpr int block_line = __LINE__ + 3, warp_line = __LINE__ + 5;
  const auto kernel = [](auto& t) {
    if (t.rank() < 16) {
      t.sync();
    } else {
      t.sync_warp();
    }
  };
  for (const simt_settings& settings : all_settings())
    EXPECT_TRUE(
        contains(error_of({}, {32}, kernel, settings),
                 {"deadlock", "block (0,0,0)",
                  "thread (0,0,0) waits at the block barrier at " + here(block_line),
                  "thread (16,0,0) waits at the warp barrier or shuffle at " + here(warp_line)}));
}

TEST(simt, reports_shuffle_from_lane_that_does_not_exist) {
  constexpr int line = __LINE__ + 1;
  const auto kernel = [](auto& t) { t.shuffle_down(1.0f, 16); };
  EXPECT_EQ(error_of({}, {64}, kernel), "");
  EXPECT_TRUE(contains(error_of({1, 2}, {40}, kernel),
                       {"shuffle from a lane that does not exist", "block (0,0,0)",
                        "thread (32,0,0) reads lane 16", here(line)}));
}

TEST(simt, reports_bad_width_and_bad_offset) {
  const auto odd = [](auto& t) { t.shuffle(1, 0, 48); };
  const auto wide = [](auto& t) { t.shuffle(1, 0, 64); };
  EXPECT_TRUE(contains(error_of({}, {64}, odd, {64}), {"bad shuffle width", "48", __FILE__}));
  EXPECT_TRUE(contains(error_of({}, {64}, wide, {32}), {"bad shuffle width", "64", __FILE__}));
  EXPECT_EQ(error_of({}, {64}, wide, {64}), "");
  const auto beyond = [](auto& t) { t.template shared<double>(4096); };
  EXPECT_TRUE(contains(error_of({}, {64}, beyond), {"beyond the shared memory", "4096", __FILE__}));
}

TEST(simt, impossible_launches_are_refused) {
  const auto kernel = [](auto&) {};
  const auto launch = [&](extent3 grid, extent3 block, unsigned warp_size = 32) {
    simt_launch(grid, block, 0, kernel, {warp_size});
  };
  EXPECT_NO_THROW(launch({1}, {32, 32}));
  EXPECT_THROW(launch({1}, {33, 32}), std::invalid_argument);
  EXPECT_THROW(launch({1}, {1u << 31, 1u << 31, 4}), std::invalid_argument);
  EXPECT_THROW(launch({1}, {32, 0, 1}), std::invalid_argument);
  EXPECT_THROW(launch({0}, {32}), std::invalid_argument);
  EXPECT_THROW(launch({1}, {32}, 16), std::invalid_argument);
}

// Counts its living copies, one on the stack of every thread.
struct witness {
  explicit witness(int& alive) : alive_(alive) { ++alive_; }
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;
  ~witness() { --alive_; }

 private:
  int& alive_;
};

TEST(simt, exception_of_kernel_propagates_and_all_threads_are_unwound) {
  for (const simt_settings& settings : all_settings())
    for (const unsigned thrower : {0u, 57u, 99u}) {
      int alive = 0, most = 0;
      const auto kernel = [&](auto& t) {
        const witness guard(alive);
        const std::vector<double> heap(100, t.x());
        most = std::max(most, alive);
        t.sync();
        if (t.rank() == thrower) throw std::out_of_range("from the kernel");
        t.sync();
      };
      EXPECT_THROW(simt_launch({2}, {100}, 0, kernel, settings), std::out_of_range);
      EXPECT_EQ(alive, 0);
      EXPECT_EQ(most, 100);
    }
}

// Waiting in a destructor must not throw a second time while the thread is unwound.
TEST(simt, barrier_in_destructor_survives_unwinding) {
  const auto kernel = [](auto& t) {
    struct at_end {
      std::decay_t<decltype(t)>& thread;
      ~at_end() noexcept(false) { thread.sync(); }
    };
    const at_end guard{t};
    t.sync_warp();
    if (t.rank() == 40) t.sync_warp();
  };
  EXPECT_NE(error_of({}, {64}, kernel), "");
}

TEST(simt, usable_after_every_kind_of_error) {
  const auto diverges = [](auto& t) {
    const std::vector<int> heap(10);
    if (t.rank() % 2) t.sync();
    t.sync();
  };
  const auto deadlocks = [](auto& t) { t.lane() % 2 ? t.sync() : t.sync_warp(); };
  const auto throws = [](auto& t) {
    t.sync_warp();
    if (t.rank() == 70) throw 42;
    t.sync();
  };
  const std::vector<double> in = ring_input(1001);
  const std::vector<double> expected = second_difference(second_difference(in));
  for (const simt_settings& settings : all_settings())
    for (int repeat = 0; repeat < 3; ++repeat) {
      EXPECT_NE(error_of({2}, {256}, diverges, settings), "");
      EXPECT_EQ(run_ring<true>(in, 100, settings), expected);
      EXPECT_NE(error_of({2}, {256}, deadlocks, settings), "");
      EXPECT_EQ(run_ring<true>(in, 100, settings), expected);
      EXPECT_THROW(simt_launch({2}, {256}, 0, throws, settings), int);
      EXPECT_EQ(run_ring<true>(in, 100, settings), expected);
    }
}

TEST(simt, launch_inside_kernel) {
  int inner = 0;
  const auto kernel = [&](auto& t) {
    t.sync();
    simt_launch({2}, {3}, 0, [&](auto& nested) {
      nested.sync();
      ++inner;
    });
    t.sync();
  };
  simt_launch({}, {5}, 0, kernel);
  EXPECT_EQ(inner, 5 * 2 * 3);
}

TEST(simt, operating_system_threads_are_independent) {
  const std::vector<double> in = ring_input(1001);
  const std::vector<double> expected = second_difference(second_difference(in));
  std::array<int, 3> agreed{};
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < agreed.size(); ++k)
    threads.emplace_back([&, k] {
      for (int repeat = 0; repeat < 20; ++repeat)
        agreed[k] += run_ring<true>(in, 200, {32, orders[k], 1}) == expected;
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(agreed, (std::array<int, 3>{20, 20, 20}));
}

TEST(simt, address_sanitizer_sees_overrun_of_shared_memory) {
#if !defined(ICOBENCH_ADDRESS_SANITIZER)
  GTEST_SKIP() << "built without AddressSanitizer";
#endif
  const auto kernel = [](auto& t) {
    t.sync();
    if (t.rank() == 3) t.template shared<char>()[13] = 1;
  };
  EXPECT_DEATH(simt_launch({}, {4}, 13, kernel), "heap-buffer-overflow");
}

}  // namespace
