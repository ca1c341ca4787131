// Every registered variant on every backend that can run it, on sizes that divide nothing.
#include <gtest/gtest.h>

#include <icobench/gpu/simt_backend.hpp>
#include <icobench/registry.hpp>

#include "grids/torus.hpp"
#include "src/problem/resident.hpp"

namespace icobench {
namespace {

struct setting {
  torus_shape shape;
  index_t levels;
  index_t halo;
};

// Odd everything; a rectangle one point wide; more than a block; one level; a halo beyond the
// default.
const setting settings[] = {
    {{10, 9}, 5, 1}, {{12, 8}, 1, 2}, {{38, 11}, 3, 2}, {{14, 71}, 2, 3}, {{16, 13}, 23, 4}};

std::string describe(const problem& p) {
  return p.mesh->name + ", " + std::to_string(p.levels) + " levels, halo " + std::to_string(p.halo);
}

// Runs every variant of the problem's chain and counts those that ran.
int verify_all(gpu::device& device, const problem& p) {
  int ran = 0;
  for (const variant& v : registry::instance().variants()) {
    if (v.info.chain != p.chain_->name) { continue; }
    for (const implementation& i : v.implementations) {
      if (i.backend != device.backend() || i.precision_ != p.precision_) { continue; }
      if (v.access_ == access::strided && (!p.mesh->shape || p.halo < 1)) { continue; }
      SCOPED_TRACE(v.name() + " " + std::string(to_string(i.ordering_)) + " " +
                   std::string(to_string(i.precision_)) + " on " + describe(p));
      resident_problem resident(device, p, {v.access_, i.ordering_, i.layout_});
      resident.poison_outputs();
      i.prepare(device, resident.view(), i.defaults).run();
      const verification result = resident.verify();
      EXPECT_TRUE(result.ok) << result.wrong << " wrong values, largest error " << result.max_error;
      ++ran;
    }
  }
  return ran;
}

void verify_settings(gpu::device& device) {
  for (const chain& c : chain_table) {
    int ran = 0;
    for (const setting& s : settings) {
      for (const precision p : {precision::float64, precision::float32}) {
        auto mesh = std::make_shared<const grid>(make_torus(s.shape));
        problem problem_ = make_problem(mesh, c, s.levels, s.halo, p);
        compute_reference(problem_);
        ran += verify_all(device, problem_);
      }
    }
    EXPECT_GT(ran, 0) << "no variant of " << c.name << " on " << device.backend();
  }
}

TEST(variants, cpu) {
  const auto device = registry::instance().backends().at("cpu")();
  verify_settings(*device);
}

struct simt_case {
  unsigned warp_size;
  gpu::thread_order order;
};
class simt_variants : public testing::TestWithParam<simt_case> {};

TEST_P(simt_variants, all) {
  gpu::simt_device device;
  device.settings = {GetParam().warp_size, GetParam().order, 7};
  verify_settings(device);
}
INSTANTIATE_TEST_SUITE_P(orders, simt_variants,
                         testing::Values(simt_case{32, gpu::thread_order::forward},
                                         simt_case{32, gpu::thread_order::reverse},
                                         simt_case{32, gpu::thread_order::random},
                                         simt_case{64, gpu::thread_order::forward},
                                         simt_case{64, gpu::thread_order::random}));

// The same list on a real GPU.
TEST(variants, gpu) {
  bool any = false;
  for (const std::string name : {"cuda", "hip"}) {
    const auto& backends = registry::instance().backends();
    if (!backends.contains(name)) { continue; }
    std::unique_ptr<gpu::device> device;
    try {
      device = backends.at(name)();
    } catch (const gpu::device_error& error) {
      std::cout << name << ": " << error.what() << "\n";
      continue;
    }
    any = true;
    verify_settings(*device);
  }
  if (!any) { GTEST_SKIP() << "no GPU here"; }
}

// The periodic torus, across its seam, without a halo: indirect access only.
TEST(variants, whole_torus) {
  for (const std::string name : {"cpu", "simt"}) {
    const auto device = registry::instance().backends().at(name)();
    for (const chain& c : chain_table) {
      auto mesh = std::make_shared<const grid>(make_torus({4, 3}));
      problem p = make_problem(mesh, c, 3, 0, precision::float64);
      compute_reference(p);
      EXPECT_GT(verify_all(*device, p), 0);
    }
  }
}

}  // namespace
}  // namespace icobench
