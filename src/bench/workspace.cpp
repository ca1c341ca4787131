#include "src/bench/workspace.hpp"

#include <algorithm>

#include "src/catalogue/device_facts.hpp"
#include "src/rtc/compiler.hpp"

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

const bandwidth& workspace::memory_bandwidth(const std::string& backend) {
  opened_device& d = opened(backend);
  if (d.memory_bandwidth.copy == 0) { d.memory_bandwidth = measure_bandwidth(*d.device); }
  return d.memory_bandwidth;
}

const ceilings& workspace::device_ceilings(const std::string& backend) {
  opened_device& d = opened(backend);
  if (!d.measured_ceilings) {
    d.measured_ceilings = measure_ceilings(*d.device, memory_bandwidth(backend).copy);
  }
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

const problem& workspace::problem_for(const chain& c, precision p) {
  if (!problem_ || problem_->chain_ != &c || problem_->precision_ != p) {
    drop_residents();
    problem_.reset();  // before the next one is made: both may not fit
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
  std::size_t sum = 0, largest = 0;
  for (const placed& r : residents_) {
    sum += r.problem->bytes();
    largest = std::max(largest, r.problem->bytes());
  }
  // The other half is for the copies that measure the bandwidth, and for others.
  return sum + largest <= device(backend).facts().memory_bytes / 2;
}

}  // namespace icobench
