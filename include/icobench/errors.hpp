// What is thrown besides gpu::device_error.
#pragma once

#include <stdexcept>

namespace icobench {

// A kernel cannot run on this mesh, with these fields or this launch, or on this device. The
// message says why; a driver reports the variant as skipped, or the launch as bad when the user
// asked for it.
class unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Bad input from the user or a file. The message names what is wrong and where; programs print it
// and end with status 2.
class input_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace icobench
