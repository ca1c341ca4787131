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

#include <icobench/kernels/shared/march.hpp>
#include <icobench/kernels/shared/nabla4_interpolate.hpp>

namespace icobench::kernels {

template <bool vertical, bool bulk, class... Compiled>
struct march_to_vertices
    : marching<march_chain<vertical, stage::nabla4, stage::interpolate>, bulk, Compiled...> {
  static constexpr kernel_info info =
      march_info<bulk, Compiled...>(nabla4_interpolate_chain(vertical), "inlined_cached");
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

using march_to_vertices_direct = march_to_vertices<false, false, compiled_shape<64, 1, 2, 4>>;
using march_to_vertices_bulk =
    march_to_vertices<false, true, compiled_shape<64, 1, 4, 5>, compiled_shape<128, 1, 2, 5>>;
using march_to_vertices_multicast =
    march_to_vertices<false, true, compiled_in<float, compiled_shape<128, 1, 3, 7, 4>>,
                      compiled_shape<128, 1, 2, 5, 8>, compiled_shape<64, 1, 4, 5, 4>>;
using nabla4_interpolate_march_variants =
    kernel_list<march_to_vertices_direct, march_to_vertices_bulk, march_to_vertices_multicast,
                march_to_vertices<true, false, compiled_shape<64, 1, 4, 1>>>;

}  // namespace icobench::kernels
