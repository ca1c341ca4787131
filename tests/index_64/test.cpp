// Ids of 64 bits: the kernels of the single stencils, and a chain of them, on simt. This program is
// built with ICOBENCH_INDEX_BITS=64, with all sources that it needs.
#include <gtest/gtest.h>

#include <icobench/grids/torus.hpp>
#include <icobench/kernels/interpolate/kloop.hpp>
#include <icobench/kernels/interpolate/naive.hpp>
#include <icobench/kernels/nabla4/kloop.hpp>
#include <icobench/kernels/nabla4/naive.hpp>
#include <icobench/kernels/verts2cells/kloop.hpp>
#include <icobench/kernels/verts2cells/naive.hpp>

#include "src/catalogue/gpu_variant.hpp"
#include "src/problem/resident.hpp"
#include "src/simt/backend.hpp"

namespace icobench {
namespace {

static_assert(sizeof(index_t) == 8);

struct backend : gpu::simt_backend {
  static constexpr std::string_view header = "";
};

const registry& variants() {
  registry& r = registry::collecting();
  add_variants<backend>(r, kernels::nabla4_kloop_variants{});
  add_variants<backend>(r, kernels::nabla4_naive_variants{});
  add_variants<backend>(r, kernels::interpolate_kloop_variants{});
  add_variants<backend>(r, kernels::interpolate_naive_variants{});
  add_variants<backend>(r, kernels::verts2cells_kloop_variants{});
  add_variants<backend>(r, kernels::verts2cells_naive_variants{});
  return registry::instance();
}

TEST(index_64, variants_are_right) {
  gpu::simt_device device;
  const auto mesh = std::make_shared<const grid>(make_torus({14, 9}));
  int ran = 0;
  for (const variant& v : variants().variants()) {
    const index_t halo = v.access_ == access::patched ? 0 : 2;  // with its seam, or without
    problem p = make_problem(mesh, *find_chain(v.info.chain), 3, halo, precision::float64);
    compute_reference(p);
    for (const implementation& i : v.implementations) {
      if (i.precision_ != p.precision_) { continue; }
      SCOPED_TRACE(v.name());
      resident_problem resident(device, p, {v.access_, i.ordering_, i.layout_});
      for (const char* text : {"", "tables=rows", "tables=by_vertex"}) {
        std::vector<launch> launches;
        for (const launch& l : i.defaults) { launches.push_back(parse_launch(text, l)); }
        plan ready;
        try {
          ready = i.prepare(device, resident.view(), launches);
        } catch (const unsupported&) {
          EXPECT_NE(std::string(text), "");
          continue;
        }
        resident.poison_outputs();
        ready.run();
        EXPECT_TRUE(resident.verify().ok) << text;
        ++ran;
      }
    }
  }
  EXPECT_GT(ran, 60);
}

// More vertices than 32 bits can number the diamonds of.
TEST(index_64, large_grids_have_ids) {
  EXPECT_NO_THROW(check_torus({100000, 100000}));
  EXPECT_EQ(wrap({100000, 100000}, -1, 0), index_t(50000) * 100000 + 99999);
  EXPECT_THROW(check_torus({index_t(1) << 40, index_t(1) << 40}), input_error);
}

}  // namespace
}  // namespace icobench
