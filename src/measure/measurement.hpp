// A piece of work on a device that is verified, then timed.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json.hpp>

namespace icobench {

using json = nlohmann::ordered_json;

struct measurement {
  std::string name;  // group/what/...
  json parameters = json::object();
  double bytes = 0, flops = 0;         // that a run moves and computes
  std::string reference;               // the name of the one whose rate is 100 %
  std::function<void()> run;           // enqueues a run
  std::function<std::string()> check;  // what is wrong after a run, else ""
};

}  // namespace icobench
