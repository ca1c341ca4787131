// Searches the launches of variants on several problems.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/bench/options.hpp"
#include "src/bench/runner.hpp"
#include "src/bench/workspace.hpp"
#include "src/tune/journal.hpp"
#include "src/tune/outcome.hpp"
#include "src/tune/search.hpp"

namespace icobench {

struct tune_options {
  options common;
  std::vector<std::string> grids;
  std::vector<index_t> levels{80};
  std::vector<std::string> chains;  // empty: all
  std::string journal, table;
  std::vector<std::string> pair;  // two variants that are to run side by side; empty: each alone
  search_rules search;
  std::size_t finalists = 5;  // of each problem, measured at length on all problems
  std::bitset<launch_choice_count> axes{
      ~0ull};               // what is searched; the rest stays as in the default
  bool part_warps = false;  // also blocks of half a warp, to show what they cost
  double threshold = 0.02;  // smaller gains do not count
};

// The user ended the search. All that was measured is in the journal.
struct search_stopped : std::exception {};

class tuner {
 public:
  // Throws input_error where a problem cannot be made.
  tuner(const tune_options&, const std::string& backend, journal&);

  // Throws search_stopped.
  outcome tune(const variant&, const implementation&);

  // A variant on problem number n: what a short search found, fastest first, and how to run it. For
  // as long as nothing else is done with this tuner. Throws search_stopped.
  struct ready_problem {
    std::string name;
    gpu::device& device;
    std::vector<scored> found;
    std::function<std::function<void()>(const configuration&)> prepare;
  };
  ready_problem make_ready(const variant&, const implementation&, std::size_t n);
  std::size_t problems() const { return problems_.size(); }

  std::size_t measured() const { return measured_; }  // trials of this run
  bool broken() const { return broken_; }             // one of them was wrong or failed

 private:
  // One problem, its copies on the device, and how it is measured. At a fixed address: what it
  // has refers to its options.
  struct measured_problem {
    measured_problem(const tune_options&, std::string grid, index_t levels);
    options quick, thorough, verifying;
    workspace space;
    std::string grid;
    index_t levels;
    std::string name() const { return grid + ", " + std::to_string(levels) + " levels"; }
  };
  struct target {
    const variant& v;
    const implementation& i;
    std::string name() const;
  };

  bool compiles_at_run_time();
  const storage& storage_of(const target&, measured_problem&);
  void compile(const target&, measured_problem&, const std::vector<configuration>&);
  std::vector<std::vector<launch>> choices_of(const target&);
  std::vector<configuration> finalists_of(const target&);
  final_times measure_finalists(const target&, measured_problem&,
                                const std::vector<configuration>&);
  std::vector<scored> search_on(const target&, measured_problem&);
  std::vector<trial> measure(const target&, measured_problem&, const std::vector<configuration>&,
                             bool quick);
  void measure_now(const target&, measured_problem&, const std::vector<configuration>&, bool quick);
  void verify(const target&, std::list<record>&);
  trial trial_of(const target&, measured_problem&, const configuration&, bool quick);
  void enter(trial, const record&);

  const tune_options& options_;
  std::string backend_;
  journal& journal_;
  std::list<measured_problem> problems_;
  std::list<measured_problem> small_;  // to verify on; none: the problems are small
  std::map<std::string, std::pair<status, std::string>> verified_;  // of the variant in hand
  std::set<gpu::kernel_source> compiled_;
  std::size_t measured_ = 0;
  bool broken_ = false;
};

// The program bench_tune. Returns the exit status: 0; 1 if a variant is wrong or failed; 2 for bad
// input; 130 if it was stopped.
int run_tuning(int argc, char** argv);

}  // namespace icobench
