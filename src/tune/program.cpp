#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <optional>
#include <set>

#include <icobench/grids/output_file.hpp>

#include "src/bench/dump.hpp"
#include "src/bench/selection.hpp"
#include "src/support/build_info.hpp"
#include "src/support/interrupt.hpp"
#include "src/support/run_program.hpp"
#include "src/tune/pair.hpp"
#include "src/tune/tuner.hpp"

namespace icobench {
namespace {

constexpr const char* program = "bench_tune";

tune_options parse(int argc, char** argv) {
  tune_options o;
  CLI::App app(
      "Searches the best launch of each variant on one or more problems, and writes a tuning "
      "table for --tuning of the other programs.");
  app.name(program);
  const std::map<std::string, strategy> strategies{
      {"race", strategy::race}, {"grid", strategy::grid}, {"random", strategy::random}};
  app.add_option("--grid", o.grids,
                 "torus:NXxNY, sphere:RnBk or ICON grid files, separated by commas "
                 "[torus:298x257,torus:594x514]")
      ->delimiter(',');
  app.add_option("--levels", o.levels, "numbers of levels, separated by commas")
      ->delimiter(',')
      ->check(positive_number())
      ->capture_default_str();
  add_common_options(app, o.common);
  std::vector<std::string> chains;
  for (const chain& c : chain_table) { chains.emplace_back(c.name); }
  app.add_option("--chain", o.chains, "only these chains, separated by commas [all]")
      ->delimiter(',')
      ->check(CLI::IsMember(chains));
  app.add_option("--journal", o.journal,
                 "what is measured goes here at once; a search that was stopped continues")
      ->required();
  app.add_option("--table", o.table, "write the tuning table to this file");
  app.add_option("--search", o.search.how,
                 "race (random ones, then from the best along each axis), grid (all) or random")
      ->transform(CLI::CheckedTransformer(strategies))
      ->default_str("race");
  app.add_option("--configurations", o.search.limit,
                 "to measure of a variant on a problem, at most (not for --search grid)")
      ->check(positive_number())
      ->capture_default_str();
  app.add_option("--seconds", o.search.seconds,
                 "of the search of a variant on a problem, after which no others are begun")
      ->check(positive_seconds());
  app.add_option("--seed", o.search.seed, "of the random configurations")->capture_default_str();
  app.add_option("--finalists", o.finalists,
                 "how many of the best of each problem are measured at length on all")
      ->check(positive_number())
      ->capture_default_str();
  app.add_option("--pair", o.pair,
                 "two variants, separated by a comma: tuned to run side by side, on a stream each")
      ->delimiter(',')
      ->expected(2)
      ->excludes("--table")
      ->excludes("--chain");
  std::vector<std::string> axes;
  const std::vector<std::string_view> choices = launch_choice_names();
  std::string names;
  for (const std::string_view name : choices) { names += std::string(name) + ", "; }
  app.add_option(
         "--axes", axes,
         "vary only these, separated by commas: " + names.substr(0, names.size() - 2) + " [all]")
      ->delimiter(',')
      ->check(CLI::IsMember(std::set<std::string>(choices.begin(), choices.end())));
  app.add_flag("--part-warps", o.part_warps, "also blocks of half a warp, to see what they cost");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) { throw input_error(error.what()); }
  for (std::size_t n = 0; n < launch_choice_count && !axes.empty(); ++n) {
    o.axes[n] = std::find(axes.begin(), axes.end(), choices[n]) != axes.end();
  }
  if (o.grids.empty()) { o.grids = {"torus:298x257", "torus:594x514"}; }
  return o;
}

std::string cache_name(const options& o) {
  return o.sampling_.cache == cache_mode::cold ? "cold" : "warm";
}

// What makes times comparable: a journal of something else is not continued.
json context(const options& o, const gpu::device_facts& device, const std::string& backend) {
  return {{"date", utc_now()},
          {"backend", backend},
          {"device", device.name},
          {"architecture", device.architecture},
          {"runtime", device.runtime},
          {"driver", device.driver},
          {"git_revision", build_info()["git_revision"]},
          {"cache", cache_name(o)}};
}

using target = std::pair<const variant*, const implementation*>;

// Variants with launches to search, those that share a problem and its copies side by side.
std::vector<target> targets(const tune_options& o, const std::string& backend) {
  std::vector<target> result;
  for (const variant& v : registry::instance().variants()) {
    const bool of_chain = o.chains.empty() || std::find(o.chains.begin(), o.chains.end(),
                                                        v.info.chain) != o.chains.end();
    if (!of_chain || v.info.roofline || !wanted(v, "", o.common.variants)) { continue; }
    for (const precision p : o.common.precisions) {
      for (const ordering each : o.common.orderings) {
        const implementation* i = v.find(backend, p, each);
        if (i && i->spaces) { result.emplace_back(&v, i); }
      }
    }
  }
  if (result.empty()) {
    throw input_error("no variant of backend " + backend + " with launches to search matches");
  }
  const auto key = [](const auto& t) {
    return std::tuple(find_chain(t.first->info.chain), t.second->precision_, t.second->ordering_,
                      t.first->access_);
  };
  std::stable_sort(result.begin(), result.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return result;
}

void write_table(const output_file& file, const std::string& path, const json& made_with,
                 const std::vector<outcome>& outcomes) {
  tuning_table table{made_with["backend"], made_with["device"], made_with["cache"], made_with};
  for (const char* name : {"backend", "device", "cache"}) { table.made_with.erase(name); }
  for (const outcome& o : outcomes) {
    if (!o.best.empty()) { table.variants.push_back(tabulate(o)); }
  }
  if (table.variants.empty()) {
    std::cerr << program << ": nothing was tuned, --table " << path << " is not written\n";
    return;
  }
  file.write(to_json(table).dump(1) + "\n");
}

void say_what_is_searched(const gpu::device& device) {
  if (!device.compiler()) { return; }
  const std::string reason = device.compiler()->unavailable(device.facts().architecture);
  if (!reason.empty()) {
    std::cerr << program << ": " << reason << "; launches compiled with the program are searched\n";
  }
}

// The variant of that name, in the first precision and ordering that were asked for.
target find_target(const std::string& name, const options& o, const std::string& backend) {
  for (const variant& v : registry::instance().variants()) {
    if (v.name() != name) { continue; }
    const implementation* i = v.find(backend, o.precisions.front(), o.orderings.front());
    if (i && i->spaces) { return {&v, i}; }
  }
  throw input_error("--pair: no variant " + name + " of backend " + backend +
                    " with launches to search");
}

std::string pair_of(const std::vector<target>& both, const tune_options& o, tuner& first,
                    journal& j, const std::string& backend) {
  tuner second(o, backend, j);
  const auto& [v, i] = both[0];
  const auto& [w, k] = both[1];
  return format(v->name(), w->name(), tune_pair(first, *v, *i, second, *w, *k, o.threshold),
                o.threshold);
}

int run(const tune_options& o) {
  workspace probe(o.common);
  const std::vector<std::string> backends = choose_backends(program, o.common.backends, probe);
  if (backends.size() != 1) { throw input_error("--backend: one at a time"); }
  const std::string& backend = backends.front();
  const std::vector<target> all = o.pair.empty()
                                      ? targets(o, backend)
                                      : std::vector{find_target(o.pair[0], o.common, backend),
                                                    find_target(o.pair[1], o.common, backend)};
  std::optional<output_file> table;
  if (!o.table.empty()) {
    std::vector<std::string> inputs = o.grids;
    inputs.push_back(o.journal);
    table.emplace("--table", o.table, inputs);
  }
  const json made_with = context(o.common, probe.device(backend).facts(), backend);
  journal j(o.journal, made_with);
  if (j.continued() > 0) {
    std::cout << "continuing " << o.journal << " with " << j.continued() << " measurements\n";
  }
  say_what_is_searched(probe.device(backend));
  catch_interrupts([] { std::cerr << program << ": stopped; the same command continues\n"; });
  const auto start = std::chrono::steady_clock::now();
  tuner t(o, backend, j);
  std::vector<outcome> outcomes;
  std::string found;
  bool stopped = false;
  try {
    if (!o.pair.empty()) { found = pair_of(all, o, t, j, backend); }
    for (const auto& [v, i] : all) {
      if (o.pair.empty()) { outcomes.push_back(t.tune(*v, *i)); }
    }
  } catch (const search_stopped&) { stopped = true; }
  const double spent =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << "\n"
            << (o.pair.empty() ? format(outcomes) : found) << "\n"
            << t.measured() << " measurements in " << int(spent) << " s\n";
  if (stopped) {  // a table of some variants is not worth one of all
    std::cerr << program << ": stopped; the same command continues"
              << (table ? ", --table " + o.table + " is not written" : "") << "\n";
    return 130;
  }
  if (table) { write_table(*table, o.table, made_with, outcomes); }
  return t.broken() ? 1 : 0;
}

}  // namespace

int run_tuning(int argc, char** argv) {
  return run_program(program, "the problems do not fit the memory: take smaller ones",
                     [&] { return run(parse(argc, argv)); });
}

}  // namespace icobench
