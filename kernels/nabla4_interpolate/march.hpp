// Both stencils in one kernel whose blocks march over rows, see shared/march.hpp.
//
// Trades as the march of the longer chain does (nabla4_interpolate_verts2cells/march.hpp), but 31
// of 32 lanes have a result, and parts of a strip begin one row before their first.
//
// H200, doubles, 80 levels, 594x514 (298x257): rows read directly 620 us (156), bulk 496 (119) with
// 64x1x4, multicast to 8 blocks 417 (115) with 128x1x2, 81 % of the copy bandwidth, to 4 428 (118).
// In float, 128x1x3 with 7 levels, multicast to 4 blocks 221 us (69), to 2 231 (67), clusters of
// one 241 (69); with the shape of doubles 313.
//
// nabla4_vertical has 30 coefficients to read for each level, too. They are read directly: 2194 us
// (549), slower than kloop/inlined_v2v/shuffle (2003, 478): parts of 20 rows make DRAM reads 1.22
// of compulsory. With longer parts it took 2126 (536), copied ahead with the coefficients of
// interpolate multicast 2117 (526).
#pragma once

#include <shared/march.hpp>

namespace icobench::kernels {

template <bool vertical, bool bulk, class... Compiled>
struct march_to_vertices
    : marching<march_chain<vertical, stage::nabla4, stage::interpolate>, bulk, Compiled...> {
  using computes = stages<stage::nabla4, stage::interpolate>;

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

template <bool bulk, class... Compiled>
using flat_march_to_vertices = march_to_vertices<false, bulk, Compiled...>;

template <class Backend>
void register_nabla4_interpolate_march(registry& r) {
  add_marches<Backend, flat_march_to_vertices,
              compiled_list<compiled_shape<64, 1, 4, 5>, compiled_shape<128, 1, 2, 5>>,
              compiled_list<compiled_in<float, compiled_shape<128, 1, 3, 7, 4>>,
                            compiled_shape<128, 1, 2, 5, 8>, compiled_shape<64, 1, 4, 5, 4>>>(
      r, march_info("nabla4_interpolate", "inlined_cached"));
  add_gpu_variant<Backend, march_to_vertices<true, false, compiled_shape<64, 1, 4, 1>>>(
      r, march_info("nabla4_vertical_interpolate", "inlined_cached"));
}

}  // namespace icobench::kernels
