// Launches as callers make them, on simt: the calls of tests/consumer, parts of domains and levels,
// stencils one after another, and what is refused.
#include <icobench/prepare.hpp>

#include <gtest/gtest.h>

#include <functional>

#include <icobench/kernels/fastest.hpp>
#include <icobench/kernels/interpolate/march.hpp>
#include <icobench/kernels/nabla4/march.hpp>
#include <icobench/kernels/nabla4/pairs.hpp>

#include "src/simt/backend.hpp"
#include "tests/consumer/calls.hpp"

namespace icobench {
namespace {

using gpu::simt_backend;

// The model's fields, which lie where they are.
struct prepared_calls : testing::Test {
  prepared_calls() { model::compute(reference, model::colour_by_colour); }

  model::fields f = model::make_fields(model::planes), reference = f;
  gpu::simt_device device;
  const torus_mesh torus{model::nx, model::vertices};
  static double* place(const model::array& a) { return const_cast<double*>(a.values.data()); }

  nabla4_operands<double> edge() { return calls::nabla4(f, place, place(f.edge)); }
  interpolate_operands<double> vertex() {
    return {calls::input(f.edge, place, true),
            calls::input(f.vertex_coeff_1, place, false),
            calls::input(f.vertex_coeff_2, place, false),
            {place(f.p_u), model::vertices, 0},
            {place(f.p_v), model::vertices, 0}};
  }
  static rectangle inside(index_t margin) {
    return {margin, margin, model::nx - 2 * margin, model::ny - 2 * margin};
  }
  static std::string refusal(const std::function<void()>& call) {
    try {
      call();
    } catch (const unsupported& reason) { return reason.what(); }
    return "accepted";
  }
};

TEST_F(prepared_calls, of_the_consumer) {
  calls::march<simt_backend>(device, f, place, place(f.cell))();
  EXPECT_TRUE(model::agree("march", f.cell, reference.cell));
  const std::vector<int> table = calls::diamonds();
  calls::table<simt_backend>(device, f, place, table.data(), place(f.edge))();
  EXPECT_TRUE(model::agree("table", f.edge, reference.edge));
}

// Parts of the points and levels, each once: the rest stays untouched in between.
TEST_F(prepared_calls, on_parts) {
  const auto call = [&](const domain_list<rectangle>& domains, level_range levels) {
    prepare<kernels::march_of_edges_direct, simt_backend>(device, torus, domains, levels, edge())();
  };
  const rectangle all = inside(model::halo);
  const rectangle left{all.i0, all.j0, 9, all.nj};
  const rectangle right{all.i0 + 9, all.j0, all.ni - 9, all.nj};
  call({left, right}, {2, 5});
  EXPECT_TRUE(std::isnan(f.edge(model::vertex_id(3, 3), 0, 1)));
  EXPECT_FALSE(std::isnan(f.edge(model::vertex_id(3, 3), 0, 2)));
  EXPECT_FALSE(std::isnan(f.edge(model::vertex_id(3, 3), 0, 4)));
  EXPECT_TRUE(std::isnan(f.edge(model::vertex_id(3, 3), 0, 5)));
  call(all, {0, 2});
  call(left, {5, model::levels});
  call(right, {5, model::levels});
  EXPECT_TRUE(model::agree("parts", f.edge, reference.edge));
}

TEST_F(prepared_calls, one_after_another) {
  const launch l = parse_launch("64x1x2,levels=4", {});
  const auto both = prepare<kernels::march_of_edges_direct, simt_backend>(
                        device, torus, inside(model::halo), model::levels, edge())
                        .then(prepare<kernels::march_of_vertices_direct, simt_backend>(
                            device, l, torus, inside(model::halo + 1), model::levels, vertex()));
  EXPECT_EQ(both.facts().size(), 2u);
  both();
  EXPECT_TRUE(model::agree("p_u", f.p_u, reference.p_u));
  EXPECT_TRUE(model::agree("p_v", f.p_v, reference.p_v));
}

// On a torus the march; on tables without those of blocks, and without composed ones, a walk over
// levels; and without what the first choice needs, the next.
TEST_F(prepared_calls, of_the_fastest) {
  prepare_fastest<simt_backend>(device, torus, inside(model::halo), model::levels, edge())();
  EXPECT_TRUE(model::agree("fastest nabla4", f.edge, reference.edge));
  const auto twice = prepare_fastest<simt_backend>(device, torus, inside(model::halo + 1),
                                                   model::levels, vertex());
  twice();
  EXPECT_TRUE(model::agree("p_u", f.p_u, reference.p_u));
  const auto text = refusal(
      [&] { prepare_fastest<simt_backend>(device, torus, inside(0), model::levels, edge()); });
  EXPECT_EQ(
      text.find("the domain, i 0 to 39 and j 0 to 16, is too near the edge of a mesh with rows "
                "of 40 in a plane of 680: its stencils read 1 rows and columns before it"),
      0u)
      << text;
}

TEST_F(prepared_calls, refuse_what_does_not_fit) {
  const auto with = [&](const auto& change, index_t row = model::nx) {
    nabla4_operands<double> e = edge();
    change(e);
    return refusal([&] {
      prepare<kernels::nabla4_pairs, simt_backend>(device, torus_mesh{row, model::vertices},
                                                   inside(model::halo), model::levels, e);
    });
  };
  EXPECT_EQ(with([](auto&) {}), "accepted");
  EXPECT_EQ(with([](auto& e) { e.v.data = nullptr; }),
            "nabla4: field v_vert of nabla4 is not given");
  EXPECT_EQ(with([](auto& e) { e.out.data = nullptr; }),
            "nabla4: field z_nabla4_e2 of nabla4 is not given");
  EXPECT_EQ(with([](auto& e) { ++e.z.data; }),
            "field z_nabla2_e has to begin at a multiple of 2 elements");
  EXPECT_EQ(with([](auto& e) { e.z.stride += 1; }),
            "field z_nabla2_e: its strides have to be a multiple of 2 elements, not 2041 and 2040");
  EXPECT_EQ(with([](auto&) {}, 41),
            "rows and planes have to be a multiple of 2 elements, not 41 and 680");
  const auto launched = [&](std::string_view text) {
    return refusal([&] {
      prepare<kernels::march_of_edges_direct, simt_backend>(
          device, parse_launch(text, {}), torus, inside(model::halo), model::levels, edge());
    });
  };
  EXPECT_EQ(launched("128x1x2,levels=5"),
            "128x1x2,levels=5: not compiled; there are 64x1x2,levels=4");
  EXPECT_EQ(launched("60,levels=4").find("60,levels=4: a march has whole sections"), 0u);
  EXPECT_EQ(refusal([&] {
              prepare<kernels::march_of_edges_direct, simt_backend>(
                  device, torus, inside(model::halo), level_range(3, 3), edge());
            }),
            "there are no levels to compute");
}

}  // namespace
}  // namespace icobench
