// Both stencils in one kernel whose blocks march over rows, see shared/march.hpp.
//
// Trades as the march of the longer chain does (nabla4_interpolate_verts2cells/march.hpp), but 31
// of 32 lanes have a result, and parts of a strip begin one row before their first.
//
// H200, 594x514 (298x257): rows read directly 642 us (163), bulk 526 (135) and multicast 480 (121)
// with 64x1x4, multicast 433 (114) with 128x1x2 and results stored past the caches, which is 76 %
// of the copy bandwidth.
#pragma once

#include <shared/march.hpp>

namespace icobench::kernels {

template <bool bulk, class... Compiled>
struct march_to_vertices : marching<false, bulk, Compiled...> {
  using computes = stages<stage::nabla4, stage::interpolate>;
  static constexpr launch tuned(access) {
    return bulk ? launch{.block = {128, 1, 2}, .levels = 5}
                : launch{.block = {64, 1, 2}, .levels = 4};
  }

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    rectangle domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    index_t levels;

    template <class Choice, class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      march_to_vertices::template run<Choice, T>(*this, t);
    }
  };
};

template <class Backend>
void register_nabla4_interpolate_march(registry& r) {
  variant_info info{.chain = "nabla4_interpolate",
                    .schedule = "march",
                    .fusion = "inlined_cached",
                    .description = "blocks march over rows and keep what earlier rows gave"};
  add_gpu_variant<Backend,
                  march_to_vertices<false, compiled_shape<64, 1, 2, 4>, compiled_shape<64, 1, 4, 4>,
                                    compiled_shape<64, 1, 2, 2>>>(r, info);
  info.feature = "bulk";
  info.description = "a march whose rows are copied ahead to shared memory";
  add_if_bulk_copies<
      Backend, march_to_vertices<true, compiled_shape<64, 1, 4, 5>, compiled_shape<128, 1, 2, 5>>>(
      r, info);
  info.feature = "multicast";
  info.description = "a march with rows copied ahead, coefficients for four blocks at once";
  add_if_bulk_copies<Backend, march_to_vertices<true, compiled_shape<64, 1, 4, 5, 4>,
                                                compiled_shape<128, 1, 2, 5, 4>>>(r, info);
}

}  // namespace icobench::kernels
