// What the kernels of variants are made of on a device: see gpu_variant.hpp.
#pragma once

#include <icobench/field.hpp>
#include <icobench/gpu/dim3.hpp>
#include <icobench/launch.hpp>
#include <icobench/mesh/mesh.hpp>
#include <icobench/stencil/interpolate.hpp>
#include <icobench/stencil/nabla4.hpp>
#include <icobench/stencil/verts2cells.hpp>

namespace icobench {

template <stage... fused>
struct stages {};

template <stage... fused>
constexpr stage last_stage(stages<fused...>) {
  stage last{};
  ((last = fused), ...);
  return last;
}

template <class... Compiled>
struct compiled_list {};

// Threads on each side of a block that compute for others of the block, but no result: the blocks
// of a grid overlap by so many points.
struct overlap {
  unsigned left = 0, right = 0, below = 0, above = 0;
  ICOBENCH_FUNCTION constexpr unsigned x() const { return left + right; }
  ICOBENCH_FUNCTION constexpr unsigned y() const { return below + above; }
};

// The levels of a thread: first, first + step, ..., below `end`.
struct walk {
  index_t first, step, end;
};
template <class Thread>
ICOBENCH_FUNCTION inline walk walk_of(const Thread& t, index_t levels) {
  if constexpr (requires { t.adjacent(); }) {
    if (const index_t count = t.adjacent(); count > 0) {
      const index_t first = index_t(t.z()) * count;
      return {first, 1, first + count < levels ? first + count : levels};
    }
  }
  return {index_t(t.z()), index_t(t.extent_z()), levels};
}

namespace detail {

// A thread of a launch. Blocks along levels may come first: (x, y, z) turned to (z, x, y); and a
// thread's levels may be adjacent, so many (0: threads take turns).
template <class Thread>
class launched_thread : public Thread {
 public:
  ICOBENCH_FUNCTION launched_thread(const Thread& t, bool levels_first, index_t adjacent)
      : Thread(t), adjacent_(adjacent) {
    const gpu::index3 b = t.block();
    block_ = levels_first ? gpu::index3{b.y, b.z, b.x} : b;
    level_blocks_ = levels_first ? t.grid_dim().x : t.grid_dim().z;
  }
  ICOBENCH_FUNCTION gpu::index3 block() const { return block_; }
  ICOBENCH_FUNCTION unsigned x() const { return block_.x * this->block_dim().x + this->thread().x; }
  ICOBENCH_FUNCTION unsigned y() const { return block_.y * this->block_dim().y + this->thread().y; }
  ICOBENCH_FUNCTION unsigned z() const { return block_.z * this->block_dim().z + this->thread().z; }
  ICOBENCH_FUNCTION unsigned extent_z() const { return level_blocks_ * this->block_dim().z; }
  ICOBENCH_FUNCTION index_t adjacent() const { return adjacent_; }

 private:
  gpu::index3 block_;
  unsigned level_blocks_;
  index_t adjacent_;
};

// A thread of another block than its own, of another grid.
template <class Thread>
class moved_thread : public Thread {
 public:
  ICOBENCH_FUNCTION moved_thread(const Thread& t, gpu::index3 block, gpu::extent3 grid)
      : Thread(t), block_(block), grid_(grid) {}
  ICOBENCH_FUNCTION gpu::index3 block() const { return block_; }
  ICOBENCH_FUNCTION gpu::extent3 grid_dim() const { return grid_; }

 private:
  gpu::index3 block_;
  gpu::extent3 grid_;
};

// Runs a kernel with its blocks and levels in the order of the launch. Compiled is compiled_for<>
// unless the kernel is compiled for shapes: bounds of a launch are not the body's concern, and what
// differs in them alone is compiled once where there are no such bounds (simt).
template <class Kernel, class Compiled>
struct in_order {
  Kernel kernel;
  bool levels_first;
  index_t adjacent;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    launched_thread<Thread> launched(t, levels_first, adjacent);
    if constexpr (has_shape<Compiled>) {
      kernel.template operator()<Compiled>(launched);
    } else {
      kernel(launched);
    }
  }
};

// The same with fewer blocks than `grid` has, which take turns. Where a block `shares` memory, its
// threads wait for each other in between. It is compiled at run time only: the loop costs
// registers.
template <class Kernel, bool shares>
struct in_turns {
  in_order<Kernel, compiled_for<>> ordered;  // the first, so that words of Kernel keep their place
  gpu::extent3 grid;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    const unsigned count = unsigned(grid.volume());
    for (unsigned n = t.block().x; n < count; n += t.grid_dim().x) {
      const unsigned row = n / grid.x;
      moved_thread<Thread> moved(t, {n % grid.x, row % grid.y, row / grid.y}, grid);
      ordered(moved);
      if constexpr (shares) { t.sync(); }
    }
  }
};

}  // namespace detail

}  // namespace icobench
