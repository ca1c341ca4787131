#include "src/problem/problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

namespace icobench {
namespace {

// A hash as random generator (splitmix64): value n of field f needs no other value, so filling is
// parallel and its result independent of the number of threads.
double uniform(std::uint64_t f, std::uint64_t n) {
  std::uint64_t x = (f << 48) + n + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  // The difference is exact, so that no compiler's contraction to a fused multiply-add matters.
  return (double(x >> 11) * 0x1p-53 - 0.5) * 20.0;
}

void fill_random(host_field& values, field f, precision p) {
  const auto n = std::ptrdiff_t(values.values.size());
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < n; ++i) {
    const double x = uniform(std::uint64_t(f) + 1, std::uint64_t(i));
    values.values[std::size_t(i)] = p == precision::float32 ? double(float(x)) : x;
  }
}

// A pentagon's missing edge must not count: kernels read some valid edge there.
void clear_missing_slots(host_field& coefficients, const table& neighbours) {
  for (index_t h = 0; h < coefficients.entities; ++h) {
    for (index_t s = 0; s < coefficients.slots; ++s) {
      if (neighbours(h, s) == missing) { coefficients(h, s, 0) = 0; }
    }
  }
}

// What a stencil's description sees of a problem: one point, one level.
template <class Stencil>
class reference_point {
 public:
  reference_point(problem& p, const table& neighbours)
      : neighbours_(neighbours), levels_(p.levels) {
    constexpr const stage_info& s = info(stage_number<Stencil>());
    for (std::size_t n = 0; n < inputs_.size(); ++n) { inputs_[n] = &p.fields.at(s.inputs[n]); }
    for (std::size_t n = 0; n < outputs_.size(); ++n) { outputs_[n] = &p.fields.at(s.outputs[n]); }
  }
  void move_to(index_t point, index_t k) {
    point_ = point;
    k_ = k;
  }

  double value(int n) const { return inputs_[std::size_t(n)]->at_level(point_, 0, k_); }
  template <int count>
  icobench::neighbours<double, count> slots(int n) const {
    icobench::neighbours<double, count> result{};
    for (int s = 0; s < count; ++s) {
      result[s] = inputs_[std::size_t(n)]->at_level(point_, s, k_);
    }
    return result;
  }
  template <int count>
  icobench::neighbours<double, count> neighbours(int n) const {
    static_assert(count == info(Stencil::reads).slots);
    icobench::neighbours<double, count> result{};
    for (int s = 0; s < count; ++s) {
      const index_t id = neighbours_(point_, s);
      result[s] = id == missing ? 0.0 : (*inputs_[std::size_t(n)])(id, 0, k_);
    }
    return result;
  }
  void result(int n, double value) const { (*outputs_[std::size_t(n)])(point_, 0, k_) = value; }

 private:
  const table& neighbours_;
  index_t levels_, point_ = 0, k_ = 0;
  std::array<const host_field*, std::size(Stencil::inputs)> inputs_{};
  std::array<host_field*, std::size(Stencil::outputs)> outputs_{};
};

template <class Stencil>
void compute_stage(problem& p) {
  const std::vector<index_t>& ids = p.computed[std::size_t(stage_number<Stencil>())].ids;
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t n = 0; n < std::ptrdiff_t(ids.size()); ++n) {
    reference_point<Stencil> point(p, table_of(*p.mesh, Stencil::reads));
    for (index_t k = 0; k < p.levels; ++k) {
      point.move_to(ids[std::size_t(n)], k);
      Stencil::compute(point);
    }
  }
}

}  // namespace

index_t count(const grid& g, location l) {
  return l == location::vertex ? g.vertices : l == location::edge ? g.edges : g.cells;
}

host_field make_field(const problem& p, field f) {
  return {count(*p.mesh, info(f).on), info(f).slots, p.chain_->by_level(f) ? p.levels : 1};
}

problem make_problem(std::shared_ptr<const grid> mesh, const chain& c, index_t levels, index_t halo,
                     precision precision_) {
  if (levels < 1) {
    throw input_error("the number of levels must be at least 1, not " + std::to_string(levels));
  }
  problem p{mesh, &c, levels, halo, precision_, make_domain(*mesh, c, halo), {}};
  for (const field f : inputs(c)) {
    host_field values = make_field(p, f);
    fill_random(values, f, precision_);
    for (const stage of : c.stages) {
      const table& t = table_of(*mesh, info(of).reads);
      const bool has_coefficients = std::ranges::count(info(of).inputs, f) > 0 &&
                                    info(f).on == info(of).on && info(f).slots == t.slots;
      if (info(of).rules.pentagons && has_coefficients) { clear_missing_slots(values, t); }
    }
    p.fields.emplace(f, std::move(values));
  }
  return p;
}

void compute_reference(problem& p) {
  for (const stage s : p.chain_->stages) {
    for (const field f : info(s).outputs) { p.fields[f] = make_field(p, f); }
    for_each_stencil([&]<class Stencil>() {
      if (s == stage_number<Stencil>()) { compute_stage<Stencil>(p); }
    });
  }
}

host_field input_sums(const problem& p, field output) {
  host_field result = p.fields.at(output);
  const std::vector<field> read = inputs(*p.chain_);
  const index_t share = owned_by_vertex(info(output).on);
#pragma omp parallel for schedule(static)
  for (index_t h = 0; h < result.entities; ++h) {
    for (index_t k = 0; k < result.levels; ++k) {
      if (std::isnan(result(h, 0, k))) { continue; }
      double sum = 0;
      for (const field f : read) {
        const host_field& values = p.fields.at(f);
        const index_t owned = owned_by_vertex(info(f).on);
        for (index_t n = h / share * owned; n < (h / share + 1) * owned; ++n) {
          for (index_t s = 0; s < values.slots; ++s) { sum += values.at_level(n, s, k); }
        }
      }
      result(h, 0, k) = sum;
    }
  }
  return result;
}

}  // namespace icobench
