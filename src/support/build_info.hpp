// How this program was built.
#pragma once

#include <nlohmann/json.hpp>

namespace icobench {

// Version, git revision, compilers, flags.
nlohmann::ordered_json build_info();

}  // namespace icobench
