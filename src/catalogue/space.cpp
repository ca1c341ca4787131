#include "src/catalogue/space.hpp"

#include <algorithm>
#include <utility>

#include "src/catalogue/source.hpp"

namespace icobench {
namespace {

bool accepts(const kernel_description& d, const launch& l) {
  return detail::rejection(d, l).empty();
}

// What a search may try of a kernel compiled in one way; `reject` narrows it.
launch_axes axes_of(const kernel_description& d, const compiled_bounds& bounds) {
  launch_axes axes = every_launch(d.mesh, bounds.max_threads);
  axes.include(d.tuned, bounds.max_threads);
  axes.compiled.min_blocks = bounds.min_blocks;
  axes.compiled.tables = bounds.tables;
  if (bounds.shaped) {
    axes.blocks = {bounds.shape.block};
    axes.compiled.stages = bounds.shape.stages;
    axes.compiled.copy_bytes = bounds.shape.copy_bytes;
    if (!bounds.any_levels) { axes.levels = {bounds.shape.levels}; }
  }
  if (d.grid) { axes.orders = {block_order::by_size}; }
  axes.narrow(d.tuned, [&](const launch& l) { return accepts(d, l); });
  return axes;
}

// The same for each number of blocks that a multiprocessor can have at once, and threads a block.
void add_bounds_at_run_time(const kernel_description& d, table_use tables,
                            std::vector<launch_axes>& to) {
  const launch_axes of_all = axes_of(d, {.tables = tables, .max_threads = 1024});
  for (const unsigned threads : {max_block_threads, 512u, 1024u}) {
    for (const int blocks : {1, 2, 3, 4, 5, 6, 8}) {
      if (unsigned(blocks) * threads > 2048) { continue; }
      launch_axes axes = of_all;
      axes.compiled.min_blocks = blocks;
      std::erase_if(axes.blocks,
                    [&](const gpu::extent3& block) { return bound_at_run_time(block) != threads; });
      axes.constants = {false, true};
      to.push_back(std::move(axes));
    }
  }
}

// Whether a cap of registers is one (more than 255 no thread has), and leaves 64.
bool caps_registers(const launch& l) {
  const auto threads = l.block.volume() * unsigned(l.min_blocks);
  return threads <= 1024 && (l.min_blocks == 1 || threads > 256);
}

// Other shapes: threads along levels (a march) or along rows (a pipeline).
void add_shapes_at_run_time(const kernel_description& d, const kernel_choice& like,
                            std::vector<launch_axes>& to) {
  launch_axes axes = axes_of(d, like.bounds);
  axes.combine = [&d](const launch& l) {
    return caps_registers(l) && accepts(d, l) && !detail::compiled_choice(d, l);
  };
  if (!like.set_boxes) { axes.constants = {false, true}; }
  axes.blocks.clear();
  const auto add = [&](int stages, int copy_bytes, int cluster) {
    launch l = d.tuned;
    l.stages = stages;
    l.copy_bytes = copy_bytes;
    l.cluster = cluster;
    if (!accepts(d, l)) { return; }
    for (l.min_blocks = 1; l.min_blocks <= 4; ++l.min_blocks) {
      axes.compiled = l;
      to.push_back(axes);
    }
  };
  if (like.bounds.any_levels) {
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
    if (like.bounds.shape.cluster == 1) {
      add(0, 0, 0);
    } else {  // named, since shapes that are compiled have different ones by themselves
      for (const int cluster : {1, 2, 4, 8}) { add(0, 0, cluster); }
    }
  }
}

}  // namespace

launch_space space_of(const kernel_description& d) {
  launch_space space;
  for (const kernel_choice& c : d.choices) {
    space.parts.push_back(axes_of(d, c.bounds));
    const auto same_tables = [&](const launch_axes& axes) {
      return axes.compiled.tables == c.bounds.tables;
    };
    if (std::any_of(space.at_run_time.begin(), space.at_run_time.end(), same_tables)) { continue; }
    if (c.bounds.shaped) {
      add_shapes_at_run_time(d, c, space.at_run_time);
    } else {
      add_bounds_at_run_time(d, c.bounds.tables, space.at_run_time);
    }
  }
  return space;
}

}  // namespace icobench
