#include <icobench/grids/isolated.hpp>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <utility>

namespace icobench {
namespace {

bool write_all(int fd, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= std::size_t(n);
  }
  return true;
}

bool read_all(int fd, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::read(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= std::size_t(n);
  }
  return true;
}

void limit(decltype(RLIMIT_CPU) resource, rlim_t value) {
  const rlimit limits{value, value};
  ::setrlimit(resource, &limits);
}

// The soft limit alone, so that it can be raised.
void set_cpu_limit(rlim_t seconds) {
  rlimit limits{};
  ::getrlimit(RLIMIT_CPU, &limits);
  limits.rlim_cur = std::min(seconds, limits.rlim_max);
  ::setrlimit(RLIMIT_CPU, &limits);
}

// A crash must end the child quietly, whatever handlers the program has installed.
void prepare_child(unsigned cpu_seconds) {
  for (const int signal : {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGXCPU}) {
    std::signal(signal, SIG_DFL);
  }
  set_cpu_limit(cpu_seconds);
  limit(RLIMIT_CORE, 0);
  const int null = ::open("/dev/null", O_WRONLY);
  if (null >= 0) ::dup2(null, STDERR_FILENO);
}

// Never returns: the parent's destructors and buffered output are not the child's to run.
[[noreturn]] void run_child(int to_parent, const std::function<std::string()>& work,
                            unsigned cpu_seconds) {
  prepare_child(cpu_seconds);
  const std::string bytes = work();
  const std::uint64_t size = bytes.size();
  const bool sent = write_all(to_parent, reinterpret_cast<const char*>(&size), sizeof size) &&
                    write_all(to_parent, bytes.data(), bytes.size());
  ::_exit(sent ? EXIT_SUCCESS : EXIT_FAILURE);
}

// The size comes first, so that what a crash cut short is not taken for an answer.
std::optional<std::string> receive(int from_child) {
  std::uint64_t size = 0;
  if (!read_all(from_child, reinterpret_cast<char*>(&size), sizeof size)) return std::nullopt;
  // A damaged child may send any size: memory is taken for what arrives.
  std::string bytes;
  while (bytes.size() < size) {
    const std::size_t before = bytes.size();
    bytes.resize(before + std::min<std::uint64_t>(size - before, 1 << 24));
    if (!read_all(from_child, bytes.data() + before, bytes.size() - before)) return std::nullopt;
  }
  return bytes;
}

}  // namespace

void allow_cpu_seconds(double more) {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  set_cpu_limit(rlim_t(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + rlim_t(more) + 2);
}

isolated_answer run_isolated(const std::function<std::string()>& work, unsigned cpu_seconds) {
  int ends[2];
  if (::pipe(ends) != 0) return {work()};
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    run_child(ends[1], work, cpu_seconds);
  }
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return {work()};
  }
  std::optional<std::string> bytes;
  try {
    bytes = receive(ends[0]);
  } catch (const std::exception&) {
    // No memory for the answer: no answer.
  }
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  return {std::move(bytes), WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU};
}

}  // namespace icobench
