// Values of a thread that are indexed by numbers known at run time only.
#pragma once

#include <icobench/kernel.hpp>

namespace icobench::kernels {

// `count` values in shared memory: registers have no index, and local memory is far away. Threads'
// columns lie side by side, so that no two lanes of a warp meet in a bank, whatever their indices.
// No other thread sees them: no barrier.
template <class T, int count>
class column {
 public:
  static constexpr std::size_t block_bytes(const gpu::extent3& block) {
    return std::size_t(block.volume()) * count * sizeof(T);
  }

  // The thread may have several: this one follows `before` values of theirs.
  template <class Thread>
  ICOBENCH_DEVICE column(const Thread& t, int before)
      : distance_(unsigned(t.block_dim().volume())),
        values_(t.template shared<T>(unsigned(before) * distance_ * unsigned(sizeof(T))) +
                t.rank()) {}
  ICOBENCH_DEVICE T& operator[](int n) const { return values_[unsigned(n) * distance_]; }

 private:
  unsigned distance_;
  T* values_;
};

}  // namespace icobench::kernels
