// Memory of the host that this process may still use.
#pragma once

#include <cstddef>
#include <string>

namespace icobench {

// What is available in the machine, or less by the limits of the job's control groups (either
// version) or of this process (RLIMIT_AS, RLIMIT_DATA). `root`: where /proc and /sys lie.
std::size_t available_memory(const std::string& root = "");

// "12.3 GB"
std::string gigabytes(double bytes);

// Where memory ends while it is freed there is no other way out: std::terminate then says so, and
// ends the program with status 2.
void end_well_without_memory(const std::string& program);

}  // namespace icobench
