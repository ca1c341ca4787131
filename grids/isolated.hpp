// Work in a child process, for libraries that may crash or hang on damaged input. Private to
// grids/.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace icobench {

struct isolated_answer {
  std::optional<std::string> bytes;  // nothing if the child crashed or used too much time
  bool timed_out = false;
};
// The bytes that `work` returns in a child process that has so much time on the CPU; the child is
// silent (stderr and core dumps are off). Runs `work` here if the system cannot start a process.
// `work` must not throw and should not rely on other threads.
isolated_answer run_isolated(const std::function<std::string()>& work, unsigned cpu_seconds);

// Called by `work` when it knows how much there is to do: so many seconds from now on.
void allow_cpu_seconds(double more);

}  // namespace icobench
