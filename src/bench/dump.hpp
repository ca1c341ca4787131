// The file that holds all results of a run: see dump.schema.json.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <icobench/grids/output_file.hpp>

#include "src/bench/options.hpp"
#include "src/bench/record.hpp"
#include "src/bench/workspace.hpp"

namespace icobench {

// Date and time, as dumps write it.
std::string utc_now();

// Everything that does not belong to one record: program, build, machine, devices, command line.
json make_context(const std::vector<std::string>& arguments, const options&, workspace&,
                  const std::vector<std::string>& backends);

// Rewritten as results come, so that a run that is stopped keeps what it measured.
class dump_file {
 public:
  // `inputs` are files that the dump must not replace. Throws input_error, see output_file.
  dump_file(const std::string& path, const std::vector<std::string>& inputs,
            std::string schema = "icobench-dump-2");

  // Whether it is time to write again.
  bool due() const;
  // Writes `{schema, complete, context, records}`. Throws input_error.
  void write(bool complete, const json& context, const json& records);

 private:
  output_file file_;
  std::string schema_;
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace icobench
