// Launches one tuned variant for the GPU by hand on the model's own arrays.
#include <icobench/gpu/native.hpp>

#include <nabla4/kloop.hpp>

#include "model.hpp"

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) {
    std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
    std::exit(2);
  }
}

using view = icobench::view<double>;

view upload(const model::array& a) {
  view result{nullptr, a.level_stride, a.slot_stride};
  const std::size_t bytes = a.values.size() * sizeof(double);
  check(cudaMalloc(&result.data, bytes));
  check(cudaMemcpy(result.data, a.values.data(), bytes, cudaMemcpyHostToDevice));
  return result;
}

// A field without levels has no stride between them.
icobench::view<const double> upload_once(const model::array& a) {
  view result = upload(a);
  result.stride = 0;
  return read_only(result);
}

}  // namespace

int main() {
  model::fields f = model::make_fields(model::planes);
  const view out = upload(f.out);
  const icobench::nabla4_operands<double> operands{read_only(upload(f.u)),
                                                   read_only(upload(f.v)),
                                                   upload_once(f.normal_1),
                                                   upload_once(f.normal_2),
                                                   upload_once(f.inv_vert_vert_length),
                                                   upload_once(f.inv_primal_edge_length),
                                                   read_only(upload(f.z)),
                                                   out};
  using mesh = icobench::strided_mesh<icobench::ordering::per_orientation>;
  using kernel = icobench::kernels::nabla4_kloop<false>::kernel<mesh, double>;
  const icobench::rectangle inside{model::halo, model::halo, model::nx - 2 * model::halo,
                                   model::ny - 2 * model::halo};
  // A block of 32 x 1 x 4 threads covers a row and walks all levels.
  icobench::gpu::entry<icobench::compiled_for<>>
      <<<dim3(1, inside.nj, 1), dim3(32, 1, 4)>>>(
          kernel{mesh{model::nx, model::vertices}, inside, operands, model::levels});
  check(cudaGetLastError());
  check(cudaMemcpy(f.out.values.data(), out.data, f.out.values.size() * sizeof(double),
                   cudaMemcpyDeviceToHost));
  const auto edge_id = [](int vertex, int colour) { return colour * model::vertices + vertex; };
  return agrees(f, edge_id) ? 0 : 1;
}
