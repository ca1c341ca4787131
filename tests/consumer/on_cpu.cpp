// Calls loops for the CPU on the model's own arrays, and compares its neighbours with the
// library's.
#include <icobench/grids/torus.hpp>
#include <icobench/kernels/nabla4/cpu_kfirst.hpp>

#include "model.hpp"

int main() {
  model::fields f = model::make_fields(model::columns), reference = f;
  model::compute(reference, model::vertex_by_vertex);
  const auto view = [](model::array& a) {
    return icobench::view<double, icobench::layout::kfirst>{a.values.data(), a.entity_stride,
                                                            a.slot_stride};
  };
  const icobench::nabla4_operands<double, icobench::layout::kfirst> operands{
      read_only(view(f.u)),
      read_only(view(f.v)),
      read_only(view(f.normal_1)),
      read_only(view(f.normal_2)),
      read_only(view(f.inv_vert_vert_length)),
      read_only(view(f.inv_primal_edge_length)),
      read_only(view(f.z)),
      view(f.edge)};
  using mesh = icobench::strided_mesh<icobench::ordering::per_vertex>;
  using loops = icobench::kernels::nabla4_kfirst<false>;
  const icobench::rectangle inside{model::halo, model::halo, model::nx - 2 * model::halo,
                                   model::ny - 2 * model::halo};
  loops::run<mesh, double>(mesh{model::nx, model::vertices}, inside, operands, model::levels,
                           loops::tuned());
  const icobench::grid grid = icobench::make_torus({model::nx, model::ny});
  int others = 0;
  for (int colour = 0; colour < 3; ++colour) {
    for (int s = 0; s < 4; ++s) {
      others += grid.e2c2v(3 * model::vertex_id(5, 5) + colour, s) !=
                model::diamond_of(5, 5, colour).of[s];
    }
  }
  std::printf("%d neighbours differ from those of icobench::grids\n", others);
  return model::agree("nabla4", f.edge, reference.edge) && others == 0 ? 0 : 1;
}
