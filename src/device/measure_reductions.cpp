// bench_device reductions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "src/device/device_bench.hpp"
#include "src/measure/ceilings.hpp"

namespace icobench {
namespace {

struct expected_values {
  double sum, least, most;
};

expected_values expect(std::size_t count) {
  double least = std::numeric_limits<double>::infinity(), most = -least;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : most)
  for (std::ptrdiff_t n = 0; n < std::ptrdiff_t(count); ++n) {
    const double x = input_value(1, std::uint64_t(n));
    least = std::fmin(least, x);
    most = std::fmax(most, x);
  }
  return {sum_of_inputs(count), least, most};
}

class reduction_work {
 public:
  reduction_work(device_bench& bench, precision p, std::size_t count)
      : device_(bench.device()),
        ops_(bench.ops()),
        precision_(p),
        count_(count),
        expected_(expect(count)),
        values_(device_, std::max<std::size_t>(count, 1) * size_of(p)),
        result_(device_, sizeof(double)),
        space_(device_) {
    ops_.fill_inputs(device_, p, 1, values_.data(), count);
  }

  measurement make(reduced what, const reduction& how) {
    constexpr const char* operators[] = {"sum", "minimum", "maximum"};
    constexpr const char* blocks[] = {"tree", "shuffle"};
    constexpr const char* grids[] = {"two_passes", "last_block", "atomics"};
    measurement m;
    m.name = std::string("reductions/") + operators[std::size_t(what)] + "/" +
             (how.deterministic ? "deterministic" : blocks[std::size_t(how.block)]) + "/" +
             grids[std::size_t(how.grid)] + "/" + std::string(to_string(precision_));
    m.parameters = {{"elements", count_}};
    m.bytes = double(count_) * double(size_of(precision_));
    m.reference = "ceilings/read/" + std::string(to_string(precision_));
    m.run = [=, this] {
      ops_.reduce(device_, what, precision_, values_.data(), count_, result_.data(), space_, how);
    };
    m.check = [=, this]() -> std::string {
      const double want = what == reduced::sum       ? expected_.sum
                          : what == reduced::minimum ? expected_.least
                                                     : expected_.most;
      const double got = result();
      // A float sum of so many has that error; least and largest are among the inputs.
      const double relative = what != reduced::sum               ? 0
                              : precision_ == precision::float64 ? 1e-12
                                                                 : 1e-4;
      const bool same = std::isinf(want)
                            ? std::isinf(got) && std::signbit(got) == std::signbit(want)
                            : std::fabs(got - want) <= relative * std::fabs(want);
      return same ? "" : std::to_string(got) + " instead of " + std::to_string(want);
    };
    return m;
  }

 private:
  double result() {
    if (precision_ == precision::float64) {
      double x = 0;
      device_.download(&x, result_.data(), sizeof x);
      return x;
    }
    float x = 0;
    device_.download(&x, result_.data(), sizeof x);
    return double(x);
  }

  gpu::device& device_;
  const operations& ops_;
  precision precision_;
  std::size_t count_;
  expected_values expected_;
  gpu::buffer values_, result_;
  reduce_space space_;
};

}  // namespace

void measure_reductions(device_bench& bench) {
  const std::size_t count = bench.elements(std::size_t(1) << 28);
  for (const precision p : {precision::float64, precision::float32}) {
    if (!bench.find("ceilings/read/" + std::string(to_string(p)))) {
      ceiling_work ceilings(bench.device(), bench.ops(), count);
      bench.measure({ceilings.memory(p).front()});
    }
    reduction_work work(bench, p, count);
    std::vector<measurement> all;
    for (const within_block block : {within_block::tree, within_block::shuffle}) {
      for (const across_blocks grid :
           {across_blocks::two_passes, across_blocks::last_block, across_blocks::atomics}) {
        all.push_back(work.make(reduced::sum, {block, grid}));
      }
    }
    const reduction deterministic{.deterministic = true}, atomics{.grid = across_blocks::atomics};
    all.push_back(work.make(reduced::sum, deterministic));
    for (const reduced what : {reduced::minimum, reduced::maximum}) {
      all.push_back(work.make(what, {}));
      all.push_back(work.make(what, atomics));
    }
    bench.measure(std::move(all));
  }
}

}  // namespace icobench
