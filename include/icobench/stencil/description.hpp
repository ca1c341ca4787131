// The words in which a stencil describes itself, all in its own header; the suite's storage,
// domains, traffic, reference and files follow from that.
//
//   namespace stencils {
//   struct gradient {
//     static constexpr const char* name = "gradient";
//     static constexpr location on = location::edge;                  where its results are
//     static constexpr neighbour_table reads = neighbour_table::e2c;  whose neighbours it reads
//     static constexpr int flops = 2;               for each point and level
//     static constexpr stencil_rules rules{...};    domain, twins
//     static constexpr field_info inputs[] = {...}, outputs[] = {...};
//     template <class T, layout L>
//     using operands = gradient_operands<T, L>;     a view of each input, then of each output
//     template <class Point>
//     static void compute(const Point& p);          the reference at one point and level, in
//     double:
//                                                   p.neighbours<2>(n), p.slots<4>(n) and
//                                                   p.value(n) of input n; p.result(n, value) of
//                                                   output n
//   };
//   }
//
// Listed in stencil/list.hpp.
#pragma once

#include <icobench/types.hpp>

namespace icobench {

// The neighbour tables of a grid: e2c2v is the diamond of an edge, its ends and the tips of its
// cells.
enum class neighbour_table { e2c2v, v2e, c2v, e2c, c2e };
inline constexpr int neighbour_table_count = 5;

struct neighbour_table_info {
  const char* name;
  location of, to;
  int slots;
};
inline constexpr neighbour_table_info neighbour_tables[neighbour_table_count] = {
    {"e2c2v", location::edge, location::vertex, 4}, {"v2e", location::vertex, location::edge, 6},
    {"c2v", location::cell, location::vertex, 3},   {"e2c", location::edge, location::cell, 2},
    {"c2e", location::cell, location::edge, 3},
};
constexpr const neighbour_table_info& info(neighbour_table t) {
  return neighbour_tables[int(t)];
}

// Does a field depend on the level? by_level_if_vertical: in the chain's vertical twin.
enum class level_rule { once, by_level, by_level_if_vertical };

struct field_info {
  const char* name;  // ICON's
  location on;
  int slots;
  level_rule values;
  const char* units;        // of ICON; values in the suite are arbitrary numbers
  const char* description;  // for files
};

struct stencil_rules {
  int halo = 1;  // rows and columns of a torus left out on each side, where it is alone
  // Rows and columns that a point of a torus reads before and after its own.
  int reach_before = 1, reach_after = 1;
  // A point may lack a neighbour (a pentagon's sixth edge has coefficient 0) if it is no part of
  // the boundary.
  bool pentagons = false;
  // The input that changes its sign with the order of the neighbours, if the results do.
  int odd_input = -1;
  const char* vertical = nullptr;  // the name of the twin whose coefficients have levels
};

}  // namespace icobench
