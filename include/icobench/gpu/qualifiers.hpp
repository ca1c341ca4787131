// Marks of functions that GPU code calls. With a host compiler they are plain functions.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define ICOBENCH_FUNCTION __host__ __device__
#define ICOBENCH_DEVICE __device__
#else
#define ICOBENCH_FUNCTION
#define ICOBENCH_DEVICE
#endif

// Unrolls the loop that follows; `n` may depend on template parameters. Host compilers run these
// loops only for verification and are asked for nothing.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define ICOBENCH_PRAGMA(text) _Pragma(#text)
#define ICOBENCH_UNROLL(n) ICOBENCH_PRAGMA(unroll n)
#define ICOBENCH_UNROLL_ALL _Pragma("unroll")
#else
#define ICOBENCH_UNROLL(n)
#define ICOBENCH_UNROLL_ALL
#endif
