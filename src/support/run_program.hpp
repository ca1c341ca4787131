// What the programs that measure do alike: run, complain.
#pragma once

#include <exception>
#include <iostream>
#include <new>
#include <string>

#include <icobench/errors.hpp>

#include "src/support/memory.hpp"
#include "src/support/printable.hpp"

namespace icobench {

// The exit status: that of `run`; 2 with one line on stderr for bad input and where the memory or
// what the output goes to is too small; 1 for other faults.
template <class Run>
int run_program(const std::string& name, const std::string& too_large, const Run& run) {
  const auto complain = [&](const std::string& what, int status) {
    std::cerr << name << ": " << printable(what) << "\n";
    return status;
  };
  end_well_without_memory(name);
  try {
    const int status = run();
    std::cout.flush();
    return std::cout ? status : complain("cannot write the output", 2);
  } catch (const input_error& error) {
    return complain(error.what(), 2);
  } catch (const std::bad_alloc&) {
    return complain(too_large, 2);
  } catch (const std::exception& error) { return complain(error.what(), 1); }
}

}  // namespace icobench
