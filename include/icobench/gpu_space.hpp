// What a search may try of the kernel that a class describes.
#pragma once

#include <utility>
#include <vector>

#include <icobench/gpu_source.hpp>
#include <icobench/launch_space.hpp>

namespace icobench::detail {

// What a search may try of a kernel compiled in one way; `reject` narrows it.
template <class Family, class Mesh, class Compiled>
launch_axes axes_of(Compiled) {
  const launch tuned = Family::tuned(Mesh::kind);
  launch_axes axes = every_launch(Mesh::kind, Compiled::max_threads);
  axes.include(tuned, Compiled::max_threads);
  axes.compiled.min_blocks = Compiled::min_blocks;
  axes.compiled.tables = Compiled::tables;
  if constexpr (has_shape<Compiled>) {
    axes.blocks = {Compiled::shape.block};
    axes.compiled.stages = Compiled::shape.stages;
    axes.compiled.copy_bytes = Compiled::shape.copy_bytes;
    if (!Compiled::any_levels) { axes.levels = {Compiled::shape.levels}; }
  }
  if constexpr (has_own_grid<Family>) {
    axes.orders = {block_order::by_size};
    axes.adjacent = {false};
    axes.stores = {hint::by_kernel};
  }
  axes.narrow(tuned, [](const launch& l) { return rejection<Family>(l).empty(); });
  return axes;
}

// The same for each number of blocks that a multiprocessor can have at once, and threads a block.
template <class Family, class Mesh, class Compiled>
std::vector<launch_axes> axes_at_run_time(Compiled) {
  std::vector<launch_axes> result;
  for (const unsigned threads : {max_block_threads, 512u, 1024u}) {
    for (const int blocks : {1, 2, 3, 4, 5, 6, 8}) {
      if (unsigned(blocks) * threads > 2048) { continue; }
      launch_axes axes = axes_of<Family, Mesh>(compiled_for<1, Compiled::tables, 1024>{});
      axes.compiled.min_blocks = blocks;
      std::erase_if(axes.blocks,
                    [&](const gpu::extent3& block) { return bound_at_run_time(block) != threads; });
      launch_axes limited = axes;  // all together would be a million launches
      limited.orders = {block_order::by_size};
      limited.adjacent = {false};
      limited.stores = {hint::by_kernel};
      limited.grids = {1, 2, 4, 8, 16, 32};
      axes.constants = {false, true};
      axes.loads = {hint::by_kernel, hint::streaming};
      result.push_back(std::move(axes));
      result.push_back(std::move(limited));
    }
  }
  return result;
}

// Whether a cap of registers is one (more than 255 no thread has), and leaves 64.
constexpr bool caps_registers(const launch& l) {
  const auto threads = l.block.volume() * unsigned(l.min_blocks);
  return threads <= 1024 && (l.min_blocks == 1 || threads > 256);
}

// Other shapes: threads along levels (a march) or along rows (a pipeline).
template <class Family, class Mesh, class Compiled>
std::vector<launch_axes> shapes_at_run_time(Compiled) {
  launch_axes axes = axes_of<Family, Mesh>(Compiled{});
  axes.combine = [](const launch& l) { return caps_registers(l) && rejection<Family>(l).empty(); };
  if (!has_boxes<Family, Mesh, double>) { axes.constants = {false, true}; }
  axes.blocks.clear();
  std::vector<launch_axes> result;
  const auto add = [&](int stages, int copy_bytes, int cluster) {
    launch l = Family::tuned(Mesh::kind);
    l.stages = stages;
    l.copy_bytes = copy_bytes;
    l.cluster = cluster == Compiled::shape.cluster ? 0 : cluster;
    if (!rejection<Family>(l).empty()) { return; }
    for (l.min_blocks = 1; l.min_blocks <= 4; ++l.min_blocks) {
      axes.compiled = l;
      result.push_back(axes);
    }
  };
  if constexpr (Compiled::any_levels) {
    for (const unsigned x : {16u, 32u, 64u, 128u}) {
      for (const unsigned y : {4u, 8u, 12u, 16u, 24u, 32u}) { axes.blocks.push_back({x, y, 1}); }
    }
    for (const int stages : {2, 3, 4, 5}) {
      for (const int copy_bytes : {0, 8, 16}) { add(stages, copy_bytes, 0); }
    }
  } else {
    for (const unsigned x : {32u, 64u, 96u, 128u, 192u, 256u}) {
      for (unsigned z = 1; z <= 8; ++z) { axes.blocks.push_back({x, 1, z}); }
    }
    axes.levels = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    for (const int cluster : {1, 2, 4}) { add(0, 0, cluster); }
  }
  return result;
}

template <class Family, class Mesh, class... Compiled>
launch_space space_of(compiled_list<Compiled...>) {
  launch_space space;
  const auto add = [&]<class C>(C choice) {
    if (Mesh::kind == access::strided && C::tables != table_use::slots) { return; }
    space.parts.push_back(axes_of<Family, Mesh>(choice));
    for (const launch_axes& axes : space.at_run_time) {
      if (axes.compiled.tables == C::tables) { return; }
    }
    const auto add_at_run_time = [&](std::vector<launch_axes> all) {
      for (launch_axes& axes : all) { space.at_run_time.push_back(std::move(axes)); }
    };
    if constexpr (has_shape<C>) {
      add_at_run_time(shapes_at_run_time<Family, Mesh>(choice));
    } else {
      add_at_run_time(axes_at_run_time<Family, Mesh>(choice));
    }
  };
  (add(Compiled{}), ...);
  return space;
}

}  // namespace icobench::detail
