#include "src/bench/driver.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

#include <icobench/grids/grid_file.hpp>
#include <icobench/grids/output_file.hpp>
#include <icobench/prepare.hpp>

#include "src/bench/dump.hpp"
#include "src/bench/runner.hpp"
#include "src/bench/selection.hpp"
#include "src/catalogue/tuning_table.hpp"
#include "src/measure/statistics.hpp"
#include "src/problem/memory.hpp"
#include "src/support/interrupt.hpp"
#include "src/support/printable.hpp"
#include "src/support/run_program.hpp"

namespace icobench {
namespace {

// Google Benchmark chooses the benchmarks and reports them; what it has no say in is not printed.
class silent_reporter final : public benchmark::BenchmarkReporter {
 public:
  silent_reporter() { SetOutputStream(&nowhere_); }
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}

 private:
  std::ostream nowhere_{nullptr};
};

// What the command line says for an option of Google Benchmark, the last one if there are several.
std::optional<std::string> benchmark_option(const std::vector<std::string>& arguments,
                                            const std::string& name) {
  std::optional<std::string> value;
  for (const std::string& argument : arguments) {
    if (argument.starts_with(name + "=")) { value = argument.substr(name.size() + 1); }
  }
  return value;
}

std::unique_ptr<benchmark::BenchmarkReporter> reporter_of(const std::string& format) {
  if (format == "console") {
    return std::make_unique<benchmark::ConsoleReporter>(benchmark::ConsoleReporter::OO_None);
  }
  if (format == "json") { return std::make_unique<benchmark::JSONReporter>(); }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return std::make_unique<benchmark::CSVReporter>();
#pragma GCC diagnostic pop
}

// The file of --benchmark_out. Google Benchmark itself would not notice a full disk.
class benchmark_file final : public benchmark::BenchmarkReporter {
 public:
  benchmark_file(const std::string& path, const std::vector<std::string>& inputs,
                 const std::string& format)
      : file_("--benchmark_out", path, inputs), reporter_(reporter_of(format)) {
    reporter_->SetOutputStream(&text_);
  }
  bool ReportContext(const Context& context) override { return reporter_->ReportContext(context); }
  void ReportRuns(const std::vector<Run>& runs) override { reporter_->ReportRuns(runs); }
  void Finalize() override {
    reporter_->Finalize();
    file_.write(text_.str());
  }

 private:
  output_file file_;
  std::unique_ptr<benchmark::BenchmarkReporter> reporter_;
  std::ostringstream text_;
};

// A benchmark: its record, and the median of each of its repetitions.
struct entry {
  record result;
  std::size_t repetitions = 0;  // asked for; 0: filtered out
  std::vector<double> medians;
  std::size_t reported = 0;
  bool can_run = true;  // on this grid
};

class driver {
 public:
  driver(std::string program, std::string_view chain, options o, std::vector<std::string> arguments,
         benchmark_file* file)
      : program_(std::move(program)),
        chain_(chain),
        options_(std::move(o)),
        arguments_(std::move(arguments)),
        benchmark_file_(file),
        workspace_(options_),
        runner_(workspace_, options_, [this](const record& r) { finished(r); }),
        chosen_format_(std::any_of(arguments_.begin(), arguments_.end(), [](const auto& argument) {
          return argument.starts_with("--benchmark_format");
        })) {}

  int run();

 private:
  void choose_grid();
  void load_tuning();
  std::vector<launch> tuned(const variant&, const implementation&);
  void add_records(const variant&, const implementation&, const arrangement&);
  std::vector<arrangement> arrangements(const variant&, const implementation&) const;
  void collect();
  void require_memory_of_chains();
  void skip_chains();
  std::vector<launch> launches_for(const variant&, const implementation&, const std::string& text);
  void list() const;
  std::size_t choose_benchmarks();
  void measure();
  void finished(const record&);
  void keep(const record&);
  void report_benchmarks();
  void report(benchmark::State&, entry&) const;
  void print_tables() const;
  void write_last_dump();
  void say_stopped();

