#include "src/bench/driver.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <deque>
#include <iostream>
#include <tuple>

#include <icobench/gpu_variant.hpp>

#include "grids/grid_file.hpp"
#include "src/bench/record.hpp"
#include "src/bench/workspace.hpp"

namespace icobench {
namespace {

// One line for each benchmark as it ends; the tables at the end have the numbers side by side.
class progress_reporter final : public benchmark::BenchmarkReporter {
 public:
  explicit progress_reporter(const std::deque<record>& records) : records_(records) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) { continue; }
      const auto r = std::find_if(records_.begin(), records_.end(), [&](const record& each) {
        return each.name() == run.run_name.function_name;
      });
      std::cout << "[" << ++done_ << "/" << records_.size() << "] " << summary(*r) << "\n"
                << std::flush;
    }
  }

 private:
  const std::deque<record>& records_;
  std::size_t done_ = 0;
};

class driver {
 public:
  driver(std::string program, std::string_view chain, options o, std::vector<std::string> arguments)
      : program_(std::move(program)),
        chain_(chain),
        options_(std::move(o)),
        arguments_(std::move(arguments)),
        workspace_(options_),
        chosen_format_(std::any_of(arguments_.begin(), arguments_.end(), [](const auto& argument) {
          return argument.starts_with("--benchmark_format");
        })) {}

  int run();

 private:
  void choose_backends();
  void choose_grid();
  void add_records(const variant&, const implementation&);
  void collect();
  std::vector<launch> launches_for(const variant&, const implementation&, const std::string& text);
  void list() const;
  void register_benchmarks();
  std::size_t run_registered();
  void run_one(benchmark::State&, record&);
  void verify_and_time(record&);
  void report(benchmark::State&, const record&) const;
  void write_results();
  bool wanted(const variant&) const;

  std::string program_;
  std::string_view chain_;
  options options_;
  std::vector<std::string> arguments_;
  workspace workspace_;
  std::vector<std::string> backends_;
  std::deque<record> records_;  // stable addresses: benchmarks hold them
  bool chosen_format_;          // the user chose one of Google Benchmark's formats
  bool bad_launch_ = false;
};

bool driver::wanted(const variant& v) const {
  if (!chain_.empty() && v.info.chain != chain_) { return false; }
  const std::string name = v.name();
  return options_.variants.empty() ||
         std::any_of(options_.variants.begin(), options_.variants.end(),
                     [&](const std::string& part) { return name.find(part) != name.npos; });
}

void driver::choose_backends() {
  const auto& known = registry::instance().backends();
  for (const std::string& name : options_.backends) {
    if (!known.contains(name)) {
      std::string message = "--backend " + name + ": not in this build, which has";
      for (const auto& [each, open] : known) { message += " " + each; }
      throw input_error(message);
    }
    try {
      workspace_.device(name);
    } catch (const gpu::device_error& error) {
      throw input_error("--backend " + name + ": " + error.what());
    }
    backends_.push_back(name);
  }
  if (!backends_.empty()) { return; }
  for (const std::string name : {"cuda", "hip"}) {
    if (!known.contains(name)) { continue; }
    try {
      workspace_.device(name);
      backends_ = {name};
      return;
    } catch (const gpu::device_error& error) {
      std::cerr << program_ << ": " << name << ": " << error.what() << "; using the CPU\n";
    }
  }
  backends_ = {"cpu"};
}

void driver::choose_grid() {
  if (options_.grid.empty()) {
    options_.grid = backends_ == std::vector<std::string>{"cpu"} ||
                            backends_ == std::vector<std::string>{"simt"}
                        ? "torus:150x129"
                        : "torus:594x514";
  }
  workspace_.set_grid(load_grid(options_.grid));
}

// The launches of a variant with the overrides of the command line. What no problem could make
// valid is refused here, before any is timed.
std::vector<launch> driver::launches_for(const variant& v, const implementation& i,
                                         const std::string& text) {
  std::vector<launch> result = parse_launches(text, v.name(), i.defaults);
  if (text.empty() || i.backend == "cpu") { return result; }
  const gpu::device_facts facts = workspace_.device(i.backend).facts();
  for (const launch& l : result) {
    try {
      detail::check_launch({1, 1, 1}, l, facts);
    } catch (const unsupported& reason) {
      throw input_error("--launch " + text + ": " + reason.what());
    }
  }
  return result;
}

// A record for each launch of an implementation.
void driver::add_records(const variant& v, const implementation& i) {
  std::vector<std::string> launches = options_.launches;
  if (launches.empty()) { launches.emplace_back(); }
  for (const std::string& text : launches) {
    record& r = records_.emplace_back();
    r.variant_ = &v;
    r.implementation_ = &i;
    r.launches = launches_for(v, i, text);
    r.grid = options_.grid;
    r.levels = options_.levels;
    r.halo = workspace_.halo(*find_chain(v.info.chain));
  }
}

