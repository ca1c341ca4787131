#include "src/bench/workspace.hpp"

namespace icobench {

gpu::device& workspace::device(const std::string& backend) {
  auto& device = devices_[backend];
  if (!device) { device = registry::instance().backends().at(backend)(); }
  return *device;
}

const bandwidth& workspace::memory_bandwidth(const std::string& backend) {
  auto [found, added] = bandwidths_.try_emplace(backend);
  if (added) { found->second = measure_bandwidth(device(backend)); }
  return found->second;
}

double workspace::small_copy(const std::string& backend, std::size_t bytes) {
  auto [found, added] = small_copies_.try_emplace({backend, bytes});
  if (added) { found->second = copy_bandwidth_of(device(backend), bytes, options_.sampling_); }
  return found->second;
}

const problem& workspace::problem_for(const chain& c, precision p) {
  if (!problem_ || problem_->chain_ != &c || problem_->precision_ != p) {
    resident_.reset();
    problem_.reset();  // before the next one is made: both may not fit
    problem_ = std::make_unique<problem>(make_problem(grid_, c, options_.levels, halo(c), p));
    compute_reference(*problem_);
    traffic_ = count_traffic(*problem_);
  }
  return *problem_;
}

resident_problem& workspace::resident(const chain& c, precision p, const std::string& backend,
                                      const arrangement& a) {
  const problem& wanted = problem_for(c, p);
  if (!resident_ || resident_backend_ != backend || !(resident_->arranged() == a)) {
    resident_.reset();
    resident_ = std::make_unique<resident_problem>(device(backend), wanted, a);
    resident_backend_ = backend;
  }
  return *resident_;
}

}  // namespace icobench
