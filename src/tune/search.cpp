#include "src/tune/search.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

namespace icobench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t followed = 3;  // so many of the best are improved axis by axis
constexpr std::size_t at_once = 48;  // measured before the clock is read again

// One search: what it has measured and what it may still measure.
class searcher {
 public:
  searcher(const configuration_space& space, const search_rules& rules, const timing_of& measure)
      : space_(space),
        rules_(rules),
        measure_(measure),
        whole_(rules.how == strategy::grid || space.size() <= rules.limit) {}

  std::vector<scored> run(const std::vector<configuration>& starts) {
    measure_new(starts);
    if (whole_) {
      measure_new(everything());
    } else {
      measure_new(sample(rules_.how == strategy::race ? rules_.limit / 3 : rules_.limit));
    }
    while (rules_.how == strategy::race && follow()) {}
    std::erase_if(results_, [](const scored& s) { return std::isinf(s.seconds); });
    return results_;
  }

 private:
  bool full() const { return (!whole_ && seconds_.size() >= rules_.limit) || late(); }
  bool late() const {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    return spent.count() > rules_.seconds;
  }

  std::vector<configuration> everything() const {
    std::vector<configuration> all;
    for (std::size_t n = 0; n < space_.size(); ++n) { all.push_back(space_[n]); }
    return all;
  }

  std::vector<configuration> sample(std::size_t count) {
    std::uniform_int_distribution<std::size_t> any(0, space_.size() - 1);
    std::set<std::size_t> numbers;
    while (numbers.size() < count) { numbers.insert(any(random_)); }
    std::vector<configuration> all;
    for (const std::size_t n : numbers) { all.push_back(space_[n]); }
    return all;
  }

  void measure_new(const std::vector<configuration>& wanted) {
    std::vector<configuration> fresh;
    for (const configuration& c : wanted) {
      // The starts in any case.
      if ((!full() || results_.empty()) && seconds_.emplace(to_string(c), infinity).second) {
        fresh.push_back(c);
      }
    }
    for (std::size_t first = 0; first < fresh.size(); first += at_once) {
      if (late() && !results_.empty()) { break; }
      const std::size_t last = std::min(first + at_once, fresh.size());
      measure_now({fresh.begin() + std::ptrdiff_t(first), fresh.begin() + std::ptrdiff_t(last)});
    }
    std::stable_sort(results_.begin(), results_.end(),
                     [](const scored& a, const scored& b) { return a.seconds < b.seconds; });
  }

  void measure_now(const std::vector<configuration>& fresh) {
    const std::vector<double> seconds = measure_(fresh);
    for (std::size_t n = 0; n < fresh.size(); ++n) {
      results_.push_back({fresh[n], seconds[n]});
      seconds_[to_string(fresh[n])] = seconds[n];
    }
  }

  double time_of(const configuration& c) const {
    const auto found = seconds_.find(to_string(c));
    return found == seconds_.end() ? infinity : found->second;
  }

  // Whether there was one of the best to follow.
  bool follow() {
    for (std::size_t n = 0; n < std::min(followed, results_.size()) && !full(); ++n) {
      configuration best = results_[n].what;
      if (std::isinf(results_[n].seconds) || !improved_.insert(to_string(best)).second) {
        continue;
      }
      for (std::size_t axis = 0; axis < space_.axes(); ++axis) {
        const std::vector<configuration> line = space_.along(best, axis);
        measure_new(line);
        for (const configuration& c : line) {
          if (time_of(c) < time_of(best)) { best = c; }
        }
      }
      return true;
    }
    return false;
  }

  const configuration_space& space_;
  const search_rules& rules_;
  const timing_of& measure_;
  bool whole_;  // all of the space is measured
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::mt19937 random_{rules_.seed};
  std::vector<scored> results_;
  std::map<std::string, double> seconds_;
  std::set<std::string> improved_;
};

}  // namespace

std::string to_string(const configuration& c) {
  std::string text;
  for (const launch& l : c) { text += (text.empty() ? "" : "+") + to_string(l); }
  return text;
}

int differences(const configuration& a, const configuration& b) {
  int sum = 0;
  for (std::size_t n = 0; n < a.size(); ++n) { sum += int(differing(a[n], b[n]).count()); }
  return sum;
}

bool is_shared(const configuration& c) {
  return std::all_of(c.begin(), c.end(), [&](const launch& l) { return l == c.front(); });
}

configuration_space configuration_space::separate(std::vector<std::vector<launch>> choices) {
  return {std::move(choices), 1};
}

configuration_space configuration_space::shared(const std::vector<std::vector<launch>>& choices) {
  std::vector<launch> common = choices.front();
  for (const auto& of_kernel : choices) {
    std::set<std::string> texts;
    for (const launch& l : of_kernel) { texts.insert(to_string(l)); }
    std::erase_if(common, [&](const launch& l) { return !texts.contains(to_string(l)); });
  }
  return {{common}, choices.size()};
}

std::size_t configuration_space::size() const {
  std::size_t product = 1;
  for (const auto& of_kernel : choices_) { product *= of_kernel.size(); }
  return product;
}

configuration configuration_space::operator[](std::size_t n) const {
  configuration result;
  for (const auto& of_kernel : choices_) {
    result.push_back(of_kernel[n % of_kernel.size()]);
    n /= of_kernel.size();
  }
  return repeated(result);
}

configuration configuration_space::repeated(const configuration& c) const {
  return copies_ == 1 ? c : configuration(copies_, c.front());
}

std::vector<configuration> configuration_space::along(const configuration& c,
                                                      std::size_t axis) const {
  const std::size_t kernel = axis / launch_choice_count;
  std::bitset<launch_choice_count> alone;
  alone.set(axis % launch_choice_count);
  std::vector<configuration> result;
  for (const launch& l : choices_[kernel]) {
    if (differing(l, c[kernel]) != alone) { continue; }
    configuration changed = c;
    changed[kernel] = l;
    result.push_back(repeated(changed));
  }
  return result;
}

std::vector<scored> search(const configuration_space& space,
                           const std::vector<configuration>& starts, const search_rules& rules,
                           const timing_of& measure) {
  return searcher(space, rules, measure).run(starts);
}

}  // namespace icobench
