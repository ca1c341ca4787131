#include "src/bench/options.hpp"

#include <CLI/CLI.hpp>

#include <limits>

#include <icobench/grids/grid.hpp>

namespace icobench {

CLI::Validator positive_seconds() {
  return {[](const std::string& text) {
            double seconds = 0;
            const bool ok =
                CLI::detail::lexical_cast(text, seconds) && seconds > 0 && seconds <= 1e6;
            return ok ? "" : "has to be more than 0 and at most 1e6 seconds, not " + text;
          },
          "SECONDS"};
}

CLI::Validator positive_number() {
  return CLI::Range(1, std::numeric_limits<int>::max());
}

void add_common_options(CLI::App& app, options& o) {
  const std::map<std::string, precision> precisions{{"double", precision::float64},
                                                    {"float", precision::float32}};
  const std::map<std::string, ordering> orderings{{"per_vertex", ordering::per_vertex},
                                                  {"per_orientation", ordering::per_orientation}};
  const std::map<std::string, cache_mode> modes{{"cold", cache_mode::cold},
                                                {"warm", cache_mode::warm}};
  app.add_option_function<index_t>(
      "--halo",
      [&o](index_t halo) {
        if (halo < 0) { throw CLI::ValidationError("--halo", "must not be negative"); }
        o.halo = halo;
      },
      "rows and columns of a torus left out on each side [by chain]");
  app.add_option("--precision", o.precisions, "double, float, or both separated by commas")
      ->transform(CLI::CheckedTransformer(precisions))
      ->delimiter(',');
  app.add_option("--ordering", o.orderings,
                 "numbering of edges: per_orientation, per_vertex, or both separated by commas")
      ->transform(CLI::CheckedTransformer(orderings))
      ->delimiter(',');
  app.add_option("--backend", o.backends,
                 "cuda, hip, cpu, simt (verification only), or several separated by commas")
      ->delimiter(',');
  app.add_option("--device", o.device,
                 "index, part of the name, or UUID of the device, see bench_device facts [0]");
  app.add_option("--variant", o.variants,
                 "only variants whose name has these words between slashes, such as strided/march; "
                 "* stands for any part of a word; several separated by commas")
      ->delimiter(',');
  app.add_option("--cache", o.sampling_.cache, "cold (evicted before each sample) or warm")
      ->transform(CLI::CheckedTransformer(modes))
      ->default_str("cold");
  app.add_option("--min-samples", o.sampling_.min_samples,
                 "samples before precision may end a variant; the budget may end it earlier")
      ->capture_default_str()
      ->check(positive_number());
  app.add_option("--budget", o.sampling_.budget_seconds, "seconds to spend on a variant at most")
      ->capture_default_str()
      ->check(positive_seconds());
}

options parse_options(const std::string& program, const std::string& what, int argc, char** argv) {
  options o;
  CLI::App app(
      "Verifies and times " + what +
      ". Options of Google Benchmark (--benchmark_filter=REGEX, "
      "--benchmark_repetitions=N, --benchmark_format=..., see --benchmark_help) work too.");
  app.name(program);
  app.add_option("--grid", o.grid,
                 "torus:NXxNY, sphere:RnBk or an ICON grid file [torus:594x514 on a GPU, "
                 "torus:150x129 on the CPU]");
  app.add_option("--levels", o.levels, "number of levels")->capture_default_str();
  std::map<std::string, vertex_order> vertex_orders;
  for (const std::string_view name : vertex_order_names) {
    vertex_orders.emplace(name, vertex_order(vertex_orders.size()));
  }
  std::map<std::string, row_pitch> row_pitches;
  for (const std::string_view name : row_pitch_names) {
    row_pitches.emplace(name, row_pitch(row_pitches.size()));
  }
  add_common_options(app, o);
  app.add_option("--vertices", o.vertices,
                 "order of vertices in memory for indirect access: row, hilbert (a torus), "
                 "breadth_first, shuffled, or several separated by commas")
      ->transform(CLI::CheckedTransformer(vertex_orders))
      ->delimiter(',');
  app.add_option("--row-pitch", o.rows,
                 "distance of rows in memory for strided access: staggered (an odd multiple of 16 "
                 "bytes), aligned (a multiple of 128), grid (as many columns as it has), or "
                 "several separated by commas")
      ->transform(CLI::CheckedTransformer(row_pitches))
      ->delimiter(',');
  app.add_option("--launch", o.launches,
                 "override, e.g. 32x2x4,levels=20,stores=streaming (a wrong word lists all); '+' "
                 "between the kernels of a chain; may be repeated to time several")
      ->take_all();
  app.add_option("--tuning", o.tuning,
                 "a tuning table (of bench_tune), whose launches replace the defaults");
  app.add_flag("--list", o.list, "print the variants and end");
  app.add_flag("--verify-only", o.verify_only, "verify, do not time");
  app.add_flag("--profile-once", o.profile_once,
               "run each variant once, verified, in a range of the profiler with its name");
  app.add_flag("--energy", o.energy,
               "also measure the energy of a run, for a second more a variant, where the device "
               "counts it");
  app.add_option("--dump", o.dump, "write all results to this JSON file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    std::exit(app.exit(help));
  } catch (const CLI::ParseError& error) { throw input_error(error.what()); }
  if (o.levels < 1) {
    throw input_error("--levels: must be at least 1, not " + std::to_string(o.levels));
  }
  return o;
}

std::vector<launch> parse_launches(const std::string& text, const std::string& variant,
                                   const std::vector<launch>& defaults) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == '+') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (parts.size() != 1 && parts.size() != defaults.size()) {
    throw input_error("--launch " + text + ": has " + std::to_string(parts.size()) + " launches, " +
                      variant + " " + std::to_string(defaults.size()));
  }
  std::vector<launch> result;
  for (std::size_t n = 0; n < defaults.size(); ++n) {
    try {
      result.push_back(parse_launch(parts[parts.size() == 1 ? 0 : n], defaults[n]));
    } catch (const std::invalid_argument& error) {
      throw input_error("--launch " + text + ": " + error.what());
    }
  }
  return result;
}

}  // namespace icobench
