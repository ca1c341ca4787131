#include "src/support/read_json.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace icobench {

descriptor::descriptor(const std::string& path, int mode)
    : path_(path), id_(::open(path.c_str(), mode | O_NONBLOCK | O_CLOEXEC, 0666)) {
  struct stat found {};
  if (id_ < 0) {
    const bool no_folder = errno == ENOENT && (mode & O_CREAT) != 0;
    const std::string reason = no_folder ? "there is no such folder" : std::strerror(errno);
    throw input_error(path + ": cannot be " + (mode == O_RDONLY ? "read: " : "written: ") + reason);
  }
  if (::fstat(id_, &found) != 0 || !S_ISREG(found.st_mode)) {
    ::close(id_);
    throw input_error(path + ": is no regular file");
  }
}

descriptor::~descriptor() {
  ::close(id_);
}

std::string descriptor::read() const {
  constexpr std::size_t most = std::size_t(1) << 28, piece = 1 << 16;
  std::string text;
  for (std::size_t size = 0; size <= most;) {
    text.resize(size + piece);
    const ssize_t got = ::read(id_, text.data() + size, piece);
    if (got < 0) { fail(std::string("cannot be read: ") + std::strerror(errno)); }
    text.resize(size += std::size_t(got));
    if (got == 0) { return text; }
  }
  fail("is larger than 256 MiB");
}

void descriptor::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(id_, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      fail(std::string("cannot be written: ") + std::strerror(errno));
    }
    text.remove_prefix(written > 0 ? std::size_t(written) : 0);
  }
}

void descriptor::fail(const std::string& what) const {
  throw input_error(path_ + ": " + what);
}

std::string read_text(const std::string& path) {
  return descriptor(path, O_RDONLY).read();
}

nlohmann::ordered_json parse_json(std::string_view text) {
  using json = nlohmann::ordered_json;
  const auto limit = [](int depth, json::parse_event_t, json&) {
    if (depth > 64) { throw input_error("not valid JSON: is nested too deep"); }
    return true;
  };
  try {
    return json::parse(text, limit);
  } catch (const json::exception& error) {
    throw input_error(std::string("not valid JSON: ") + error.what());
  }
}

}  // namespace icobench
