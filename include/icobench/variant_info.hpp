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

// Calls f.operator()<T>() for each precision that variants are compiled for.
template <class F>
void for_each_precision(const F& f) {
  f.template operator()<double>();
#ifndef ICOBENCH_DOUBLE_ONLY
  f.template operator()<float>();
#endif
}

}  // namespace icobench
