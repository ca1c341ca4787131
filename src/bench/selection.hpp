// Which variants and backends a command line means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/bench/workspace.hpp"
#include "src/catalogue/registry.hpp"

namespace icobench {

// Whether a name has these words between slashes, one after another: "strided/march" or
// "nabla4*/strided". '*' stands for any part of a word.
bool has_words(const std::string& name, const std::string& part);

// Whether a variant is of this chain ("": of any) and its name has the words of one of the parts
// (none: any).
bool wanted(const variant&, std::string_view chain, const std::vector<std::string>& parts);

// Those asked for, opened; without any the GPU, or the CPU where there is none, which is said on
// stderr. Throws input_error.
std::vector<std::string> choose_backends(const std::string& program,
                                         const std::vector<std::string>& asked, workspace&);

}  // namespace icobench
