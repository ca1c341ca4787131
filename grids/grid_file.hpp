// ICON grid files (netCDF, any of its four formats).
#pragma once

#include <string>

#include <icobench/grids/grid.hpp>
#include <icobench/grids/output_file.hpp>

namespace icobench {

// Reads edge_vertices, adjacent_cell_of_edge, vertex_of_cell and edges_of_vertex. Ids are those of
// the file, counted from 0; the grid has passed check_grid. Accepts indices counted from 0 or 1,
// any integer type, (slot, entity) or (entity, slot) order. Throws input_error "FILE: ..." that
// names the variable, for whatever the file may contain.
grid read_grid_file(const std::string& path);

// "torus:NXxNY", "sphere:RnBk", or the path of a grid file; a torus is renumbered as
// grids/torus.hpp has it.
grid load_grid(const std::string& spec);

// Writes the torus of edge length `side` (metres) as ICON's grid generator does: netCDF-4, indices
// counted from 1, slot first, third edge of a vertex opposite to it in its up cell. The file
// appears complete or not at all. Throws input_error.
void write_torus_file(const std::string& path, torus_shape shape, double side,
                      overwrite existing = overwrite::no);

}  // namespace icobench
