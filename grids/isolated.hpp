// Work in a child process, for libraries that may crash or hang on damaged input. Private to
// grids/.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace icobench {

// The bytes that `work` returns in a child process, or nothing if the child crashed or used more
// than `cpu_seconds`; the child is silent (stderr and core dumps are off). Runs `work` here if the
// system cannot start a process. `work` must not throw and should not rely on other threads.
std::optional<std::string> run_isolated(const std::function<std::string()>& work,
                                        unsigned cpu_seconds);

}  // namespace icobench
