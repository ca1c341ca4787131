// The `simt` backend: GPU kernels on the CPU, under any debugger and sanitizer, without a GPU.
//
// Each GPU thread runs as a fiber that is interrupted at barriers and shuffles only, so a launch is
// deterministic, and rules that a GPU lets pass by chance are checked: see simt_error.
//
// Link with boost_context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include <icobench/gpu/dim3.hpp>
#include <icobench/gpu/memory.hpp>

#include "src/simt/engine.hpp"

namespace icobench::gpu {

// What a kernel sees of itself; the thread classes of other backends have the same members. The
// places have defaults which say where the kernel called, and are not to be passed.
class simt_thread {
 public:
  simt_thread(detail::block_scheduler& scheduler, detail::thread_state& state)
      : scheduler_(&scheduler), state_(&state) {}

  index3 thread() const { return state_->index; }
  index3 block() const { return scheduler_->block_index(); }
  extent3 block_dim() const { return scheduler_->block_dim(); }
  extent3 grid_dim() const { return scheduler_->grid_dim(); }

  // Position in the whole grid.
  unsigned x() const { return block().x * block_dim().x + thread().x; }
  unsigned y() const { return block().y * block_dim().y + thread().y; }
  unsigned z() const { return block().z * block_dim().z + thread().z; }

  // Threads of the whole grid, for loops that stride over it.
  unsigned extent_x() const { return grid_dim().x * block_dim().x; }
  unsigned extent_y() const { return grid_dim().y * block_dim().y; }
  unsigned extent_z() const { return grid_dim().z * block_dim().z; }

  // Position in the block, x fastest; warps are runs of ranks.
  unsigned rank() const { return state_->rank; }
  unsigned lane() const { return rank() % warp_size(); }
  unsigned warp_size() const { return scheduler_->warp_size(); }

  // Waits for all threads of the block.
  void sync(source_place place = source_place::here()) const {
    scheduler_->wait_for_block(*state_, place);
  }

  // Waits for all threads of the warp.
  void sync_warp(source_place place = source_place::here()) const {
    scheduler_->wait_for_warp(*state_, place);
  }

  // Changes of device memory that threads of all blocks make, in any order: to + value, which gives
  // the value before; combine(value there, value). What a thread wrote before fence() others see
  // before what it writes after.
  template <class T>
  T atomic_add(T* to, T value) const {
    const T before = *to;
    *to += value;
    return before;
  }
  template <class T, class Combine>
  void atomic_update(T* to, T value, Combine combine) const {
    *to = combine(*to, value);
  }
  void fence() const {}

  // Shuffles within sections of `width` lanes (a power of two; 0: the warp), with CUDA's rules: a
  // source outside the section gives the thread's own value, except that shuffle_xor may read an
  // earlier section. All lanes of the warp take part.

  // The value of lane `lane` (modulo width) of the section.
  template <class T>
  T shuffle(T value, unsigned lane, unsigned width = 0,
            source_place place = source_place::here()) const {
    const section mine = section_of(width, place);
    return scheduler_->exchange(*state_, value, mine.begin + lane % mine.width, place);
  }

  // The value of the lane `delta` below.
  template <class T>
  T shuffle_up(T value, unsigned delta, unsigned width = 0,
               source_place place = source_place::here()) const {
    const bool inside = delta <= lane() - section_of(width, place).begin;
    return scheduler_->exchange(*state_, value, inside ? lane() - delta : lane(), place);
  }

  // The value of the lane `delta` above.
  template <class T>
  T shuffle_down(T value, unsigned delta, unsigned width = 0,
                 source_place place = source_place::here()) const {
    const section mine = section_of(width, place);
    const bool inside = delta < mine.begin + mine.width - lane();
    return scheduler_->exchange(*state_, value, inside ? lane() + delta : lane(), place);
  }

  // The value of the lane whose number differs in the bits of `mask`.
  template <class T>
  T shuffle_xor(T value, unsigned mask, unsigned width = 0,
                source_place place = source_place::here()) const {
    const section mine = section_of(width, place);
    const unsigned source = lane() ^ mask;
    const bool inside = source < mine.begin + mine.width;
    return scheduler_->exchange(*state_, value, inside ? source : lane(), place);
  }

