// The stencils and their chains. A new one is a header, an include and a word here.
#pragma once

#include <icobench/stencil/divergence.hpp>
#include <icobench/stencil/gradient.hpp>
#include <icobench/stencil/interpolate.hpp>
#include <icobench/stencil/nabla4.hpp>
#include <icobench/stencil/verts2cells.hpp>

// In the order in which their fields get numbers, from which the suite's inputs are made: new ones
// come last.
#define ICOBENCH_STENCILS(use) \
  use(nabla4) use(interpolate) use(verts2cells) use(gradient) use(divergence)

namespace icobench {

#define ICOBENCH_STENCIL_NAME(name) name,
enum class stage { ICOBENCH_STENCILS(ICOBENCH_STENCIL_NAME) };  // one operator of a chain
#undef ICOBENCH_STENCIL_NAME

#define ICOBENCH_STENCIL_ONE(name) +1
inline constexpr int stage_count = ICOBENCH_STENCILS(ICOBENCH_STENCIL_ONE);
#undef ICOBENCH_STENCIL_ONE

// Chains of several stencils. A single one is a chain, too, and so is its vertical twin.
struct chain_of_stencils {
  const char* name;
  int count;
  stage stages[3];
  bool vertical = false;
  int halo = 2;  // rows and columns of a torus left out on each side
};
inline constexpr chain_of_stencils chains_of_stencils[] = {
    {"nabla4_interpolate", 2, {stage::nabla4, stage::interpolate}},
    {"nabla4_vertical_interpolate", 2, {stage::nabla4, stage::interpolate}, true},
    {"nabla4_interpolate_verts2cells", 3, {stage::nabla4, stage::interpolate, stage::verts2cells}},
    {"gradient_divergence", 2, {stage::gradient, stage::divergence}},
};

namespace detail {
template <stage s>
struct description_of;
#define ICOBENCH_STENCIL_DESCRIPTION(name) \
  template <>                              \
  struct description_of<stage::name> {     \
    using type = stencils::name;           \
  };
ICOBENCH_STENCILS(ICOBENCH_STENCIL_DESCRIPTION)
#undef ICOBENCH_STENCIL_DESCRIPTION
}  // namespace detail

// The description of a stage.
template <stage s>
using stencil_of = typename detail::description_of<s>::type;

// Calls f.operator()<stencils::...>() for each, in order.
template <class F>
constexpr void for_each_stencil(const F& f) {
#define ICOBENCH_STENCIL_CALL(name) f.template operator()<stencils::name>();
  ICOBENCH_STENCILS(ICOBENCH_STENCIL_CALL)
#undef ICOBENCH_STENCIL_CALL
}

}  // namespace icobench