// A record for each variant, precision, ordering, backend and launch that was asked for, in an
// order in which neighbours share problem and storage.
void driver::collect() {
  for (const variant& v : registry::instance().variants()) {
    if (!wanted(v)) { continue; }
    for (const precision p : options_.precisions) {
      for (const std::string& backend : backends_) {
        for (const ordering o : options_.orderings) {
          if (const implementation* i = v.find(backend, p, o)) { add_records(v, *i); }
        }
      }
    }
    // Says now what would fail later: a halo too large for the grid, for example.
    const chain& c = *find_chain(v.info.chain);
    make_domain(workspace_.mesh(), c, workspace_.halo(c));
  }
  if (records_.empty()) {
    std::string message = "no variant";
    for (const std::string& part : options_.variants) { message += " *" + part + "*"; }
    throw input_error(message + " for backend " + backends_.front() + "; see --list");
  }
  const auto key = [](const record& r) {
    const implementation& i = *r.implementation_;
    return std::tuple(find_chain(r.variant_->info.chain), i.precision_, i.backend, i.ordering_,
                      r.variant_->access_, i.layout_);
  };
  std::stable_sort(records_.begin(), records_.end(),
                   [&](const record& a, const record& b) { return key(a) < key(b); });
}

void driver::list() const {
  for (const variant& v : registry::instance().variants()) {
    if (!wanted(v)) { continue; }
    std::vector<std::string> backends;
    for (const implementation& i : v.implementations) {
      if (std::find(backends.begin(), backends.end(), i.backend) == backends.end()) {
        backends.push_back(i.backend);
      }
    }
    std::cout << v.name() << "\n    chain " << v.info.chain << ", access " << to_string(v.access_)
              << ", schedule " << v.info.schedule << ", fusion " << v.info.fusion;
    if (!v.info.feature.empty()) { std::cout << ", feature " << v.info.feature; }
    std::cout << "; backends";
    for (const std::string& b : backends) { std::cout << " " << b; }
    std::cout << "\n    " << v.info.description << "\n";
  }
}

void driver::verify_and_time(record& r) {
  const implementation& i = *r.implementation_;
  const chain& c = *find_chain(r.variant_->info.chain);
  gpu::device& device = workspace_.device(i.backend);
  resident_problem& resident = workspace_.resident(c, i.precision_, i.backend,
                                                   {r.variant_->access_, i.ordering_, i.layout_});
  r.traffic_ = workspace_.traffic_of_problem();
  plan p;
  try {
    p = i.prepare(device, resident.view(), r.launches);
  } catch (const unsupported&) {
    bad_launch_ |= !options_.launches.empty();
    throw;
  }
  r.kernels = p.kernels;
  if (r.samples.seconds.empty()) {
    resident.poison_outputs();
    p.run();
    device.synchronize();
    r.verified = resident.verify();
    r.status_ = r.verified.ok ? status::verified : status::wrong;
    if (!r.verified.ok) {
      r.reason = std::to_string(r.verified.wrong) + " wrong values";
      return;
    }
  }
  if (options_.verify_only || i.backend == "simt") {
    r.reason = i.backend == "simt" ? "simt is for verification, not for timing" : "not timed";
    return;
  }
  r.bandwidth_ = workspace_.memory_bandwidth(i.backend);
  r.small_copy = workspace_.small_copy(i.backend, r.traffic_.fused_bytes);
  const sample_set more = sample(device, p.run, options_.sampling_);
  r.samples.seconds.insert(r.samples.seconds.end(), more.seconds.begin(), more.seconds.end());
  r.samples.stopped_by = more.stopped_by;
  r.status_ = status::ok;
}

void driver::report(benchmark::State& state, const record& r) const {
  if (r.status_ == status::wrong) {
    std::cerr << r.name() << ": " << r.reason << "; the first:\n";
    for (const wrong_point& w : r.verified.first) {
      std::cerr << "  " << info(w.f).name << ", " << to_string(info(w.f).on) << " " << w.entity
                << ", level " << w.level << ": expected " << w.expected << ", got " << w.got
                << "\n";
    }
  }
  // Of repetitions Google Benchmark writes the spread relative to the mean: of zeros a bare NaN,
  // which is no JSON.
  if (r.verified.ok && r.verified.max_error > 0) { state.counters["error"] = r.verified.max_error; }
  if (r.status_ == status::ok) {
    state.counters["GB/s"] = 1e-9 * r.bytes_per_second();
    state.counters["%copy"] = 100 * r.share_of_copy();
    state.counters["samples"] = double(r.samples.seconds.size());
  }
}

