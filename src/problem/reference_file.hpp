// Reference dumps: a problem with the result to expect, as one HDF5 file.
//
// Schema "icobench-reference-1". Attributes of the root: schema, generator (what wrote the file),
// chain, grid (its name), precision ("double" or "float"), levels, halo, and on a torus
// shape = [nx, ny]. Groups:
//   /tables   int32, ids from 0, -1 for a missing neighbour: e2v [E,2], e2c [E,2], c2v [C,3],
//             v2e [V,6], e2c2v [E,4]
//   /domain   int32, ids in ascending order: edges, vertices, cells, those that the chain's stages
//             compute
//   /inputs   float64 [entity, (slot,) (level)]: without the slot if there is one only, without the
//             level if the field does not depend on it
//   /outputs  the same for the outputs of all stages; NaN where nothing is computed
// Each dataset says what it is in its attributes description, axes and, if it has any, units.
#pragma once

#include <string>

#include <icobench/grids/output_file.hpp>

#include "src/problem/problem.hpp"

namespace icobench {

// Writes the problem, which must hold all inputs and outputs. The file appears complete or not at
// all. Throws input_error, among others if the file exists and is not to be overwritten.
void write_reference(const std::string& path, const problem& p, overwrite existing = overwrite::no);

// Reads a problem with inputs and outputs. Everything is checked: types and extents, the tables
// against each other and, on a torus, against the closed forms, the domain against chain and halo.
// Throws input_error "FILE: dataset 'NAME': ..." for whatever the file may contain.
problem read_reference(const std::string& path);

}  // namespace icobench
