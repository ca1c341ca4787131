// A kernel as host code knows it, whatever its type: gpu_variant.hpp makes this of a class, src/gpu
// makes launches of it. So what a variant file is compiled to is little but its kernels.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>

#include <icobench/gpu_kernel.hpp>
#include <icobench/registry.hpp>

namespace icobench {

// One way in which a kernel is compiled, for one use of tables.
struct gpu_choice {
  compiled_bounds bounds{};
  gpu::kernel_function (*function)() = nullptr;  // compiled with the program

  // What the device gets: the kernel's object as the first part of one that orders its blocks
  // (in_order), which may be the first part of one whose blocks take turns (in_turns: the grid
  // follows).
  std::size_t kernel_bytes = 0, ordered_bytes = 0, in_turns_bytes = 0;
  const std::type_info* kernel_type = nullptr;
  const std::type_info* ordered_type = nullptr;
  const std::type_info* in_turns_type = nullptr;
  void (*make_ordered)(void* to, const storage&, bool levels_first, index_t adjacent) = nullptr;
  void (*set_boxes)(void* kernel, const launch&, const gpu::device&) = nullptr;  // if it has any

  gpu::extent3 (*points)(const storage&) = nullptr;          // threads along x and y
  std::size_t (*elements)(const storage&, stage) = nullptr;  // what a stage computes, a level
  std::size_t (*shared_bytes)(const launch&) = nullptr;      // of a block
};

// A kernel on one mesh, in one precision.
struct gpu_description {
  access mesh{};
  launch tuned{};
  std::size_t value_bytes = 0;
  std::span<const stage> computes{};
  std::span<const gpu_choice> choices{};
  std::string_view header{};  // the variant file; "" where it is not known
  overlap halo{};
  bool bulk_copies = false;
  bool torus_order = false;

  std::string (*reject)(const launch&) = nullptr;
  // Of kernels that make their own grid.
  gpu::extent3 (*grid)(const storage&, const launch&, unsigned resident) = nullptr;
  unsigned (*cluster)(index_t levels, const launch&) = nullptr;
  std::map<std::string, double> (*facts)(gpu::device&, const storage&, const launch&) = nullptr;

  bool shaped() const { return choices.front().bounds.shaped; }
};

// The implementation that launches this kernel, whose description has to last. Defined in src/gpu,
// as is all that makes launches: a program that registers variants links icobench_core, one that
// calls a kernel needs headers only.
implementation implement(std::string_view backend, precision, ordering, const gpu_description&);

// Throws `unsupported` where tensor maps cannot have such a box.
void check_tensor_box(const gpu::tensor_box&);

}  // namespace icobench
