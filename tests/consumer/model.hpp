// A model's own torus and fields, and its stencils in plain loops: nothing here comes from
// icobench.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <vector>

namespace model {

constexpr int nx = 40, ny = 17, levels = 7, halo = 2;
constexpr int vertices = nx * ny, edges = 3 * vertices, cells = 2 * vertices;

// Element (entity, slot, level) of an array with any strides.
struct array {
  int entity_stride, slot_stride, level_stride;
  std::vector<double> values;

  double& operator()(int h, int s, int k) { return values[place(h, s, k)]; }
  double operator()(int h, int s, int k) const { return values[place(h, s, k)]; }
  std::size_t place(int h, int s, int k) const {
    return std::size_t(h * entity_stride + s * slot_stride + k * level_stride);
  }
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

// ICON's names are in the comments of the library's stencils.
struct fields {
  array u, v, normal_1, normal_2, inv_vert_vert_length, inv_primal_edge_length, z;
  array vertex_coeff_1, vertex_coeff_2, cell_coeff_1, cell_coeff_2;
  array edge, p_u, p_v, cell;  // results
};

template <class Make>
fields make_fields(Make make) {
  fields f{make(vertices, 1, levels), make(vertices, 1, levels), make(edges, 4, 1),
           make(edges, 4, 1),         make(edges, 1, 1),         make(edges, 1, 1),
           make(edges, 1, levels),    make(vertices, 6, 1),      make(vertices, 6, 1),
           make(cells, 3, 1),         make(cells, 3, 1),         make(edges, 1, levels),
           make(vertices, 1, levels), make(vertices, 1, levels), make(cells, 1, levels)};
  double x = 0.3;
  for (array* a :
       {&f.u, &f.v, &f.normal_1, &f.normal_2, &f.inv_vert_vert_length, &f.inv_primal_edge_length,
        &f.z, &f.vertex_coeff_1, &f.vertex_coeff_2, &f.cell_coeff_1, &f.cell_coeff_2}) {
    for (double& value : a->values) {
      x = 3.9 * x * (1 - x);  // the logistic map: no two values alike
      value = 2 * x - 1;
    }
  }
  return f;
}

// How edges are numbered: colour after colour, or the three of a vertex together.
inline int colour_by_colour(int vertex, int colour) {
  return colour * vertices + vertex;
}
inline int vertex_by_vertex(int vertex, int colour) {
  return 3 * vertex + colour;
}

struct ids {
  int of[6];
};
inline int vertex_id(int i, int j) {
  return j * nx + i;
}
// The vertices that the edge of this colour at (i, j) needs.
inline ids diamond_of(int i, int j, int colour) {
  const auto id = vertex_id;
  if (colour == 0) { return {{id(i, j), id(i, j + 1), id(i - 1, j + 1), id(i + 1, j)}}; }
  if (colour == 1) { return {{id(i, j), id(i + 1, j), id(i, j + 1), id(i + 1, j - 1)}}; }
  return {{id(i, j), id(i + 1, j - 1), id(i + 1, j), id(i, j - 1)}};
}

// The stencils, where their neighbours are computed: nabla4 from the halo on, vertices one further
// in, cells where all corners are.
template <class EdgeId>
void compute(fields& f, EdgeId edge_id) {
  const auto inside = [](int first, int last, auto at) {
    for (int j = first; j < ny - last; ++j) {
      for (int i = first; i < nx - last; ++i) {
        for (int k = 0; k < levels; ++k) { at(i, j, k); }
      }
    }
  };
  inside(halo, halo, [&](int i, int j, int k) {
    for (int colour = 0; colour < 3; ++colour) {
      const int e = edge_id(vertex_id(i, j), colour);
      const ids d = diamond_of(i, j, colour);
      double sums[2] = {0, 0};  // along the edge, across it
      for (int s = 0; s < 4; ++s) {
        sums[s / 2] +=
            f.u(d.of[s], 0, k) * f.normal_1(e, s, 0) + f.v(d.of[s], 0, k) * f.normal_2(e, s, 0);
      }
      const double across = f.inv_vert_vert_length(e, 0, 0);
      const double along = f.inv_primal_edge_length(e, 0, 0);
      f.edge(e, 0, k) = 4 * ((sums[1] - 2 * f.z(e, 0, k)) * across * across +
                             (sums[0] - 2 * f.z(e, 0, k)) * along * along);
    }
  });
  inside(halo + 1, halo + 1, [&](int i, int j, int k) {
    const auto edge = [&](int a, int b, int colour) {
      return f.edge(edge_id(vertex_id(a, b), colour), 0, k);
    };
    const double p[6] = {edge(i - 1, j, 1), edge(i, j, 1), edge(i, j - 1, 0),
                         edge(i, j, 0),     edge(i, j, 2), edge(i - 1, j + 1, 2)};
    const int v = vertex_id(i, j);
    f.p_u(v, 0, k) = f.p_v(v, 0, k) = 0;
    for (int s = 0; s < 6; ++s) {
      f.p_u(v, 0, k) += p[s] * f.vertex_coeff_1(v, s, 0);
      f.p_v(v, 0, k) += p[s] * f.vertex_coeff_2(v, s, 0);
    }
  });
  inside(halo + 1, halo + 2, [&](int i, int j, int k) {
    const ids corners[2] = {{{vertex_id(i, j), vertex_id(i, j + 1), vertex_id(i + 1, j)}},
                            {{vertex_id(i + 1, j), vertex_id(i, j + 1), vertex_id(i + 1, j + 1)}}};
    for (int half = 0; half < 2; ++half) {
      const int c = 2 * vertex_id(i, j) + half;
      f.cell(c, 0, k) = 0;
      for (int m = 0; m < 3; ++m) {
        const int v = corners[half].of[m];
        f.cell(c, 0, k) +=
            (f.p_u(v, 0, k) * f.cell_coeff_1(c, m, 0) + f.p_v(v, 0, k) * f.cell_coeff_2(c, m, 0)) /
            2;
      }
    }
  });
}

// Whether two results agree, also in where they are NaN: not computed.
inline bool agree(const char* what, const array& got, const array& expected) {
  double largest = 0, error = 0;
  std::size_t computed = 0, misplaced = 0;
  for (std::size_t n = 0; n < expected.values.size(); ++n) {
    const double want = expected.values[n], have = got.values[n];
    misplaced += std::isnan(want) != std::isnan(have);
    if (std::isnan(want) || std::isnan(have)) { continue; }
    largest = std::fmax(largest, std::abs(want));
    error = std::fmax(error, std::abs(have - want));
    ++computed;
  }
  std::printf("%s: %zu values, largest %g, error %g; %zu missing or too many\n", what, computed,
              largest, error, misplaced);
  return computed > 0 && misplaced == 0 && error <= 1e-14 * largest;
}

}  // namespace model
