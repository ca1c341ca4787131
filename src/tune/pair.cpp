#include "src/tune/pair.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

#include "src/support/interrupt.hpp"

namespace icobench {
namespace {

constexpr std::size_t candidates = 10;  // of each variant; all pairs of them are measured
constexpr std::size_t kept = 4;         // pairs that are measured at length
constexpr int short_samples = 5, long_samples = 15, rounds = 4;

std::vector<double> seconds_alone(gpu::device& d, const std::function<void()>& run, int samples) {
  run();  // to warm up
  return d.time(
      samples, [] {}, run, [] {});
}

// Both variants on one problem, prepared once for each configuration.
class pair_on_problem {
 public:
  pair_on_problem(tuner::ready_problem first, tuner::ready_problem second)
      : sides_{side{std::move(first), {}}, side{std::move(second), {}}} {}

  void measure_step(measured_pair& p, int samples) {
    const std::vector<double> more =
        step_seconds(sides_[0].problem.device, run(0, p.what.first), sides_[1].problem.device,
                     run(1, p.what.second), samples);
    p.step_seconds.insert(p.step_seconds.end(), more.begin(), more.end());
  }
  void measure_alone(measured_pair& p) {
    p.alone[0] =
        median(seconds_alone(sides_[0].problem.device, run(0, p.what.first), long_samples));
    p.alone[1] =
        median(seconds_alone(sides_[1].problem.device, run(1, p.what.second), long_samples));
  }
  const std::vector<scored>& found(int n) const { return sides_[n].problem.found; }
  const std::string& name() const { return sides_[0].problem.name; }

 private:
  struct side {
    tuner::ready_problem problem;
    std::map<std::string, std::function<void()>> runs;
  };
  const std::function<void()>& run(int n, const configuration& c) {
    side& s = sides_[n];
    std::function<void()>& prepared = s.runs[to_string(c)];
    if (!prepared) { prepared = s.problem.prepare(c); }
    return prepared;
  }
  side sides_[2];
};

// The fastest pairs after a short measurement of all.
std::vector<measured_pair> shortlist(pair_on_problem& both) {
  std::vector<measured_pair> all;
  for (const configuration& a : kinds_of(both.found(0), candidates)) {
    for (const configuration& b : kinds_of(both.found(1), candidates)) {
      if (interrupted()) { throw search_stopped(); }
      both.measure_step(all.emplace_back(measured_pair{.what = {a, b}}), short_samples);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const measured_pair& a, const measured_pair& b) {
    return median(a.step_seconds) < median(b.step_seconds);
  });
  all.resize(std::min(all.size(), kept));
  for (measured_pair& p : all) { p.step_seconds.clear(); }
  return all;
}

pair_outcome tune_on(pair_on_problem& both, const pair_of_configurations& defaults,
                     double threshold) {
  std::vector<measured_pair> finals{
      {.what = defaults}, {.what = {both.found(0).front().what, both.found(1).front().what}}};
  for (measured_pair& p : shortlist(both)) { finals.push_back(std::move(p)); }
  for (int round = 0; round < rounds; ++round) {
    for (measured_pair& p : finals) { both.measure_step(p, long_samples); }
  }
  for (measured_pair& p : finals) { both.measure_alone(p); }
  const auto best = std::min_element(finals.begin(), finals.end(),
                                     [](const measured_pair& a, const measured_pair& b) {
                                       return median(a.step_seconds) < median(b.step_seconds);
                                     });
  const bool better = proves_faster(finals[1].step_seconds, best->step_seconds, threshold);
  return {both.name(), finals[0], finals[1], better ? *best : finals[1]};
}

std::string row(const char* what, const measured_pair& p) {
  char numbers[160];
  const double step = median(p.step_seconds), sum = p.alone[0] + p.alone[1];
  std::snprintf(numbers, sizeof numbers, " | %.1f | %.1f | %.1f | %.1f | %.2f |\n",
                1e6 * p.alone[0], 1e6 * p.alone[1], 1e6 * sum, 1e6 * step, step / sum);
  return std::string("| ") + what + " | " + to_string(p.what.first) + " | " +
         to_string(p.what.second) + numbers;
}

}  // namespace

std::vector<configuration> kinds_of(const std::vector<scored>& found, std::size_t most) {
  std::set<std::string> seen;
  std::vector<configuration> result;
  for (const scored& s : found) {
    std::string kind;
    for (const launch& l : s.what) {
      kind += std::to_string(l.min_blocks) + " " + std::to_string(l.block.volume()) + ";";
    }
    if (result.size() < most && seen.insert(kind).second) { result.push_back(s.what); }
  }
  return result;
}

std::vector<double> step_seconds(gpu::device& d, const std::function<void()>& first, gpu::device& e,
                                 const std::function<void()>& second, int samples) {
  struct marks {
    std::unique_ptr<gpu::event> start, first_end, second_end;
  };
  const auto first_stream = d.make_stream(), second_stream = e.make_stream();
  std::vector<marks> all;
  for (int n = 0; n < samples + 1; ++n) {  // the first one warms up
    marks& m = all.emplace_back(marks{d.make_event(), d.make_event(), e.make_event()});
    // The first stream of a device overlaps with none: a step begins when the one before is over.
    m.start->record();
    d.on(*first_stream, [&] {
      first();
      m.first_end->record();
    });
    e.on(*second_stream, [&] {
      second();
      m.second_end->record();
    });
  }
  d.synchronize();
  e.synchronize();
  std::vector<double> seconds;
  for (const marks& m : all) {
    seconds.push_back(
        std::max(m.first_end->seconds_since(*m.start), m.second_end->seconds_since(*m.start)));
  }
  seconds.erase(seconds.begin());
  return seconds;
}

std::vector<pair_outcome> tune_pair(tuner& first, const variant& v, const implementation& i,
                                    tuner& second, const variant& w, const implementation& j,
                                    double threshold) {
  std::vector<pair_outcome> result;
  for (std::size_t n = 0; n < first.problems(); ++n) {
    pair_on_problem both(first.make_ready(v, i, n), second.make_ready(w, j, n));
    for (const int side : {0, 1}) {
      if (both.found(side).empty()) {
        throw input_error((side == 0 ? v : w).name() + ": no launch can be timed on " +
                          both.name());
      }
    }
    result.push_back(tune_on(both, {i.defaults, j.defaults}, threshold));
  }
  return result;
}

std::string format(const std::string& first, const std::string& second,
                   const std::vector<pair_outcome>& outcomes, double threshold) {
  std::string out = first + " beside " + second + ", on a stream each\n";
  for (const pair_outcome& o : outcomes) {
    out += "\n" + o.problem +
           "\n\n| | first | second | first alone µs | second alone µs | sum µs | step µs | of the "
           "sum |\n|---|---|---|--:|--:|--:|--:|--:|\n";
    out += row("defaults", o.defaults) + row("each tuned alone", o.each_alone) +
           row("tuned for the step", o.together);
    const ratio r = ratio_of_medians(o.each_alone.step_seconds, o.together.step_seconds);
    char text[160];
    if (o.together.what == o.each_alone.what) {
      std::snprintf(text, sizeof text,
                    "\nNo pair is proved to be faster by %.0f %% than the two that are best "
                    "alone.\n",
                    100 * threshold);
    } else {
      std::snprintf(text, sizeof text,
                    "\nTuned for the step it takes %.3f (%.3f to %.3f) of the time of the two "
                    "that are best alone.\n",
                    r.value, r.low, r.high);
    }
    out += text;
  }
  return out;
}

}  // namespace icobench