  // The block's dynamic shared memory from a byte on; its start is aligned to 128 bytes. It is full
  // of NaN when a block starts.
  template <class T>
  T* shared(std::size_t byte_offset = 0, source_place place = source_place::here()) const {
    return reinterpret_cast<T*>(scheduler_->shared(*state_, byte_offset, place));
  }

  // Copies from global to shared memory that run by themselves (elsewhere than on sm_80 and later
  // they are over at once): `bytes` bytes, 4, 8 or 16, to which both addresses are aligned.
  // commit_async makes a group of the thread's copies since the last one; wait_async waits until
  // all of its groups but the `newest` are there. Others see them after the next barrier. Here they
  // come as late as can be, and until then what they go to is NaN.
  template <int bytes>
  void copy_async(void* to, const void* from, source_place place = source_place::here()) const {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
    if (reinterpret_cast<std::uintptr_t>(to) % bytes != 0 ||
        reinterpret_cast<std::uintptr_t>(from) % bytes != 0)
      scheduler_->fail(*state_, "misaligned copy",
                       "copies " + std::to_string(bytes) + " bytes at " + detail::to_string(place));
    std::memset(to, 0xff, bytes);
    state_->copies.push_back({to, from, bytes, state_->groups});
  }
  void commit_async() const { ++state_->groups; }
  template <int newest>
  void wait_async() const {
    auto& copies = state_->copies;
    while (!copies.empty() && copies.front().group + newest < state_->groups) {
      std::memcpy(copies.front().to, copies.front().from, copies.front().bytes);
      copies.pop_front();
    }
  }

  // Copies from global to shared memory that run by themselves (sm_90). A barrier is made by one
  // thread for a number of calls of expect_bulk, and may be used after the next sync(). Each call
  // announces bytes that copy_bulk brings (a multiple of 16, as are the addresses). wait_bulk,
  // called by all threads, waits for all of them; the n-th use of a barrier is its phase n % 2. Who
  // reads what was copied calls release_bulk() after that, and then sync() or arrive_cluster(),
  // before other copies overwrite it.
  void init_bulk(bulk_barrier& barrier, unsigned calls) const {
    scheduler_->make_bulk_barrier(&barrier, calls);
  }
  void expect_bulk(bulk_barrier& barrier, unsigned bytes,
                   source_place place = source_place::here()) const {
    scheduler_->expect_bulk(*state_, &barrier, bytes, place);
  }
  void copy_bulk(void* to, const void* from, unsigned bytes, bulk_barrier& barrier, bool,
                 source_place place = source_place::here()) const {
    if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) | bytes) %
            16 !=
        0)
      scheduler_->fail(*state_, "misaligned copy",
                       "copies " + std::to_string(bytes) + " bytes at " + detail::to_string(place));
    scheduler_->note_bulk_copy(*state_, to, bytes, &barrier, place);
    std::memcpy(to, from, bytes);
  }
  // A box of a tensor map's field, from this element on, contiguous and aligned to 128 bytes. The
  // hardware takes a beginning that is not aligned to 16 bytes for an illegal instruction.
  void copy_box(void* to, const tensor_map& map, const int (&at)[4], bulk_barrier& barrier,
                source_place place = source_place::here()) const {
    tensor_box box;
    std::memcpy(&box, map.words, sizeof box);
    if (reinterpret_cast<std::uintptr_t>(to) % 128 != 0 || at[0] * box.element_bytes % 16 != 0)
      scheduler_->fail(*state_, "misaligned copy", "copies a box at " + detail::to_string(place));
    auto* next = static_cast<std::byte*>(to);
    const int count = box.size[0] * box.size[1] * box.size[2] * box.size[3];
    scheduler_->note_bulk_copy(*state_, to, std::size_t(count) * std::size_t(box.element_bytes),
                               &barrier, place);
    for (int n = 0; n < count; ++n, next += box.element_bytes) {
      std::int64_t offset = 0;
      bool inside = true;
      for (int d = 0, left = n; d < 4; left /= box.size[d++]) {
        const int x = at[d] + left % box.size[d];
        offset += x * (d == 0 ? box.element_bytes : box.stride[d - 1]);
        inside = inside && x >= 0 && x < box.extent[d];
      }
      if (inside) {
        std::memcpy(next, static_cast<const std::byte*>(box.data) + offset,
                    std::size_t(box.element_bytes));
      } else {
        std::memset(next, 0, std::size_t(box.element_bytes));
      }
    }
  }
  void wait_bulk(bulk_barrier& barrier, unsigned phase,
                 source_place place = source_place::here()) const {
    sync(place);
    scheduler_->note_bulk_wait(*state_, &barrier, phase, place);
  }
  void release_bulk() const { state_->reads.clear(); }

  // Blocks of a cluster run at once: a copy for `all` goes to the same place of each of them, with
  // its bytes. arrive_cluster and wait_cluster are a barrier in two halves. Here clusters have one
  // block.
  unsigned cluster_size() const { return 1; }
  unsigned cluster_rank() const { return 0; }
  void arrive_cluster() const {}
  void wait_cluster(source_place place = source_place::here()) const { sync(place); }

 private:
  struct section {
    unsigned begin, width;  // in lanes
  };

  section section_of(unsigned width, source_place place) const {
    if (width == 0) width = warp_size();
    if (width > warp_size() || (width & (width - 1)) != 0)
      scheduler_->fail(*state_, "bad shuffle width",
                       "asks for " + std::to_string(width) + " in warps of " +
                           std::to_string(warp_size()) + " at " + detail::to_string(place));
    return {lane() & ~(width - 1), width};
  }

  detail::block_scheduler* scheduler_;
  detail::thread_state* state_;
};

