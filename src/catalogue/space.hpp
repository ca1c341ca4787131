// What a search may try of a kernel.
#pragma once

#include <icobench/prepare.hpp>

#include "src/catalogue/launch_space.hpp"

namespace icobench {

launch_space space_of(const kernel_description&);

}  // namespace icobench
