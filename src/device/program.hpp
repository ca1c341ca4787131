// The program bench_device: what the device is and can do.
#pragma once

namespace icobench {

// Returns the exit status: 0; 1 if a result is wrong or a measurement fails; 2 for bad input; 130
// when stopped.
int run_device_program(int argc, char** argv);

}  // namespace icobench
