// Ctrl-C asks the measurements to end after the batch that runs.
#pragma once

namespace icobench {

// Lets SIGINT and SIGTERM set the flag; a second signal ends the program at once.
void catch_interrupts();
bool interrupted();

}  // namespace icobench
