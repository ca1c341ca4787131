// What a search may try of a kernel.
#pragma once

#include <icobench/gpu_description.hpp>

namespace icobench {

launch_space space_of(const gpu_description&);

}  // namespace icobench