  std::string program_;
  std::string_view chain_;
  options options_;
  std::vector<std::string> arguments_;
  benchmark_file* benchmark_file_;  // null: none is asked for
  workspace workspace_;
  std::vector<std::string> backends_;
  std::list<entry> entries_;  // stable addresses: benchmarks hold them
  runner runner_;
  std::optional<tuning_table> tuning_;
  std::optional<dump_file> dump_;
  json context_, records_ = json::array();
  std::map<const record*, std::size_t> places_;  // among those of the dump
  bool any_result_ = false;
  std::mutex writing_;  // the last four, see keep
  std::size_t finished_ = 0;
  bool said_untuned_ = false;
  bool chosen_format_;  // the user chose one of Google Benchmark's formats
};

void driver::choose_grid() {
  if (options_.grid.empty()) {
    options_.grid = backends_ == std::vector<std::string>{"cpu"} ||
                            backends_ == std::vector<std::string>{"simt"}
                        ? "torus:150x129"
                        : "torus:594x514";
  }
  require_memory_of_chains();
  workspace_.load(options_.grid);
  for (const vertex_order o : options_.vertices) { require_order(workspace_.mesh(), o); }
}

void driver::load_tuning() {
  try {
    tuning_ = load_tuning_table(options_.tuning);
  } catch (const input_error& error) { throw input_error(std::string("--tuning ") + error.what()); }
  if (std::find(backends_.begin(), backends_.end(), tuning_->backend) == backends_.end()) {
    std::cerr << program_ << ": --tuning " << options_.tuning << ": is for backend "
              << printable(tuning_->backend) << ", which is not run\n";
  }
  for (const std::string& backend : backends_) {
    const std::string name = workspace_.device(backend).facts().name;
    if (backend == tuning_->backend && name != tuning_->device) {
      std::cerr << program_ << ": --tuning " << options_.tuning << ": is for "
                << printable(tuning_->device) << ", this is " << name << "\n";
    }
  }
}

// The launches of the tuning table for this size, else the variant's own.
std::vector<launch> driver::tuned(const variant& v, const implementation& i) {
  if (!tuning_ || tuning_->backend != i.backend) { return i.defaults; }
  const auto found =
      tuning_->find(v.name(), to_string(i.precision_), to_string(i.ordering_),
                    static_cast<long long>(workspace_.mesh().vertices) * options_.levels);
  if (found.empty()) { return i.defaults; }
  if (found.size() != i.defaults.size()) {
    throw input_error("--tuning " + options_.tuning + ": has " + std::to_string(found.size()) +
                      " launches of " + v.name() + ", which has " +
                      std::to_string(i.defaults.size()));
  }
  if (i.sources && !i.sources({}, found).empty()) {  // some have to be compiled at run time
    gpu::device& device = workspace_.device(i.backend);
    const std::string reason = device.compiler()
                                   ? device.compiler()->unavailable(device.facts().architecture)
                                   : "nothing is compiled at run time";
    if (!reason.empty()) {
      if (!std::exchange(said_untuned_, true)) {
        std::cerr << program_ << ": some launches of --tuning cannot be had, as " << reason << "\n";
      }
      return i.defaults;
    }
  }
  return found;
}

// The launches of a variant with the overrides of the command line. What no problem could make
// valid is refused here, before any is timed.
std::vector<launch> driver::launches_for(const variant& v, const implementation& i,
                                         const std::string& text) {
  std::vector<launch> result = parse_launches(text, v.name(), tuned(v, i));
  if (text.empty() || i.backend == "cpu") { return result; }
  for (const launch& l : result) {
    if (const std::string reason = detail::block_rejection(l.block); !reason.empty()) {
      throw input_error("--launch " + text + ": " + reason);
    }
  }
  return result;
}

// A record for each launch of an implementation.
void driver::add_records(const variant& v, const implementation& i, const arrangement& a) {
  std::vector<std::string> launches = options_.launches;
  if (launches.empty()) { launches.emplace_back(); }
  for (const std::string& text : launches) {
    record& r = entries_.emplace_back().result;
    r.reason = "the run ended before its measurement";
    r.variant_ = &v;
    r.implementation_ = &i;
    r.vertices = a.vertices;
    r.rows = a.rows;
    r.launches = launches_for(v, i, text);
    r.grid = options_.grid;
    r.levels = options_.levels;
    r.halo = workspace_.halo(*find_chain(v.info.chain));
  }
}

// Where the data of an implementation may lie: orders of vertices and distances of rows.
std::vector<arrangement> driver::arrangements(const variant& v, const implementation& i) const {
  std::vector<arrangement> result;
  const bool without_seams =
      workspace_.mesh().shape && workspace_.halo(*find_chain(v.info.chain)) > 0;
  if (v.access_ == access::patched && without_seams && options_.variants.empty()) {
    return result;  // the strided one, once more
  }
  for (const vertex_order order : options_.vertices) {
    const arrangement a{v.access_, i.ordering_, i.layout_, order};
    if (v.access_ == access::indirect || i.layout_ == layout::kfirst) {
      result.push_back(a);
      continue;
    }
    for (const row_pitch rows : options_.rows) {
      result.push_back(a);
      result.back().rows = rows;
    }
  }
  return result;
}

// A record for each variant, precision, ordering, arrangement, backend and launch that was asked
// for, in an order in which neighbours share problem and storage.
void driver::collect() {
  for (const variant& v : registry::instance().variants()) {
    if (!wanted(v, chain_, options_.variants)) { continue; }
    for (const precision p : options_.precisions) {
      for (const std::string& backend : backends_) {
        for (const ordering o : options_.orderings) {
          const implementation* i = v.find(backend, p, o);
          if (!i) { continue; }
          for (const arrangement& a : arrangements(v, *i)) { add_records(v, *i, a); }
        }
      }
    }
  }
  for (const std::string& part : options_.variants) {
    if (std::none_of(entries_.begin(), entries_.end(),
                     [&](const entry& e) { return wanted(*e.result.variant_, "", {part}); })) {
      throw input_error("no variant with the words " + part + " for backend " + backends_.front() +
                        "; see --list");
    }
  }
  if (entries_.empty()) {
    throw input_error("no variant for backend " + backends_.front() + "; see --list");
  }
  const auto key = [](const entry& e) {
    const record& r = e.result;
    const implementation& i = *r.implementation_;
    return std::tuple(find_chain(r.variant_->info.chain), i.precision_, i.backend, i.ordering_,
                      r.variant_->access_, i.layout_, r.vertices, r.rows);
  };
  skip_chains();
  entries_.sort([&](const entry& a, const entry& b) { return key(a) < key(b); });  // stable
}

// Before the grid is made, which may take half a minute and all of the memory.
void driver::require_memory_of_chains() {
  const auto extents = extents_of(options_.grid);
  if (!extents) { return; }
  for (const chain& c : chain_table) {
    const auto& all = registry::instance().variants();
    const bool runs = std::any_of(all.begin(), all.end(), [&](const variant& v) {
      return v.info.chain == c.name && wanted(v, chain_, options_.variants);
    });
    if (!runs) { continue; }
    for (const std::string& backend : backends_) {
      for (const precision p : options_.precisions) {
        require_memory(workspace_.device(backend), options_.grid, *extents, c, options_.levels, p,
                       need_of(*extents));
      }
    }
  }
}

// Chains of which the grid leaves nothing to compute: an error if that is all of them. A halo that
// all can run with is named.
void driver::skip_chains() {
  std::vector<const chain*> asked;
  std::string first;
  std::size_t skipped = 0;
  for (const chain& c : chain_table) {
    const auto is_of_chain = [&](const entry& e) {
      return e.result.variant_->info.chain == c.name;
    };
    if (std::none_of(entries_.begin(), entries_.end(), is_of_chain)) { continue; }
    asked.push_back(&c);
    try {
      make_domain(workspace_.mesh(), c, workspace_.halo(c));
    } catch (const input_error& error) {
      if (skipped++ == 0) { first = error.what(); }
      for (entry& e : entries_) {
        if (!is_of_chain(e)) { continue; }
        e.can_run = false;
        e.result.status_ = status::skipped;
        e.result.reason = error.what();
      }
    }
  }
  if (skipped == 0) { return; }
  const auto all_run_with = [&](index_t halo) {
    return std::all_of(asked.begin(), asked.end(), [&](const chain* c) {
      try {
        make_domain(workspace_.mesh(), *c, halo);
        return true;
      } catch (const input_error&) { return false; }
    });
  };
  for (index_t halo = 3; asked.size() > 1 && halo >= 0; --halo) {
    if (all_run_with(halo)) {
      first += "; all chains run with --halo " + std::to_string(halo);
      break;
    }
  }
  if (skipped < asked.size()) {
    std::cerr << program_ << ": skipped " << skipped << " of " << asked.size()
              << " chains: " << first << "\n";
    return;
  }
  throw input_error(first);
}

void driver::list() const {
  for (const variant& v : registry::instance().variants()) {
    if (!wanted(v, chain_, options_.variants)) { continue; }
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
    for (const auto& [backend, reason] : v.absent) {
      std::cout << "; not " << backend << ": " << reason;
    }
    std::cout << "\n    " << v.info.description << "\n";
  }
}

// Lets Google Benchmark filter and repeat by its options; how many benchmarks it chose.
std::size_t driver::choose_benchmarks() {
  for (entry& e : entries_) {
    benchmark::RegisterBenchmark(e.result.name().c_str(),
                                 [this, &e](benchmark::State& state) {
                                   if (context_.is_null()) {
                                     for (auto _ : state) { state.SetIterationTime(1); }
                                     ++e.repetitions;
                                   } else {
                                     report(state, e);
                                   }
                                 })
        ->UseManualTime()
        ->Iterations(1)
        ->Unit(benchmark::kMicrosecond);
  }
  silent_reporter silent;
  return benchmark::RunSpecifiedBenchmarks(&silent);
}

// Repetitions add samples to the record; each has a median of its own.
void driver::measure() {
  for (std::size_t repetition = 0; !interrupted(); ++repetition) {
    std::vector<record*> chosen, skipped;
    for (entry& e : entries_) {
      if (e.repetitions <= repetition) { continue; }
      (e.can_run ? chosen : skipped).push_back(&e.result);
    }
    if (chosen.empty()) { return; }
    finished_ = 0;
    for (const record* r : skipped) { finished(*r); }
    runner_.run(chosen);
    for (entry& e : entries_) {
      if (e.repetitions > repetition) { e.medians.push_back(median(e.result.latest())); }
    }
  }
}

void driver::finished(const record& r) {
  if (r.status_ == status::wrong) {
    std::cerr << r.name() << ": " << r.reason
              << (r.verified.first.empty() ? "\n" : "; the first:\n");
    for (const wrong_point& w : r.verified.first) {
      std::cerr << "  " << info(w.f).name << ", " << to_string(info(w.f).on) << " " << w.entity
                << ", level " << w.level << ": expected " << w.expected << ", got " << w.got
                << "\n";
    }
  }
  ++finished_;
  keep(r);
  if (!chosen_format_) {
    std::cout << "[" << finished_ << "/" << entries_.size() << "] " << summary(r) << "\n"
              << std::flush;
  }
  const std::lock_guard lock(writing_);
  if (dump_ && dump_->due() && any_result_) { dump_->write(false, context_, records_); }
}

// For the dump, which another thread may write when the user interrupts.
void driver::keep(const record& r) {
  json written = to_json(r, workspace_.device(r.implementation_->backend).facts());
  const std::lock_guard lock(writing_);
  const std::size_t place = places_.try_emplace(&r, records_.size()).first->second;
  if (place == records_.size()) {
    records_.push_back(std::move(written));
  } else {
    records_[place] = std::move(written);
  }
  any_result_ = any_result_ || r.status_ == status::wrong || r.status_ == status::verified ||
                !r.samples.seconds.empty();
}

// One benchmark is one iteration: sampling is ours, Google Benchmark is told the median.
void driver::report(benchmark::State& state, entry& e) const {
  const record& r = e.result;
  const double seconds = e.reported < e.medians.size() ? e.medians[e.reported++] : 0;
  for (auto _ : state) { state.SetIterationTime(std::max(seconds, 1e-12)); }
  // Of repetitions Google Benchmark writes the spread relative to the mean: of zeros a bare NaN,
  // which is no JSON.
  if (r.verified.ok && r.verified.max_error > 0) { state.counters["error"] = r.verified.max_error; }
  if (r.status_ == status::ok) {
    state.counters["GB/s"] = 1e-9 * r.bytes_per_second();
    state.counters["%copy"] = 100 * r.share_of_copy();
    state.counters["samples"] = double(r.samples.seconds.size());
  } else if (r.status_ != status::verified) {
    state.SkipWithError((std::string(to_string(r.status_)) + ": " + r.reason).c_str());
  }
}

void driver::report_benchmarks() {
  silent_reporter silent;
  benchmark::BenchmarkReporter* const shown = chosen_format_ ? nullptr : &silent;  // null: its own
  benchmark::RunSpecifiedBenchmarks(shown, benchmark_file_);
}

void driver::print_tables() const {
  for (const chain& c : chain_table) {
    std::vector<const record*> of_chain;
    for (const entry& e : entries_) {
      if (e.result.variant_->info.chain == c.name) { of_chain.push_back(&e.result); }
    }
    if (!of_chain.empty()) { std::cout << "\n" << c.name << "\n" << format_table(of_chain); }
  }
}

// A run that was stopped or refused before it had any result leaves an older dump as it is.
void driver::write_last_dump() {
  const bool refused = std::any_of(entries_.begin(), entries_.end(),
                                   [](const entry& e) { return e.result.launch_refused; });
  const std::lock_guard lock(writing_);
  if ((interrupted() || refused) && !any_result_) {
    std::cerr << program_ << ": there are no results, --dump " << options_.dump
              << " is not written\n";
    return;
  }
  dump_->write(!interrupted(), context_, records_);
}

// When the user interrupts and nobody else answers.
void driver::say_stopped() {
  const std::lock_guard lock(writing_);
  if (dump_ && any_result_) { dump_->write(false, context_, records_); }
  if (dump_ && !any_result_) {
    std::cerr << program_ << ": there are no results, --dump " << options_.dump
              << " is not written\n";
  }
  std::cerr << program_ << ": stopped\n";
}

int driver::run() {
  if (options_.list) {
    list();
    return 0;
  }
  if (!options_.dump.empty()) {
    const std::string other = benchmark_option(arguments_, "--benchmark_out").value_or("");
    dump_.emplace(options_.dump, std::vector{options_.grid, options_.tuning, other});
  }
  backends_ = choose_backends(program_, options_.backends, workspace_);
  choose_grid();
  if (!options_.tuning.empty()) { load_tuning(); }
  collect();
  if (choose_benchmarks() == 0) { throw input_error("no benchmark matches --benchmark_filter"); }
  entries_.remove_if([](const entry& e) { return e.repetitions == 0; });
  if (entries_.empty()) {  // --benchmark_list_tests
    benchmark::RunSpecifiedBenchmarks();
    return 0;
  }
  catch_interrupts([this] { say_stopped(); });
  context_ = make_context(arguments_, options_, workspace_, backends_);
  for (const entry& e : entries_) { keep(e.result); }
  measure();
  for (const entry& e : entries_) { keep(e.result); }  // energies came later
  if (dump_) { write_last_dump(); }
  if (!chosen_format_) { print_tables(); }  // they would break a format that programs read
  if (interrupted()) {
    std::cerr << program_ << ": stopped\n";
    return 130;
  }
  report_benchmarks();
  const auto any = [&](auto what) { return std::any_of(entries_.begin(), entries_.end(), what); };
  if (any([](const entry& e) { return e.result.broken(); })) { return 1; }
  return any([](const entry& e) { return e.result.launch_refused; }) && !options_.launches.empty()
             ? 2
             : 0;
}

// Those that it answers with its help and status 0, or not at all.
void check_benchmark_options(const std::vector<std::string>& arguments) {
  for (const std::string name : {"--benchmark_format", "--benchmark_out_format"}) {
    const std::string format = benchmark_option(arguments, name).value_or("json");
    if (format != "console" && format != "json" && format != "csv") {
      throw input_error(name + "=" + format + ": is none of console, json, csv");
    }
  }
  const std::string name = "--benchmark_repetitions";
  const std::string count = benchmark_option(arguments, name).value_or("1");
  if (count.empty() || count.size() > 6 || count.find_first_not_of("0123456789") != count.npos ||
      std::stoi(count) == 0) {
    throw input_error(name + "=" + count + ": has to be a number from 1 to 999999");
  }
}

// Google Benchmark's own options. It would take --help for itself if it saw it.
void initialize_benchmark(std::vector<char*> arguments) {
  std::string help = "--help", nowhere = "--benchmark_out=/dev/null";
  for (char*& argument : arguments) {
    if (argument == std::string_view("--benchmark_help")) { argument = help.data(); }
    if (std::string_view(argument).starts_with("--benchmark_out=")) { argument = nowhere.data(); }
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
  return run_program(
      program, "the problem does not fit the memory: take a smaller --grid or fewer --levels", [&] {
        const std::string what =
            chain.empty() ? "all chains" : "the variants of " + std::string(chain);
        options o = parse_options(program, what, int(ours.size()), ours.data());
        check_benchmark_options(arguments);
        std::optional<benchmark_file> file;
        const std::string path = benchmark_option(arguments, "--benchmark_out").value_or("");
        if (!path.empty()) {
          const std::string format =
              benchmark_option(arguments, "--benchmark_out_format").value_or("json");
          file.emplace(path, std::vector{o.grid, o.tuning}, format);
        }
        initialize_benchmark(theirs);
        return driver(program, chain, std::move(o), arguments, file ? &*file : nullptr).run();
      });
}

}  // namespace icobench
