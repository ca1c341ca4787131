// A table of neighbours, back from the device.
#pragma once

#if !defined(ICOBENCH_AT_RUN_TIME)

#include <vector>

#include <icobench/gpu_variant.hpp>

namespace icobench::kernels {

// For what a variant says of itself on a problem: see plan::facts.
class host_table {
 public:
  host_table(gpu::device& device, const raw_view& table, int slots)
      : slot_stride_(table.slot_stride),
        values_(std::size_t(slots) * std::size_t(table.slot_stride)) {
    device.download(values_.data(), table.data, values_.size() * sizeof(index_t));
  }
  view<const index_t> values() const { return {values_.data(), 0, slot_stride_}; }

 private:
  index_t slot_stride_;
  std::vector<index_t> values_;
};

}  // namespace icobench::kernels

#endif
