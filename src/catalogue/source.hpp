// What is compiled at run time of a kernel, and for which launches.
#pragma once

#include <string>

#include "src/catalogue/gpu_variant.hpp"

namespace icobench {

// Why nothing is compiled at run time, else "".
std::string why_not_at_run_time(const gpu_variant&, const gpu::device&);

// The choice that is the same but for bounds, or the first shape (others are compiled like it);
// nullptr where none can be compiled.
const kernel_choice* choice_at_run_time(const kernel_description&, const launch&);

// Threads of a block that a kernel is compiled for at run time: few choices, so that launches share
// what is compiled.
unsigned bound_at_run_time(const gpu::extent3& block);

// What is compiled for this launch of that choice.
gpu::kernel_source source_of(const gpu_variant&, const kernel_choice&, const storage&,
                             const launch&);

}  // namespace icobench
