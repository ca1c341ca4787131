// The result of one variant, and the dump that holds them all.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <icobench/registry.hpp>

#include "src/bench/measure.hpp"
#include "src/bench/options.hpp"
#include "src/problem/resident.hpp"
#include "src/problem/traffic.hpp"

namespace icobench {

using json = nlohmann::ordered_json;

enum class status { ok, verified, wrong, skipped, failed };
std::string_view to_string(status);

struct record {
  const variant* variant_ = nullptr;
  const implementation* implementation_ = nullptr;
  std::vector<launch> launches;
  status status_ = status::skipped;
  std::string reason;  // of every status but ok
  std::string grid;
  index_t levels = 0, halo = 0;
  std::vector<gpu::kernel_facts> kernels;
  verification verified;
  traffic traffic_;
  sample_set samples;
  bandwidth bandwidth_;   // of this device in this run
  double small_copy = 0;  // copy bandwidth of as many bytes as the problem's [byte/s]

  // chain/access/schedule/fusion[/feature] and what else distinguishes this record.
  std::string name() const;
  double seconds() const;           // the median; 0 if not timed
  double bytes_per_second() const;  // compulsory bytes over the median
  double share_of_copy() const;     // that over the copy bandwidth
};

json to_json(const record&, const gpu::device_facts&);

// Everything that does not belong to one record: program, build, machine, devices, command line.
json make_context(const std::vector<std::string>& arguments, const options&, const json& grid,
                  const json& devices);
json to_json(const gpu::device_facts&);

// One line: status, time and share of the copy bandwidth.
std::string summary(const record&);

// The ranked table of one chain's records.
std::string format_table(const std::vector<record>&);

// Whether a dump can be written there: said before the measurements. Throws input_error.
void check_dump_path(const std::string& path);

// Writes `{schema, context, records}` beside the file, then renames. Throws input_error.
void write_dump(const std::string& path, const json& context, const json& records);

}  // namespace icobench
