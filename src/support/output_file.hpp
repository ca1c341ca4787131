// A text file of results.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace icobench {

// It changes only when its new content is complete.
class output_file {
 public:
  // `option` is named in errors. Throws input_error where no file can be written, so that it is
  // said before anything is measured, and where it is one of `inputs`, which would be lost.
  output_file(const std::string& option, const std::string& path,
              const std::vector<std::string>& inputs);

  // Throws input_error; then the old content is kept.
  void write(const std::string& content) const;

 private:
  std::string name_;  // for errors
  std::filesystem::path path_;
};

}  // namespace icobench
