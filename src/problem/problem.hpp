// A problem on the host: a grid, a chain, input fields and the result to expect.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <vector>

#include <icobench/chain.hpp>
#include <icobench/grids/domain.hpp>
#include <icobench/grids/grid.hpp>

namespace icobench {

// A field in the grid's own numbering, in double: (entity, slot, level), level fastest.
struct host_field {
  index_t entities = 0, slots = 0, levels = 0;
  std::vector<double> values;

  host_field() = default;
  host_field(index_t entities_, index_t slots_, index_t levels_,
             double value = std::numeric_limits<double>::quiet_NaN())
      : entities(entities_),
        slots(slots_),
        levels(levels_),
        values(std::size_t(entities_) * std::size_t(slots_) * std::size_t(levels_), value) {}

  std::size_t offset(index_t h, index_t s, index_t k) const {
    return (std::size_t(h) * std::size_t(slots) + std::size_t(s)) * std::size_t(levels) +
           std::size_t(k);
  }
  double& operator()(index_t h, index_t s, index_t k) { return values[offset(h, s, k)]; }
  double operator()(index_t h, index_t s, index_t k) const { return values[offset(h, s, k)]; }
  // Level k, or the only value of a field that does not depend on the level.
  double at_level(index_t h, index_t s, index_t k) const {
    return (*this)(h, s, levels > 1 ? k : 0);
  }
};

struct problem {
  std::shared_ptr<const grid> mesh;
  const chain* chain_ = nullptr;
  index_t levels = 0;
  index_t halo = 0;
  precision precision_ = precision::float64;
  domain computed;
  // The chain's inputs and, once there is a reference, the outputs of all its stages, which are NaN
  // where nothing is computed.
  std::map<field, host_field> fields;
};

index_t count(const grid&, location);

// An empty field of the right extents for this problem, filled with NaN.
host_field make_field(const problem&, field);

// A problem with inputs uniform in (-10, 10), the same for every run, machine and number of
// threads. In float they are rounded to float. Coefficients of missing slots are 0. Throws
// input_error.
problem make_problem(std::shared_ptr<const grid>, const chain&, index_t levels, index_t halo,
                     precision);

// Adds the outputs of all stages, computed in double by plain loops over the grid's own tables.
void compute_reference(problem&);

// What a roofline variant writes to an output of the chain, once there is a reference: the sum of
// the chain's inputs at the vertex of a torus that owns the point, at its edges and its cells. NaN
// where the chain has no result.
host_field input_sums(const problem&, field output);

}  // namespace icobench
