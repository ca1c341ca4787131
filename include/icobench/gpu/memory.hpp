// Single accesses to device memory whose instruction matters, the same for every backend.
#pragma once

#include <icobench/gpu/qualifiers.hpp>

namespace icobench::gpu {

// Reads data that nobody writes while the kernel runs. On NVIDIA this is the read-only path, which
// also lets the compiler move the load over stores: it does not trust __restrict__ in structs.
template <class T>
ICOBENCH_FUNCTION inline T load_readonly(const T* p) {
#if defined(__CUDA_ARCH__)
  return __ldg(p);
#else
  return *p;
#endif
}

// Two neighbouring elements that one instruction stores.
template <class T>
struct alignas(2 * sizeof(T)) pair {
  T first;
  T second;
};

// Stores two neighbouring elements at once, past the caches (evict first): `p` must be aligned to
// the pair, and nobody should read them soon.
template <class T>
ICOBENCH_FUNCTION inline void store_pair(T* p, T first, T second) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8) {
    __stcs(reinterpret_cast<double2*>(p), make_double2(first, second));
  } else {
    __stcs(reinterpret_cast<float2*>(p), make_float2(first, second));
  }
#else
  *reinterpret_cast<pair<T>*>(p) = {first, second};
#endif
}

}  // namespace icobench::gpu
