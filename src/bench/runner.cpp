#include "src/bench/runner.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <tuple>

#include "src/support/interrupt.hpp"

namespace icobench {
namespace {

auto group_of(const record& r) {
  const implementation& i = *r.implementation_;
  return std::tuple(find_chain(r.variant_->info.chain), i.precision_, i.backend);
}

arrangement arrangement_of(const record& r) {
  const implementation& i = *r.implementation_;
  return {r.variant_->access_, i.ordering_, i.layout_, r.vertices, r.rows};
}

// Energy of a run, warm, of many back to back: counters move in steps of 0.1 s.
std::optional<double> joules_per_run(gpu::device& device, const machine_monitor* monitor,
                                     const std::function<void()>& work, double seconds) {
  if (!monitor || !monitor->read().joules) { return {}; }
  const int runs = int(std::ceil(1 / std::max(seconds, 1e-6)));
  const auto before = monitor->read().joules;
  for (int n = 0; n < runs; ++n) { work(); }
  device.synchronize();
  const auto after = monitor->read().joules;
  if (!before || !after) { return {}; }
  return (*after - *before) / runs;
}

}  // namespace

void runner::run(const std::vector<record*>& records) {
  for (auto first = records.begin(); first != records.end() && !interrupted();) {
    const auto last = std::find_if(
        first, records.end(), [&](const record* r) { return group_of(*r) != group_of(**first); });
    run_group({first, last});
    first = last;
  }
}

void runner::run_group(const std::vector<record*>& records) {
  workspace_.problem_for(*find_chain(records.front()->variant_->info.chain),
                         records.front()->implementation_->precision_);
  for (record* r : records) {
    if (interrupted()) { break; }
    if (!workspace_.has_room_for(r->implementation_->backend, arrangement_of(*r))) {
      measure_candidates();
      workspace_.drop_residents();
    }
    try {
      prepare(*r);
      if (r->status_ == status::stopped) { continue; }  // a candidate now
    } catch (const unsupported& reason) {
      r->status_ = status::skipped;
      r->reason = reason.what();
    } catch (const input_error&) { throw; } catch (const std::exception& error) {
      r->status_ = status::failed;
      r->reason = error.what();
    }
    finished_(*r);
  }
  measure_candidates();
}

// Leaves the record as a candidate for timing, or with its result.
void runner::prepare(record& r) {
  const implementation& i = *r.implementation_;
  gpu::device& device = workspace_.device(i.backend);
  resident_problem& resident = workspace_.resident(i.backend, arrangement_of(r));
  r.traffic_ = workspace_.traffic_of_problem();
  plan p;
  try {
    p = i.prepare(device, resident.view(), r.launches);
  } catch (const unsupported&) {
    r.launch_refused = true;
    throw;
  }
  r.kernels = p.kernels;
  if (!r.verified.ok && !verify(r, resident, p.run)) { return; }
  if (options_.profile_once) { device.profile(r.name(), p.run); }
  const bool untimed_simt = i.backend == "simt" && !options_.times_simt;
  if (!options_.times() || untimed_simt) {
    r.status_ = status::verified;
    r.reason = options_.profile_once ? "profiled, not timed"
               : untimed_simt        ? "simt is for verification, not for timing"
                                     : "not timed";
    return;
  }
  const machine_monitor* monitor = nullptr;
  if (!options_.only_times) {
    r.ceilings_ = workspace_.device_ceilings(i.backend);
    r.copy = r.ceilings_.copy;
    r.small_copy = workspace_.small_copy(i.backend, r.traffic_.fused_bytes);
    r.empty_interval = workspace_.empty_interval(i.backend);
    monitor = workspace_.monitor(i.backend);
  }
  const auto read_machine = [&r, monitor] {
    if (monitor) { r.machine.add(monitor->read()); }
  };
  r.status_ = status::stopped;
  r.machine.judge_by(device.facts().clock_hz, device.facts().memory_clock_hz);
  candidates_.push_back({.result = &r,
                         .resident = &resident,
                         .work = p.run,
                         .samples = sampler(device, p.run, options_.sampling_, read_machine)});
}

// Those that come after it run on intact inputs, whatever this one did.
bool runner::verify(record& r, resident_problem& resident, const std::function<void()>& run) {
  resident.poison_outputs();
  run();
  workspace_.device(r.implementation_->backend).synchronize();
  r.verified = r.variant_->info.roofline ? resident.verify_sums() : resident.verify();
  if (!r.verified.ok) { r.reason = std::to_string(r.verified.wrong) + " wrong values"; }
  if (const std::string changed = resident.changed_inputs(); !changed.empty()) {
    resident.restore_inputs();
    r.verified.ok = false;
    r.reason = "it changes what it only reads: " + changed;
  }
  if (!r.verified.ok) { r.status_ = status::wrong; }
  return r.verified.ok;
}

// After timing: a fault may show in one of many runs only. What was verified elsewhere, and bounds,
// whose sums the host computes, are left alone.
void runner::verify_again(candidate& c) {
  record& r = *c.result;
  if (r.verified.tolerance <= 0 || r.variant_->info.roofline || interrupted()) { return; }
  const std::string changed = c.resident->changed_inputs();
  if (!changed.empty()) { c.resident->restore_inputs(); }
  if (verify(r, *c.resident, c.work) && !changed.empty()) {
    r.verified.ok = false;
    r.status_ = status::wrong;
    r.reason = changed + " changed while it took turns with others (alone it may be right)";
  }
  if (!r.verified.ok) { r.reason = "after timing: " + r.reason; }
}

// Low clocks may pass: what took half of its budget at most is timed once more, after the others.
bool runner::worth_repeating(const candidate& c) const {
  const machine_record& m = c.result->machine;
  return !c.again && (m.throttled() || m.unstable()) && c.samples.stopped_by_precision() &&
         c.samples.spent() < 0.5 * options_.sampling_.budget_seconds;
}

void runner::measure_candidates() {
  std::mt19937 random(1);
  std::vector<candidate*> running, later;
  for (candidate& c : candidates_) { running.push_back(&c); }
  while (!running.empty() && !interrupted()) {
    std::shuffle(running.begin(), running.end(), random);
    for (candidate* c : running) {
      if (interrupted()) { break; }
      try {
        c->samples.step();
        if (c->samples.done() && worth_repeating(*c)) {
          c->again = true;
          c->first = c->samples.result();
          c->machine = c->result->machine;
          c->samples.restart();
          c->result->machine.forget();
          later.push_back(c);
          continue;
        }
        if (c->samples.done()) { verify_again(*c); }
      } catch (const gpu::device_error& error) {
        c->samples.stop();
        c->result->status_ = status::failed;
        c->result->reason = error.what();
      }
      if (c->samples.done()) { finish(*c); }
    }
    std::erase_if(running, [&](const candidate* c) {
      return c->samples.done() || std::find(later.begin(), later.end(), c) != later.end();
    });
    if (running.empty()) { running.swap(later); }
  }
  running.insert(running.end(), later.begin(), later.end());
  for (candidate* c : running) {
    c->samples.stop();
    finish(*c);
  }
  // When all are timed: a second of full load lowers the clocks for a while.
  for (candidate& c : candidates_) {
    if (!options_.energy || c.result->status_ != status::ok || interrupted()) { continue; }
    const std::string& backend = c.result->implementation_->backend;
    c.result->machine.joules_per_run = joules_per_run(
        workspace_.device(backend), workspace_.monitor(backend), c.work, c.result->seconds());
  }
  candidates_.clear();
}

void runner::finish(candidate& c) {
  record& r = *c.result;
  const std::vector<double> earlier = std::move(r.samples.seconds);
  if (c.again && c.samples.result().stopped_by == "user") {  // stopped while it was timed again
    r.samples = std::move(c.first);
    r.machine = std::move(c.machine);
  } else {
    r.samples = c.samples.result();
  }
  r.samples.seconds.insert(r.samples.seconds.begin(), earlier.begin(), earlier.end());
  r.earlier = earlier.size();
  if (r.broken()) {
    r.samples = {};
    r.earlier = 0;
  } else if (r.samples.stopped_by != "user") {
    r.status_ = status::ok;
    r.reason.clear();
  }
  finished_(r);
}

}  // namespace icobench
