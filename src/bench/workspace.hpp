// What benchmarks share: devices, the current problem, its current copies on devices.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "src/bench/options.hpp"
#include "src/catalogue/registry.hpp"
#include "src/measure/ceilings.hpp"
#include "src/measure/machine_state.hpp"
#include "src/measure/measure.hpp"
#include "src/problem/resident.hpp"
#include "src/problem/traffic.hpp"

namespace icobench {

// Builds on demand and keeps only the latest problem with its copies, since they fill gigabytes:
// benchmarks that follow each other should want the same.
class workspace {
 public:
  explicit workspace(const options& o) : options_(o) {}

  // Opens a device; throws gpu::device_error.
  gpu::device& device(const std::string& backend) { return *opened(backend).device; }
  const ceilings& device_ceilings(const std::string& backend);
  double small_copy(const std::string& backend, std::size_t bytes);
  double empty_interval(const std::string& backend);

  // Clocks, power ... of a device: nullptr where they cannot be read, which the text explains.
  const machine_monitor* monitor(const std::string& backend) {
    return opened(backend).monitor.get();
  }
  const std::string& machine_state(const std::string& backend) {
    return opened(backend).machine_state;
  }

  // Makes or reads a grid. Throws input_error where memory is too small for it.
  void load(const std::string& grid);
  void set_grid(grid g) { grid_ = std::make_shared<const grid>(std::move(g)); }
  const grid& mesh() const { return *grid_; }
  index_t halo(const chain& c) const { return options_.halo.value_or(default_halo(*grid_, c)); }

  // The problem with its expected result. Another one than the last drops all copies of that.
  const problem& problem_for(const chain&, precision);
  const traffic& traffic_of_problem() const { return traffic_; }

  // The copy of the current problem for a backend and arrangement.
  resident_problem& resident(const std::string& backend, const arrangement&);
  // Whether the device has room for it beside those that are there.
  bool has_room_for(const std::string& backend, const arrangement&);
  void drop_residents() { residents_.clear(); }

 private:
  struct opened_device {
    std::unique_ptr<gpu::device> device;
    std::unique_ptr<machine_monitor> monitor;
    std::string machine_state;
    std::optional<ceilings> measured_ceilings;
    double empty_interval = 0;
    std::map<std::size_t, double> small_copies;
  };
  struct placed {
    std::string backend;
    std::unique_ptr<resident_problem> problem;
  };

  opened_device& opened(const std::string& backend);
  resident_problem* find_resident(const std::string& backend, const arrangement&);

  const options& options_;
  std::map<std::string, opened_device> devices_;
  std::shared_ptr<const grid> grid_;
  std::unique_ptr<problem> problem_;
  traffic traffic_;
  std::deque<placed> residents_;
};

}  // namespace icobench
