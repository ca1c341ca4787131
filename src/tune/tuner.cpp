#include "src/tune/tuner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <set>

#include <icobench/grids/domain.hpp>

#include "src/rtc/compiler.hpp"
#include "src/support/interrupt.hpp"

namespace icobench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// So many configurations take turns, and are in the journal before the next ones begin.
constexpr std::size_t chunk = 16;

// Results of larger problems are verified on this one before any is timed: to compare gigabytes
// for each configuration would take most of the time. Finalists are verified where they are timed.
constexpr const char* small_torus = "torus:140x37";
constexpr index_t small_vertices = 140 * 37;

// A few samples, to tell what is worth more.
sampling quickly(sampling s) {
  s.warm_up = 1;
  s.min_samples = 3;
  s.max_samples = 5;
  s.precision = 0.02;
  s.budget_seconds = 0.05;
  return s;
}

std::string microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", 1e6 * seconds);
  return text;
}

double median_of(const trial& t) {
  return t.status == "ok" ? median(t.seconds) : infinity;
}

}  // namespace

tuner::measured_problem::measured_problem(const tune_options& o, std::string grid_, index_t levels_)
    : quick(o.common),
      thorough(o.common),
      verifying(o.common),
      space(thorough),
      grid(std::move(grid_)),
      levels(levels_) {
  for (options* each : {&quick, &thorough, &verifying}) {
    each->levels = levels;
    each->grid = grid;
    each->times_simt = true;
    each->only_times = true;
  }
  quick.sampling_ = quickly(quick.sampling_);
  verifying.verify_only = true;
  space.load(grid);
}

std::string tuner::target::name() const {
  std::string text = v.name();
  if (i.ordering_ != ordering::per_orientation) {
    text += "/" + std::string(to_string(i.ordering_));
  }
  if (i.precision_ != precision::float64) { text += "/" + std::string(to_string(i.precision_)); }
  return text;
}

tuner::tuner(const tune_options& o, const std::string& backend, journal& j)
    : options_(o), backend_(backend), journal_(j) {
  for (const std::string& grid : o.grids) {
    for (const index_t levels : o.levels) { problems_.emplace_back(o, grid, levels); }
  }
  const auto& first = problems_.front().space.mesh();
  if (first.shape && first.vertices > small_vertices) {
    small_.emplace_back(o, small_torus, o.levels.front());
  }
}

bool tuner::compiles_at_run_time() {
  gpu::device& device = problems_.front().space.device(backend_);
  return device.compiler() && device.compiler()->unavailable(device.facts().architecture).empty();
}

// Where the problem lies for the variant.
const storage& tuner::storage_of(const target& t, measured_problem& p) {
  p.space.problem_for(*find_chain(t.v.info.chain), t.i.precision_);
  const arrangement a{t.v.access_, t.i.ordering_, t.i.layout_, vertex_order::row};
  if (!p.space.has_room_for(backend_, a)) { p.space.drop_residents(); }
  return p.space.resident(backend_, a).view();
}

// Makes ready what these configurations need: measuring begins when all is compiled.
void tuner::compile(const target& t, measured_problem& p, const std::vector<configuration>& all) {
  if (all.empty() || !t.i.sources || !compiles_at_run_time()) { return; }
  gpu::device& device = p.space.device(backend_);
  std::vector<gpu::kernel_source> sources;
  const auto add = [&](const storage& s) {
    for (const configuration& c : all) {
      for (gpu::kernel_source& source : t.i.sources(s, c)) {
        if (compiled_.insert(source).second) { sources.push_back(std::move(source)); }
      }
    }
  };
  add(storage_of(t, p));
  if (!small_.empty()) { add(storage_of(t, small_.front())); }
  if (sources.empty()) { return; }
  const auto start = std::chrono::steady_clock::now();
  compile_ahead(*device.compiler(), sources, device.facts().architecture);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  char text[64];
  std::snprintf(text, sizeof text, "%zu kernels compiled in %.1f s", sources.size(), spent.count());
  std::cout << t.name() << ": " << text << "\n" << std::flush;
}

// What the device can have and the user wants to see varied; on request also half a warp.
std::vector<std::vector<launch>> tuner::choices_of(const target& t) {
  const auto warp = unsigned(problems_.front().space.device(backend_).facts().warp_size);
  std::vector<std::vector<launch>> choices;
  const std::vector<launch_space> spaces = t.i.spaces();
  for (std::size_t n = 0; n < spaces.size(); ++n) {
    choices.push_back(spaces[n].all(compiles_at_run_time()));
    std::erase_if(choices.back(), [&](const launch& l) {
      const auto threads = l.block.volume();
      return (threads % warp != 0 && !(options_.part_warps && 2 * threads == warp)) ||
             (differing(l, t.i.defaults[n]) & ~options_.axes).any();
    });
  }
  return choices;
}

