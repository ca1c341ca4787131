// Which configurations of a variant are measured, and in which order.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "src/catalogue/launch_space.hpp"

namespace icobench {

using configuration = std::vector<launch>;  // a launch for each kernel of a variant

std::string to_string(const configuration&);  // with '+' between launches
int differences(const configuration&, const configuration&);
// Every kernel has the same launch.
bool is_shared(const configuration&);

class configuration_space {
 public:
  // A launch of its own for each kernel.
  static configuration_space separate(std::vector<std::vector<launch>> choices);
  // One launch for all kernels, from what all of them can have.
  static configuration_space shared(const std::vector<std::vector<launch>>& choices);

  std::size_t size() const;
  configuration operator[](std::size_t) const;
  // Those that differ in one choice alone: the block, the levels, ... of one kernel (shared: of
  // all).
  std::vector<configuration> along(const configuration&, std::size_t axis) const;
  std::size_t axes() const { return choices_.size() * launch_choice_count; }

 private:
  configuration_space(std::vector<std::vector<launch>> choices, std::size_t copies)
      : choices_(std::move(choices)), copies_(copies) {}
  configuration repeated(const configuration&) const;

  std::vector<std::vector<launch>> choices_;
  std::size_t copies_;  // kernels that get each of them
};

// race: a random third of the limit; then from the best three, and from what turns out better,
// along one axis after the other to the best value of each, until these three are the best along
// every axis. grid: all there are. random: a sample.
enum class strategy { race, grid, random };

struct search_rules {
  strategy how = strategy::race;
  std::size_t limit = 300;                                   // of configurations, but for `grid`
  double seconds = std::numeric_limits<double>::infinity();  // no others are begun after so many
  unsigned seed = 1;
};

struct scored {
  configuration what;
  double seconds;  // infinite where it was skipped or failed
};

// Measures, and gives the seconds of each.
using timing_of = std::function<std::vector<double>(const std::vector<configuration>&)>;

// What was measured, fastest first, without what has no time. The starts are measured in any case.
std::vector<scored> search(const configuration_space&, const std::vector<configuration>& starts,
                           const search_rules&, const timing_of&);

}  // namespace icobench
