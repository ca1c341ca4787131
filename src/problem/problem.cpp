#include "src/problem/problem.hpp"

#include <cmath>

#include <icobench/stencil/interpolate.hpp>
#include <icobench/stencil/nabla4.hpp>
#include <icobench/stencil/verts2cells.hpp>

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

template <int count>
neighbours<double, count> gather(const host_field& f, const neighbours<index_t, count>& ids,
                                 index_t k) {
  neighbours<double, count> result{};
  for (int s = 0; s < count; ++s) { result[s] = ids[s] == missing ? 0.0 : f(ids[s], 0, k); }
  return result;
}

template <int count>
neighbours<double, count> slots_at(const host_field& f, index_t h, index_t k) {
  neighbours<double, count> result{};
  for (int s = 0; s < count; ++s) { result[s] = f.at_level(h, s, k); }
  return result;
}

template <int count>
neighbours<index_t, count> row(const table& t, index_t h) {
  neighbours<index_t, count> result{};
  for (int s = 0; s < count; ++s) { result[s] = t(h, s); }
  return result;
}

template <class Compute>
void for_each(const std::vector<index_t>& ids, index_t levels, Compute compute) {
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t n = 0; n < std::ptrdiff_t(ids.size()); ++n) {
    for (index_t k = 0; k < levels; ++k) { compute(ids[std::size_t(n)], k); }
  }
}

void reference_nabla4(problem& p, host_field& out) {
  const auto& f = p.fields;
  const host_field &u = f.at(field::u_vert), &v = f.at(field::v_vert), &z = f.at(field::z_nabla2_e),
                   &n1 = f.at(field::primal_normal_vert_v1),
                   &n2 = f.at(field::primal_normal_vert_v2),
                   &vert_vert = f.at(field::inv_vert_vert_length),
                   &edge = f.at(field::inv_primal_edge_length);
  for_each(p.computed[std::size_t(stage::nabla4)].ids, p.levels, [&](index_t e, index_t k) {
    const auto diamond = row<4>(p.mesh->e2c2v, e);
    const double a = vert_vert.at_level(e, 0, k), b = edge.at_level(e, 0, k);
    const nabla4<double> stencil{slots_at<4>(n1, e, k), slots_at<4>(n2, e, k), a * a, b * b};
    out(e, 0, k) = stencil(gather(u, diamond, k), gather(v, diamond, k), z(e, 0, k));
  });
}

void reference_interpolate(problem& p, host_field& p_u, host_field& p_v) {
  const auto& f = p.fields;
  const host_field& p_e = f.at(field::z_nabla4_e2);
  for_each(p.computed[std::size_t(stage::interpolate)].ids, p.levels, [&](index_t v, index_t k) {
    const interpolate<double> stencil{slots_at<6>(f.at(field::ptr_coeff_1), v, k),
                                      slots_at<6>(f.at(field::ptr_coeff_2), v, k)};
    const auto sum = stencil(gather(p_e, row<6>(p.mesh->v2e, v), k));
    p_u(v, 0, k) = sum.u;
    p_v(v, 0, k) = sum.v;
  });
}

void reference_verts2cells(problem& p, host_field& out) {
  const auto& f = p.fields;
  for_each(p.computed[std::size_t(stage::verts2cells)].ids, p.levels, [&](index_t c, index_t k) {
    const verts2cells<double> stencil{slots_at<3>(f.at(field::cell_coeff_1), c, k),
                                      slots_at<3>(f.at(field::cell_coeff_2), c, k)};
    const auto corners = row<3>(p.mesh->c2v, c);
    out(c, 0, k) =
        stencil(gather(f.at(field::p_u), corners, k), gather(f.at(field::p_v), corners, k));
  });
}

// A torus numbers edges and cells with the vertices that own them.
constexpr index_t owned_by_vertex(location l) {
  return l == location::vertex ? 1 : l == location::edge ? 3 : 2;
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
    if (f == field::ptr_coeff_1 || f == field::ptr_coeff_2) {
      clear_missing_slots(values, mesh->v2e);
    }
    p.fields.emplace(f, std::move(values));
  }
  return p;
}

void compute_reference(problem& p) {
  for (const stage s : p.chain_->stages) {
    for (const field f : info(s).outputs) { p.fields[f] = make_field(p, f); }
    switch (s) {
      case stage::nabla4:
        reference_nabla4(p, p.fields[field::z_nabla4_e2]);
        break;
      case stage::interpolate:
        reference_interpolate(p, p.fields[field::p_u], p.fields[field::p_v]);
        break;
      case stage::verts2cells:
        reference_verts2cells(p, p.fields[field::p_cell]);
        break;
    }
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
