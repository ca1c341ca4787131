#include "src/bench/selection.hpp"

#include <algorithm>
#include <iostream>

namespace icobench {

bool wanted(const variant& v, std::string_view chain, const std::vector<std::string>& parts) {
  if (!chain.empty() && v.info.chain != chain) { return false; }
  const std::string name = v.name();
  return parts.empty() || std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
           return name.find(part) != name.npos;
         });
}

std::vector<std::string> choose_backends(const std::string& program,
                                         const std::vector<std::string>& asked, workspace& w) {
  const auto& known = registry::instance().backends();
  for (const std::string& name : asked) {
    if (!known.contains(name)) {
      std::string message = "--backend " + name + ": not in this build, which has";
      for (const auto& [each, open] : known) { message += " " + each; }
      throw input_error(message);
    }
    try {
      w.device(name);
    } catch (const gpu::device_error& error) {
      throw input_error("--backend " + name + ": " + error.what());
    }
  }
  if (!asked.empty()) { return asked; }
  for (const std::string name : {"cuda", "hip"}) {
    if (!known.contains(name)) { continue; }
    try {
      w.device(name);
      return {name};
    } catch (const gpu::device_error& error) {
      std::cerr << program << ": " << name << ": " << error.what() << "; using the CPU\n";
    }
  }
  return {"cpu"};
}

}  // namespace icobench
