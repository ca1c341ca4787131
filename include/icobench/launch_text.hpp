// A launch as the command line, tuning tables and dumps write it, and the choices that it is made
// of: "32x2x4,levels=20,min_blocks=3,order=levels_first". What is default is left out.
#pragma once

#include <charconv>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include <icobench/launch.hpp>

namespace icobench {

// One choice of a launch, by its name: a number or, with `words`, one of those. All that deals with
// single choices walks launch_choices.
template <class Value>
struct launch_choice {
  std::string_view name;
  Value launch::*member;
  std::string_view help;
  int least = 0;                             // of numbers
  std::string_view words[3] = {"", "", ""};  // of others, by value
};

inline constexpr std::tuple launch_choices{
    launch_choice<gpu::extent3>{"block", &launch::block,
                                "threads along points, rows (strided) and levels: 32x2x4"},
    launch_choice<int>{"levels", &launch::levels, "levels a thread walks; 0: the whole column"},
    launch_choice<int>{"min_blocks", &launch::min_blocks,
                       "blocks that fit a multiprocessor: caps the registers", 1},
    launch_choice<block_order>{"order",
                               &launch::order,
                               "which blocks start first",
                               0,
                               {"by_size", "points_first", "levels_first"}},
    launch_choice<table_use>{"tables",
                             &launch::tables,
                             "how tables are read: 16 bytes a load (rows), or once for the three "
                             "edges of a vertex",
                             0,
                             {"slots", "rows", "by_vertex"}},
    launch_choice<bool>{"constants",
                        &launch::constants,
                        "sizes and strides compiled in, at run time",
                        0,
                        {"", "problem"}},
    launch_choice<int>{"stages", &launch::stages, "levels in shared memory, of pipelines"},
    launch_choice<int>{"cluster", &launch::cluster, "blocks in a row that are one (multicast)"},
    launch_choice<int>{"copy_bytes", &launch::copy_bytes, "width of a pipeline's copies"}};
inline constexpr std::size_t launch_choice_count = std::tuple_size_v<decltype(launch_choices)>;

// Calls use(choice) for each.
template <class Use>
constexpr void for_each_launch_choice(const Use& use) {
  std::apply([&](const auto&... each) { (use(each), ...); }, launch_choices);
}

namespace detail {

inline std::string to_text(const gpu::extent3& block) {
  std::string text = std::to_string(block.x);
  if (block.y > 1 || block.z > 1) { text += "x" + std::to_string(block.y); }
  if (block.z > 1) { text += "x" + std::to_string(block.z); }
  return text;
}

// "levels=20"; the block has no name.
template <class Value>
std::string to_text(const launch_choice<Value>& c, const launch& l) {
  if constexpr (std::is_same_v<Value, gpu::extent3>) {
    return to_text(l.*c.member);
  } else if constexpr (std::is_same_v<Value, int>) {
    return std::string(c.name) + "=" + std::to_string(l.*c.member);
  } else {
    return std::string(c.name) + "=" + std::string(c.words[int(l.*c.member)]);
  }
}

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

// What may follow "order=".
template <class Value>
std::string words_of(const launch_choice<Value>& c) {
  std::string all;
  for (const std::string_view word : c.words) {
    if (!word.empty()) { all += (all.empty() ? "" : " or ") + std::string(word); }
  }
  return all;
}

// Takes a choice with its value from the front of `text` if it is there.
template <class Value>
bool take(const launch_choice<Value>& c, std::string_view& text, launch& l) {
  if constexpr (std::is_same_v<Value, gpu::extent3>) {
    if (text[0] < '0' || text[0] > '9') { return false; }
    l.*c.member = take_block(text);
    return true;
  } else {
    const std::string front = std::string(c.name) + "=";
    if (!text.starts_with(front)) { return false; }
    text.remove_prefix(front.size());
    if constexpr (std::is_same_v<Value, int>) {
      l.*c.member = take_number(text, c.least);
      return true;
    } else {
      const std::string_view word = text.substr(0, text.find(','));
      for (int n = 0; n < 3; ++n) {
        if (word.empty() || word != c.words[n]) { continue; }
        l.*c.member = Value(n);
        text.remove_prefix(word.size());
        return true;
      }
      throw std::invalid_argument(front + std::string(word) + " is unknown: " + front +
                                  words_of(c));
    }
  }
}

// Choices of earlier versions, in tables and journals of theirs.
inline void refuse_former_choice(std::string_view text) {
  for (const std::string_view word : {"adjacent", "stores=", "loads=", "persist=", "grid="}) {
    if (text.starts_with(word)) {
      throw std::invalid_argument("'" + std::string(text.substr(0, text.find(','))) +
                                  "' is a choice of versions up to 0.1, which never won and is "
                                  "gone: leave it out, or search again");
    }
  }
}

}  // namespace detail

inline std::string to_string(const launch& l) {
  const launch defaults;
  std::string text;
  for_each_launch_choice([&](const auto& c) {
    if (text.empty() || l.*c.member != defaults.*c.member) {
      text += (text.empty() ? "" : ",") + detail::to_text(c, l);
    }
  });
  return text;
}

// Reads the form of to_string(); what is left out comes from `defaults`. Throws
// std::invalid_argument.
inline launch parse_launch(std::string_view text, launch result) {
  while (!text.empty()) {
    bool taken = false;
    for_each_launch_choice([&](const auto& c) {
      taken = taken || text.empty() ? taken : detail::take(c, text, result);
    });
    if (!taken) {
      detail::refuse_former_choice(text);
      std::string known = "XxYxZ";
      for_each_launch_choice([&](const auto& c) {
        if (c.name != "block") { known += ", " + std::string(c.name) + "=" + detail::words_of(c); }
      });
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
