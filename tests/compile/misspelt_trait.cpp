// fails: haloo
#define TRAIT .haloo
#include "kernel.hpp"
void use(const icobench::gpu::processor& device) {
  call(device, icobench::interpolate_operands<double>{});
}
