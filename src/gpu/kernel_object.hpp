// The object that a kernel is called as, whatever its type.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>

#include <icobench/gpu/memory.hpp>

namespace icobench {

// Its bytes, which are 0 until someone makes one there: so is its padding.
class kernel_object {
 public:
  explicit kernel_object(std::size_t bytes)
      : bytes_(::operator new(bytes, alignment), [](void* p) { ::operator delete(p, alignment); }) {
    std::memset(bytes_.get(), 0, bytes);
  }
  void* data() const { return bytes_.get(); }

 private:
  static constexpr std::align_val_t alignment{alignof(gpu::tensor_map)};  // the most that any has

  std::shared_ptr<void> bytes_;
};

}  // namespace icobench
