#include "src/support/interrupt.hpp"

#include <semaphore.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include <icobench/grids/output_file.hpp>

namespace icobench {
namespace {

volatile std::sig_atomic_t caught = 0;
std::atomic<bool> noticed = false;
sem_t signalled;

void on_signal(int signal) {
  caught = 1;
  std::signal(signal, end_by);
  sem_post(&signalled);
}

void end_unless_noticed(const std::function<void()>& last_words) {
  using namespace std::chrono_literals;
  while (sem_wait(&signalled) != 0) {}
  for (int n = 0; n < 50; ++n) {
    if (noticed) { return; }
    std::this_thread::sleep_for(10ms);
  }
  last_words();
  remove_incomplete_files();
  _exit(130);
}

}  // namespace

void catch_interrupts(std::function<void()> last_words) {
  sem_init(&signalled, 0, 0);
  std::thread(end_unless_noticed, std::move(last_words)).detach();
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
}

bool interrupted() {
  if (caught == 0) { return false; }
  noticed = true;
  return true;
}

}  // namespace icobench
