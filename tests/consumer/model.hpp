// A model's own torus and fields, and nabla4 in plain loops: nothing here comes from icobench.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <vector>

namespace model {

constexpr int nx = 12, ny = 9, levels = 5, halo = 1;
constexpr int vertices = nx * ny, edges = 3 * vertices;

// Element (entity, slot, level) of an array with any strides.
struct array {
  int entity_stride, slot_stride, level_stride;
  std::vector<double> values;

  double& operator()(int h, int s, int k) {
    return values[std::size_t(h * entity_stride + s * slot_stride + k * level_stride)];
  }
  double operator()(int h, int s, int k) const { return const_cast<array&>(*this)(h, s, k); }
};

// Levels contiguous, then slots.
inline array columns(int entities, int slots, int levels_) {
  return {slots * levels_, levels_, 1,
          std::vector<double>(std::size_t(entities * slots * levels_), std::nan(""))};
}

// Entities contiguous, then slots.
inline array planes(int entities, int slots, int levels_) {
  return {1, entities, entities * slots,
          std::vector<double>(std::size_t(entities * slots * levels_), std::nan(""))};
}

struct fields {
  array u, v, normal_1, normal_2, inv_vert_vert_length, inv_primal_edge_length, z, out;
};

template <class Make>
fields make_fields(Make make) {
  fields f{make(vertices, 1, levels), make(vertices, 1, levels), make(edges, 4, 1),
           make(edges, 4, 1),         make(edges, 1, 1),         make(edges, 1, 1),
           make(edges, 1, levels),    make(edges, 1, levels)};
  double x = 0.3;
  for (array* a : {&f.u, &f.v, &f.normal_1, &f.normal_2, &f.inv_vert_vert_length,
                   &f.inv_primal_edge_length, &f.z}) {
    for (double& value : a->values) {
      x = 3.9 * x * (1 - x);  // the logistic map: no two values alike
      value = 2 * x - 1;
    }
  }
  return f;
}

// The ids of the four vertices that the edge of this colour at (i, j) needs.
struct diamond {
  int ids[4];
};
inline diamond diamond_of(int i, int j, int colour) {
  const auto id = [](int a, int b) { return b * nx + a; };
  if (colour == 0) { return {{id(i, j), id(i, j + 1), id(i - 1, j + 1), id(i + 1, j)}}; }
  if (colour == 1) { return {{id(i, j), id(i + 1, j), id(i, j + 1), id(i + 1, j - 1)}}; }
  return {{id(i, j), id(i + 1, j - 1), id(i + 1, j), id(i, j - 1)}};
}

// Whether f.out is nabla4 inside the halo, and still NaN elsewhere; edge_id(vertex, colour) numbers
// the edges.
template <class EdgeId>
bool agrees(const fields& f, EdgeId edge_id) {
  double largest = 0, error = 0;
  std::size_t computed = 0, written = 0;
  for (int j = halo; j < ny - halo; ++j) {
    for (int i = halo; i < nx - halo; ++i) {
      for (int colour = 0; colour < 3; ++colour) {
        const int e = edge_id(j * nx + i, colour);
        const diamond d = diamond_of(i, j, colour);
        for (int k = 0; k < levels; ++k) {
          double sums[2] = {0, 0};  // along the edge, across it
          for (int s = 0; s < 4; ++s) {
            sums[s / 2] += f.u(d.ids[s], 0, k) * f.normal_1(e, s, 0) +
                           f.v(d.ids[s], 0, k) * f.normal_2(e, s, 0);
          }
          const double across = f.inv_vert_vert_length(e, 0, 0);
          const double along = f.inv_primal_edge_length(e, 0, 0);
          const double expected = 4 * ((sums[1] - 2 * f.z(e, 0, k)) * across * across +
                                       (sums[0] - 2 * f.z(e, 0, k)) * along * along);
          const double difference = std::abs(f.out(e, 0, k) - expected);
          error = std::isnan(difference) ? std::numeric_limits<double>::infinity()
                                         : std::fmax(error, difference);
          largest = std::fmax(largest, std::abs(expected));
          ++computed;
        }
      }
    }
  }
  for (const double value : f.out.values) { written += !std::isnan(value); }
  std::printf("%zu values, largest %g, error %g; %zu written\n", computed, largest, error, written);
  return error <= 1e-14 * largest && written == computed;
}

}  // namespace model
