// What a kernel is on CUDA and HIP: its threads and its entry. Compiled by nvcc, hipcc or at run
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <icobench/gpu/dim3.hpp>
#include <icobench/gpu/memory.hpp>
#include <icobench/gpu/qualifiers.hpp>

#if defined(__HIPCC__)
#define ICOBENCH_GRID_CONSTANT
#define ICOBENCH_SHUFFLE(kind, ...) __shfl##kind(__VA_ARGS__)
#else
#define ICOBENCH_GRID_CONSTANT __grid_constant__
#define ICOBENCH_SHUFFLE(kind, ...) __shfl##kind##_sync(~0u, __VA_ARGS__)
#endif

namespace icobench::gpu {

namespace native {

// Shuffles take 32-bit words: `shuffle_word` moves each word of the value.
template <class T, class F>
__device__ T by_words(T value, F shuffle_word) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 16);
  unsigned words[(sizeof(T) + 3) / 4] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  ICOBENCH_UNROLL_ALL
  for (unsigned& word : words) { word = shuffle_word(word); }
  __builtin_memcpy(&value, words, sizeof(T));
  return value;
}

}  // namespace native

// A thread of a kernel, as every backend shows it: see simt_thread, whose rules hold here too but
// are not checked.
//
// Copies and their barriers (sm_80, sm_90) are written as PTX, although <cuda/ptx> has most of
// them: kernels are also compiled at run time by NVRTC, on machines that have the driver and NVRTC
// but no headers of the toolkit. What is built into the compilers is called by its name.
struct native_thread {
  ICOBENCH_DEVICE index3 thread() const { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  ICOBENCH_DEVICE index3 block() const { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  ICOBENCH_DEVICE extent3 block_dim() const { return {blockDim.x, blockDim.y, blockDim.z}; }
  ICOBENCH_DEVICE extent3 grid_dim() const { return {gridDim.x, gridDim.y, gridDim.z}; }

  ICOBENCH_DEVICE unsigned x() const { return blockIdx.x * blockDim.x + threadIdx.x; }
  ICOBENCH_DEVICE unsigned y() const { return blockIdx.y * blockDim.y + threadIdx.y; }
  ICOBENCH_DEVICE unsigned z() const { return blockIdx.z * blockDim.z + threadIdx.z; }
  ICOBENCH_DEVICE unsigned extent_x() const { return gridDim.x * blockDim.x; }
  ICOBENCH_DEVICE unsigned extent_y() const { return gridDim.y * blockDim.y; }
  ICOBENCH_DEVICE unsigned extent_z() const { return gridDim.z * blockDim.z; }

  ICOBENCH_DEVICE unsigned rank() const {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  ICOBENCH_DEVICE unsigned lane() const { return rank() % warp_size(); }
  ICOBENCH_DEVICE unsigned warp_size() const { return unsigned(warpSize); }

  ICOBENCH_DEVICE void sync() const { __syncthreads(); }

  // The lanes of an AMD wave run in step: what is left to do is to keep the compiler from moving
  // accesses to memory.
  ICOBENCH_DEVICE void sync_warp() const {
#if defined(__HIPCC__)
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#else
    __syncwarp();
#endif
  }

  template <class T>
  ICOBENCH_DEVICE T atomic_add(T* to, T value) const {
    return atomicAdd(to, value);
  }
  template <class T, class Combine>
  ICOBENCH_DEVICE void atomic_update(T* to, T value, Combine combine) const {
    using word = std::conditional_t<sizeof(T) == 8, unsigned long long, unsigned>;
    word* const at = reinterpret_cast<word*>(to);
    for (word seen = *at;;) {
      T current;
      __builtin_memcpy(&current, &seen, sizeof(T));
      current = combine(current, value);
      word wanted;
      __builtin_memcpy(&wanted, &current, sizeof(T));
      const word found = atomicCAS(at, seen, wanted);
      if (found == seen) { return; }
      seen = found;
    }
  }
  ICOBENCH_DEVICE void fence() const {
    __threadfence();
  }

  template <class T>
  ICOBENCH_DEVICE T shuffle(T value, unsigned source, unsigned width = 0) const {
    const int w = section(width), n = int(source);
    return native::by_words(value, [=](unsigned word) { return ICOBENCH_SHUFFLE(, word, n, w); });
  }
  template <class T>
  ICOBENCH_DEVICE T shuffle_up(T value, unsigned delta, unsigned width = 0) const {
    const int w = section(width);
    return native::by_words(value,
                            [=](unsigned word) { return ICOBENCH_SHUFFLE(_up, word, delta, w); });
  }
  template <class T>
  ICOBENCH_DEVICE T shuffle_down(T value, unsigned delta, unsigned width = 0) const {
    const int w = section(width);
    return native::by_words(value,
                            [=](unsigned word) { return ICOBENCH_SHUFFLE(_down, word, delta, w); });
  }
  template <class T>
  ICOBENCH_DEVICE T shuffle_xor(T value, unsigned mask, unsigned width = 0) const {
    const int w = section(width), m = int(mask);
    return native::by_words(value,
                            [=](unsigned word) { return ICOBENCH_SHUFFLE(_xor, word, m, w); });
  }

  template <int bytes>
  ICOBENCH_DEVICE void copy_async(void* to, const void* from) const {
    static_assert(bytes == 4 || bytes == 8 || bytes == 16);
#if __CUDA_ARCH__ >= 800
    if constexpr (bytes == 16) {  // past the L1 cache
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
                   "n"(bytes)
                   : "memory");
    }
#else
    struct alignas(bytes) word {
      unsigned part[bytes / 4];
    };
    *static_cast<word*>(to) = *static_cast<const word*>(from);
#endif
  }
  ICOBENCH_DEVICE void commit_async() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
  }
  template <int newest>
  ICOBENCH_DEVICE void wait_async() const {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(newest) : "memory");
#endif
  }

#if !defined(__HIPCC__)
  ICOBENCH_DEVICE void init_bulk(bulk_barrier& barrier, unsigned copies) const {
#if __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
                 "r"(copies)
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }
  ICOBENCH_DEVICE void expect_bulk(bulk_barrier& barrier, unsigned bytes) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
        "r"(bytes)
        : "memory");
