// Kernels compiled while the program runs: what is asked for, and who does it.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace icobench::gpu {

// A kernel as source: a function object that each thread calls, of a type that a header defines.
struct kernel_source {
  std::string header;    // among the kernels: "nabla4/kloop.hpp"
  std::string type;      // as C++ writes it
  std::size_t size = 0;  // of an object, the same for both compilers
  int min_blocks = 1;    // bounds of its launches
  unsigned max_threads = 0;
  // Words of 32 bits of the object, by number, that the caller gives it: the compiler may rely on
  // them.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> constants{};
  auto operator<=>(const kernel_source&) const = default;
};

struct compiled_kernel {
  static constexpr const char* name = "icobench_kernel";

  std::vector<char> image;      // what the runtime loads; the kernel has the name above in it
  std::string log;              // what the compiler said
  int registers = 0;            // a thread's; 0 where unknown
  std::size_t spill_bytes = 0;  // what it stores for want of them
};

class kernel_compiler {
 public:
  virtual ~kernel_compiler() = default;

  // Why it cannot compile for such a device at all, else "".
  virtual std::string unavailable(const std::string& architecture) = 0;
  // The same kernel is compiled once. May be called by several threads. Throws device_error with
  // the words of the compiler.
  virtual std::shared_ptr<const compiled_kernel> compile(const kernel_source&,
                                                         const std::string& architecture) = 0;
};

}  // namespace icobench::gpu
