// The launch of one kernel: its tuning.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

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
  kept persist = kept::nothing;
  table_use tables = table_use::slots;
  int stages = 0;      // levels in shared memory at once, of kernels that copy them ahead
  int copy_bytes = 0;  // width of these copies, where it is a choice
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
         l.tables == Compiled::tables;
}

namespace detail {

// What else a launch may say, a word each.
struct launch_word {
  std::string_view text;
  bool (*is)(const launch&);
  void (*set)(launch&);
};
template <auto member, auto value>
constexpr launch_word word(std::string_view text) {
  return {text, [](const launch& l) { return l.*member == value; },
          [](launch& l) { l.*member = value; }};
}
inline constexpr launch_word launch_words[] = {
    word<&launch::order, block_order::points_first>("order=points_first"),
    word<&launch::order, block_order::levels_first>("order=levels_first"),
    word<&launch::adjacent, true>("adjacent"),
    word<&launch::stores, hint::streaming>("stores=streaming"),
    word<&launch::stores, hint::cached>("stores=cached"),
    word<&launch::persist, kept::tables>("persist=tables"),
    word<&launch::persist, kept::coefficients>("persist=coefficients"),
    word<&launch::tables, table_use::rows>("tables=rows"),
    word<&launch::tables, table_use::by_vertex>("tables=by_vertex"),
};

}  // namespace detail

// As the command line and the dump write it, without what is default:
// "32x2x4,levels=20,min_blocks=3,order=levels_first".
inline std::string to_string(const launch& l) {
  std::string text = std::to_string(l.block.x);
  if (l.block.y > 1 || l.block.z > 1) { text += "x" + std::to_string(l.block.y); }
  if (l.block.z > 1) { text += "x" + std::to_string(l.block.z); }
  if (l.levels != 1) { text += ",levels=" + std::to_string(l.levels); }
  if (l.min_blocks != 1) { text += ",min_blocks=" + std::to_string(l.min_blocks); }
  for (const auto& word : detail::launch_words) {
    if (word.is(l)) { text += "," + std::string(word.text); }
  }
  if (l.stages != 0) { text += ",stages=" + std::to_string(l.stages); }
  if (l.copy_bytes != 0) { text += ",copy_bytes=" + std::to_string(l.copy_bytes); }
  return text;
}

namespace detail {

// More is a slip of the finger in any part of a launch, and the product of two still fits 32 bits.
inline constexpr int largest_number = 1 << 15;

// A number at the front of `text`, which loses it. Throws std::invalid_argument.
inline int take_number(std::string_view& text, int least) {
  int value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || value < least || value > largest_number) {
    throw std::invalid_argument("needs a whole number from " + std::to_string(least) + " to " +
                                std::to_string(largest_number) + " at '" + std::string(text) + "'");
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

inline gpu::extent3 take_block(std::string_view& text) {
  unsigned extents[3] = {1, 1, 1};
  for (int d = 0; d < 3; ++d) {
    extents[d] = static_cast<unsigned>(take_number(text, 1));
    if (!text.starts_with('x')) { break; }
    text.remove_prefix(1);
  }
  return {extents[0], extents[1], extents[2]};
}

inline bool take_word(std::string_view& text, launch& l) {
  for (const launch_word& word : launch_words) {
    if (text.starts_with(word.text)) {
      text.remove_prefix(word.text.size());
      word.set(l);
      return true;
    }
  }
  return false;
}

}  // namespace detail

// Reads the form of to_string(); what is left out comes from `defaults`. Throws
// std::invalid_argument.
inline launch parse_launch(std::string_view text, launch result) {
  while (!text.empty()) {
    if (text[0] >= '0' && text[0] <= '9') {
      result.block = detail::take_block(text);
    } else if (text.starts_with("levels=")) {
      text.remove_prefix(7);
      result.levels = detail::take_number(text, 0);
    } else if (text.starts_with("min_blocks=")) {
      text.remove_prefix(11);
      result.min_blocks = detail::take_number(text, 1);
    } else if (text.starts_with("stages=")) {
      text.remove_prefix(7);
      result.stages = detail::take_number(text, 0);
    } else if (text.starts_with("copy_bytes=")) {
      text.remove_prefix(11);
      result.copy_bytes = detail::take_number(text, 0);
    } else if (!detail::take_word(text, result)) {
      std::string known = "XxYxZ, levels=, min_blocks=, stages=, copy_bytes=";
      for (const auto& word : detail::launch_words) { known += ", " + std::string(word.text); }
      throw std::invalid_argument("unknown part '" + std::string(text) + "': known are " + known);
    }
    if (text.starts_with(',') && text.size() > 1) {
      text.remove_prefix(1);
    } else if (!text.empty()) {
      throw std::invalid_argument("cannot read '" + std::string(text) + "'");
    }
  }
  return result;
}

}  // namespace icobench
