// The operations of one backend: compiled by the backend's compiler.
#pragma once

#include "src/operations/operations.hpp"

namespace icobench {

// f.template operator()<double or float>()
template <class F>
void with_precision(precision p, F f) {
  if (p == precision::float64) {
    f.template operator()<double>();
  } else {
    f.template operator()<float>();
  }
}

template <class Backend>
class operations_of final : public operations {
 public:
  void fill_inputs(gpu::device& device, precision p, std::uint64_t seed, void* a,
                   std::size_t count) const override {
    with_precision(p, [&]<class T>() {
      start(device, 1024, 0, device_kernels::fill_inputs<T>{static_cast<T*>(a), seed, count});
    });
  }
  void find_computed_error(gpu::device& device, array_kernel what, precision p, const void* a,
                           std::size_t count, located* result,
                           const reduce_space& space) const override {
    with_precision(p, [&]<class T>() {
      icobench::reduce<Backend>(device,
                                device_kernels::computed_error<T>{static_cast<const T*>(a), what},
                                count, largest{}, result, space);
    });
  }
  void find_transposed_error(gpu::device& device, precision p, const void* to,
                             const transposition& m, bool transposed, located* result,
                             const reduce_space& space) const override {
    with_precision(p, [&]<class T>() {
      icobench::reduce<Backend>(
          device, device_kernels::transposed_error<T>{static_cast<const T*>(to), m, transposed},
          m.rows * m.columns * m.matrices, largest{}, result, space);
    });
  }

  void compute(gpu::device& device, array_kernel what, precision p, void* a, const void* b,
               const void* c, std::size_t count, unsigned elements) const override {
    with_precision(p, [&]<class T>() {
      const auto launch = [&]<array_kernel k, unsigned n>() {
        const std::size_t blocks = ceil_div(count, n * device_kernels::array_threads);
        if (blocks == 0) { return; }
        start(device, unsigned(blocks), 0,
              device_kernels::array_operation<k, T, n>{static_cast<T*>(a), static_cast<const T*>(b),
                                                       static_cast<const T*>(c), count});
      };
      const auto choose = [&]<array_kernel k>() {
        if (elements == 1) {
          launch.template operator()<k, 1>();
        } else if (elements == 8) {
          launch.template operator()<k, 8>();
        } else {
          launch.template operator()<k, 4>();
        }
      };
      switch (what) {
        case array_kernel::write:
          return choose.template operator()<array_kernel::write>();
        case array_kernel::copy:
          return choose.template operator()<array_kernel::copy>();
        case array_kernel::scale:
          return choose.template operator()<array_kernel::scale>();
        case array_kernel::add:
          return choose.template operator()<array_kernel::add>();
        case array_kernel::triad:
          return choose.template operator()<array_kernel::triad>();
      }
    });
  }

  void reduce(gpu::device& device, reduced what, precision p, const void* values, std::size_t count,
              void* result, const reduce_space& space, const reduction& how) const override {
    with_precision(p, [&]<class T>() {
      const auto launch = [&](auto combine) {
        icobench::reduce<Backend>(device, value_at<T>{static_cast<const T*>(values)}, count,
                                  combine, static_cast<T*>(result), space, how);
      };
      switch (what) {
        case reduced::sum:
          return launch(sum{});
        case reduced::minimum:
          return launch(minimum{});
        case reduced::maximum:
          return launch(maximum{});
      }
    });
  }

  void transpose(gpu::device& device, precision p, const void* from, void* to,
                 const transposition& m, transpose_method how, unsigned tile) const override {
    with_precision(p, [&]<class T>() {
      icobench::transpose<Backend>(device, static_cast<const T*>(from), static_cast<T*>(to), m, how,
                                   tile);
    });
  }

  void convert(gpu::device& device, precision p, const raw_view& from, layout of_from,
               const raw_view& to, index_t entities, index_t slots, index_t levels) const override {
    constexpr layout ifirst = layout::ifirst, kfirst = layout::kfirst;
    with_precision(p, [&]<class T>() {
      if (of_from == ifirst) {
        icobench::convert<Backend>(device, from.as<const T, ifirst>(), to.as<T, kfirst>(), entities,
                                   slots, levels);
      } else {
        icobench::convert<Backend>(device, from.as<const T, kfirst>(), to.as<T, ifirst>(), entities,
                                   slots, levels);
      }
    });
  }

  void find_error(gpu::device& device, precision p, const void* values, const double* expected,
                  std::size_t count, located* result, const reduce_space& space) const override {
    with_precision(p, [&]<class T>() {
      icobench::reduce<Backend>(device, error_at<T>{static_cast<const T*>(values), expected}, count,
                                largest{}, result, space);
    });
  }

  void find_norms(gpu::device& device, const double* values, std::size_t count, norms* result,
                  const reduce_space& space) const override {
    icobench::reduce<Backend>(device, norms_at{values}, count, add_norms{}, result, space,
                              {.deterministic = true});
  }
  void find_difference(gpu::device& device, precision p, const void* values, const double* expected,
                       std::size_t count, norms* result, const reduce_space& space) const override {
    with_precision(p, [&]<class T>() {
      icobench::reduce<Backend>(device, difference_at<T>{static_cast<const T*>(values), expected},
                                count, add_norms{}, result, space, {.deterministic = true});
    });
  }

  void checksum(gpu::device& device, const void* words, std::size_t count,
                unsigned long long* result, const reduce_space& space) const override {
    icobench::reduce<Backend>(device, weighted_word{static_cast<const std::uint32_t*>(words)},
                              count, sum{}, result, space);
  }

  void read(gpu::device& device, precision p, const read_shape& shape, const void* data,
            std::size_t count, double* sums) const override {
    with_precision(p, [&]<class T>() {
      const auto* const values = static_cast<const T*>(data);
      if (shape.loads == 8) {
        start(device, shape.blocks, 0,
              device_kernels::reads<T, 8>{values, count, sums, shape.in_chunks});
      } else {
        start(device, shape.blocks, 0,
              device_kernels::reads<T, 4>{values, count, sums, shape.in_chunks});
      }
    });
  }
  void read_l2(gpu::device& device, unsigned blocks, const double* data, double* sums,
               unsigned repeats) const override {
    start(device, blocks, 0, device_kernels::l2_reads{data, sums, repeats});
  }
  void read_shared(gpu::device& device, unsigned blocks, float value, float* sums,
                   unsigned repeats) const override {
    start(device, blocks, device_kernels::shared_reads::shared_bytes,
          device_kernels::shared_reads{sums, value, repeats});
  }
  void multiply_add(gpu::device& device, precision p, unsigned blocks, void* results,
                    unsigned repeats) const override {
    with_precision(p, [&]<class T>() {
      start(device, blocks, 0,
            device_kernels::multiply_add<T>{static_cast<T*>(results), T(-1), T(12.5), repeats});
    });
  }
  void launch_nothing(gpu::device& device) const override {
    start(device, 1, 0, device_kernels::nothing{});
  }

 private:
  template <class Kernel>
  static void start(gpu::device& device, unsigned blocks, std::size_t shared,
                    const Kernel& kernel) {
    gpu::launch<Backend, compiled_for<>>(device, {blocks, 1, 1},
                                         {device_kernels::array_threads, 1, 1}, shared, kernel);
  }
};

}  // namespace icobench
