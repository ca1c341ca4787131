// What is known of one launch of one compiled kernel.
#pragma once

#include <cstddef>

#include <icobench/gpu/dim3.hpp>

namespace icobench::gpu {

struct kernel_facts {
  extent3 grid, block;
  std::size_t shared_bytes = 0;
  int registers = 0;            // a thread's; 0 where unknown (simt)
  std::size_t local_bytes = 0;  // a thread's local memory: spills and stack
  int blocks_per_multiprocessor = 0;
  bool compiled_at_run_time = false;
};

}  // namespace icobench::gpu
