// Every registered variant on every backend that can run it, on sizes that divide nothing.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <optional>
#include <random>
#include <span>

#include <icobench/grids/sphere.hpp>
#include <icobench/grids/torus.hpp>

#include "src/catalogue/registry.hpp"
#include "src/problem/reference_file.hpp"
#include "src/problem/resident.hpp"
#include "src/simt/backend.hpp"
#include "tests/grids_support.hpp"

namespace icobench {
namespace {

struct setting {
  torus_shape shape;
  index_t levels;
  index_t halo;
};

// Odd everything; a rectangle one point wide; more than a block; one level; a halo beyond the
// default; several strips of a march, from an even column on.
const setting settings[] = {{{10, 9}, 5, 1},  {{12, 8}, 1, 2},   {{38, 11}, 3, 2},
                            {{14, 71}, 2, 3}, {{16, 13}, 13, 4}, {{130, 7}, 2, 1}};

std::string describe(const problem& p) {
  return p.mesh->name + ", " + std::to_string(p.levels) + " levels, halo " + std::to_string(p.halo);
}

// The default launch and others that fit nothing: blocks that divide no size, levels that do not
// divide either, both orders of blocks, ways to read tables; large blocks, and pipelines of other
// widths and depths, for those that are compiled for them; each shape of a march. Variants may
// refuse some.
std::vector<std::vector<launch>> launches_of(const implementation& i) {
  std::vector<std::vector<launch>> result{i.defaults};
  for (const char* text :
       {"7", "7x3x2", "33x1x3,levels=3", "5x2x1,levels=0,order=levels_first",
        "32x2x2,order=points_first", "16x1x4,order=levels_first", "8x5x2,levels=2",
        "17,tables=rows,order=points_first", "9x1x2,tables=by_vertex", "32x8x2,min_blocks=2",
        "32x8x4,min_blocks=1", "32x16,levels=3,min_blocks=1",
        "32x16,levels=3,stages=3,copy_bytes=8", "32x16,levels=0,stages=4,copy_bytes=16",
        "32x16,levels=3,stages=4,copy_bytes=0", "32x16,levels=2,stages=2,copy_bytes=0",
        "32x8,levels=3,stages=2,copy_bytes=16", "32x8,levels=0,stages=2,copy_bytes=0"}) {
    result.emplace_back();
    for (const launch& l : i.defaults) { result.back().push_back(parse_launch(text, l)); }
  }
  for (const launch_space& space : i.spaces ? i.spaces() : std::vector<launch_space>{}) {
    for (const launch_axes& compiled : space.parts) {  // marches have one launch each
      const auto all = compiled.all();
      if (all.size() == 1 && i.defaults.size() == 1) { result.push_back(all); }
    }
  }
  return result;
}

// Runs every variant of the problem's chain and counts those that ran.
int verify_all(gpu::device& device, const problem& p, vertex_order vertices = vertex_order::row,
               row_pitch rows = row_pitch::staggered, std::optional<access> only = {}) {
  int ran = 0;
  for (const variant& v : registry::instance().variants()) {
    if (v.info.chain != p.chain_->name || (only && v.access_ != *only)) { continue; }
    for (const implementation& i : v.implementations) {
      if (i.backend != device.backend() || i.precision_ != p.precision_) { continue; }
      if (v.access_ == access::strided && (!p.mesh->shape || p.halo < 1)) { continue; }
      if (i.needs_torus && !p.mesh->shape) { continue; }
      if (v.access_ != access::indirect && vertices != vertex_order::row) { continue; }
      if (v.access_ == access::patched && find_patches(*p.mesh).empty()) { continue; }
      if (v.access_ == access::patched && p.mesh->shape && p.halo > 0) { continue; }
      SCOPED_TRACE(v.name() + " " + std::string(to_string(i.ordering_)) + " " +
                   std::string(to_string(i.precision_)) + " on " + describe(p) + " " +
                   std::string(to_string(vertices)) + " " + std::string(to_string(rows)));
      resident_problem resident(device, p, {v.access_, i.ordering_, i.layout_, vertices, rows});
      std::vector<std::vector<launch>> all_launches = launches_of(i);
      if (only) { all_launches.resize(4); }  // they differ on strided access
      for (const std::vector<launch>& launches : all_launches) {
        plan ready;
        try {
          ready = i.prepare(device, resident.view(), launches);
        } catch (const unsupported& reason) {
          // Some defaults are for devices with more shared memory than others have, and some
          // copies for rows that are aligned; some grids are too small to have anything inside.
          const std::string what = reason.what();
          EXPECT_TRUE(launches != i.defaults || what.find("of shared memory") != what.npos ||
                      what.find("tensor maps need") != what.npos ||
                      what.find("no patch of the grid is large enough") != what.npos)
              << what;
          continue;
        }
        resident.poison_outputs();
        ready.run();
        const verification result = v.info.roofline ? resident.verify_sums() : resident.verify();
        EXPECT_TRUE(result.ok) << to_string(launches.front()) << ": " << result.wrong
                               << " wrong values, largest error " << result.max_error;
        ++ran;
      }
    }
  }
  return ran;
}

void verify_settings(gpu::device& device, std::span<const setting> chosen = settings) {
  for (const chain& c : chain_table) {
    int ran = 0;
    for (const setting& s : chosen) {
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
  std::size_t sizes;  // the first of the settings
};
class simt_variants : public testing::TestWithParam<simt_case> {};

TEST_P(simt_variants, all) {
  if (!registry::instance().backends().contains("simt")) { GTEST_SKIP() << "built without simt"; }
  gpu::simt_device device;
  device.settings = {GetParam().warp_size, GetParam().order, 7};
  verify_settings(device, std::span(settings).first(GetParam().sizes));
}
INSTANTIATE_TEST_SUITE_P(orders, simt_variants,
                         testing::Values(simt_case{32, gpu::thread_order::forward, 6},
                                         simt_case{32, gpu::thread_order::reverse, 3},
                                         simt_case{32, gpu::thread_order::random, 4},
                                         simt_case{64, gpu::thread_order::forward, 3},
                                         simt_case{64, gpu::thread_order::random, 6}));

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
    const setting clusters[] = {{{16, 13}, 80, 2}};  // as large as they get
    verify_settings(*device, clusters);
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

// Five patches and their seams; patches of several sizes, boundaries and holes; a torus as one
// patch with its seam.
void verify_patches(gpu::device& device) {
  std::mt19937 random(3);
  const std::vector<std::pair<std::shared_ptr<const grid>, index_t>> grids{
      {std::make_shared<const grid>(test::shuffled(make_sphere({13, 0}), random)), 2},
      {std::make_shared<const grid>(test::without_vertices(make_sphere({2, 4}), {100, 900, 1700})),
       1},
      {std::make_shared<const grid>(make_torus({18, 15})), 2}};
  for (const chain& c : chain_table) {
    for (const auto& [mesh, levels] : grids) {
      for (const precision p : {precision::float64, precision::float32}) {
        problem problem_ = make_problem(mesh, c, levels, 0, p);
        compute_reference(problem_);
        const int ran =
            verify_all(device, problem_, vertex_order::row, row_pitch::staggered, access::patched);
        if (p == precision::float64) {
          EXPECT_GT(ran, 0) << c.name << " on " << describe(problem_);
        }
      }
    }
  }
}

TEST(variants, patches) {
  for (const auto& [name, open] : registry::instance().backends()) {
    if (name == "cpu") { continue; }
    try {
      const auto device = open();
      verify_patches(*device);
    } catch (const gpu::device_error&) {}  // no such device here
  }
}

// Results are the same wherever vertices lie. Strided access knows rows only.
TEST(variants, orders_of_vertices) {
  const auto torus = std::make_shared<const grid>(make_torus({12, 9}));
  const auto sphere = std::make_shared<const grid>(test::icosphere(1));
  for (const std::string name : {"cpu", "simt"}) {
    const auto device = registry::instance().backends().at(name)();
    for (const chain& c : chain_table) {
      for (const auto& mesh : {torus, sphere}) {
        problem p = make_problem(mesh, c, 2, mesh->shape ? 2 : 0, precision::float64);
        compute_reference(p);
        for (const vertex_order order :
             {vertex_order::hilbert, vertex_order::breadth_first, vertex_order::shuffled}) {
          if (order == vertex_order::hilbert && !mesh->shape) { continue; }
          EXPECT_GT(verify_all(*device, p, order), 0);
          EXPECT_THROW(
              resident_problem(*device, p,
                               {access::strided, ordering::per_vertex, layout::ifirst, order}),
              unsupported);
        }
      }
    }
  }
}

// However far apart the rows of a torus lie: 12 columns are neither aligned nor staggered.
TEST(variants, distances_of_rows) {
  for (const std::string name : {"cpu", "simt"}) {
    const auto device = registry::instance().backends().at(name)();
    for (const chain& c : chain_table) {
      problem p = make_problem(std::make_shared<const grid>(make_torus({12, 9})), c, 2, 2,
                               precision::float64);
      compute_reference(p);
      for (const row_pitch rows : {row_pitch::grid, row_pitch::aligned}) {
        EXPECT_GT(verify_all(*device, p, vertex_order::row, rows), 0);
      }
    }
  }
}

// What lies between rows is nobody's: a result there is wrong, wherever it is looked for.
TEST(variants, padding_of_rows_stays_untouched) {
  const auto device = registry::instance().backends().at("simt")();
  problem p = make_problem(std::make_shared<const grid>(make_torus({12, 9})),
                           *find_chain("interpolate"), 2, 2, precision::float64);
  compute_reference(p);
  resident_problem resident(*device, p,
                            {access::strided, ordering::per_orientation, layout::ifirst});
  const raw_view& out = resident.view().fields[std::size_t(field_named("p_u"))];
  const variant& v = *std::find_if(
      registry::instance().variants().begin(), registry::instance().variants().end(),
      [](const variant& one) { return one.name() == "interpolate/strided/kloop/separate"; });
  const implementation& i = *v.find("simt", precision::float64, ordering::per_orientation);
  const auto run = [&] {
    resident.poison_outputs();
    i.prepare(*device, resident.view(), i.defaults).run();
  };
  run();
  EXPECT_TRUE(resident.verify(true).ok);
  EXPECT_TRUE(resident.verify(false).ok);
  static_cast<double*>(out.data)[3 * resident.view().row + 12] = 1;
  EXPECT_FALSE(resident.verify(true).ok);
  EXPECT_EQ(resident.verify(false).wrong, 1u);
}

// Committed dumps of an independent implementation: see tests/data/make_reference.py.
TEST(variants, reference_dumps) {
  int dumps = 0;
  const std::filesystem::path folder = ICOBENCH_SOURCE_DIR "/tests/data";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h5") { continue; }
    SCOPED_TRACE(entry.path().filename().string());
    const problem p = read_reference(entry.path().string());
    for (const std::string name : {"cpu", "simt"}) {
      const auto device = registry::instance().backends().at(name)();
      EXPECT_GT(verify_all(*device, p), 0);
    }
    ++dumps;
  }
  EXPECT_GE(dumps, 8);
}

TEST(variants, have_names_of_their_own) {
  registry r;
  const kernel_info info{.chain = "nabla4", .schedule = "kloop"};
  const implementation one{.backend = "cpu"}, other{.backend = "simt"};
  r.add(info, access::strided, one);
  r.add(info, access::strided, other);
  r.add(info, access::indirect, one);
  EXPECT_THROW(r.add(info, access::strided, one), std::logic_error);
  EXPECT_THROW(r.add(kernel_info{.chain = "nabla5"}, access::strided, one), std::logic_error);
  EXPECT_EQ(r.variants().size(), 2u);
}

// Files register before main(), where nobody could catch what is thrown.
TEST(variants, of_one_name_are_refused_later) {
  const auto said = [] {
    const bool registered = registry::collect("kernels/nabla4/twice.hpp", [](registry& r) {
      const kernel_info info{.chain = "nabla4", .schedule = "twice"};
      for (int n = 0; n < 2; ++n) { r.add(info, access::strided, {.backend = "cpu"}); }
    });
    try {
      registry::instance();
    } catch (const input_error& error) { std::cerr << error.what() << "\n"; }
    std::exit(registered ? 0 : 1);
  };
  EXPECT_EXIT(said(), testing::ExitedWithCode(0),
              "kernels/nabla4/twice.hpp: two variants are named nabla4/strided/twice/separate");
}

// Why a variant cannot run a launch.
std::string refusal(std::string_view name, std::string_view launch_) {
  gpu::simt_device device;
  device.settings.warp_size = 64;  // with the shared memory of AMD's GPUs
  for (const variant& v : registry::instance().variants()) {
    if (v.name() != name) { continue; }
    const implementation& i = *v.find("simt", precision::float64, ordering::per_orientation);
    const problem p = make_problem(std::make_shared<const grid>(make_torus({12, 11})),
                                   *find_chain(v.info.chain), 3, 2, precision::float64);
    resident_problem resident(device, p, {v.access_, i.ordering_, i.layout_});
    try {
      i.prepare(device, resident.view(), {parse_launch(launch_, i.defaults.front())});
    } catch (const unsupported& reason) { return reason.what(); }
    return "accepted";
  }
  return "no such variant";
}

TEST(variants, launches_are_read_as_they_are_written) {
  for (const std::string text :
       {"32x1x4,levels=20,min_blocks=3", "7,order=points_first", "7x3,order=levels_first",
        "1x1x2,tables=rows", "64,tables=by_vertex", "64,constants=problem",
        "32x8,stages=3,copy_bytes=8", "128x1x2,levels=5,cluster=4"}) {
    EXPECT_EQ(to_string(parse_launch(text, {})), text);
  }
  const launch other = parse_launch("32,order=levels_first,tables=rows", {});
  const launch plain{.block = {32, 1, 1}};
  EXPECT_EQ(parse_launch("order=by_size,tables=slots", other), plain);
  EXPECT_THROW(parse_launch("32,order=", {}), std::invalid_argument);
  EXPECT_THROW(parse_launch("32,order=rowslevels=2", {}), std::invalid_argument);
}

// What versions before had in tuning tables and journals.
TEST(variants, former_choices_of_launches_are_refused_with_advice) {
  for (const std::string choice :
       {"adjacent", "stores=streaming", "loads=streaming", "persist=tables", "grid=4"}) {
    try {
      parse_launch("32x1x4," + choice + ",levels=2", {});
      FAIL() << choice;
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(std::string(error.what()),
                "'" + choice +
                    "' is a choice of versions up to 0.1, which never won and is gone: "
                    "leave it out, or search again");
    }
  }
}

TEST(variants, choices_that_a_kernel_has_not_are_refused) {
  const std::string none = " or the use of tables is not among the compiled choices: min_blocks=1";
  EXPECT_EQ(refusal("nabla4/strided/naive/separate", "32,tables=rows").find(none),
            std::string("32,tables=rows: min_blocks=1").size());
  EXPECT_EQ(refusal("nabla4/indirect/naive/separate", "32,tables=by_vertex"), "accepted");
  for (const std::string other : {"32,cluster=4", "32,stages=3", "32,copy_bytes=8"}) {
    EXPECT_EQ(refusal("nabla4/strided/naive/separate", other),
              other + ": this kernel has no stages, copies or clusters");
  }
  EXPECT_EQ(refusal("nabla4/strided/march/separate/bulk", "64x1x3"),
            "64x1x3,levels=5: this shape is not among the compiled choices: 128x1x2,levels=5 "
            "64x1x4,levels=5; nothing is compiled at run time");
}

// Launches that a kernel cannot run are refused with the reason.
TEST(variants, refused_launches) {
  const std::string cached = "nabla4_interpolate/strided/kloop/inlined_cached";
  EXPECT_EQ(refusal(cached, "32x8"), "accepted");
  EXPECT_EQ(refusal(cached, "32x8,levels=20"),
            "32x8,levels=20,min_blocks=2: needs 122880 bytes of shared memory a block, the device "
            "has 65536");
  EXPECT_EQ(refusal(cached, "32x2"),
            "32x2,levels=10,min_blocks=2: blocks overlap: they need more than 1 x 2 threads");
  EXPECT_EQ(refusal(cached, "32x8,levels=0"),
            "32x8,levels=0,min_blocks=2: a block keeps its levels in shared memory: say how many");
  EXPECT_EQ(refusal("nabla4_interpolate/strided/naive/inlined", "32,levels=2"),
            "32,levels=2,min_blocks=3: a thread of this kernel computes one level");
  EXPECT_EQ(refusal("nabla4_interpolate/strided/kloop/inlined_v2v/shuffle", "48x2").substr(0, 40),
            "48x2,levels=40: x has to be a power of t");
}

// A roofline has its own result, and no other variant is taken for one.
TEST(variants, rooflines_compute_sums) {
  gpu::simt_device device;
  int rooflines = 0, others = 0;
  for (const variant& v : registry::instance().variants()) {
    const implementation* i = v.find("simt", precision::float64, ordering::per_vertex);
    if (!i || v.access_ != access::strided || v.info.schedule != "kloop") { continue; }
    SCOPED_TRACE(v.name());
    auto mesh = std::make_shared<const grid>(make_torus({10, 9}));
    problem p = make_problem(mesh, *find_chain(v.info.chain), 3, 2, precision::float64);
    compute_reference(p);
    resident_problem resident(device, p, {v.access_, i->ordering_, i->layout_});
    resident.poison_outputs();
    i->prepare(device, resident.view(), i->defaults).run();
    EXPECT_EQ(resident.verify_sums().ok, v.info.roofline);
    EXPECT_EQ(resident.verify().ok, !v.info.roofline);
    (v.info.roofline ? rooflines : others)++;
  }
  EXPECT_GT(rooflines, 0);
  EXPECT_GT(others, 0);
}

// A verification that cannot fail would be worth nothing.
TEST(variants, wrong_results_are_found) {
  const auto device = registry::instance().backends().at("cpu")();
  auto mesh = std::make_shared<const grid>(make_torus({10, 9}));
  problem p = make_problem(mesh, *find_chain("interpolate"), 3, 1, precision::float64);
  compute_reference(p);
  const variant* v = nullptr;
  for (const variant& each : registry::instance().variants()) {
    if (each.name() == "interpolate/strided/kfirst/separate") { v = &each; }
  }
  ASSERT_NE(v, nullptr);
  const implementation& i = *v->find("cpu", precision::float64, ordering::per_vertex);
  const auto verify = [&](const problem& expected) {
    resident_problem resident(*device, expected, {v->access_, i.ordering_, i.layout_});
    resident.poison_outputs();
    i.prepare(*device, resident.view(), i.defaults).run();
    return resident.verify();
  };
  ASSERT_TRUE(verify(p).ok);

  problem off = p;  // one value wrong in the last bits that count
  const index_t inside = p.computed[std::size_t(stage::interpolate)].ids[5];
  off.fields[field_named("p_v")](inside, 0, 2) += 1e-9;
  const verification result = verify(off);
  EXPECT_FALSE(result.ok);
  EXPECT_EQ(result.wrong, 1u);
  ASSERT_EQ(result.first.size(), 1u);
  EXPECT_EQ(result.first[0].entity, inside);
  EXPECT_EQ(result.first[0].level, 2);

  problem fewer = p;  // a value where nothing was expected
  fewer.fields[field_named("p_u")](inside, 0, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(verify(fewer).wrong, 1u);
  problem more = p;  // none where one was expected
  more.fields[field_named("p_u")](0, 0, 0) = 1;
  EXPECT_EQ(verify(more).wrong, 1u);
}

}  // namespace
}  // namespace icobench
