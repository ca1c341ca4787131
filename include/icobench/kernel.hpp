// What a kernel is: a class that says what it computes, how it is named, how it is compiled and
// what it asks of a launch.
//
//   struct nabla4_kloop {
//     using computes = stages<stage::nabla4>;      the stages it fuses, first to last
//     static constexpr kernel_info info{...};     its name, and what it is written for
//     using compiled = compiled_list<...>;         its choices of what is compiled of a launch:
//                                                  compiled_for, compiled_shape, compiled_pipeline;
//                                                  compiled_in<float, ...>: for floats alone
//     static constexpr launch tuned(access, precision);   the default launch
//     template <class Mesh, class T>
//     static constexpr kernel_traits<Mesh> traits{...};   all that is special about its launches
//     template <class Mesh, class T>
//     struct kernel {                              a function object that the device gets by value
//       Mesh mesh;
//       typename Mesh::domain domain;              the points of the last stage
//       nabla4_operands<T> f;                      the operands of each stage
//       index_t levels;                            all levels; walk_of(t, levels) are a thread's
//       template <class Thread> ICOBENCH_DEVICE void operator()(Thread& t) const;
//     };
//   };
//   using nabla4_kloop_variants = kernel_list<nabla4_kloop, ...>;    of kernels/nabla4/kloop.hpp
//
// The concept gpu_kernel checks that all of it is there; a trait that does not exist does not
// compile, since kernel_traits has no such member.
//
// A kernel that is compiled for shapes of its blocks (its choices are each a compiled_shape or a
// compiled_pipeline) has `template <class Shape, class Thread> operator()(Thread&)`. What its host
// code makes of a shape it makes of a launch that has it, with the formulas that Shape::shape goes
// through in device code: other shapes are compiled at run time. `reject` knows those for which
// that cannot be.
#pragma once

#include <icobench/field.hpp>
#include <icobench/gpu/dim3.hpp>
#include <icobench/launch.hpp>
#include <icobench/mesh/mesh.hpp>
#include <icobench/stencil/list.hpp>

namespace icobench {

namespace gpu {
class processor;
}

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

// The kernels of a file: a variant each.
template <class... Kernels>
struct kernel_list {};

// The meshes that a kernel is written for; per_orientation: of a torus whose edges are numbered so.
enum class meshes { all, strided, strided_per_orientation, indirect };

// How a variant is named, chain/access/schedule/fusion[/feature], and what it needs.
struct kernel_info {
  const char* chain = "";
  const char* schedule = "";        // naive, kloop, ...; ifirst, kfirst on the CPU
  const char* fusion = "separate";  // how the stages of the chain are joined
  const char* feature = "";         // what else is special, if anything
  const char* description = "";     // one line for --list
  meshes written_for = meshes::all;
  bool torus_order = false;  // tables in the slot order of a torus
  bool bulk_copies = false;  // and clusters: NVIDIA's from sm_90 on
  // Computes the seams of patches, for all variants of its chain, with so many levels a thread:
  // seams have few points, and end together with the patches if their threads are short.
  int seam_levels = 0;
  // Reads and writes what the chain has to, but computes sums of what a point reads: its time is a
  // bound in practice for the other variants, and no rival.
  bool roofline = false;
};

// Threads on each side of a block that compute for others of the block, but no result: the blocks
// of a grid overlap by so many points.
struct overlap {
  unsigned left = 0, right = 0, below = 0, above = 0;
  ICOBENCH_FUNCTION constexpr unsigned x() const { return left + right; }
  ICOBENCH_FUNCTION constexpr unsigned y() const { return below + above; }
};

// All that is special about the launches of a kernel on a mesh; functions that are not there mean
// what is usual.
template <class Mesh>
struct kernel_traits {
  using domain = typename Mesh::domain;

  overlap halo{};
  // Fields begin at, and have strides of, a multiple of so many elements; rows and planes likewise.
  int field_alignment = 1, row_alignment = 1;
  // Why a launch will not do, else "".
  const char* (*reject)(const launch&) = nullptr;
  // Shared memory of a block, in bytes.
  std::size_t (*shared_bytes)(const launch&) = nullptr;
  // Threads along x and y, if not one a point.
  gpu::extent3 (*threads)(const Mesh&, const domain&) = nullptr;
  // Of kernels that make their own grid: its blocks, of which `resident` run at once, and how many
  // of them along x are a cluster.
  gpu::extent3 (*grid)(const domain&, index_t levels, const launch&, unsigned resident) = nullptr;
  unsigned (*cluster)(index_t levels, const launch&) = nullptr;
  bool copies = false;  // takes copies of a rectangle
  // Of kernels with tensor maps: sets those of a kernel's object, each made by make_tensor_map.
  void (*set_boxes)(void* kernel, const launch&, const gpu::processor&) = nullptr;
};

// Throws `unsupported` where tensor maps cannot have such a box.
gpu::tensor_map make_tensor_map(const gpu::processor&, const gpu::tensor_box&);

// For `reject` of kernels whose threads do not walk levels.
constexpr const char* one_level_only(const launch& l) {
  return l.levels == 1 ? "" : "a thread of this kernel computes one level";
}

// The levels of a thread: first, first + step, ..., below `end`: threads take turns.
struct walk {
  index_t first, step, end;
};
template <class Thread>
ICOBENCH_FUNCTION inline walk walk_of(const Thread& t, index_t levels) {
  return {index_t(t.z()), index_t(t.extent_z()), levels};
}

namespace detail {

// A thread of a launch. Blocks along levels may come first: (x, y, z) turned to (z, x, y).
template <class Thread>
class launched_thread : public Thread {
 public:
  ICOBENCH_FUNCTION launched_thread(const Thread& t, bool levels_first) : Thread(t) {
    const gpu::index3 b = t.block();
    block_ = levels_first ? gpu::index3{b.y, b.z, b.x} : b;
    level_blocks_ = levels_first ? t.grid_dim().x : t.grid_dim().z;
  }
  ICOBENCH_FUNCTION gpu::index3 block() const { return block_; }
  ICOBENCH_FUNCTION unsigned x() const { return block_.x * this->block_dim().x + this->thread().x; }
  ICOBENCH_FUNCTION unsigned y() const { return block_.y * this->block_dim().y + this->thread().y; }
  ICOBENCH_FUNCTION unsigned z() const { return block_.z * this->block_dim().z + this->thread().z; }
  ICOBENCH_FUNCTION unsigned extent_z() const { return level_blocks_ * this->block_dim().z; }

 private:
  gpu::index3 block_;
  unsigned level_blocks_;
};

// Runs a kernel with its blocks in the order of the launch. Compiled is compiled_for<> unless the
// kernel is compiled for shapes: bounds of a launch are not the body's concern, and what differs in
// them alone is compiled once where there are no such bounds (simt).
template <class Kernel, class Compiled>
struct in_order {
  Kernel kernel;
  index_t levels_first;

  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const {
    launched_thread<Thread> launched(t, levels_first != 0);
    if constexpr (has_shape<Compiled>) {
      kernel.template operator()<Compiled>(launched);
    } else {
      kernel(launched);
    }
  }
};

}  // namespace detail

}  // namespace icobench
