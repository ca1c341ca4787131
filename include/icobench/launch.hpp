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

// What a launch asks the L2 cache to keep (CUDA: an access-policy window).
enum class kept { nothing, tables, coefficients };

struct launch {
  gpu::extent3 block{1, 1, 1};  // threads: x along points, y along rows (strided), z along levels
  int levels = 1;               // levels a thread walks; 0: the whole column
  int min_blocks = 1;           // blocks that must fit on a multiprocessor: caps the registers
  block_order order = block_order::by_size;  // by_size: levels first if coefficients exceed the L2
  bool adjacent = false;          // a thread's levels follow each other; else threads take turns
  hint stores = hint::by_kernel;  // of results
  hint loads = hint::by_kernel;   // at run time: of what a stage reads at its own point only
  kept persist = kept::nothing;
  table_use tables = table_use::slots;
  int stages = 0;          // levels in shared memory at once, of kernels that copy them ahead
  int copy_bytes = 0;      // width of these copies, where it is a choice
  int grid = 0;            // at run time: blocks for a multiprocessor, which take turns; 0: cover
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

// The same for kernels that are compiled for a block and a number of levels, too. Up to so many
// blocks in a row may be a cluster (sm_90).
template <unsigned x, unsigned y, unsigned z, int levels_, unsigned cluster_ = 1>
struct compiled_shape : compiled_for_threads<least_bound(x* y* z)> {
  static constexpr gpu::extent3 block{x, y, z};
  static constexpr int levels = levels_;
  static constexpr unsigned cluster = cluster_;
};

// And for kernels that copy so many levels ahead to shared memory, so many bytes at a time.
template <unsigned x, unsigned y, int stages_, int copy_bytes_ = 0, int min_blocks_ = 1>
struct compiled_pipeline : compiled_for_threads<least_bound(x* y), min_blocks_> {
  static constexpr gpu::extent3 block{x, y, 1};
  static constexpr int stages = stages_, copy_bytes = copy_bytes_;
};

template <class Compiled>
inline constexpr bool has_shape = requires {
  Compiled::block;
};

template <class Compiled>
constexpr bool is_compiled_for(const launch& l) {
  if constexpr (has_shape<Compiled>) {
    if (l.block != Compiled::block) { return false; }
  }
  if constexpr (requires { Compiled::levels; }) {
    if (l.levels != Compiled::levels) { return false; }
  }
  launch copies;  // what others than pipelines have
  if constexpr (requires { Compiled::stages; }) {
    copies.stages = Compiled::stages;
    copies.copy_bytes = Compiled::copy_bytes;
  }
  return l.min_blocks == Compiled::min_blocks && l.block.volume() <= Compiled::max_threads &&
         l.stages == copies.stages && l.copy_bytes == copies.copy_bytes &&
         l.tables == Compiled::tables && !l.constants && l.grid == 0 && l.loads == hint::by_kernel;
}

}  // namespace icobench
