// What the variants of nabla4_interpolate and nabla4_vertical_interpolate share.
#pragma once

#include <icobench/kernels/shared/levels.hpp>

namespace icobench::kernels {

// The chain whose normals and lengths have levels (`vertical`), or not.
constexpr const char* nabla4_interpolate_chain(bool vertical) {
  return vertical ? "nabla4_vertical_interpolate" : "nabla4_interpolate";
}

}  // namespace icobench::kernels
