// The result of one variant.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "src/catalogue/registry.hpp"
#include "src/measure/ceilings.hpp"
#include "src/measure/machine_state.hpp"
#include "src/measure/measure.hpp"
#include "src/problem/resident.hpp"
#include "src/problem/traffic.hpp"

namespace icobench {

using json = nlohmann::ordered_json;

// `stopped`: the user ended the run before it was measured to the end.
enum class status { ok, verified, wrong, skipped, failed, stopped };
std::string_view to_string(status);

struct record {
  const variant* variant_ = nullptr;
  const implementation* implementation_ = nullptr;
  vertex_order vertices = vertex_order::row;
  row_pitch rows = row_pitch::staggered;
  std::vector<launch> launches;
  status status_ = status::stopped;
  std::string reason;           // of every status but ok
  bool launch_refused = false;  // why it was skipped
  std::string grid;
  index_t levels = 0, halo = 0;
  std::vector<gpu::kernel_facts> kernels;
  verification verified;
  traffic traffic_;
  sample_set samples;
  std::size_t earlier = 0;  // how many of them are of earlier repetitions
  machine_record machine;
  ceilings ceilings_;         // of this device in this run
  double copy = 0;            // copy bandwidth of this device in this run [byte/s]
  double small_copy = 0;      // that of as many bytes as the problem's
  double empty_interval = 0;  // what the timer reads when nothing is timed [s]

  // chain/access/schedule/fusion[/feature] and what else distinguishes this record.
  std::string name() const;
  bool broken() const { return status_ == status::wrong || status_ == status::failed; }
  std::vector<double> latest() const;  // samples of the latest repetition
  double seconds() const;              // the median; 0 if not timed
  double bytes_per_second() const;     // compulsory bytes over the median
  double share_of_copy() const;        // that over the copy bandwidth
  floor_of_run floor() const;          // by the ceilings of the device
  double share_of_ceiling() const;     // the floor over the median: 1 where the binding one is met
  // Why its time may mislead: "roofline" (computes something else), "suspect" (faster than memory
  // allows: the data came from a cache, or the measurement is wrong), "throttled", "unstable"
  // (clocks), "unresolved" (too short).
  std::vector<std::string> marks() const;
};

json to_json(const record&, const gpu::device_facts&);

// Median, its interval, extremes and number of times, of which there must be one.
json statistics(const std::vector<double>& seconds);

// One line: status, time, shares of the copy bandwidth and of the ceiling that binds.
std::string summary(const record&);

// The ranked table of one chain's records.
std::string format_table(std::vector<const record*>);

}  // namespace icobench
