// One kernel for the whole chain, near to what memory allows: blocks march over rows, see
// shared/march.hpp.
//
// Trades occupancy for traffic and parallelism within a thread: eight warps fill a multiprocessor,
// since each thread holds the state of several levels in up to 255 registers, and shared memory two
// rows of everything. A strip of 120 columns computes four halo lanes in 128, and each part of a
// strip two rows before its first.
//
// Not measured yet.
#pragma once

#include <shared/march.hpp>

namespace icobench::kernels {

template <bool bulk>
struct march_to_cells {
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  using compiled = compiled_list<compiled_shape<128, 1, 2, 5>, compiled_shape<128, 1, 2, 4>,
                                 compiled_shape<64, 1, 4, 5>, compiled_shape<64, 1, 4, 4>,
                                 compiled_shape<64, 1, 4, 3>, compiled_shape<96, 1, 2, 5>,
                                 compiled_shape<96, 1, 2, 4>, compiled_shape<64, 1, 2, 4>>;
  static constexpr access only = access::strided;
  static constexpr ordering edges = ordering::per_orientation;
  static constexpr launch tuned(access) {
    return bulk ? launch{.block = {128, 1, 2}, .levels = 5}
                : launch{.block = {64, 1, 2}, .levels = 4};
  }
  template <class Shape, class T>
  using shape = march_shape<true, T, Shape::block.x, Shape::block.z, Shape::levels>;
  template <class Shape, class T>
  static constexpr std::size_t shared_bytes_of() {
    return march_memory<shape<Shape, T>, T>::bytes(bulk);
  }
  template <class Shape>
  static gpu::extent3 grid(const rectangle& domain, index_t levels,
                           const gpu::device_facts& facts) {
    using s = shape<Shape, double>;
    return march_blocks(domain, levels, s::columns, s::levels, facts);
  }

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    rectangle domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    verts2cells_operands<T> cell;
    index_t levels;

    template <class Shape, class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      march<true, bulk, Shape, Mesh, T>{mesh, domain, edge, vertex, cell, levels}.run(t);
    }
  };
};

template <class Backend>
void register_nabla4_interpolate_verts2cells_march(registry& r) {
  variant_info info{.chain = "nabla4_interpolate_verts2cells",
                    .schedule = "march",
                    .fusion = "inlined_cached",
                    .description = "blocks march over rows, rows in shared memory"};
  add_gpu_variant<Backend, march_to_cells<false>>(r, info);
  if constexpr (Backend::bulk_copies) {
    info.feature = "bulk";
    info.description += ", copied ahead by themselves";
    add_gpu_variant<Backend, march_to_cells<true>>(r, info);
  }
}

}  // namespace icobench::kernels
