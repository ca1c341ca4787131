// Which variants and backends a command line means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/bench/workspace.hpp"
#include "src/catalogue/registry.hpp"

namespace icobench {

// Whether a variant is of this chain ("": of any) and its name contains one of the parts (none:
// any).
bool wanted(const variant&, std::string_view chain, const std::vector<std::string>& parts);

// Those asked for, opened; without any the GPU, or the CPU where there is none, which is said on
// stderr. Throws input_error.
std::vector<std::string> choose_backends(const std::string& program,
                                         const std::vector<std::string>& asked, workspace&);

}  // namespace icobench
