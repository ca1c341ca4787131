// A launch as the command line and the dump write it.
#pragma once

#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

#include <icobench/launch.hpp>

namespace icobench {

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
    word<&launch::loads, hint::streaming>("loads=streaming"),
    word<&launch::persist, kept::tables>("persist=tables"),
    word<&launch::persist, kept::coefficients>("persist=coefficients"),
    word<&launch::tables, table_use::rows>("tables=rows"),
    word<&launch::tables, table_use::by_vertex>("tables=by_vertex"),
    word<&launch::constants, true>("constants=problem"),
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
  if (l.grid != 0) { text += ",grid=" + std::to_string(l.grid); }
  if (l.cluster != 0) { text += ",cluster=" + std::to_string(l.cluster); }
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

// The numbers of a launch that have a name.
struct launch_number {
  std::string_view text;
  int launch::*member;
  int least;
};
inline constexpr launch_number launch_numbers[] = {
    {"levels=", &launch::levels, 0}, {"min_blocks=", &launch::min_blocks, 1},
    {"stages=", &launch::stages, 0}, {"copy_bytes=", &launch::copy_bytes, 0},
    {"grid=", &launch::grid, 0},     {"cluster=", &launch::cluster, 0},
};

inline bool take_named_number(std::string_view& text, launch& l) {
  for (const launch_number& number : launch_numbers) {
    if (text.starts_with(number.text)) {
      text.remove_prefix(number.text.size());
      l.*number.member = take_number(text, number.least);
      return true;
    }
  }
  return false;
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
    } else if (!detail::take_named_number(text, result) && !detail::take_word(text, result)) {
      std::string known = "XxYxZ";
      for (const auto& number : detail::launch_numbers) {
        known += ", " + std::string(number.text);
      }
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
