// What is known of the devices of this machine, for people and programs; and the choice of one.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <icobench/gpu/device.hpp>

namespace icobench {

nlohmann::ordered_json to_json(const gpu::device_facts&);

// A line for each fact.
std::string format_facts(const gpu::device_facts&);

// The index of the one device of a backend that `choice` means: an index, a part of a name, or the
// beginning of a UUID; "": the first. Throws input_error, with the devices that there are, and
// gpu::device_error where there is none.
int choose_device(const std::string& backend, const std::string& choice);
int choose_among(const std::vector<gpu::device_facts>&, const std::string& choice);

}  // namespace icobench
