// As inlined_cached with a barrier for each level, but u, v and z of the levels to come are copied
// to shared memory meanwhile, see shared/pipeline.hpp.
//
// Trades shared memory (12 KB a stage) for the wait for u, v and z: a stage is a level on its way,
// and the copies need no registers. `pipeline`: each thread copies 8 or 16 bytes at a time (sm_80;
// elsewhere through registers, at once). `tensor`: one thread has three boxes copied, by the copy
// engine of sm_90, which takes the addresses and the bounds off the threads.
//
// H200, 594x514 (298x257), 40 levels a thread, in the run where inlined_cached takes 642 us (169),
// with a barrier for each level but no copies ahead 820 (218), and the march 431 (114):
//   tensor, 512 threads, stages 2, 3, 4                 603, 464, 471 us (158, 119, 119)
//   16 bytes, 512 threads, stages 2, 3, 4               600, 484, 472    (157, 129, 129)
//   8 bytes, 512 threads, stages 2, 3                   604, 540        (159, 144)
//   256 threads (a larger rim), 3 stages: tensor, 16 B  485, 495         (139, 144)
//   tensor, 3 stages, 10, 20, 80 levels a thread        531, 495, 471    (139, 130, 138)
// Two stages have one level on its way, which is too little; 8 bytes are twice the copies. With
// three stages the L2 cache is at 92 % of its throughput (ncu), as in the march, and reads from
// memory are within 5 % of the least. Vertical: 2187 against 1948, no gain.
// may spill (precision=double): registers capped by the threads of a block
#pragma once

#include <icobench/kernels/shared/nabla4_interpolate.hpp>
#include <icobench/kernels/shared/pipeline.hpp>

namespace icobench::kernels {

template <bool vertical, bool boxes, class... Compiled>
struct pipeline_to_vertices : pipelined<false, vertical, boxes, Compiled...> {
  using base = pipelined<false, vertical, boxes, Compiled...>;
  static constexpr kernel_info info{
      .chain = nabla4_interpolate_chain(vertical),
      .schedule = "kloop",
      .fusion = "inlined_cached",
      .feature = boxes ? "tensor" : "pipeline",
      .description = boxes ? "the same with boxes of tensor maps"
                           : "tiles of u, v and z copied to shared memory levels ahead",
      .written_for = meshes::strided_per_orientation,
      .bulk_copies = boxes};
  using computes = stages<stage::nabla4, stage::interpolate>;
  static constexpr launch tuned(access, precision) {
    return {.block = {32, 16, 1}, .levels = 40, .stages = 3, .copy_bytes = boxes ? 0 : 16};
  }

  template <class Mesh, class T>
  struct kernel {
    Mesh mesh;
    rectangle domain;
    nabla4_operands<T> edge;
    interpolate_operands<T> vertex;
    index_t levels;
    typename pipeline_to_vertices::box_maps maps{};

    template <class Choice, class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      pipeline_to_vertices::template run<Choice, T>(*this, t);
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

using nabla4_interpolate_pipeline_variants = kernel_list<
    pipeline_to_vertices<false, false, compiled_pipeline<32, 16, 3, 16>,
                         compiled_pipeline<32, 16, 2, 16>, compiled_pipeline<32, 16, 4, 16>,
                         compiled_pipeline<32, 16, 3, 8>>,
    pipeline_to_vertices<true, false, compiled_pipeline<32, 16, 3, 16>>,
    pipeline_to_vertices<false, true, compiled_pipeline<32, 16, 3>, compiled_pipeline<32, 16, 2>,
                         compiled_pipeline<32, 16, 4>>,
    pipeline_to_vertices<true, true, compiled_pipeline<32, 16, 3>>>;

}  // namespace icobench::kernels
