// Single accesses to device memory whose instruction matters, the same for every backend.
#pragma once

#include <cstddef>
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

// The same for a row of numbers that starts at a multiple of 16 bytes and is padded to one: 16
// bytes a load.
template <class T, int count>
ICOBENCH_FUNCTION inline void load_row(const T* p, T (&row)[count]) {
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
  constexpr int at_once = 16 / int(sizeof(T));
  ICOBENCH_UNROLL_ALL
  for (int n = 0; n < count; n += at_once) {
    const int4 words = load_readonly(reinterpret_cast<const int4*>(p + n));
    T part[at_once];
    __builtin_memcpy(part, &words, sizeof words);
    ICOBENCH_UNROLL_ALL
    for (int m = 0; m < at_once && n + m < count; ++m) { row[n + m] = part[m]; }
  }
#else
  for (int n = 0; n < count; ++n) { row[n] = p[n]; }
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
template <class Integer>
ICOBENCH_FUNCTION inline Integer renew(Integer number, Integer counter) {
  return number + (counter >> (8 * sizeof(Integer) - 1));
}

// In shared memory: counts the bytes of copies that run while threads do other things; see
// copy_bulk of the thread.
struct bulk_barrier {
  std::uint64_t state;
};

// What copy_box of the thread copies: boxes of a field of four dimensions, the first one
// contiguous. What lies outside the field is read as 0. A box begins at a multiple of 16 bytes, and
// so do all rows and planes.
struct tensor_box {
  const void* data = nullptr;
  int element_bytes = 0;
  std::int64_t stride[3] = {};  // bytes from one to the next in the other dimensions
  int extent[4] = {};           // of the field
  int size[4] = {};             // of a box
};

// The same in the form that the device reads, a part of a kernel.
struct alignas(128) tensor_map {
  std::uint64_t words[16] = {};
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

// A store that the compiler takes for none, so that it moves loads across it: nobody may read the
// value in the same kernel. H200: nabla4_vertical_interpolate/strided/kloop/inlined takes 473
// instead of 515 us so (298x257), most kernels as long or a little longer.
template <class T>
ICOBENCH_FUNCTION inline void store_apart(T* p, T value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8) {
    asm("st.global.f64 [%0], %1;" ::"l"(p), "d"(value));
  } else {
    asm("st.global.f32 [%0], %1;" ::"l"(p), "f"(value));
  }
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

// Two neighbouring elements by one load, as load_readonly: `p` must be aligned to the pair.
template <class T>
ICOBENCH_FUNCTION inline pair<T> load_pair(const T* p) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8) {
    const double2 both = __ldg(reinterpret_cast<const double2*>(p));
    return {both.x, both.y};
  } else {
    const float2 both = __ldg(reinterpret_cast<const float2*>(p));
    return {both.x, both.y};
  }
#else
  return *reinterpret_cast<const pair<T>*>(p);
#endif
}

// Loads two neighbouring elements at once past the L1 cache; `p` as for store_pair.
template <class T>
ICOBENCH_FUNCTION inline pair<T> load_pair_l2(const T* p) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(T) == 8) {
    const double2 both = __ldcg(reinterpret_cast<const double2*>(p));
    return {both.x, both.y};
  } else {
    const float2 both = __ldcg(reinterpret_cast<const float2*>(p));
    return {both.x, both.y};
  }
#elif defined(__HIP_DEVICE_COMPILE__)
  using vector = T __attribute__((ext_vector_type(2)));
  const vector both = __builtin_nontemporal_load(reinterpret_cast<const vector*>(p));
  return {both.x, both.y};
#else
  return *reinterpret_cast<const pair<T>*>(p);
#endif
}

// Stores two neighbouring elements at once: `p` must be aligned to the pair.
template <class T>
ICOBENCH_FUNCTION inline void store_pair(T* p, T first, T second) {
  *reinterpret_cast<pair<T>*>(p) = {first, second};
}

// The same past the caches (evict first): nobody should read them soon.
template <class T>
ICOBENCH_FUNCTION inline void store_pair_streaming(T* p, T first, T second) {
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
  store_pair(p, first, second);
#endif
}

}  // namespace icobench::gpu
