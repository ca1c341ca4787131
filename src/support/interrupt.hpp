// Ctrl-C asks the measurements to end after the batch that runs.
#pragma once

#include <functional>

namespace icobench {

// Lets SIGINT and SIGTERM set the flag; a second signal ends the program at once. Where nobody asks
// for the flag within half a second (a large problem is made, a kernel compiled), a thread calls
// `last_words` and ends the program with status 130.
void catch_interrupts(std::function<void()> last_words);
bool interrupted();

}  // namespace icobench