namespace detail {

// Throws std::invalid_argument for what no GPU can launch.
inline void check_launch(extent3 grid, extent3 block, const simt_settings& settings) {
  constexpr unsigned max_threads = 1024;
  if (settings.warp_size != 32 && settings.warp_size != 64)
    throw std::invalid_argument("simt: the warp size has to be 32 or 64, not " +
                                std::to_string(settings.warp_size));
  if (block.x == 0 || block.y == 0 || block.z == 0)
    throw std::invalid_argument("simt: the block is empty");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    throw std::invalid_argument("simt: the grid is empty");
  // One by one first: the product of three large numbers may wrap round to a small one.
  if (block.x > max_threads || block.y > max_threads || block.z > max_threads ||
      block.volume() > max_threads)
    throw std::invalid_argument("simt: the block has more than 1024 threads");
}

}  // namespace detail

// A kernel as code: what one thread runs of the object.
using simt_body = detail::block_scheduler::body_function;
template <class Kernel>
void simt_body_of(const void* kernel, detail::block_scheduler& scheduler,
                  detail::thread_state& state) {
  static_assert(!noexcept(std::declval<const Kernel&>()(std::declval<simt_thread&>())),
                "simt unwinds a kernel that breaks a rule, hence it must not be noexcept");
  simt_thread self(scheduler, state);
  (*static_cast<const Kernel*>(kernel))(self);
}

// As the one below, of a kernel as code and object.
inline void simt_launch(extent3 grid, extent3 block, std::size_t shared_bytes, simt_body body,
                        const void* kernel, const simt_settings& settings = {}) {
  detail::check_launch(grid, block, settings);
  detail::block_scheduler(grid, block, shared_bytes, settings, body, kernel).run_grid();
}

// Runs `kernel` for every thread of the grid and returns when all are done.
//
// The kernel is a function object with `template <class Thread> void operator()(Thread&) const`.
// Throws std::invalid_argument for an impossible launch, simt_error if the kernel breaks a rule,
// and whatever the kernel throws; threads that did not come to their end are unwound, and the next
// launch is as good as the first. Launches on different operating-system threads are independent.
// A kernel may not wait inside a catch handler or a noexcept function.
template <class Kernel>
void simt_launch(extent3 grid, extent3 block, std::size_t shared_bytes, const Kernel& kernel,
                 const simt_settings& settings = {}) {
  simt_launch(grid, block, shared_bytes, &simt_body_of<Kernel>, std::addressof(kernel), settings);
}

}  // namespace icobench::gpu
