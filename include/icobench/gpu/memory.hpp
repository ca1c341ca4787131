// Single accesses to device memory whose instruction matters, the same for every backend.
#pragma once

#include <cstdint>

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

// The same pointer, about which the compiler knows nothing more. nvcc otherwise adds all parts of
// an index before the base, three instructions for each operand of a level instead of one.
template <class T>
ICOBENCH_FUNCTION inline T* hold(T* p) {
#if defined(__CUDA_ARCH__)
  asm("" : "+l"(p));
#endif
  return p;
}

// The same number, made from the counter of a loop: what the loop computes or reads by it is
// computed and read again in each round, where keeping it would need more registers than there are.
// That the counter is never negative no compiler knows. (An empty asm hides it from the front end
// only: ptxas moves loads out of loops, too.)
ICOBENCH_FUNCTION inline std::int32_t renew(std::int32_t number, std::int32_t counter) {
  return number + (counter >> 31);
}

// In shared memory: counts the bytes of copies that run while threads do other things; see
// copy_bulk of the thread.
struct bulk_barrier {
  std::uint64_t state;
};

// Stores past the caches (evict first): nobody should read it soon.
template <class T>
ICOBENCH_FUNCTION inline void store_streaming(T* p, T value) {
#if defined(__CUDA_ARCH__)
  __stcs(p, value);
#elif defined(__HIP_DEVICE_COMPILE__)
  __builtin_nontemporal_store(value, p);
#else
  *p = value;
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
#elif defined(__HIP_DEVICE_COMPILE__)
  using vector = T __attribute__((ext_vector_type(2)));
  __builtin_nontemporal_store(vector{first, second}, reinterpret_cast<vector*>(p));
#else
  *reinterpret_cast<pair<T>*>(p) = {first, second};
#endif
}

}  // namespace icobench::gpu
