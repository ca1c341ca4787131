// A folder of a test's own, which goes with it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

namespace icobench::test {

class scratch_folder {
 public:
  scratch_folder() {
    static std::atomic<int> made = 0;
    path_ = std::filesystem::path(testing::TempDir()) /
            ("icobench_" + std::to_string(getpid()) + "_" + std::to_string(made++));
    std::filesystem::create_directories(path_);
  }
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      all.push_back(entry.path());
    }
    return all;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace icobench::test
