// Two neighbouring vertices of a torus a thread: vector loads and stores along i.
//
// A formula over two<T> is evaluated for both. Rows, planes, slots and levels all begin at an even
// element, so what lies at an even id is one load or store of both; what lies beside it, two.
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

// The same quantity at both vertices.
template <class T>
struct two {
  T first, second;

  two() = default;
  ICOBENCH_FUNCTION constexpr two(T a, T b) : first(a), second(b) {}
  ICOBENCH_FUNCTION constexpr explicit two(T both) : first(both), second(both) {}
  ICOBENCH_FUNCTION friend two operator+(const two& a, const two& b) {
    return {a.first + b.first, a.second + b.second};
  }
  ICOBENCH_FUNCTION friend two operator-(const two& a, const two& b) {
    return {a.first - b.first, a.second - b.second};
  }
  ICOBENCH_FUNCTION friend two operator*(const two& a, const two& b) {
    return {a.first * b.first, a.second * b.second};
  }
  ICOBENCH_FUNCTION two& operator+=(const two& b) { return *this = *this + b; }
};

// f at id and id + 1.
template <class T>
ICOBENCH_FUNCTION inline two<T> load_two(const view<const T>& f, index_t id, int slot, index_t k) {
  const T* p = f.address(id, slot, k);
  if (id % 2 == 0) {  // known to the compiler where the id comes from a vertex_pair
    const gpu::pair<T> both = gpu::load_pair(p);
    return {both.first, both.second};
  }
  return {gpu::load_readonly(p), gpu::load_readonly(p + 1)};
}
template <int count, class T>
ICOBENCH_FUNCTION inline auto slots_of_two(const view<const T>& f, index_t id) {
  neighbours<two<T>, count> result;
  ICOBENCH_UNROLL_ALL
  for (int s = 0; s < count; ++s) { result[s] = load_two(f, id, s, 0); }
  return result;
}
template <class T, int count>
ICOBENCH_FUNCTION inline auto gather_two(const view<const T>& f,
                                         const neighbours<index_t, count>& ids, index_t k) {
  neighbours<two<T>, count> result;
  ICOBENCH_UNROLL_ALL
  for (int s = 0; s < count; ++s) { result[s] = load_two(f, ids[s], 0, k); }
  return result;
}

// A thread's vertices v, which is even, and v + 1: one of them may lie outside the domain.
struct vertex_pair {
  strided_mesh<ordering::per_orientation> mesh;
  index_t v = -1;
  bool has_first = false, has_second = false;

  ICOBENCH_FUNCTION static index_t first_column(const rectangle& d) { return d.i0 & ~1; }
  template <class Mesh>
  static gpu::extent3 threads(const Mesh&, const rectangle& d) {
    return {unsigned(d.i0 + d.ni - first_column(d) + 1) / 2, unsigned(d.nj), 1};
  }

  ICOBENCH_FUNCTION vertex_pair(const strided_mesh<ordering::per_orientation>& m,
                                const rectangle& d, unsigned x, unsigned y)
      : mesh{m.row & ~1, m.plane & ~1} {  // they are even: now the compiler knows
    const index_t i = first_column(d) + 2 * index_t(x), end = d.i0 + d.ni;
    if (i >= end || index_t(y) >= d.nj) { return; }
    v = (d.j0 + index_t(y)) * mesh.row + i;
    has_first = i >= d.i0;
    has_second = i + 1 < end;
  }

  // Stores at id, which is even as v is, and id + 1.
  template <class T>
  ICOBENCH_FUNCTION void store(const view<T>& f, index_t id, index_t k, const two<T>& value) const {
    if (has_first && has_second) {
      gpu::store_pair(f.address(id, k), value.first, value.second);
    } else if (has_first) {
      f(id, k) = value.first;
    } else {
      f(id + 1, k) = value.second;
    }
  }
};

}  // namespace icobench::kernels
