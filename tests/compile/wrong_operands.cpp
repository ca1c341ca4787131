// fails: operands are those of the kernel's stencils
#include "kernel.hpp"
void use(const icobench::gpu::processor& device) {
  call(device, icobench::verts2cells_operands<double>{});
}
