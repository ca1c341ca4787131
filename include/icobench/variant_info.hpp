// How a variant is named and described.
#pragma once

#include <string>

namespace icobench {

// What a variant says of itself.
struct variant_info {
  std::string chain = "";
  std::string schedule = "";        // naive, kloop, ...; ifirst, kfirst on the CPU
  std::string fusion = "separate";  // how the stages of the chain are joined
  std::string feature = "";         // what else is special, if anything
  std::string description = "";     // one line for --list
  // Reads and writes what the chain has to, but computes sums of what a point reads: its time is a
  // bound in practice for the other variants, and no rival.
  bool roofline = false;
};

}  // namespace icobench
