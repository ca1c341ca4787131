// A field: one value for each entity, slot and level, in one of two layouts.
#pragma once

#include <type_traits>

#include <icobench/gpu/memory.hpp>
#include <icobench/types.hpp>

namespace icobench {

// Element (entity h, slot s, level k) lies at
//
//   ifirst:  h + s * slot_stride + k * stride    for GPUs: neighbouring threads, neighbouring words
//   kfirst:  h * stride + s * slot_stride + k    a column is contiguous
//
// Strides fit 32 bits, offsets need not: on GPUs a 32 by 32 bit product that is 64 bits wide is one
// instruction, and one thread of `naive` has little else to do.
// A field without levels has stride 0 in ifirst and is read at k = 0 in kfirst; one without slots
// is read without `s`. A view of const elements promises that nobody writes them meanwhile; others
// are written only.
template <class T, layout L = layout::ifirst>
struct view {
  T* data = nullptr;
  index_t stride = 0;
  index_t slot_stride = 0;  // no padding: kernels compiled for a problem know all but the pointer

  ICOBENCH_FUNCTION T* address(index_t h, index_t k) const { return address(h, 0, k); }
  ICOBENCH_FUNCTION T* address(index_t h, int s, index_t k) const {
    if constexpr (L == layout::ifirst) {
      return data + std::ptrdiff_t(k) * stride + (h + s * slot_stride);
    } else {
      return data + std::ptrdiff_t(h) * stride + (s * slot_stride + k);
    }
  }
  // The element: a value where the elements are const, else a reference to assign to.
  ICOBENCH_FUNCTION decltype(auto) operator()(index_t h, index_t k) const {
    return element(address(h, k));
  }
  ICOBENCH_FUNCTION decltype(auto) operator()(index_t h, int s, index_t k) const {
    return element(address(h, s, k));
  }

 private:
  ICOBENCH_FUNCTION static decltype(auto) element(T* p) {
    if constexpr (std::is_const_v<T>) {
      return gpu::load_readonly(p);
    } else {
      return (*p);
    }
  }
};

// A view whose element type is known only at run time.
struct raw_view {
  void* data = nullptr;
  index_t stride = 0;
  index_t slot_stride = 0;

  template <class T, layout L>
  view<T, L> as() const {
    return {static_cast<T*>(data), stride, slot_stride};
  }
};

// The same elements, read only.
template <class T, layout L>
ICOBENCH_FUNCTION inline view<const T, L> read_only(const view<T, L>& f) {
  return {f.data, f.stride, f.slot_stride};
}

// The operands of one point at level k: f at each of its neighbours.
template <class T, layout L, int count>
ICOBENCH_FUNCTION inline auto gather(const view<const T, L>& f,
                                     const neighbours<index_t, count>& ids, index_t k) {
  neighbours<T, count> result;
  if constexpr (L == layout::ifirst) {
    const T* level = gpu::hold(f.address(0, k));
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < count; ++s) { result[s] = gpu::load_readonly(level + ids[s]); }
  } else {
    ICOBENCH_UNROLL_ALL
    for (int s = 0; s < count; ++s) { result[s] = f(ids[s], k); }
  }
  return result;
}

// The `count` slots of entity h at level k.
template <int count, class T, layout L>
ICOBENCH_FUNCTION inline auto slots(const view<const T, L>& f, index_t h, index_t k) {
  neighbours<T, count> result;
  ICOBENCH_UNROLL_ALL
  for (int s = 0; s < count; ++s) { result[s] = f(h, s, k); }
  return result;
}

}  // namespace icobench
