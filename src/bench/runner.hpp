// Verifies and times records, those of one problem in turns.
#pragma once

#include <functional>
#include <vector>

#include "src/bench/options.hpp"
#include "src/bench/record.hpp"
#include "src/bench/workspace.hpp"

namespace icobench {

class runner {
 public:
  // `finished` is called with each record when it has its result.
  runner(workspace& w, const options& o, std::function<void(const record&)> finished)
      : workspace_(w), options_(o), finished_(std::move(finished)) {}

  // Measures each record to the end; those with the same chain, precision and backend take turns
  // batch by batch, in an order that changes, so that drift favours none. A record that is verified
  // is not verified again, one that has samples gets more. Returns early when the user interrupts.
  void run(const std::vector<record*>&);

 private:
  struct candidate {
    record* result;
    resident_problem* resident;
    std::function<void()> work;
    sampler samples;
    bool again = false;  // the clocks were low: it is timed once more
    sample_set first{};  // what it had before, and when
    machine_record machine{};
  };
  void run_group(const std::vector<record*>&);
  void prepare(record&);
  bool verify(record&, resident_problem&, const std::function<void()>& run);
  void verify_again(candidate&);
  bool worth_repeating(const candidate&) const;
  void measure_candidates();
  void finish(candidate&);

  workspace& workspace_;
  const options& options_;
  std::function<void(const record&)> finished_;
  std::vector<candidate> candidates_;
};

}  // namespace icobench
