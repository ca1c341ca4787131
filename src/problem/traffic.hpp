// The traffic model: bytes and flops of a chain on a problem, whatever the variant.
#pragma once

#include <cstddef>

#include "src/problem/problem.hpp"

namespace icobench {

struct traffic {
  // Compulsory bytes: each value that the last outputs depend on is read once, each output written
  // once, intermediates never reach memory.
  std::size_t fused_bytes = 0;
  std::size_t fused_written_bytes = 0;  // of these, written
  // The same for each stage alone, intermediates written and read again.
  std::size_t separate_bytes = 0;
  std::size_t flops = 0;  // of the separate stages, each result computed once
};

traffic count_traffic(const problem&);

}  // namespace icobench
