// The closed forms of the torus against a construction from distances between points.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>
#include <string>

#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

#include "tests/grids_support.hpp"

namespace icobench::test {
namespace {

constexpr double side = 2.5;

// The vertices where the geometry puts them, and which of them is a given point modulo the domain.
class plane {
 public:
  explicit plane(torus_shape shape) : shape_(shape) {
    for (index_t j = 0; j < shape.ny; ++j) {
      for (index_t i = 0; i < shape.nx; ++i) {
        points_.push_back({(j + i / 2.0) * side, i * side * std::sqrt(3.0) / 2});
      }
    }
  }

  index_t vertex_at(point p) const {
    for (std::size_t v = 0; v < points_.size(); ++v) {
      if (distance(p, points_[v]) < 1e-6 * side) return index_t(v);
    }
    return missing;
  }

  // Neighbour in direction k * 60 degrees.
  index_t neighbour(index_t v, int k) const {
    const auto& p = points_[std::size_t(v)];
    const double angle = k * std::numbers::pi / 3;
    return vertex_at({p.x + side * std::cos(angle), p.y + side * std::sin(angle)});
  }

  double distance(point p, point q) const {
    const double length = shape_.ny * side, height = shape_.nx * side * std::sqrt(3.0) / 2;
    return std::hypot(std::remainder(p.x - q.x, length), std::remainder(p.y - q.y, height));
  }

  const std::vector<point>& points() const { return points_; }

