// Files that programs write: one rule for all of them.
//
// A file changes only when its new content is complete. Until then the content lies beside it,
// under a name that cannot be foreseen, and is removed on every way out but SIGKILL. Only regular
// files that the user may write are replaced. A symbolic link stays, its target is replaced.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace icobench {

enum class overwrite { no, yes };

class output_file {
 public:
  // `option` ("" or "--dump") is named in errors. Throws input_error where no file can be written,
  // so that it is said before anything is computed, and where it is one of `inputs`, which would be
  // lost.
  output_file(const std::string& option, const std::string& path,
              const std::vector<std::string>& inputs = {}, overwrite existing = overwrite::yes);

  // Both throw input_error, or what `fill` throws; then the old content is kept.
  void write(std::string_view content) const;
  // `fill` writes to the (empty) file of the path that it is given.
  void write_by(const std::function<void(const std::string& path)>& fill) const;

 private:
  std::string name_;  // for errors
  std::string path_;
};

// For those who handle signals or end the process themselves, in a handler or not.
void remove_incomplete_files();
// A handler: removes them, and ends the process as the signal does by itself.
void end_by(int signal);

}  // namespace icobench
