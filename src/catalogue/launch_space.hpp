// The launches that a search may try of one kernel, as data.
#pragma once

#include <algorithm>
#include <bitset>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include <icobench/launch_text.hpp>

namespace icobench {

// One way a kernel is compiled, with every combination of the values of some choices; the others
// are as in `compiled`.
struct launch_axes {
  launch compiled{};  // register cap, use of tables, stages, cluster
  std::vector<gpu::extent3> blocks{};
  std::vector<int> levels{};
  std::vector<block_order> orders{};
  std::vector<bool> constants{false};
  std::function<bool(const launch&)> combine{};  // which values do, where not all

  std::vector<launch> all() const {
    std::vector<launch> result{compiled};
    for_each_axis(*this, [&](const auto& values, auto member) {
      const std::vector<launch> before = std::exchange(result, {});
      for (const launch& l : before) {
        for (const auto& value : values) { (result.emplace_back(l)).*member = value; }
      }
    });
    std::erase_if(result, [this](const launch& l) { return combine && !combine(l); });
    return result;
  }

  // Adds the block, if it has no more threads, and the levels of a launch.
  void include(const launch& l, unsigned max_threads) {
    if (l.block.volume() <= max_threads &&
        std::find(blocks.begin(), blocks.end(), l.block) == blocks.end()) {
      blocks.push_back(l.block);
    }
    if (std::find(levels.begin(), levels.end(), l.levels) == levels.end()) {
      levels.push_back(l.levels);
    }
  }

  // Leaves out each value of several that `accepts` refuses in an otherwise unchanged `tuned`.
  void narrow(const launch& tuned, const std::function<bool(const launch&)>& accepts) {
    for_each_axis(*this, [&](auto& values, auto member) {
      if (values.size() == 1) { return; }
      std::erase_if(values, [&](const auto& value) {
        launch l = tuned;
        l.*member = value;
        return !accepts(l);
      });
    });
  }

 private:
  template <class Axes, class Use>
  static void for_each_axis(Axes& a, const Use& use) {
    use(a.blocks, &launch::block);
    use(a.levels, &launch::levels);
    use(a.orders, &launch::order);
    use(a.constants, &launch::constants);
  }
};

struct launch_space {
  std::vector<launch_axes> parts{};        // for each way the kernel is compiled
  std::vector<launch_axes> at_run_time{};  // for each way it can be compiled at run time

  // Each launch once.
  std::vector<launch> all(bool run_time = false) const {
    std::vector<launch> result;
    std::unordered_set<std::string> known;
    const auto add = [&](const std::vector<launch_axes>& some) {
      for (const launch_axes& part : some) {
        for (const launch& l : part.all()) {
          if (known.insert(to_string(l)).second) { result.push_back(l); }
        }
      }
    };
    add(parts);
    if (run_time) { add(at_run_time); }
    return result;
  }
};

// What any kernel can be launched with, however it is compiled: blocks of powers of two, from half
// a warp of NVIDIA's to the limit. Tables know no rows, so that threads along y are for strided
// access alone.
inline launch_axes every_launch(access a, unsigned max_threads = max_block_threads) {
  launch_axes axes{
      .levels = {1, 2, 4, 5, 8, 10, 16, 20, 40, 0},
      .orders = {block_order::by_size, block_order::points_first, block_order::levels_first}};
  for (unsigned x = 16; x <= max_threads; x *= 2) {
    for (unsigned y = 1; y <= (a == access::strided ? 8 : 1); y *= 2) {
      for (unsigned z = 1; z <= 8; z *= 2) {
        if (x * y * z <= max_threads) { axes.blocks.push_back({x, y, z}); }
      }
    }
  }
  return axes;
}

// The choices in which a launch differs from another, a bit each, in the order of launch_choices.
inline std::bitset<launch_choice_count> differing(const launch& a, const launch& b) {
  std::bitset<launch_choice_count> result;
  std::size_t n = 0;
  for_each_launch_choice([&](const auto& c) { result[n++] = !(a.*c.member == b.*c.member); });
  return result;
}
inline std::vector<std::string_view> launch_choice_names() {
  std::vector<std::string_view> names;
  for_each_launch_choice([&](const auto& c) { names.push_back(c.name); });
  return names;
}

}  // namespace icobench
