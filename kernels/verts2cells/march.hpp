// verts2cells by a march over rows, see shared/march.hpp: p of a row is read once, where `kloop`
// reads it for the cells above and below.
//
// H200, doubles, 80 levels, 594x514 (298x257): read directly 241 us (60), bulk 242 (66), multicast
// 237 (65); kloop 258 (66).
#pragma once

#include <icobench/kernels/shared/march.hpp>

namespace icobench::kernels {

template <bool bulk, class... Compiled>
struct march_of_cells : marching<march_chain<false, stage::verts2cells>, bulk, Compiled...> {
  static constexpr kernel_info info = march_info<bulk, Compiled...>("verts2cells", "separate");
  using computes = stages<stage::verts2cells>;

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    rectangle domain;
    verts2cells_operands<T> cell;
    index_t levels;

    template <class Choice, class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      march_of_cells::template run<Choice, T>(*this, t);
    }
  };
};

using march_of_cells_direct = march_of_cells<false, compiled_shape<64, 1, 2, 4>>;
using march_of_cells_bulk =
    march_of_cells<true, compiled_shape<128, 1, 2, 10>, compiled_shape<64, 1, 4, 10>>;
using march_of_cells_multicast =
    march_of_cells<true, compiled_shape<128, 1, 2, 10, 4>, compiled_shape<64, 1, 4, 10, 4>>;
using verts2cells_march_variants =
    kernel_list<march_of_cells_direct, march_of_cells_bulk, march_of_cells_multicast>;

}  // namespace icobench::kernels
