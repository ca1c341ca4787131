// As inlined_cached, but level after level, and u, v and z of the levels to come are copied to
// shared memory meanwhile, see shared/pipeline.hpp and nabla4_interpolate/pipeline.hpp.
//
// Trades shared memory (12 KB a stage) for the wait for u, v and z, one barrier a level, and 54
// coefficients that a thread keeps. The rim of the tile costs as much as in inlined_cached.
//
// H200, 594x514 (298x257), 40 levels a thread, in the run where inlined_cached takes 1073 us (272)
// and the march 421 (111): tensor 778 (201), 16 bytes 841 (223). With 512 threads registers spill:
// tensor 789 (241), 16 bytes 1126 (335).
#pragma once

#include <icobench/kernels/shared/pipeline.hpp>

namespace icobench::kernels {

template <bool boxes, class... Compiled>
struct pipeline_to_cells : pipelined<true, false, boxes, Compiled...> {
  using base = pipelined<true, false, boxes, Compiled...>;
  static constexpr kernel_info info{
      .chain = "nabla4_interpolate_verts2cells",
      .schedule = "kloop",
      .fusion = "inlined_cached",
      .feature = boxes ? "tensor" : "pipeline",
      .description = boxes ? "the same with boxes of tensor maps"
                           : "tiles of u, v and z copied to shared memory levels ahead",
      .written_for = meshes::strided_per_orientation,
      .bulk_copies = boxes};
  using computes = stages<stage::nabla4, stage::interpolate, stage::verts2cells>;
  static constexpr launch tuned(access, precision) {
    return {.block = {32, 8, 1}, .levels = 40, .stages = 3, .copy_bytes = boxes ? 0 : 16};
  }

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    rectangle domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    verts2cells_operands<T> cell;
    index_t levels;
    typename pipeline_to_cells::box_maps maps{};

    template <class Choice, class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      pipeline_to_cells::template run<Choice, T>(*this, t);
    }
  };

  template <class Mesh, class T>
  static constexpr kernel_traits<Mesh> traits{
      .halo = base::halo(),
      .field_alignment = 16 / int(sizeof(T)),
      .reject = &base::reject,
      .shared_bytes = &base::template shared_bytes<T>,
      .set_boxes = boxes ? &base::template set_boxes<kernel<Mesh, T>> : nullptr};
};

using nabla4_interpolate_verts2cells_pipeline_variants =
    kernel_list<pipeline_to_cells<false, compiled_pipeline<32, 8, 3, 16>,
                                  compiled_pipeline<32, 8, 2, 16>, compiled_pipeline<32, 8, 3, 8>>,
                pipeline_to_cells<true, compiled_pipeline<32, 8, 3>, compiled_pipeline<32, 8, 2>>>;

}  // namespace icobench::kernels
