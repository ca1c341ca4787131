#include "src/support/interrupt.hpp"

#include <csignal>

#include <icobench/grids/output_file.hpp>

namespace icobench {
namespace {

volatile std::sig_atomic_t caught = 0;

void on_signal(int signal) {
  caught = 1;
  std::signal(signal, end_by);
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