trial tuner::trial_of(const target& t, measured_problem& p, const configuration& c, bool quick) {
  trial result;
  result.variant = t.v.name();
  result.backend = backend_;
  result.precision = to_string(t.i.precision_);
  result.ordering = to_string(t.i.ordering_);
  result.grid = p.grid;
  result.levels = p.levels;
  result.halo = p.space.halo(*find_chain(t.v.info.chain));
  result.launches = to_string(c);
  result.defaults = to_string(t.i.defaults);
  result.quick = quick;
  return result;
}

void tuner::enter(trial t, const record& r) {
  t.status = to_string(r.status_);
  t.reason = r.reason;
  t.seconds = r.samples.seconds;
  for (const gpu::kernel_facts& k : r.kernels) {
    t.registers = std::max(t.registers, k.registers);
    t.local_bytes = std::max(t.local_bytes, k.local_bytes);
  }
  journal_.add(t);
  ++measured_;
  if (r.broken()) {
    broken_ = true;
    std::cerr << r.name() << ": " << t.status << ", " << t.reason << "\n";
  }
}

// Marks each record as verified, or gives it the reason why it is not. Each configuration once.
void tuner::verify(const target& t, std::list<record>& records) {
  if (small_.empty()) { return; }  // the runner will
  std::vector<record*> unknown;
  std::list<record> copies;
  for (const record& r : records) {
    if (!verified_.contains(to_string(r.launches))) { unknown.push_back(&copies.emplace_back(r)); }
  }
  measured_problem& small = small_.front();
  for (record& r : copies) {
    r.grid = small.grid;
    r.levels = small.levels;
    r.halo = small.space.halo(*find_chain(t.v.info.chain));
  }
  runner(small.space, small.verifying, [](const record&) {}).run(unknown);
  if (interrupted()) { throw search_stopped(); }
  for (const record& r : copies) { verified_[to_string(r.launches)] = {r.status_, r.reason}; }
  for (record& r : records) {
    const auto& [result, reason] = verified_.at(to_string(r.launches));
    r.verified.ok = result == status::verified;
    if (!r.verified.ok) {
      r.status_ = result;
      r.reason = reason;
    }
  }
}

void tuner::measure_now(const target& t, measured_problem& p, const std::vector<configuration>& all,
                        bool quick) {
  std::list<record> records;
  for (const configuration& c : all) {
    record& r = records.emplace_back();
    r.variant_ = &t.v;
    r.implementation_ = &t.i;
    r.launches = c;
    r.grid = p.grid;
    r.levels = p.levels;
    r.halo = p.space.halo(*find_chain(t.v.info.chain));
  }
  if (quick) { verify(t, records); }
  std::vector<record*> timed;
  for (record& r : records) {
    if (r.reason.empty()) {
      timed.push_back(&r);
    } else {
      enter(trial_of(t, p, r.launches, quick), r);
    }
  }
  runner(p.space, quick ? p.quick : p.thorough, [&](const record& r) {
    if (r.status_ != status::stopped) { enter(trial_of(t, p, r.launches, quick), r); }
  }).run(timed);
  if (interrupted()) { throw search_stopped(); }
}

// Takes what the journal has; what it lacks is measured in chunks, finalists all together.
std::vector<trial> tuner::measure(const target& t, measured_problem& p,
                                  const std::vector<configuration>& all, bool quick) {
  std::vector<configuration> absent;
  for (const configuration& c : all) {
    if (!journal_.find(trial_of(t, p, c, quick))) { absent.push_back(c); }
  }
  if (!quick && !absent.empty()) { absent = all; }
  compile(t, p, absent);
  for (auto at = absent.begin(); at != absent.end();) {
    const auto left = std::size_t(absent.end() - at);
    const auto end = at + std::ptrdiff_t(quick ? std::min(chunk, left) : left);
    measure_now(t, p, {at, end}, quick);
    at = end;
  }
  std::vector<trial> result;
  for (const configuration& c : all) { result.push_back(*journal_.find(trial_of(t, p, c, quick))); }
  return result;
}

