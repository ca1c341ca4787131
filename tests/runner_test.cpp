// How variants are verified and timed in turns: one that writes where it must not harms no other.
#include "src/bench/runner.hpp"

#include <gtest/gtest.h>

#include <icobench/grids/torus.hpp>

namespace icobench {
namespace {

const variant& real_variant() {
  for (const variant& v : registry::instance().variants()) {
    if (v.name() == "verts2cells/strided/kfirst/separate") { return v; }
  }
  throw std::runtime_error("no such variant");
}

class runners : public testing::Test {
 protected:
  void SetUp() override {
    options_.levels = 4;
    options_.only_times = true;
    options_.sampling_.budget_seconds = 0.05;
    workspace_.set_grid(make_torus({12, 9}));
  }

  // The real one, which also adds 1 to a value of its inputs after so many runs.
  variant culprit(int after_runs) const {
    variant v = real_variant();
    v.info.schedule = "culprit";
    for (implementation& i : v.implementations) {
      i.prepare = [real = i.prepare, after_runs](gpu::device& d, const storage& s,
                                                 const std::vector<launch>& l) {
        plan p = real(d, s, l);
        auto* const input = static_cast<double*>(s.fields[std::size_t(field_named("p_u"))].data);
        p.run = [run = p.run, input, runs = std::make_shared<int>(0), after_runs] {
          run();
          if (++*runs > after_runs) { input[7] += 1; }
        };
        return p;
      };
    }
    return v;
  }

  static record record_of(const variant& v) {
    record r;
    r.variant_ = &v;
    r.implementation_ = v.find("cpu", precision::float64, ordering::per_orientation);
    r.launches = r.implementation_->defaults;
    return r;
  }

  void run(std::vector<record*> records) {
    runner(workspace_, options_, [](const record&) {}).run(records);
  }

  options options_;
  workspace workspace_{options_};
};

TEST_F(runners, who_changes_its_inputs_is_wrong_and_who_comes_after_is_right) {
  options_.verify_only = true;
  const variant bad = culprit(0);
  record first = record_of(real_variant()), second = record_of(bad),
         third = record_of(real_variant());
  run({&first, &second, &third});
  EXPECT_EQ(first.status_, status::verified) << first.reason;
  EXPECT_EQ(second.status_, status::wrong);
  EXPECT_EQ(second.reason, "it changes what it only reads: p_u");
  EXPECT_EQ(third.status_, status::verified) << third.reason;
}

TEST_F(runners, results_are_verified_again_after_timing) {
  const variant bad = culprit(3);  // right when it is verified first
  record wrong = record_of(bad), right = record_of(real_variant());
  run({&wrong, &right});
  EXPECT_EQ(wrong.status_, status::wrong);
  EXPECT_EQ(wrong.reason, "after timing: it changes what it only reads: p_u");
  EXPECT_TRUE(wrong.samples.seconds.empty());
  record later = record_of(real_variant());
  run({&later});
  EXPECT_EQ(later.status_, status::ok) << later.reason;
  EXPECT_FALSE(later.samples.seconds.empty());
}

TEST_F(runners, inputs_are_restored_whatever_was_changed) {
  const chain& c = *find_chain("nabla4_interpolate_verts2cells");
  problem p = make_problem(std::make_shared<const grid>(make_torus({12, 9})), c, 3,
                           default_halo(make_torus({12, 9}), c), precision::float64);
  compute_reference(p);
  resident_problem resident(workspace_.device("cpu"), p,
                            {access::indirect, ordering::per_vertex, layout::kfirst});
  EXPECT_EQ(resident.changed_inputs(), "");
  auto* const table = static_cast<index_t*>(
      const_cast<void*>(static_cast<const void*>(resident.view().tables[0].data)));
  auto* const values =
      static_cast<double*>(resident.view().fields[std::size_t(inputs(c).back())].data);
  ASSERT_TRUE(table && values);
  const index_t id = std::exchange(table[3], -7);
  const double value = std::exchange(values[1], 1e300);
  EXPECT_NE(resident.changed_inputs().find("a neighbour table"), std::string::npos);
  resident.restore_inputs();
  EXPECT_EQ(resident.changed_inputs(), "");
  EXPECT_EQ(table[3], id);
  EXPECT_DOUBLE_EQ(values[1], value);
}

}  // namespace
}  // namespace icobench
