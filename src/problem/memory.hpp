// What a problem takes, before any of it is allocated.
#pragma once

#include <optional>
#include <string>

#include <icobench/gpu/device.hpp>

#include "src/problem/problem.hpp"

namespace icobench {

// Entities of a grid.
struct extents_of_grid {
  double vertices = 0, edges = 0, cells = 0;
  double on(location l) const {
    return l == location::vertex ? vertices : l == location::edge ? edges : cells;
  }
};
extents_of_grid extents_of(const grid&);
// Of "torus:NXxNY" and "sphere:RnBk", which need not be made for it; absent for files. Throws
// input_error as load_grid.
std::optional<extents_of_grid> extents_of(const std::string& grid);

struct memory_need {
  double host = 0, device = 0;  // bytes, estimated
};
// The fields with their reference, and one copy on a device, with its tables.
memory_need need_of(const extents_of_grid&, const chain&, index_t levels, precision);
// Of the grid itself, on the host.
double need_of(const extents_of_grid&);

// What the device has left; of the host's for those that use it.
std::size_t free_memory(const gpu::device&);

// Throws input_error, which has both numbers, where the problem does not fit what the host and the
// device have left. `before`: bytes of the host that are needed besides.
void require_memory(const gpu::device&, const std::string& grid, const extents_of_grid&,
                    const chain&, index_t levels, precision, double before = 0);

}  // namespace icobench