 private:
  torus_shape shape_;
  std::vector<point> points_;
};

class torus_test : public testing::TestWithParam<torus_shape> {};

INSTANTIATE_TEST_SUITE_P(shapes, torus_test, testing::ValuesIn(torus_shapes()),
                         [](const auto& tested) {
                           return std::to_string(tested.param.nx) + "x" +
                                  std::to_string(tested.param.ny);
                         });

TEST_P(torus_test, edges_join_points_one_side_apart) {
  const plane geometry(GetParam());
  const grid g = make_torus(GetParam());
  std::multiset<std::set<index_t>> expected;
  const auto& points = geometry.points();
  for (std::size_t a = 0; a < points.size(); ++a) {
    for (std::size_t b = a + 1; b < points.size(); ++b) {
      if (std::abs(geometry.distance(points[a], points[b]) - side) < 1e-6 * side) {
        expected.insert({index_t(a), index_t(b)});
      }
    }
  }
  EXPECT_EQ(row_sets(g.e2v), expected);
}

TEST_P(torus_test, cells_are_the_triangles) {
  const plane geometry(GetParam());
  const grid g = make_torus(GetParam());
  std::multiset<std::set<index_t>> expected;
  for (index_t v = 0; v < g.vertices; ++v) {
    for (int k = 0; k < 2; ++k) {
      expected.insert({v, geometry.neighbour(v, k), geometry.neighbour(v, k + 1)});
    }
  }
  EXPECT_EQ(row_sets(g.c2v), expected);
}

TEST_P(torus_test, colours_point_at_0_60_and_120_degrees) {
  const plane geometry(GetParam());
  const grid g = make_torus(GetParam());
  // Southeast runs from (i, j) to (i+1, j-1), which lies at 120 degrees.
  for (index_t e = 0; e < g.edges; ++e) {
    EXPECT_EQ(g.e2v(e, 0), e / 3);
    EXPECT_EQ(g.e2v(e, 1), geometry.neighbour(e / 3, e % 3)) << "edge " << e;
  }
}

TEST_P(torus_test, diamonds_follow_from_edges_and_cells) {
  const plane geometry(GetParam());
  const grid g = make_torus(GetParam());
  EXPECT_EQ(g.e2c2v, make_e2c2v(g.e2v, g.e2c, g.c2v));
  EXPECT_EQ(g.c2e, make_c2e(g.e2v, g.e2c, g.c2v));
  for (index_t e = 0; e < g.edges; ++e) {
    const int k = e % 3;
    const std::set<index_t> tips = {geometry.neighbour(e / 3, k + 1),
                                    geometry.neighbour(e / 3, k - 1)};
    EXPECT_EQ((std::set{g.e2c2v(e, 2), g.e2c2v(e, 3)}), tips) << "edge " << e;
  }
}

TEST_P(torus_test, is_a_valid_grid_of_euler_number_0) {
  const grid g = make_torus(GetParam());
  EXPECT_NO_THROW(check_grid(g));
  const grid_report r = inspect(g);
  EXPECT_EQ(r.euler, 0);
  EXPECT_EQ(r.valence[6], g.vertices);
  EXPECT_EQ(r.missing_neighbours, 0);
  EXPECT_TRUE(r.vertices_and_edges_mutual);
  EXPECT_TRUE(r.edges_and_cells_mutual);
}

TEST_P(torus_test, interior_rows_are_plain_strides) {
  const auto [nx, ny] = GetParam();
  const grid g = make_torus(GetParam());
  for (index_t j = 1; j < ny - 1; ++j) {
    for (index_t i = 1; i < nx - 1; ++i) {
      const index_t v = j * nx + i;
      const index_t v2e[6] = {3 * v - 2, 3 * v + 1, 3 * (v - nx),
                              3 * v,     3 * v + 2, 3 * (v + nx) - 1};
      const index_t c2v[6] = {v, v + nx, v + 1, v + 1, v + nx, v + nx + 1};
      const index_t e2c2v[12] = {v,      v + nx,     v + nx - 1, v + 1,      v,     v + 1,
                                 v + nx, v - nx + 1, v,          v - nx + 1, v + 1, v - nx};
      for (index_t s = 0; s < 6; ++s) EXPECT_EQ(g.v2e(v, s), v2e[s]);
      for (index_t n = 0; n < 6; ++n) EXPECT_EQ(g.c2v(2 * v + n / 3, n % 3), c2v[n]);
      for (index_t n = 0; n < 12; ++n) EXPECT_EQ(g.e2c2v(3 * v + n / 4, n % 4), e2c2v[n]);
    }
  }
}

TEST_P(torus_test, wrap_and_geometry_agree) {
  const torus_shape shape = GetParam();
  const plane geometry(shape);
  for (index_t j = -2 * shape.ny; j <= 2 * shape.ny; ++j) {
    for (index_t i = -2 * shape.nx; i <= 2 * shape.nx; ++i) {
      const point p = torus_point(shape, i, j, side);
      EXPECT_EQ(wrap(shape, i, j), geometry.vertex_at(p)) << i << "," << j;
      EXPECT_GE(p.x, 0);
      EXPECT_LT(p.x, domain_length(shape, side));
    }
  }
}

TEST(torus, wraps_with_a_shift) {
  constexpr torus_shape shape{10, 9};
  static_assert(wrap(shape, 10, 0) == 5 * 10);
  static_assert(wrap(shape, -1, 0) == 4 * 10 + 9);
  static_assert(wrap(shape, 3, -1) == 8 * 10 + 3);
  static_assert(wrap(shape, 3, 9) == 3);
}

TEST(torus, parses_its_name) {
  EXPECT_EQ(parse_torus("torus:298x257"), (torus_shape{298, 257}));
  EXPECT_EQ(to_string(torus_shape{298, 257}), "torus:298x257");
  EXPECT_EQ(make_torus({4, 3}).name, "torus:4x3");
}

TEST(torus, refuses_what_is_not_one) {
  for (const char* text : {"",
                           "torus",
                           "torus:",
                           "torus:4",
                           "torus:4x",
                           "torus:x3",
                           "torus:4x3x2",
                           "torus:4x3 ",
                           "torus: 4x3",
                           "torus:4X3",
                           "torus:5x9",
                           "torus:2x9",
                           "torus:4x2",
                           "torus:0x0",
                           "torus:-4x3",
                           "torus:4x-3",
                           "torus:40000x40000",
                           "torus:99999999999x3",
                           "torus:2147483646x2147483647",
                           "4x3"}) {
    EXPECT_THROW(parse_torus(text), input_error) << text;
  }
  EXPECT_THROW(make_torus({5, 9}), input_error);
}

TEST(torus, says_why_it_refuses) {
  try {
    parse_torus("torus:5x9");
    FAIL();
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("nx must be even"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace icobench::test
