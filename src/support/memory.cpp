#include "src/support/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <optional>

#include <icobench/grids/output_file.hpp>

namespace icobench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

// The number after a word of a file, or the first one of the file; "max" is none.
std::optional<std::size_t> number_in(const fs::path& path, const std::string& after = "") {
  std::ifstream file(path);
  std::string word;
  while (!after.empty() && file >> word && word != after) {}
  std::size_t number = 0;
  if (!(file >> number)) { return std::nullopt; }
  return number;
}

std::size_t difference(std::size_t limit, std::size_t used) {
  return limit > used ? limit - used : 0;
}

// What the groups from `group` up to their root leave. Files that are cached count as used.
std::size_t left_by_groups(const fs::path& root, const std::string& group, const char* limit,
                           const char* used, const char* cached) {
  std::size_t left = unlimited;
  for (fs::path path = fs::path(group).relative_path();; path = path.parent_path()) {
    const fs::path folder = root / path;
    const auto most = number_in(folder / limit), now = number_in(folder / used);
    if (most && now) {
      const std::size_t files = number_in(folder / "memory.stat", cached).value_or(0);
      left = std::min(left, difference(*most, difference(*now, files)));
    }
    if (path.empty()) { return left; }
  }
}

std::size_t left_by_groups(const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  std::size_t left = unlimited;
  for (std::string line; std::getline(file, line);) {  // "4:memory:/group", "0::/group"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == line.npos) { continue; }
    const std::string kind = line.substr(first, second - first + 1);
    const std::string group = line.substr(second + 1), folder = root + "/sys/fs/cgroup";
    if (kind == "::") {
      left = std::min(
          left, left_by_groups(folder, group, "memory.max", "memory.current", "inactive_file"));
    } else if (kind == ":memory:") {
      left = std::min(left, left_by_groups(folder + "/memory", group, "memory.limit_in_bytes",
                                           "memory.usage_in_bytes", "total_inactive_file"));
    }
  }
  return left;
}

std::size_t left_by_limits(const std::string& root) {
  std::ifstream file(root + "/proc/self/statm");
  std::size_t size = 0, ignored = 0, data = 0;  // pages
  file >> size >> ignored >> ignored >> ignored >> ignored >> data;
  const auto page = std::size_t(sysconf(_SC_PAGE_SIZE));
  const auto left = [&](auto which, std::size_t pages) {
    rlimit limit{};
    if (getrlimit(which, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) { return unlimited; }
    return difference(limit.rlim_cur, pages * page);
  };
  return std::min(left(RLIMIT_AS, size), left(RLIMIT_DATA, data));
}

std::string program_name;

}  // namespace

std::size_t available_memory(const std::string& root) {
  const auto kib = number_in(root + "/proc/meminfo", "MemAvailable:");
  const std::size_t machine =
      kib ? *kib * 1024
          : std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGE_SIZE));
  return std::min({machine, left_by_groups(root), left_by_limits(root)});
}

std::string gigabytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB", 1e-9 * bytes);
  return text;
}

void end_well_without_memory(const std::string& program) {
  program_name = program;
  static const std::terminate_handler usual = std::get_terminate();
  std::set_terminate([] {
    try {
      if (const std::exception_ptr error = std::current_exception()) {
        std::rethrow_exception(error);
      }
    } catch (const std::bad_alloc&) {
      std::fprintf(stderr, "%s: there is too little memory\n", program_name.c_str());
      remove_incomplete_files();
      _exit(2);
    } catch (...) {}
    usual();
  });
}

}  // namespace icobench
