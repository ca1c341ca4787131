// What the host's memory can do at most, on arrays that the threads of OpenMP touch first, each its
// part.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <icobench/gpu/device.hpp>

#include "src/measure/measurement.hpp"

namespace icobench {

class host_ceiling_work {
 public:
  // Three arrays of `count` doubles, rounded up to a cache line for each thread.
  host_ceiling_work(gpu::device&, std::size_t count);

  // Ways to read, write, copy and add: plain loops over one or several streams a thread, streaming
  // stores where the compiler has them, the C library.
  std::vector<measurement> read(), write(), copy(), triad();

  std::size_t bytes() const { return a_.bytes(); }
  // Of the arrays, the share in huge pages, and "always", "madvise" or "never"; where they are
  // known.
  std::optional<double> huge_page_share() const;
  static std::string huge_page_setting();

 private:
  template <class Part>
  measurement make(const std::string& name, int arrays, Part);
  template <class ValueOf>
  std::vector<measurement> stores(int arrays, double expected, ValueOf);

  std::size_t count_;
  gpu::buffer a_, b_, c_;
  double sum_ = 0;  // of what was read
};

}  // namespace icobench
