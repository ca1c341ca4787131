// The launch of one kernel: its tuning.
#pragma once

#include <icobench/gpu/dim3.hpp>
#include <icobench/types.hpp>

namespace icobench {

// A kernel is compiled for blocks of at most this many threads unless it says otherwise: 512 cap
// every thread at 128 registers on NVIDIA, 1024 at 64, and AMD needs the bound to be stated beyond
// 256.
inline constexpr unsigned max_block_threads = 256;

// Blocks start roughly in the order of their numbers. Along levels first, the coefficients of a
// point are still in the L2 cache when the next levels need them; along points first, they are read
// again from memory unless all of them fit the cache, but then neighbouring points follow each
// other.
enum class block_order { by_size, points_first, levels_first };

struct launch {
  gpu::extent3 block{1, 1, 1};  // threads: x along points, y along rows (strided), z along levels
  int levels = 1;               // levels a thread walks; 0: the whole column
  int min_blocks = 1;           // blocks that must fit on a multiprocessor: caps the registers
  block_order order = block_order::by_size;  // by_size: levels first if coefficients exceed the L2
  table_use tables = table_use::slots;
  int stages = 0;          // levels in shared memory at once, of kernels that copy them ahead
  int copy_bytes = 0;      // width of these copies, where it is a choice
  int cluster = 0;         // the most blocks in a row that are one (sm_90); 0: as the kernel has it
  bool constants = false;  // compiled at run time for the problem: sizes and strides are constants
  bool operator==(const launch&) const = default;
};

// The compile-time part of a launch. Each one that a variant lists is one more copy of its kernel.
template <int min_blocks_ = 1, table_use tables_ = table_use::slots,
          unsigned max_threads_ = max_block_threads>
struct compiled_for {
  static constexpr int min_blocks = min_blocks_;
  static constexpr table_use tables = tables_;
  static constexpr unsigned max_threads = max_threads_;
};

// The same for larger blocks, too.
template <unsigned max_threads, int min_blocks = 1>
using compiled_for_threads = compiled_for<min_blocks, table_use::slots, max_threads>;

constexpr unsigned least_bound(unsigned threads) {
  return threads > max_block_threads ? threads : max_block_threads;
}

// The same for kernels that are compiled for a shape of their blocks: `shape` is all that a launch
// of them says of it. Here for a block and a number of levels, and up to so many blocks in a row
// may be a cluster (sm_90).
template <unsigned x, unsigned y, unsigned z, int levels, int cluster = 1, int min_blocks_ = 1>
struct compiled_shape : compiled_for_threads<least_bound(x* y* z), min_blocks_> {
  static constexpr launch shape{
      .block = {x, y, z}, .levels = levels, .min_blocks = min_blocks_, .cluster = cluster};
  static constexpr bool any_levels = false;
};

// And for kernels that copy so many levels ahead to shared memory, so many bytes at a time.
template <unsigned x, unsigned y, int stages, int copy_bytes = 0, int min_blocks_ = 1>
struct compiled_pipeline : compiled_for_threads<least_bound(x* y), min_blocks_> {
  static constexpr launch shape{
      .block = {x, y, 1}, .min_blocks = min_blocks_, .stages = stages, .copy_bytes = copy_bytes};
  static constexpr bool any_levels = true;
};

// Compiled for kernels of one precision alone.
template <class T, class Compiled>
struct compiled_in : Compiled {
  using precision = T;
};
template <class T, class Compiled>
constexpr bool is_compiled_in() {
  if constexpr (requires { typename Compiled::precision; }) {
    return std::is_same_v<typename Compiled::precision, T>;
  }
  return true;
}

template <class Compiled>
inline constexpr bool has_shape = requires {
  Compiled::shape;
};

// What is compiled of a launch, as a value.
struct compiled_bounds {
  int min_blocks = 1;
  table_use tables = table_use::slots;
  unsigned max_threads = max_block_threads;
  bool any_levels = false;
  bool shaped = false;  // then for this shape alone
  launch shape{};
  bool operator==(const compiled_bounds&) const = default;

  // The launch with the cluster that it means.
  constexpr launch with_cluster(launch l) const {
    if (shaped && l.cluster == 0) { l.cluster = shape.cluster; }
    return l;
  }

  // Whether it can be launched so.
  constexpr bool fit(const launch& l) const {
    launch same = l;  // but for what is compiled
    same.min_blocks = min_blocks;
    same.tables = tables;
    same.constants = false;
    same.stages = same.copy_bytes = same.cluster = 0;
    if (shaped) {
      same.block = shape.block;
      same.stages = shape.stages;
      same.copy_bytes = shape.copy_bytes;
      same.cluster = shape.cluster;
      if (!any_levels) { same.levels = shape.levels; }
    }
    return with_cluster(l) == same && l.block.volume() <= max_threads;
  }
};

template <class Compiled>
constexpr compiled_bounds bounds_of() {
  compiled_bounds result{Compiled::min_blocks, Compiled::tables, Compiled::max_threads};
  if constexpr (has_shape<Compiled>) {
    result.any_levels = Compiled::any_levels;
    result.shaped = true;
    result.shape = Compiled::shape;
  }
  return result;
}

}  // namespace icobench
