// Which launches a kernel takes, and the grids they have.
#pragma once

#include <string>

#include <icobench/gpu_description.hpp>

namespace icobench {

// Why no GPU runs such a block, else "": a backend would refuse it or, worse, not notice.
std::string block_rejection(const gpu::extent3& block);

// Why a launch will not do for this kernel, else "".
std::string rejection(const gpu_description&, const launch&);

// Why its hints mean nothing to this kernel on such a device, else "".
std::string hints_rejection(const gpu_description&, const launch&, const gpu::device_facts&);

// The choice that is compiled for this launch, or nullptr.
const gpu_choice* compiled_choice(const gpu_description&, const launch&);

// The choices, for people.
std::string choices_text(const gpu_description&);

// Levels of a thread: of all, where a launch says so.
unsigned levels_of_thread(index_t levels, const launch&);

// Blocks that cover the points of the last stage and the levels, for kernels without a grid of
// their own.
gpu::extent3 cover(const gpu_description&, const gpu_choice&, const storage&, const launch&);

// Throws `unsupported` where a backend would refuse the grid.
void check_grid(const gpu::extent3&);

// A block's shared memory. Throws `unsupported` where the device has less.
std::size_t shared_bytes(const gpu_choice&, const launch&, const gpu::device_facts&);

// Whether blocks along levels come first.
bool levels_first(const gpu_description&, const gpu_choice&, const storage&, const launch&,
                  const gpu::extent3& grid, const gpu::device_facts&);

// What the cache is to keep.
gpu::memory_range kept_range(const gpu_description&, const storage&, const launch&);

// The storage with fields that know how they are to be stored and loaded.
storage with_hints(const gpu_description&, storage, const launch&);

}  // namespace icobench
