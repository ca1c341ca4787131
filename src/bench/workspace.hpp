// What benchmarks share: devices, the current problem, its current copy on a device.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <icobench/registry.hpp>

#include "src/bench/measure.hpp"
#include "src/bench/options.hpp"
#include "src/problem/resident.hpp"
#include "src/problem/traffic.hpp"

namespace icobench {

// Builds on demand and keeps only the latest of each, since problems fill gigabytes: benchmarks
// that follow each other should want the same.
class workspace {
 public:
  explicit workspace(const options& o) : options_(o) {}

  // Opens a device; throws gpu::device_error.
  gpu::device& device(const std::string& backend);
  const bandwidth& memory_bandwidth(const std::string& backend);
  double small_copy(const std::string& backend, std::size_t bytes);

  void set_grid(grid g) { grid_ = std::make_shared<const grid>(std::move(g)); }
  const grid& mesh() const { return *grid_; }
  index_t halo(const chain& c) const { return options_.halo.value_or(default_halo(*grid_, c)); }

  // The problem with its expected result.
  const problem& problem_for(const chain&, precision);
  const traffic& traffic_of_problem() const { return traffic_; }
  resident_problem& resident(const chain&, precision, const std::string& backend,
                             const arrangement&);

 private:
  const options& options_;
  std::map<std::string, std::unique_ptr<gpu::device>> devices_;
  std::map<std::string, bandwidth> bandwidths_;
  std::map<std::pair<std::string, std::size_t>, double> small_copies_;
  std::shared_ptr<const grid> grid_;
  std::unique_ptr<problem> problem_;
  traffic traffic_;
  std::unique_ptr<resident_problem> resident_;
  std::string resident_backend_;
};

}  // namespace icobench
