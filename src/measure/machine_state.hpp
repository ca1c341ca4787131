// What the device did while a variant ran: clocks, temperature, power, energy, and why it was slow.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace icobench {

// Why the clocks are what they are, in the words of the vendor's library.
struct clock_reason {
  std::string name;
  bool slows = false;  // power, temperature or the hardware's protection
  bool operator==(const clock_reason&) const = default;
};

// One look at a device. What it does not tell is absent.
struct machine_sample {
  std::optional<double> clock_mhz;  // of the multiprocessors
  std::optional<double> memory_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;  // mean of the last second (H200)
  std::optional<double> joules;   // a counter from some time in the past, in steps of 0.1 s (H200)
  std::optional<std::vector<clock_reason>> throttle_reasons;
};

// Looks at one device through the vendor's library, which is loaded when it is there.
//
// H200: a read takes 2 to 14 ms and leaves no trace in the event times of a running kernel; the
// clocks stay up between batches of work.
class machine_monitor {
 public:
  // `backend` is "cuda" or "hip", `pci_bus_id` as their runtimes write it: "0000:65:00.0".
  // `description` becomes the library with its version or, with a null pointer, why there is none.
  static std::unique_ptr<machine_monitor> open(std::string_view backend,
                                               const std::string& pci_bus_id,
                                               std::string& description);

  machine_monitor() = default;
  machine_monitor(const machine_monitor&) = delete;
  machine_monitor& operator=(const machine_monitor&) = delete;
  virtual ~machine_monitor() = default;

  virtual machine_sample read() const = 0;
  // The command that holds the clocks still.
  virtual std::string lock_clocks_hint() const = 0;
};

// The samples of one variant, best taken while the device works: an idle one lowers its clocks.
class machine_record {
 public:
  void add(const machine_sample&);
  void forget();
  // The highest clocks of the device [Hz]; 0: the highest of the samples stand for them.
  void judge_by(double clock_hz, double memory_clock_hz);

  // The clocks were lowered for a reason that slows, by so much that times tell (the memory's by
  // 1 %, the multiprocessors' by 5 %), in a tenth of the samples at least.
  bool throttled() const;
  // The clock was further than 5 % from its median in a tenth of the samples at least.
  bool unstable() const;

  // {"clock_mhz": [least, median, most], ..., "throttle_reasons": [...], "slowed": {...},
  // "joules_per_run": ...}, null where unknown; null as a whole without samples.
  nlohmann::ordered_json to_json() const;

  std::optional<double> joules_per_run;  // measured apart, when the device did nothing else

 private:
  std::vector<double> clock_mhz_, memory_clock_mhz_, temperature_c_, power_w_;
  // Those below the highest clocks for a reason that slows: their share, and the least of their
  // clocks relative to the highest.
  struct slowdown {
    double share = 0, clock = 1, memory_clock = 1;
  };
  slowdown find_slowdown() const;

  std::optional<std::vector<clock_reason>> throttle_reasons_;  // each once
  std::vector<machine_sample> capped_;                         // with a reason that slows
  double highest_mhz_ = 0, highest_memory_mhz_ = 0;
  std::size_t count_ = 0;
};

}  // namespace icobench