#endif
  }
  // An eviction hint made it slower, whichever (march, H200).
  ICOBENCH_DEVICE void copy_bulk(void* to, const void* from, unsigned bytes, bulk_barrier& barrier,
                                 bool all) const {
#if __CUDA_ARCH__ >= 900
    if (all) {
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
          "l"(from), "r"(bytes), "r"(shared_address(&barrier)),
          "h"(static_cast<unsigned short>((1u << cluster_size()) - 1))
          : "memory");
    } else {
      asm volatile(
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
          "[%3];" ::"r"(shared_address(to)),
          "l"(from), "r"(bytes), "r"(shared_address(&barrier))
          : "memory");
    }
#endif
  }
  ICOBENCH_DEVICE void copy_box(void* to, const tensor_map& map, const int (&at)[4],
                                bulk_barrier& barrier) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(shared_address(to)),
        "l"(&map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(shared_address(&barrier))
        : "memory");
#endif
  }
  // As PTX: with the built-in names the marches get another order of instructions, and more.
  ICOBENCH_DEVICE unsigned cluster_size() const {
    unsigned n = 1;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %cluster_nctarank;" : "=r"(n));
#endif
    return n;
  }
  ICOBENCH_DEVICE unsigned cluster_rank() const {
    unsigned n = 0;
#if __CUDA_ARCH__ >= 900
    asm("mov.u32 %0, %cluster_ctarank;" : "=r"(n));
#endif
    return n;
  }
  // Reads that are still under way when a barrier lets others go on come before their stores, but
  // not before copies, which take another way to shared memory. Without this six of 18 runs of
  // verts2cells/strided/march/separate/multicast in floats were wrong at some cells (H200,
  // 594x514), none of 4500 with it.
  ICOBENCH_DEVICE void release_bulk() const {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  }
  ICOBENCH_DEVICE void arrive_cluster() const {
#if __CUDA_ARCH__ >= 900
    // Released within the block only: waiting for its stores to device memory as well made the
    // march twice as slow, and those are nobody's business here.
    __syncthreads();
    __cluster_barrier_arrive_relaxed();
#endif
  }
  ICOBENCH_DEVICE void wait_cluster() const {
#if __CUDA_ARCH__ >= 900
    __cluster_barrier_wait();
#endif
  }
  ICOBENCH_DEVICE void wait_bulk(bulk_barrier& barrier, unsigned phase) const {
#if __CUDA_ARCH__ >= 900
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "again_%=:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again_%=;\n"
        "}" ::"r"(shared_address(&barrier)),
        "r"(phase)
        : "memory");
#endif
  }
#endif

  // The block's dynamic shared memory from a byte on.
  template <class T>
  ICOBENCH_DEVICE T* shared(std::size_t byte_offset = 0) const {
    extern __shared__ __attribute__((aligned(128))) unsigned char memory[];
    return reinterpret_cast<T*>(memory + byte_offset);
  }

 private:
  ICOBENCH_DEVICE static int section(unsigned width) {
    return width == 0 ? warpSize : int(width);
  }
#if !defined(__HIPCC__)
  ICOBENCH_DEVICE static unsigned shared_address(const void* p) {
    return unsigned(__cvta_generic_to_shared(p));
  }
#endif
};

// The second launch bound caps registers: blocks that fit a multiprocessor on NVIDIA, waves that
// fit one of its four SIMD units on AMD.
template <class Compiled>
constexpr int resident_bound() {
#if defined(__HIPCC__)
  constexpr int wave = 64, units = 4;
  return Compiled::min_blocks * int(Compiled::max_threads) / (wave * units);
#else
  return Compiled::min_blocks;
#endif
}

template <class Compiled, class Kernel>
__global__ void __launch_bounds__(Compiled::max_threads, resident_bound<Compiled>())
    entry(const ICOBENCH_GRID_CONSTANT Kernel kernel) {
  native_thread thread;
  kernel(thread);
}

}  // namespace icobench::gpu
