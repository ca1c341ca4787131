#include "src/support/output_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <icobench/errors.hpp>

namespace icobench {
namespace fs = std::filesystem;
namespace {

bool same_file(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored) ||
         fs::absolute(a).lexically_normal() == fs::absolute(b).lexically_normal();
}

fs::path temporary_of(const fs::path& path) {
  return path.string() + ".part";
}

}  // namespace

output_file::output_file(const std::string& option, const std::string& path,
                         const std::vector<std::string>& inputs)
    : name_(option + " " + path), path_(path) {
  std::error_code ignored;
  for (int links = 0; links < 40 && fs::is_symlink(path_, ignored); ++links) {
    path_ = path_.parent_path() / fs::read_symlink(path_, ignored);
  }
  if (fs::is_directory(path_, ignored)) { throw input_error(name_ + ": is a folder"); }
  if (fs::exists(path_, ignored) && !fs::is_regular_file(path_, ignored)) {
    throw input_error(name_ + ": is no file that could be replaced");
  }
  for (const std::string& input : inputs) {
    if (!input.empty() && same_file(path_, input)) {
      throw input_error(name_ + ": is used for something else, too, and would be lost");
    }
  }
  if (!std::ofstream(temporary_of(path_))) {
    throw input_error(name_ + ": cannot be written there: " + std::strerror(errno));
  }
  fs::remove(temporary_of(path_), ignored);
}

void output_file::write(const std::string& content) const {
  const fs::path temporary = temporary_of(path_);
  std::error_code failure;
  {
    std::ofstream file(temporary, std::ios::binary);
    file << content;
    file.close();
    if (!file) { failure = {errno, std::generic_category()}; }
  }
  if (!failure) { fs::rename(temporary, path_, failure); }
  if (!failure) { return; }
  std::error_code ignored;
  fs::remove(temporary, ignored);
  throw input_error(name_ + ": cannot be written: " + failure.message());
}

}  // namespace icobench
