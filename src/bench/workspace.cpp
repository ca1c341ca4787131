#include "src/bench/workspace.hpp"

#include <algorithm>

#include <icobench/grids/grid_file.hpp>

#include "src/catalogue/device_facts.hpp"
#include "src/problem/memory.hpp"
#include "src/rtc/compiler.hpp"
#include "src/support/memory.hpp"

namespace icobench {

workspace::opened_device& workspace::opened(const std::string& backend) {
  opened_device& d = devices_[backend];
  if (!d.device) {
    d.device = registry::instance().backends().at(backend)(choose_device(backend, options_.device));
    d.device->compile_with(make_compiler(*d.device));
    d.monitor = machine_monitor::open(backend, d.device->facts().pci_bus_id, d.machine_state);
  }
  return d;
}

const ceilings& workspace::device_ceilings(const std::string& backend) {
  opened_device& d = opened(backend);
  if (!d.measured_ceilings) { d.measured_ceilings = measure_ceilings(*d.device); }
  return *d.measured_ceilings;
}

double workspace::small_copy(const std::string& backend, std::size_t bytes) {
  opened_device& d = opened(backend);
  auto [found, added] = d.small_copies.try_emplace(bytes);
  if (added) { found->second = copy_bandwidth_of(*d.device, bytes, options_.sampling_); }
  return found->second;
}

double workspace::empty_interval(const std::string& backend) {
  opened_device& d = opened(backend);
  if (d.empty_interval == 0) { d.empty_interval = icobench::empty_interval(*d.device); }
  return d.empty_interval;
}

void workspace::load(const std::string& grid) {
  if (const auto extents = extents_of(grid)) {
    const double needed = need_of(*extents);
    const std::size_t left = available_memory();
    if (needed > double(left)) {
      throw input_error(grid + ": needs " + gigabytes(needed) + " of memory, " +
                        gigabytes(double(left)) + " are free");
    }
  }
  set_grid(load_grid(grid));
}

const problem& workspace::problem_for(const chain& c, precision p) {
  if (!problem_ || problem_->chain_ != &c || problem_->precision_ != p) {
    drop_residents();
    problem_.reset();  // before the next one is made: both may not fit
    for (const auto& [backend, opened] : devices_) {
      if (!opened.device) { continue; }
      require_memory(*opened.device, grid_->name, extents_of(*grid_), c, options_.levels, p);
    }
    problem_ = std::make_unique<problem>(make_problem(grid_, c, options_.levels, halo(c), p));
    compute_reference(*problem_);
    traffic_ = count_traffic(*problem_);
  }
  return *problem_;
}

resident_problem* workspace::find_resident(const std::string& backend, const arrangement& a) {
  for (const placed& r : residents_) {
    if (r.backend == backend && r.problem->arranged() == a) { return r.problem.get(); }
  }
  return nullptr;
}

resident_problem& workspace::resident(const std::string& backend, const arrangement& a) {
  if (resident_problem* const found = find_resident(backend, a)) { return *found; }
  residents_.push_back(
      {backend, std::make_unique<resident_problem>(device(backend), *problem_, a)});
  return *residents_.back().problem;
}

bool workspace::has_room_for(const std::string& backend, const arrangement& a) {
  if (residents_.empty() || find_resident(backend, a)) { return true; }
  std::size_t largest = 0;
  for (const placed& r : residents_) { largest = std::max(largest, r.problem->bytes()); }
  // The other half is for the arrays that measure the bandwidth, and for others.
  return largest <= free_memory(device(backend)) / 2;
}

}  // namespace icobench
