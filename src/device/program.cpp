#include "src/device/program.hpp"

#include <iostream>

#include <CLI/CLI.hpp>

#include "src/catalogue/device_facts.hpp"
#include "src/catalogue/registry.hpp"
#include "src/device/device_bench.hpp"
#include "src/support/run_program.hpp"

namespace icobench {
namespace {

struct group {
  const char* name;
  const char* description;
  void (*measure)(device_bench&);
};
constexpr group groups[] = {
    {"ceilings", "bandwidth of memory and caches, arithmetic, launches", measure_ceilings},
    {"reductions", "sum, minimum, maximum, in several ways", measure_reductions},
    {"transposes", "matrices and fields, in several ways", measure_transposes},
    {"additions", "vectors added: copies, unified memory, streams", measure_additions},
    {"streams", "chains side by side, as graphs", measure_streams},
};

// The GPU; without one, simt if it is built.
std::string default_backend() {
  std::string found = "simt", reason;
  for (const std::string name : {"cuda", "hip"}) {
    const auto& known = registry::instance().backends();
    if (!known.contains(name)) { continue; }
    try {
      known.at(name).list();
      return name;
    } catch (const gpu::device_error& error) { reason = name + ": " + error.what() + "; "; }
  }
  if (!find_operations(found)) {
    throw input_error(reason + "there is no GPU backend to measure, nor simt to verify with");
  }
  std::cerr << "bench_device: " << reason << "verifying with simt\n";
  return found;
}

// Every device of every backend; those without a device are said to have none.
int print_facts(const std::string& backend, const std::string& device, bool as_json) {
  json all = json::object();
  std::string text, refused;
  bool any = false;
  const auto& backends = registry::instance().backends();
  if (!backend.empty() && !backends.contains(backend)) {
    throw input_error("--backend " + backend + ": not in this build");
  }
  for (const auto& [name, entry] : backends) {
    if (!backend.empty() && name != backend) { continue; }
    try {
      json devices = json::array();
      std::string lines;
      const auto list = entry.list();
      const int chosen = choose_among(list, device);
      for (const gpu::device_facts& d : list) {
        if (!device.empty() && d.index != chosen) { continue; }
        any = true;
        devices.push_back(to_json(d));
        lines += name + " " + format_facts(d) + "\n";
      }
      all[name] = {{"devices", devices}, {"reason", nullptr}};
      text += lines;
    } catch (const input_error& error) {
      refused += (refused.empty() ? "" : "; ") + name + ": " + error.what();
    } catch (const gpu::device_error& error) {
      all[name] = {{"devices", json::array()}, {"reason", error.what()}};
      text += name + ": no device: " + error.what() + "\n\n";
    }
  }
  if (!any && !refused.empty()) { throw input_error(refused); }
  std::cout << (as_json ? all.dump(1) + "\n" : text);
  return 0;
}

void add_options(CLI::App& app, device_options& o) {
  app.add_option("--backend", o.backend,
                 "cuda, hip, or simt (verification only) [the GPU, or simt where there is none]");
  app.add_option("--device", o.device, "index, part of the name, or UUID of the device [0]");
}

void add_measuring_options(CLI::App& app, device_options& o) {
  add_options(app, o);
  app.add_option("--elements", o.elements,
                 "length of arrays [ceilings, reductions: 2^28; additions: 10000 and 25600004; "
                 "simt: 10007]")
      ->check(CLI::Range(std::size_t(1), std::size_t(1) << 36));
  app.add_option("--pieces", o.pieces, "streams that an addition is split over")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option(
      "--grid", o.grid,
      "of stencils: torus:NXxNY, sphere:RnBk or a file [torus:594x514 and torus:24x20; simt: "
      "torus:12x9]");
  app.add_option("--levels", o.levels, "of stencils")
      ->capture_default_str()
      ->check(positive_number());
  app.add_option("--min-samples", o.sampling_.min_samples, "samples before precision may end one")
      ->capture_default_str()
      ->check(positive_number());
  app.add_option("--budget", o.sampling_.budget_seconds, "seconds to spend on one at most")
      ->capture_default_str()
      ->check(positive_seconds());
  app.add_flag("--verify-only", o.verify_only, "verify, do not time");
  app.add_option("--dump", o.dump, "write all results to this JSON file");
}

int run(int argc, char** argv) {
  device_options o;
  o.sampling_.cache = cache_mode::warm;
  o.sampling_.budget_seconds = 0.5;
  bool as_json = false;
  CLI::App app("What the device is, and what it can do at most.");
  app.name("bench_device");
  app.require_subcommand(1);
  CLI::App* const facts = app.add_subcommand("facts", "all devices and what is known of them");
  add_options(*facts, o);
  facts->add_flag("--json", as_json, "as JSON");
  std::vector<std::pair<CLI::App*, const group*>> commands;
  for (const group& g : groups) {
    commands.emplace_back(app.add_subcommand(g.name, g.description), &g);
    add_measuring_options(*commands.back().first, o);
  }
  CLI::App* const all = app.add_subcommand("all", "all of them");
  add_measuring_options(*all, o);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) { throw input_error(error.what()); }
  if (facts->parsed()) { return print_facts(o.backend, o.device, as_json); }
  if (o.backend.empty()) { o.backend = default_backend(); }
  device_bench bench(std::move(o), {argv, argv + argc});
  for (const auto& [command, g] : commands) {
    if (command->parsed() || all->parsed()) { g->measure(bench); }
  }
  return bench.finish();
}

}  // namespace

int run_device_program(int argc, char** argv) {
  return run_program("bench_device", "the arrays do not fit the memory: take fewer --elements",
                     [&] {
                       try {
                         return run(argc, argv);
                       } catch (const gpu::device_error& error) { throw input_error(error.what()); }
                     });
}

}  // namespace icobench
