#include <icobench/grids/output_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include <icobench/errors.hpp>

namespace icobench {
namespace fs = std::filesystem;
namespace {

// The names of the incomplete files of this process, where a handler of signals finds them.
struct incomplete_files;
std::atomic<incomplete_files*> of_this_process = nullptr;

struct incomplete_files {
  std::array<std::atomic<const char*>, 64> names{};
  std::atomic<pid_t> owner = ::getpid();

  incomplete_files() {
    of_this_process = this;
    for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ}) {
      struct sigaction now {};
      if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
        std::signal(signal, end_by);
      }
    }
  }
  void exchange(const char* before, const char* after) {
    for (auto& name : names) {
      const char* expected = before;
      if (name.compare_exchange_strong(expected, after)) { return; }
    }
  }
};
static_assert(std::atomic<const char*>::is_always_lock_free);

incomplete_files& incomplete() {
  static incomplete_files all;
  if (all.owner != ::getpid()) {  // a child: these are its parent's
    for (auto& name : all.names) { name = nullptr; }
    all.owner = ::getpid();
  }
  return all;
}

std::string unforeseeable_name() {
  std::random_device random;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%08x%08x", random(), random());
  return digits;
}

// A new, empty file, removed again unless it was renamed.
class temporary_file {
 public:
  explicit temporary_file(const std::string& target)
      : path_(fs::path(target).parent_path() / (".icobench-" + unforeseeable_name())) {
    incomplete().exchange(nullptr, path_.c_str());
    constexpr int exclusive = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    descriptor_ = ::open(path_.c_str(), exclusive, 0666);
    if (descriptor_ < 0) {
      const int reason = errno;
      incomplete().exchange(path_.c_str(), nullptr);
      throw std::system_error(reason, std::generic_category());
    }
    struct stat old {};
    if (::stat(target.c_str(), &old) == 0) { ::fchmod(descriptor_, old.st_mode & 0777); }
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    if (descriptor_ >= 0) { ::close(descriptor_); }
    if (!renamed_) { ::unlink(path_.c_str()); }
    incomplete().exchange(path_.c_str(), nullptr);
  }

  const std::string& path() const { return path_; }

  void write(std::string_view content) const {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno != EINTR) { fail(); }
      content.remove_prefix(written > 0 ? std::size_t(written) : 0);
    }
  }
  void become(const std::string& target) {
    // Network file systems report a full disk here.
    if (::close(std::exchange(descriptor_, -1)) != 0) { fail(); }
    if (std::rename(path_.c_str(), target.c_str()) != 0) { fail(); }
    renamed_ = true;
  }

 private:
  [[noreturn]] static void fail() { throw std::system_error(errno, std::generic_category()); }

  std::string path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) ||
         fs::absolute(a).lexically_normal() == fs::absolute(b).lexically_normal();
}

std::string target_of_links(const std::string& path) {
  std::error_code ignored;
  fs::path target = path;
  for (int links = 0; links < 40 && fs::is_symlink(target, ignored); ++links) {
    target = target.parent_path() / fs::read_symlink(target, ignored);
  }
  return target;
}

// Why the file that is there must not be replaced; "" where it may, or where there is none.
std::string reason_to_keep(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) { return "is a folder"; }
    if (!S_ISREG(found.st_mode)) { return "is no regular file, and is not replaced"; }
  }
  // What may not be written is not replaced; nor is what a stranger's link in a shared folder leads
  // to, where the system protects from those.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    return errno == ENOENT ? "" : std::string("cannot be written: ") + std::strerror(errno);
  }
  ::close(descriptor);
  return "";
}

// Fills a temporary file, which then takes the place of the target.
template <class Fill>
void replace(const std::string& name, const std::string& target, const Fill& fill) {
  try {
    temporary_file temporary(target);
    fill(temporary);
    temporary.become(target);
  } catch (const std::system_error& error) {
    throw input_error(name + ": cannot be written: " + error.code().message());
  }
}

}  // namespace

void remove_incomplete_files() {
  if (incomplete_files* const all = of_this_process; all && all->owner == ::getpid()) {
    for (auto& name : all->names) {
      if (const char* const path = name) { ::unlink(path); }
    }
  }
}

void end_by(int signal) {
  remove_incomplete_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

output_file::output_file(const std::string& option, const std::string& path,
                         const std::vector<std::string>& inputs, overwrite existing)
    : name_(option.empty() ? path : option + " " + path), path_(target_of_links(path)) {
  std::error_code ignored;
  if (existing == overwrite::no && fs::exists(path_, ignored)) {
    throw input_error(name_ + ": exists already");
  }
  if (const std::string reason = reason_to_keep(path); !reason.empty()) {
    throw input_error(name_ + ": " + reason);
  }
  for (const std::string& input : inputs) {
    if (!input.empty() && same_file(path_, input)) {
      throw input_error(name_ + ": is used for something else, too, and would be lost");
    }
  }
  const fs::path folder = fs::path(path_).parent_path();
  if (!folder.empty() && !fs::exists(folder, ignored)) {
    throw input_error(name_ + ": cannot be written: there is no folder " + folder.string());
  }
  try {
    const temporary_file can_be_written(path_);
  } catch (const std::system_error& error) {
    throw input_error(name_ + ": cannot be written: " + error.code().message());
  }
}

void output_file::write(std::string_view content) const {
  replace(name_, path_, [&](const temporary_file& file) { file.write(content); });
}

void output_file::write_by(const std::function<void(const std::string& path)>& fill) const {
  replace(name_, path_, [&](const temporary_file& file) { fill(file.path()); });
}

}  // namespace icobench
