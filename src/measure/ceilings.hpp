// What a device can do at most: the ceilings against which stencils are held.
#pragma once

#include <memory>
#include <vector>

#include <icobench/chain.hpp>
#include <icobench/gpu/device.hpp>

#include "src/measure/measurement.hpp"
#include "src/operations/operations.hpp"

namespace icobench {

// The work that shows them, on arrays of its own.
class ceiling_work {
 public:
  // Three arrays of `count` doubles.
  ceiling_work(gpu::device&, const operations&, std::size_t count);

  // ceilings/read/double ...: read, write, copy, copy of the runtime, scale, add, triad.
  std::vector<measurement> memory(precision);
  // ceilings/copy_by_N/double: N elements a thread.
  measurement copy_of(unsigned elements);
  // ceilings/l2_read, ceilings/shared_read.
  std::vector<measurement> caches();
  // ceilings/multiply_add/double
  measurement arithmetic(precision);

  // Bytes that a run of an array kernel moves.
  static double bytes_of(array_kernel, std::size_t count, precision);
  // Enqueues one.
  void compute(array_kernel, precision, unsigned elements);
  void copy();  // by the runtime

 private:
  measurement compute_measurement(array_kernel, precision);
  std::string largest_error(array_kernel, precision);
  std::string sums_differ(double expected, double tolerance);
  void prepare(precision);

  gpu::device& device_;
  const operations& operations_;
  std::size_t count_;
  gpu::buffer a_, b_, c_, sums_, result_;
  reduce_space space_;
  unsigned blocks_;
  precision filled_ = precision::float32;
  bool ready_ = false;
};

std::string_view to_string(array_kernel);

// Of the first values of array 1, on the host.
double sum_of_inputs(std::size_t count);

// Those that a stencil meets. 0: unknown.
struct ceilings {
  double read = 0, triad = 0, copy = 0, write = 0;  // bytes read and written [byte/s]
  double flops_double = 0, flops_float = 0;         // [1/s]
  double launch_seconds = 0;                        // from one of many empty kernels to the next

  // Of memory, when so large a share of the bytes is written: between the measured mixes the time
  // of a byte is interpolated.
  double memory(double write_share) const;
  double flops(precision p) const { return p == precision::float64 ? flops_double : flops_float; }
};

// `copy`: the bandwidth of a large copy, which has been measured. On the CPU nothing else is.
ceilings measure_ceilings(gpu::device&, double copy);

// Seconds from one of many empty kernels to the next.
double launch_interval(gpu::device&, const operations&);

// What a run cannot be faster than, and the ceiling that says so.
struct floor_of_run {
  double memory_seconds = 0, arithmetic_seconds = 0, launch_seconds = 0;
  std::string_view binding() const;  // "memory", "arithmetic" or "launches"
  double seconds() const;
};
floor_of_run find_floor(const ceilings&, double bytes, double bytes_written, double flops,
                        precision, std::size_t launches);

}  // namespace icobench
