// What a device can do at most: the ceilings against which stencils are held.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
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
  measurement copy_of(unsigned elements) { return compute_by(array_kernel::copy, elements); }
  // Ways to read (blocks of a multiprocessor, loads in flight, order of blocks), write, copy and
  // compute the triad (elements of a thread; the runtime), in double.
  std::vector<measurement> read_ways(), write_ways(), copy_ways(), triad_ways();
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
  measurement compute_by(array_kernel, unsigned elements);
  measurement read(precision, const read_shape&);
  std::string largest_error(array_kernel, precision);
  std::string sums_differ(std::size_t count, double expected, double tolerance);
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
  std::map<std::string, std::string> ways{};  // which won: of "read", "write", "copy" and "triad"
  std::size_t bytes = 0;                      // of each array
  std::optional<double> huge_page_share{};    // of the host's arrays
  double read = 0, triad = 0, copy = 0, write = 0;  // bytes read and written [byte/s]
  double flops_double = 0, flops_float = 0;         // [1/s]
  double launch_seconds = 0;                        // from one of many empty kernels to the next

  // Of memory, when so large a share of the bytes is written: between the measured mixes the time
  // of a byte is interpolated.
  double memory(double write_share) const;
  double flops(precision p) const { return p == precision::float64 ? flops_double : flops_float; }
};

// Those of memory are the fastest of several ways, in the fastest of their samples: nothing that is
// right is faster. On the CPU arithmetic and launches are unknown. Takes about a second; ends early
// when the user interrupts.
ceilings measure_ceilings(gpu::device&);

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