// Searches with a launch for each kernel and, of several, with one for all. Fastest first.
std::vector<scored> tuner::search_on(const target& t, measured_problem& p) {
  double best = infinity, of_default = infinity;
  std::size_t count = 0;
  const auto measured = [&](const std::vector<configuration>& all) {
    std::vector<double> seconds;
    for (const trial& done : measure(t, p, all, true)) {
      seconds.push_back(median_of(done));
      ++count;
      if (done.launches == done.defaults) { of_default = seconds.back(); }
      if (seconds.back() < best) {
        best = seconds.back();
        std::cout << t.name() << ", " << p.name() << ": " << microseconds(best) << " with "
                  << done.launches << ", " << int(100 * best / of_default + 0.5)
                  << " % of the default\n"
                  << std::flush;
      }
    }
    return seconds;
  };
  const auto choices = choices_of(t);
  std::vector<scored> found =
      search(configuration_space::separate(choices), {t.i.defaults}, options_.search, measured);
  if (choices.size() > 1) {
    const auto shared = configuration_space::shared(choices);
    if (shared.size() > 0) {
      std::vector<configuration> starts;
      for (const launch& l : t.i.defaults) { starts.emplace_back(choices.size(), l); }
      for (scored& s : search(shared, starts, options_.search, measured)) {
        found.push_back(std::move(s));
      }
      std::stable_sort(found.begin(), found.end(),
                       [](const scored& a, const scored& b) { return a.seconds < b.seconds; });
    }
  }
  std::cout << t.name() << ", " << p.name() << ": " << count << " configurations\n" << std::flush;
  return found;
}

// The default, and the best of each problem; where there are several kernels, also the best of
// those with one launch for all.
std::vector<configuration> tuner::finalists_of(const target& t) {
  std::vector<configuration> finalists{t.i.defaults};
  const auto admit = [&](const std::vector<scored>& found, auto allowed) {
    std::size_t count = 0;
    for (const scored& s : found) {
      if (!allowed(s.what) || count == options_.finalists) { continue; }
      ++count;
      if (std::find(finalists.begin(), finalists.end(), s.what) == finalists.end()) {
        finalists.push_back(s.what);
      }
    }
  };
  for (measured_problem& p : problems_) {
    const std::vector<scored> found = search_on(t, p);
    admit(found, [](const configuration&) { return true; });
    if (t.i.defaults.size() > 1) { admit(found, is_shared); }
  }
  return finalists;
}

final_times tuner::measure_finalists(const target& t, measured_problem& p,
                                     const std::vector<configuration>& finalists) {
  final_times result{.problem = p.name(),
                     .size = static_cast<long long>(p.space.mesh().vertices) * p.levels};
  const std::vector<trial> trials = measure(t, p, finalists, false);
  for (std::size_t n = 0; n < trials.size(); ++n) {
    if (trials[n].status != "ok") { continue; }
    result.what.push_back(finalists[n]);
    result.seconds.push_back(trials[n].seconds);
  }
  return result;
}

tuner::ready_problem tuner::make_ready(const variant& v, const implementation& i, std::size_t n) {
  measured_problem& p = *std::next(problems_.begin(), std::ptrdiff_t(n));
  const target t{v, i};
  verified_.clear();
  ready_problem result{p.name(), p.space.device(backend_), search_on(t, p), {}};
  const storage& s = storage_of(t, p);
  result.prepare = [&i, &s, &device = result.device](const configuration& c) {
    return i.prepare(device, s, c).run;
  };
  return result;
}

outcome tuner::tune(const variant& v, const implementation& i) {
  const target t{v, i};
  outcome result{.variant = v.name(),
                 .precision = std::string(to_string(i.precision_)),
                 .ordering = std::string(to_string(i.ordering_))};
  verified_.clear();
  const chain& c = *find_chain(v.info.chain);
  for (measured_problem& p : problems_) {
    try {
      make_domain(p.space.mesh(), c, p.space.halo(c));
    } catch (const input_error& nothing_to_compute) {
      result.reason = nothing_to_compute.what();
      return result;
    }
    const trial of_default = measure(t, p, {i.defaults}, true).front();
    if (of_default.status != "ok") {
      result.reason = of_default.status + ", " + of_default.reason;
      return result;
    }
  }
  const std::vector<configuration> finalists = finalists_of(t);
  std::vector<final_times> finals;
  for (measured_problem& p : problems_) {
    finals.push_back(measure_finalists(t, p, finalists));
    if (finals.back().what.empty() || finals.back().what.front() != i.defaults) {
      result.reason = "the default could not be timed on " + p.name();
      return result;
    }
  }
  conclude(result, finals, options_.threshold);
  return result;
}

}  // namespace icobench