// One benchmark is one iteration: sampling is ours, Google Benchmark is told the median.
// Repetitions add samples to the record.
void driver::run_one(benchmark::State& state, record& r) {
  for (auto _ : state) {
    try {
      verify_and_time(r);
    } catch (const unsupported& reason) {
      r.status_ = status::skipped;
      r.reason = reason.what();
    } catch (const gpu::device_error& error) {
      r.status_ = status::failed;
      r.reason = error.what();
    }
    state.SetIterationTime(std::max(r.seconds(), 1e-12));
  }
  report(state, r);
  if (r.status_ != status::ok && r.status_ != status::verified) {
    state.SkipWithError((std::string(to_string(r.status_)) + ": " + r.reason).c_str());
  }
}

void driver::register_benchmarks() {
  for (record& r : records_) {
    benchmark::RegisterBenchmark(r.name().c_str(),
                                 [this, &r](benchmark::State& state) { run_one(state, r); })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMicrosecond);
  }
}

void driver::write_results() {
  json devices, records = json::array();
  for (const std::string& backend : backends_) {
    devices[backend] = to_json(workspace_.device(backend).facts());
    if (!options_.verify_only && backend != "simt") {
      devices[backend]["copy_bytes_per_second"] = workspace_.memory_bandwidth(backend).copy;
      devices[backend]["copy_bytes"] = workspace_.memory_bandwidth(backend).copy_bytes;
    }
  }
  const grid& g = workspace_.mesh();
  json mesh{{"name", g.name},
            {"uuid", g.uuid},
            {"vertices", g.vertices},
            {"edges", g.edges},
            {"cells", g.cells}};
  mesh["torus"] = g.shape ? json{g.shape->nx, g.shape->ny} : json(nullptr);
  for (const record& r : records_) {
    records.push_back(to_json(r, workspace_.device(r.implementation_->backend).facts()));
  }
  write_dump(options_.dump, make_context(arguments_, options_, mesh, devices), records);
}

// How many there were.
std::size_t driver::run_registered() {
  if (chosen_format_) { return benchmark::RunSpecifiedBenchmarks(); }
  progress_reporter reporter(records_);
  return benchmark::RunSpecifiedBenchmarks(&reporter);
}

int driver::run() {
  if (options_.list) {
    list();
    return 0;
  }
  if (!options_.dump.empty()) { check_dump_path(options_.dump); }
  choose_backends();
  choose_grid();
  collect();
  register_benchmarks();
  if (run_registered() == 0) { throw input_error("no benchmark matches --benchmark_filter"); }
  const auto not_run = [](const record& r) {
    return r.status_ == status::skipped && r.reason.empty();
  };
  std::erase_if(records_, not_run);  // left out by --benchmark_filter
  for (const chain& c : chain_table) {
    std::vector<record> of_chain;
    for (const record& r : records_) {
      if (r.variant_->info.chain == c.name) { of_chain.push_back(r); }
    }
    // The tables would break a format that programs read.
    if (of_chain.empty() || chosen_format_) { continue; }
    std::cout << "\n" << c.name << "\n" << format_table(of_chain);
  }
  if (!options_.dump.empty()) { write_results(); }
  const bool broken = std::any_of(records_.begin(), records_.end(), [](const record& r) {
    return r.status_ == status::wrong || r.status_ == status::failed;
  });
  return broken ? 1 : bad_launch_ ? 2 : 0;
}

// Google Benchmark's own options. It would take --help for itself if it saw it.
void initialize_benchmark(std::vector<char*> arguments) {
  std::string help = "--help";
  for (char*& argument : arguments) {
    if (argument == std::string_view("--benchmark_help")) { argument = help.data(); }
  }
  int count = int(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) { throw input_error("unknown option " + std::string(arguments[1])); }
}

}  // namespace

int run_benchmarks(std::string_view chain, int argc, char** argv) {
  const std::string program = chain.empty() ? "bench_all" : "bench_" + std::string(chain);
  const std::vector<std::string> arguments(argv, argv + argc);
  std::vector<char*> ours, theirs{argv[0]};
  for (int n = 0; n < argc; ++n) {
    (arguments[std::size_t(n)].starts_with("--benchmark_") ? theirs : ours).push_back(argv[n]);
  }
  try {
    const std::string what = chain.empty() ? "all chains" : "the variants of " + std::string(chain);
    options o = parse_options(program, what, int(ours.size()), ours.data());
    initialize_benchmark(theirs);
    return driver(program, chain, std::move(o), arguments).run();
  } catch (const input_error& error) {
    std::cerr << program << ": " << error.what() << "\n";
    return 2;
  } catch (const std::exception& error) {
    std::cerr << program << ": " << error.what() << "\n";
    return 1;
  }
}

}  // namespace icobench
