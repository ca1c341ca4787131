// Runs measurements on one device and keeps their records.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <icobench/gpu/device.hpp>

#include "src/bench/dump.hpp"
#include "src/measure/machine_state.hpp"
#include "src/measure/measure.hpp"
#include "src/measure/measurement.hpp"
#include "src/operations/operations.hpp"

namespace icobench {

struct device_options {
  std::string backend, device;
  std::string dump;
  bool verify_only = false;
  sampling sampling_;
  std::size_t elements = 0;  // of the arrays; 0: chosen by the device
  int pieces = 5;            // streams that an addition is split over
  std::string grid;          // of the stencils
  index_t levels = 80;
};

class device_bench {
 public:
  // Opens device and dump. Throws input_error, gpu::device_error.
  device_bench(device_options, const std::vector<std::string>& arguments);

  gpu::device& device() { return *device_; }
  const operations& ops() const { return operations_; }
  const device_options& options() const { return options_; }
  bool simt() const { return device_->backend() == "simt"; }
  // simt and --verify-only do not time.
  bool times() const { return !options_.verify_only && !simt(); }
  // Of the arrays: those of the option, else `on_gpu`, and few where nothing is timed by simt.
  std::size_t elements(std::size_t on_gpu) const;

  // Verifies all, then times them in turns, batch by batch, so that drift favours none.
  void measure(std::vector<measurement>);
  // One that is timed by its own clock: seconds of one run.
  void measure_by(measurement, const std::string& clock, int samples,
                  const std::function<double()>& once);

  // One that cannot be taken here.
  void skip(const std::string& name, const std::string& reason);

  // The record of a measurement that has been taken, to add to; null if it was not timed.
  json* find(const std::string& name);
  // Bytes or flops over the median time; 0 if it was not timed.
  double rate(const std::string& name);

  // Writes the dump and prints the table. Returns the exit status.
  int finish();

 private:
  bool verify(const measurement&, json& record);
  void add_times(const measurement&, json& record, const std::vector<double>&);
  void keep(json record);

  device_options options_;
  std::unique_ptr<gpu::device> device_;
  const operations& operations_;
  std::string machine_state_;
  std::unique_ptr<machine_monitor> monitor_;
  std::optional<dump_file> dump_;
  json context_, records_ = json::array();
  std::mutex writing_;  // records and dump, which a thread writes when the user interrupts
  std::size_t failures_ = 0;
};

// What the groups of the program measure, each in its own source.
void measure_ceilings(device_bench&);
void measure_reductions(device_bench&);
void measure_transposes(device_bench&);
void measure_additions(device_bench&);
void measure_streams(device_bench&);

}  // namespace icobench
