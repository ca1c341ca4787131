// Marks of functions that GPU code calls. With a host compiler they are plain functions.
#pragma once

#if __cplusplus < 202002L
#error "icobench needs C++20: -std=c++20"
#endif

#if defined(__HIPCC__) && !defined(ICOBENCH_AT_RUN_TIME)
#include <hip/hip_runtime.h>  // HIP's marks are macros of this header, or known to hipRTC
#endif

#if defined(__CUDACC__) || defined(__HIPCC__)
#define ICOBENCH_FUNCTION __host__ __device__
#define ICOBENCH_DEVICE __device__
#else
// A call left in a vector loop of the CPU variants would be the end of its vectorisation.
#define ICOBENCH_FUNCTION [[gnu::always_inline]]
#define ICOBENCH_DEVICE
#endif

// About the loop that follows: all loops over slots (at most 16) have to go before any compiler
// finds vectors or keeps small arrays in registers; loops over levels had better stay as they are.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define ICOBENCH_UNROLL_ALL _Pragma("unroll")
#define ICOBENCH_NO_UNROLL _Pragma("unroll 1")
#elif defined(__clang__)
#define ICOBENCH_UNROLL_ALL _Pragma("unroll")
#define ICOBENCH_NO_UNROLL
#else
#define ICOBENCH_UNROLL_ALL _Pragma("GCC unroll 16")
#define ICOBENCH_NO_UNROLL
#endif
