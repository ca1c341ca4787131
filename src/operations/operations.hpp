// What a GPU backend computes besides stencils, for callers that no GPU compiler compiles.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include <icobench/chain.hpp>
#include <icobench/device/reduce.hpp>
#include <icobench/device/transpose.hpp>
#include <icobench/gpu/device.hpp>
#include <icobench/storage.hpp>

#include "src/operations/kernels.hpp"

namespace icobench {

// `loads` in flight: 4 or 8.
struct read_shape {
  unsigned blocks, loads = 4;
  bool in_chunks = false;
};

enum class reduced { sum, minimum, maximum };

// Everything is enqueued. Pointers are to device memory, of elements of the precision.
class operations {
 public:
  virtual ~operations() = default;

  // a = array `seed` of input_value.
  virtual void fill_inputs(gpu::device&, precision, std::uint64_t seed, void* a,
                           std::size_t count) const = 0;
  // The largest error of what `compute` made of arrays 1 and 2; of what `transpose` made of
  // array 1.
  virtual void find_computed_error(gpu::device&, array_kernel, precision, const void* a,
                                   std::size_t count, located* result,
                                   const reduce_space&) const = 0;
  virtual void find_transposed_error(gpu::device&, precision, const void* to, const transposition&,
                                     bool transposed, located* result,
                                     const reduce_space&) const = 0;

  // a = 2, b, 2 b, b + c or b + 2 c. `elements` of a thread: 1, 4 or 8.
  virtual void compute(gpu::device&, array_kernel, precision, void* a, const void* b, const void* c,
                       std::size_t count, unsigned elements = 4) const = 0;
  virtual void reduce(gpu::device&, reduced, precision, const void* values, std::size_t count,
                      void* result, const reduce_space&, const reduction& = {}) const = 0;
  virtual void transpose(gpu::device&, precision, const void* from, void* to, const transposition&,
                         transpose_method, unsigned tile) const = 0;
  // Of a field that is not const, from one layout to the other.
  virtual void convert(gpu::device&, precision, const raw_view& from, layout of_from,
                       const raw_view& to, index_t entities, index_t slots,
                       index_t levels) const = 0;
  // The largest difference, see error_at.
  virtual void find_error(gpu::device&, precision, const void* values, const double* expected,
                          std::size_t count, located* result, const reduce_space&) const = 0;

  // The norms of values without the NaN among them; of differences, see difference_at. In the
  // same order in every run.
  virtual void find_norms(gpu::device&, const double* values, std::size_t count, norms* result,
                          const reduce_space&) const = 0;
  virtual void find_difference(gpu::device&, precision, const void* values, const double* expected,
                               std::size_t count, norms* result, const reduce_space&) const = 0;

  // The sum of weighted words, see weighted_word.
  virtual void checksum(gpu::device&, const void* words, std::size_t count,
                        unsigned long long* result, const reduce_space&) const = 0;

  // A sum for each thread, see kernels.hpp.
  virtual void read(gpu::device&, precision, const read_shape&, const void* data, std::size_t count,
                    double* sums) const = 0;
  // Each block reads block_elements of `data` in each repetition.
  virtual void read_l2(gpu::device&, unsigned blocks, const double* data, double* sums,
                       unsigned repeats) const = 0;
  virtual void read_shared(gpu::device&, unsigned blocks, float value, float* sums,
                           unsigned repeats) const = 0;
  virtual void multiply_add(gpu::device&, precision, unsigned blocks, void* results,
                            unsigned repeats) const = 0;
  virtual void launch_nothing(gpu::device&) const = 0;
};

// Those of each GPU backend of this program, registered before main().
std::map<std::string, const operations*, std::less<>>& all_operations();

// Null for the CPU.
inline const operations* find_operations(std::string_view backend) {
  const auto found = all_operations().find(backend);
  return found == all_operations().end() ? nullptr : found->second;
}

}  // namespace icobench
