#include "src/tune/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <numeric>

namespace icobench {
namespace {

// The median times of a configuration on all problems; empty if one has not measured it.
std::vector<double> on_all(const std::vector<final_times>& problems, const configuration& c) {
  std::vector<double> result;
  for (const final_times& p : problems) {
    const auto found = std::find(p.what.begin(), p.what.end(), c);
    if (found == p.what.end()) { return {}; }
    result.push_back(median(p.seconds[std::size_t(found - p.what.begin())]));
  }
  return result;
}

double fastest(const final_times& p) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& seconds : p.seconds) { least = std::min(least, median(seconds)); }
  return least;
}

std::string text(const char* format, auto... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

}  // namespace

choice choose(const final_times& p, double threshold,
              const std::function<bool(const configuration&)>& allowed) {
  std::vector<std::size_t> order(p.what.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::erase_if(order, [&](std::size_t n) { return !allowed(p.what[n]); });
  if (order.empty()) { return {}; }
  if (order.front() == 0) {  // the default stays unless another is proved to be faster
    std::erase_if(order, [&](std::size_t n) {
      return n != 0 && !proves_faster(p.seconds[0], p.seconds[n], threshold);
    });
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return median(p.seconds[a]) < median(p.seconds[b]);
  });
  const std::size_t first = order.front();
  std::erase_if(order, [&](std::size_t n) {
    return proves_faster(p.seconds[n], p.seconds[first], threshold);
  });
  const std::size_t best =
      *std::min_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return differences(p.what[a], p.what[0]) < differences(p.what[b], p.what[0]);
      });
  return {p.what[best], median(p.seconds[best]), ratio_of_medians(p.seconds[0], p.seconds[best])};
}

common_choice choose_for_all(const std::vector<final_times>& problems) {
  common_choice result;
  for (const configuration& c : problems.front().what) {
    const std::vector<double> seconds = on_all(problems, c);
    if (seconds.empty()) { continue; }
    double worst = 0, logarithms = 0;
    for (std::size_t n = 0; n < problems.size(); ++n) {
      const double against_fastest = seconds[n] / fastest(problems[n]);
      worst = std::max(worst, against_fastest);
      logarithms += std::log(against_fastest);
    }
    if (result.worst == 0 || worst < result.worst) {
      result = {c, worst, std::exp(logarithms / double(problems.size()))};
    }
  }
  return result;
}

void conclude(outcome& o, const std::vector<final_times>& finals, double threshold) {
  for (const final_times& f : finals) {
    o.problems.push_back(f.problem);
    o.sizes.push_back(f.size);
    o.default_seconds.push_back(median(f.seconds.front()));
    o.best.push_back(choose(f, threshold, [](const configuration&) { return true; }));
    if (f.what.front().size() > 1) { o.shared.push_back(choose(f, threshold, is_shared)); }
  }
  o.for_all = choose_for_all(finals);
}

tuned_variant tabulate(const outcome& o) {
  tuned_variant result{o.variant, o.precision, o.ordering};
  std::map<long long, std::size_t> by_size;
  for (std::size_t n = 0; n < o.sizes.size(); ++n) { by_size.emplace(o.sizes[n], n); }
  for (auto at = by_size.begin(); at != by_size.end(); ++at) {
    const auto [size, n] = *at;
    const choice& best = o.best[n];
    tuned_size& s = result.sizes.emplace_back();
    if (const auto next = std::next(at); next != by_size.end()) {
      s.up_to = std::llround(std::sqrt(double(size) * double(next->first)));
    }
    s.measured = o.problems[n];
    if (best.to_default.value != 1) { s.launches = best.what; }
    s.ratio = best.to_default.value, s.low = best.to_default.low, s.high = best.to_default.high;
  }
  return result;
}

std::string format(const std::vector<outcome>& outcomes) {
  std::string out;
  const auto done =
      std::find_if(outcomes.begin(), outcomes.end(), [](const auto& o) { return !o.best.empty(); });
  if (done != outcomes.end()) {
    std::string rule = "|---|";
    out += "| variant |";
    for (const std::string& p : done->problems) {
      out += " " + p + ": default µs | tuned µs | ratio | launch |";
      rule += "--:|--:|--:|---|";
    }
    out += " one for all | costs at worst | in the mean |\n" + rule + "---|--:|--:|\n";
  }
  for (const outcome& o : outcomes) {
    if (o.best.empty()) { continue; }
    out += "| " + o.variant + " |";
    for (std::size_t n = 0; n < o.best.size(); ++n) {
      const choice& c = o.best[n];
      out += text(" %.1f | %.1f | %.3f (%.3f–%.3f) | ", 1e6 * o.default_seconds[n], 1e6 * c.seconds,
                  c.to_default.value, c.to_default.low, c.to_default.high);
      out += (c.to_default.value == 1 ? "the default" : to_string(c.what)) + " |";
    }
    out +=
        " " + to_string(o.for_all.what) +
        text(" | %.1f %% | %.1f %% |\n", 100 * (o.for_all.worst - 1), 100 * (o.for_all.mean - 1));
  }
  for (const outcome& o : outcomes) {
    for (std::size_t n = 0; n < o.shared.size(); ++n) {
      const choice& s = o.shared[n];
      out += "\n" + o.variant + ", " + o.problems[n] + ": ";
      out += s.what.empty() ? "no launch fits all kernels"
                            : "one launch for all kernels, " + to_string(s.what.front()) +
                                  text(", takes %.1f %% more than one for each",
                                       100 * (s.seconds / o.best[n].seconds - 1));
    }
    if (!o.reason.empty()) { out += "\n" + o.variant + ": " + o.reason; }
  }
  return out + "\n";
}

}  // namespace icobench
