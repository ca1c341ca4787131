// The launches that a search may try of one kernel, as data.
#pragma once

#include <algorithm>
#include <bitset>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <icobench/launch_text.hpp>

namespace icobench {

// One way a kernel is compiled, with every combination of the values. What the L2 cache is asked to
// keep is no part of it: one launch's lines are missing to those it takes turns with.
struct launch_axes {
  launch compiled{};  // register cap, use of tables, stages, cluster
  std::vector<gpu::extent3> blocks{};
  std::vector<int> levels{};
  std::vector<block_order> orders{};
  std::vector<bool> adjacent{};
  std::vector<hint> stores{};
  std::vector<hint> loads{};
  std::vector<bool> constants{};
  std::vector<int> grids{};
  std::function<bool(const launch&)> combine{};  // which values do, where not all

  std::vector<launch> all() const {
    std::vector<launch> result{compiled};
    for_each_axis(*this, [&](const auto& values, auto member) {
      const std::vector<launch> before = std::exchange(result, {});
      for (const launch& l : before) {
        for (const auto& value : values) { (result.emplace_back(l)).*member = value; }
      }
    });
    std::erase_if(result, [this](const launch& l) {
      return (l.adjacent && l.levels == 1) ||  // the same as not adjacent
             (combine && !combine(l));
    });
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
    use(a.adjacent, &launch::adjacent);
    use(a.stores, &launch::stores);
    use(a.loads, &launch::loads);
    use(a.constants, &launch::constants);
    use(a.grids, &launch::grid);
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
      .orders = {block_order::by_size, block_order::points_first, block_order::levels_first},
      .adjacent = {false, true},
      .stores = {hint::by_kernel, hint::cached, hint::streaming},
      .loads = {hint::by_kernel},
      .constants = {false},
      .grids = {0}};
  for (unsigned x = 16; x <= max_threads; x *= 2) {
    for (unsigned y = 1; y <= (a == access::strided ? 8 : 1); y *= 2) {
      for (unsigned z = 1; z <= 8; z *= 2) {
        if (x * y * z <= max_threads) { axes.blocks.push_back({x, y, z}); }
      }
    }
  }
  return axes;
}

// The choices in which a launch differs from another, a bit each.
inline constexpr std::size_t launch_choices = 14;
inline constexpr std::string_view launch_choice_names[launch_choices] = {
    "block",   "levels", "min_blocks", "order",      "adjacent",  "stores", "loads",
    "persist", "tables", "stages",     "copy_bytes", "constants", "grid",   "cluster"};
inline std::bitset<launch_choices> differing(const launch& a, const launch& b) {
  const bool each[launch_choices] = {
      a.block != b.block,   a.levels != b.levels,         a.min_blocks != b.min_blocks,
      a.order != b.order,   a.adjacent != b.adjacent,     a.stores != b.stores,
      a.loads != b.loads,   a.persist != b.persist,       a.tables != b.tables,
      a.stages != b.stages, a.copy_bytes != b.copy_bytes, a.constants != b.constants,
      a.grid != b.grid,     a.cluster != b.cluster};
  std::bitset<launch_choices> result;
  for (std::size_t n = 0; n < launch_choices; ++n) { result[n] = each[n]; }
  return result;
}

}  // namespace icobench
