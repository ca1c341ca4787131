// interpolate by a march over rows, see shared/march.hpp: edges of a row are read once, where
// `kloop` reads those to the north and southeast for both of their ends.
//
// H200, doubles, 80 levels, 594x514 (298x257): read directly 367 us (81), bulk 329 (89), multicast
// 309 (87); kloop 302 (80): what is saved in the L2 cache costs as much in the copies, which are
// small here: three rows a level.
#pragma once

#include <icobench/kernels/shared/march.hpp>

namespace icobench::kernels {

template <bool bulk, class... Compiled>
struct march_of_vertices : marching<march_chain<false, stage::interpolate>, bulk, Compiled...> {
  static constexpr kernel_info info = march_info<bulk, Compiled...>("interpolate", "separate");
  using computes = stages<stage::interpolate>;

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    rectangle domain;
    interpolate_operands<T> vertex;
    index_t levels;

    template <class Choice, class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      march_of_vertices::template run<Choice, T>(*this, t);
    }
  };
};

using march_of_vertices_direct = march_of_vertices<false, compiled_shape<64, 1, 2, 4>>;
using march_of_vertices_bulk =
    march_of_vertices<true, compiled_shape<128, 1, 2, 10>, compiled_shape<64, 1, 4, 10>>;
using march_of_vertices_multicast =
    march_of_vertices<true, compiled_shape<128, 1, 2, 10, 4>, compiled_shape<64, 1, 4, 10, 4>>;
using interpolate_march_variants =
    kernel_list<march_of_vertices_direct, march_of_vertices_bulk, march_of_vertices_multicast>;

}  // namespace icobench::kernels
