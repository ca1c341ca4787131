#include "src/problem/memory.hpp"

#include <algorithm>

#include <icobench/grids/sphere.hpp>
#include <icobench/grids/torus.hpp>

#include "src/support/memory.hpp"

namespace icobench {
namespace {

double bytes_of_field(const extents_of_grid& g, const chain& c, index_t levels, field f,
                      std::size_t element) {
  return g.on(info(f).on) * double(info(f).slots) * double(c.by_level(f) ? levels : 1) *
         double(element);
}

}  // namespace

extents_of_grid extents_of(const grid& g) {
  return {double(g.vertices), double(g.edges), double(g.cells)};
}

std::optional<extents_of_grid> extents_of(const std::string& grid) {
  if (is_torus_spec(grid)) {
    const torus_shape t = parse_torus(grid);
    const double vertices = double(t.nx) * double(t.ny);
    return extents_of_grid{vertices, 3 * vertices, 2 * vertices};
  }
  if (is_sphere_spec(grid)) {
    const double n = double(parse_sphere(grid).divisions());
    return extents_of_grid{10 * n * n + 2, 30 * n * n, 20 * n * n};
  }
  return std::nullopt;
}

memory_need need_of(const extents_of_grid& g, const chain& c, index_t levels, precision p) {
  memory_need need;
  double largest = 0;
  for (const field f : fields(c)) {
    const double bytes = bytes_of_field(g, c, levels, f, size_of(p));
    largest = std::max(largest, bytes);
    need.host += bytes_of_field(g, c, levels, f, sizeof(double));
    need.device += bytes;
  }
  need.host += largest;  // on its way to the device
  for (const field f : c.outputs()) {
    need.device += bytes_of_field(g, c, levels, f, sizeof(double));  // as expected
  }
  for (const stage s : c.stages) {
    const neighbour_table t = info(s).reads;
    const double tables = 2 * g.on(info(t).of) * double(info(t).slots) * sizeof(index_t);
    need.device += tables;
    need.host += tables;
  }
  return need;
}

double need_of(const extents_of_grid& g) {
  return sizeof(index_t) * (6 * g.vertices + 8 * g.edges + 6 * g.cells);
}

std::size_t free_memory(const gpu::device& device) {
  const bool on_host = device.backend() == "cpu" || device.backend() == "simt";
  return on_host ? available_memory() : device.free_bytes();
}

void require_memory(const gpu::device& device, const std::string& grid, const extents_of_grid& g,
                    const chain& c, index_t levels, precision p, double before) {
  const memory_need need = need_of(g, c, levels, p);
  const bool on_host = device.backend() == "cpu" || device.backend() == "simt";
  const auto check = [&](double needed, std::size_t left, const std::string& whose) {
    if (needed <= double(left)) { return; }
    throw input_error(grid + " with " + std::to_string(levels) + " levels: " + std::string(c.name) +
                      " needs " + gigabytes(needed) + " of the " + whose + "'s memory, " +
                      gigabytes(double(left)) +
                      " are free: take a smaller --grid or fewer "
                      "--levels");
  };
  check(before + need.host + (on_host ? need.device : 0), available_memory(), "host");
  if (!on_host) { check(need.device, device.free_bytes(), "device"); }
}

}  // namespace icobench
