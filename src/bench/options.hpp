// The command line of the benchmark drivers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <icobench/chain.hpp>
#include <icobench/grids/numbering.hpp>
#include <icobench/launch_text.hpp>

#include "src/measure/measure.hpp"

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace icobench {

struct options {
  std::string grid;  // "": torus:594x514 on a GPU, torus:150x129 on the CPU
  index_t levels = 80;
  std::optional<index_t> halo;  // none: the chain's own
  std::vector<precision> precisions{precision::float64};
  std::vector<ordering> orderings{ordering::per_orientation};
  std::vector<vertex_order> vertices{vertex_order::row};  // of indirect access
  std::vector<row_pitch> rows{row_pitch::staggered};      // of strided access
  std::string device;                                     // of each backend: see choose_device
  std::vector<std::string> backends;  // empty: the GPU, or the CPU where there is none
  std::vector<std::string> variants;  // words of names; empty: all
  std::vector<std::string> launches;  // overrides, each timed in turn; empty: the default
  std::string tuning;                 // path of a tuning table, whose launches replace defaults
  sampling sampling_;
  bool list = false;
  bool verify_only = false;
  bool profile_once = false;
  bool energy = false;
  bool times_simt = false;  // wall time of the CPU, which says nothing about a GPU
  bool only_times = false;  // no copy bandwidth and no clocks beside the times
  std::string dump;         // path of the JSON dump

  bool times() const { return !verify_only && !profile_once; }
};

// Checks a number of seconds. (CLI11's own checks let NaN pass.)
CLI::Validator positive_seconds();
// (CLI11's own message has the largest double in 300 digits.)
CLI::Validator positive_number();

// Those that every program which measures has; it parses.
void add_common_options(CLI::App&, options&);

// Reads our options; Google Benchmark's own (--benchmark_*) must be gone from argv. Ends the
// program after --help (status 0). Throws input_error.
options parse_options(const std::string& program, const std::string& what, int argc, char** argv);

// Reads "32x1x8+32x2x4,levels=10": a launch for each kernel of the variant, or one for all. Throws
// input_error.
std::vector<launch> parse_launches(const std::string& text, const std::string& variant,
                                   const std::vector<launch>& defaults);

}  // namespace icobench
