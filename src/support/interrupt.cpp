#include "src/support/interrupt.hpp"

#include <csignal>

#include <icobench/grids/output_file.hpp>

namespace icobench {
namespace {

volatile std::sig_atomic_t caught = 0;

void on_signal(int signal) {
  if (caught != 0) { end_by(signal); }
  caught = 1;
}

}  // namespace

void catch_interrupts() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupted() {
  return caught != 0;
}

}  // namespace icobench
