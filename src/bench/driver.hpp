// The program behind every bench_<chain>.
#pragma once

#include <string_view>

namespace icobench {

// Verifies and times the variants of a chain ("": of all). Returns the exit status: 0, 1 if a
// variant is wrong or failed, 2 for bad input.
int run_benchmarks(std::string_view chain, int argc, char** argv);

}  // namespace icobench
