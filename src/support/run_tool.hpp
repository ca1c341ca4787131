// What the command line tools do alike: parse, run, complain.
#pragma once

#include <exception>
#include <iostream>
#include <new>
#include <string>

#include <CLI/CLI.hpp>

#include "src/support/memory.hpp"
#include "src/support/printable.hpp"

namespace icobench {

// Runs the chosen subcommand. Returns the exit status: 0 (also after --help), or 2 with one line on
// stderr for bad input.
inline int run_tool(CLI::App& app, int argc, char** argv) {
  const auto complain = [&](const std::string& what) {
    std::cerr << app.get_name() << ": " << printable(what) << '\n';
    return 2;
  };
  end_well_without_memory(app.get_name());
  app.require_subcommand(1);
  try {
    app.parse(argc, argv);
    std::cout.flush();
    return std::cout ? 0 : complain("cannot write the output");
  } catch (const CLI::ParseError& e) {
    return e.get_exit_code() == 0 ? app.exit(e) : complain(e.what());
  } catch (const std::bad_alloc&) {
    return complain("the problem does not fit the memory");
  } catch (const std::exception& e) { return complain(e.what()); }
}

}  // namespace icobench
