// Writer of torus grid files, after those of the MPI-M grid generator (names, dimensions, slot
// order, attributes). Quantities of the sphere that a planar torus lacks (elevations, masks,
// parents, children) are 0, as there.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include <icobench/grids/grid_file.hpp>
#include <icobench/grids/hash.hpp>
#include <icobench/grids/netcdf_file.hpp>
#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

namespace icobench {
namespace {

// The torus with edges in file order, and its geometry. `a` and `b` of the value functions below
// are the indices along a variable's first and second dimension.
struct torus_file {
  torus_shape shape;
  double side;
  table e2v, e2c, c2v, c2e, v2e, v2v, v2c;

  point vertex(index_t v) const { return inside(v, 0, 0); }
  point edge(index_t e) const {
    constexpr double di[3] = {0, 0.5, 0.5}, dj[3] = {0.5, 0, 0.5};
    return inside(e / 3, di[e % 3], dj[e % 3]);
  }
  point cell(index_t c) const {
    const double third = c % 2 == torus::up ? 1. / 3 : 2. / 3;
    return inside(c / 2, third, third);
  }

  // The generator maps the domain to all longitudes and to latitudes of +-7.5 degrees.
  double longitude(point p) const {
    return 2 * std::numbers::pi * p.x / domain_length(shape, side) - std::numbers::pi;
  }
  double latitude(point p) const {
    return (p.y / domain_height(shape, side) - 0.5) * 15 * std::numbers::pi / 180;
  }

  // Corners of the diamond around an edge: end, cell centre, end, cell centre.
  point edge_corner(index_t e, index_t n) const {
    return n % 2 == 0 ? vertex(e2v(e, n / 2)) : cell(e2c(e, n / 2));
  }

  double dual_edge_length() const { return side / std::numbers::sqrt3; }
  double cell_area() const { return std::numbers::sqrt3 / 4 * side * side; }
  double dual_area() const { return std::numbers::sqrt3 / 2 * side * side; }

 private:
  point inside(index_t v, double di, double dj) const {
    return torus_point(shape, v % shape.nx + di, v / shape.nx + dj, side);
  }
};

// Torus id of a file's edge: its third edge of v is the southeast edge of (i, j+1).
index_t torus_edge(torus_shape shape, index_t e) {
  const index_t v = e / 3;
  if (e % 3 != torus::southeast) return e;
  return at(shape, v % shape.nx, v / shape.nx, torus::edge_offset{torus::southeast, 0, 1});
}

constexpr torus::cell_offset cells_around[6] = {{torus::up, 0, -1},   {torus::up, -1, 0},
                                                {torus::up, 0, 0},    {torus::down, -1, -1},
                                                {torus::down, 0, -1}, {torus::down, -1, 0}};

torus_file make_torus_file(torus_shape shape, double side) {
  const grid g = make_torus(shape);
  torus_file f{shape, side, table(g.edges, 2), table(g.edges, 2), g.c2v, {}, g.v2e, {}, {}};
  std::vector<index_t> file_edge(std::size_t(g.edges));
  for (index_t e = 0; e < g.edges; ++e) {
    const index_t from = torus_edge(shape, e);
    file_edge[std::size_t(from)] = e;
    for (index_t s = 0; s < 2; ++s) {
      f.e2v(e, s) = g.e2v(from, s);
      f.e2c(e, s) = g.e2c(from, s);
    }
  }
  for (index_t& e : f.v2e.ids) e = file_edge[std::size_t(e)];
  f.c2e = make_c2e(f.e2v, f.e2c, f.c2v);
  f.v2v = make_v2v(f.v2e, f.e2v);
  f.v2c = table(g.vertices, 6);
  for (index_t v = 0; v < g.vertices; ++v) {
    for (index_t s = 0; s < 6; ++s) {
      f.v2c(v, s) = at(shape, v % shape.nx, v / shape.nx, cells_around[s]);
    }
  }
  return f;
}

enum dimension {
  cell,
  vertex,
  edge,
  nc,
  nv,
  ne,
  no,
  two_grf,
  max_chdom,
  cell_grf,
  edge_grf,
  vert_grf,
  dimensions
};

constexpr std::array<const char*, dimensions> dimension_names = {
    "cell", "vertex",  "edge",      "nc",       "nv",       "ne",
    "no",   "two_grf", "max_chdom", "cell_grf", "edge_grf", "vert_grf"};

std::array<std::size_t, dimensions> dimension_lengths(const torus_file& f) {
  return {std::size_t(f.c2v.rows()),
          std::size_t(f.v2e.rows()),
          std::size_t(f.e2v.rows()),
          2,
          3,
          6,
          4,
          2,
          1,
          14,
          24,
          13};
}

using value_of = std::function<double(const torus_file&, index_t a, index_t b)>;

struct file_variable {
  std::string name;
  nc_type type;
  std::vector<dimension> dims;
  const char* long_name;
  const char* units;  // "" for none
  value_of value;
};

value_of constant(double value) {
  return [value](const torus_file&, index_t, index_t) { return value; };
}

constexpr double half_sqrt3 = std::numbers::sqrt3 / 2;
constexpr point primal_normal[3] = {{0, 1}, {-half_sqrt3, 0.5}, {-half_sqrt3, -0.5}};
constexpr point dual_normal[3] = {{1, 0}, {0.5, half_sqrt3}, {-0.5, half_sqrt3}};

// (slot, entity) table with indices from 1.
file_variable neighbours(const char* name, dimension slot, dimension entity, const char* long_name,
                         table torus_file::*ids) {
  return {name,
          NC_INT,
          {slot, entity},
          long_name,
          "",
          [ids](const torus_file& f, index_t s, index_t n) { return (f.*ids)(n, s) + 1.0; }};
}

std::vector<file_variable> topology() {
  std::vector<file_variable> all = {
      neighbours("edge_of_cell", nv, cell, "edges of each cell", &torus_file::c2e),
      neighbours("vertex_of_cell", nv, cell, "vertices of each cell", &torus_file::c2v),
      neighbours("adjacent_cell_of_edge", nc, edge, "cells adjacent to each edge",
                 &torus_file::e2c),
      neighbours("edge_vertices", nc, edge, "vertices at the end of each edge", &torus_file::e2v),
      neighbours("cells_of_vertex", ne, vertex, "cells around each vertex", &torus_file::v2c),
      neighbours("edges_of_vertex", ne, vertex, "edges around each vertex", &torus_file::v2e),
      neighbours("vertices_of_vertex", ne, vertex, "vertices around each vertex",
                 &torus_file::v2v)};
  all.push_back({"neighbor_cell_index",
                 NC_INT,
                 {nv, cell},
                 "cell neighbor index",
                 "",
                 [](const torus_file& f, index_t s, index_t c) {
                   const index_t e = f.c2e(c, s);
                   return 1.0 + (f.e2c(e, 0) == c ? f.e2c(e, 1) : f.e2c(e, 0));
                 }});
  all.push_back({"orientation_of_normal",
                 NC_INT,
                 {nv, cell},
                 "orientations of normals to triangular cell edges",
                 "",
                 [](const torus_file&, index_t s, index_t c) {
                   constexpr double sign[2][3] = {{-1, -1, 1}, {1, -1, 1}};
                   return sign[c % 2][s];
                 }});
  all.push_back({"edge_orientation",
                 NC_INT,
                 {ne, vertex},
                 "edge orientation",
                 "",
                 [](const torus_file& f, index_t s, index_t v) {
                   return f.e2v(f.v2e(v, s), 0) == v ? 1.0 : -1.0;
                 }});
  all.push_back(
      {"edge_system_orientation", NC_INT, {edge}, "edge system orientation", "", constant(1)});
  for (const auto& [name, entity] :
       {std::pair{"cell_index", cell}, {"edge_index", edge}, {"vertex_index", vertex}}) {
    all.push_back({name,
                   NC_INT,
                   {entity},
                   "index, counted from 1",
                   "",
                   [](const torus_file&, index_t n, index_t) { return n + 1.0; }});
  }
  return all;
}

// Start and end of the refinement blocks: none of the first `blocks`, all entities in the others.
file_variable block_bound(const char* name, dimension grf, dimension entity, index_t blocks,
                          bool end) {
  return {name,
          NC_INT,
          {max_chdom, grf},
          "list of indices for each refinement control level",
          "",
          [=](const torus_file& f, index_t, index_t level) {
            const double last = double(dimension_lengths(f)[entity]);
            return (level < blocks ? last : 0) + (end ? 0 : 1);
          }};
}

std::vector<file_variable> refinement() {
  std::vector<file_variable> all = {
      {"refin_c_ctrl", NC_INT, {cell}, "refinement control flag for cells", "", constant(-4)},
      {"refin_e_ctrl", NC_INT, {edge}, "refinement control flag for edges", "", constant(-8)},
      {"refin_v_ctrl", NC_INT, {vertex}, "refinement control flag for vertices", "", constant(0)},
      block_bound("start_idx_c", cell_grf, cell, 9, false),
      block_bound("end_idx_c", cell_grf, cell, 9, true),
      block_bound("start_idx_e", edge_grf, edge, 14, false),
      block_bound("end_idx_e", edge_grf, edge, 14, true),
      block_bound("start_idx_v", vert_grf, vertex, 8, false),
      block_bound("end_idx_v", vert_grf, vertex, 8, true)};
  const auto zero = [&](const char* name, std::vector<dimension> dims, const char* long_name) {
    all.push_back({name, NC_INT, std::move(dims), long_name, "", constant(0)});
  };
  zero("phys_cell_id", {cell}, "physical domain ID of cell");
  zero("phys_edge_id", {edge}, "physical domain ID of edge");
  zero("cell_sea_land_mask", {cell}, "sea (-2 inner, -1 boundary) land (2 inner, 1 boundary)");
  zero("edge_sea_land_mask", {edge}, "sea (-2 inner, -1 boundary) land (2 inner, 1 boundary)");
  zero("parent_cell_index", {cell}, "parent cell index");
  zero("parent_cell_type", {cell}, "parent cell type");
  zero("parent_edge_index", {edge}, "parent edge index");
  zero("parent_vertex_index", {vertex}, "parent vertex index");
  zero("edge_parent_type", {edge}, "edge parent type");
  zero("child_cell_index", {no, cell}, "child cell index");
  zero("child_cell_id", {cell}, "domain ID of child cell");
  zero("child_edge_index", {no, edge}, "child edge index");
  zero("child_edge_id", {edge}, "domain ID of child edge");
  return all;
}

using point_of = std::function<point(const torus_file&, index_t a, index_t b)>;

// Longitude and latitude of the same points.
void add_angles(std::vector<file_variable>& all, const char* longitude, const char* latitude,
                const std::vector<dimension>& dims, const char* what, const point_of& where) {
  all.push_back(
      {longitude, NC_DOUBLE, dims, what, "radian",
       [where](const torus_file& f, index_t a, index_t b) { return f.longitude(where(f, a, b)); }});
  all.push_back(
      {latitude, NC_DOUBLE, dims, what, "radian",
       [where](const torus_file& f, index_t a, index_t b) { return f.latitude(where(f, a, b)); }});
}

std::vector<file_variable> angles() {
  const point_of at_cell = [](const torus_file& f, index_t c, index_t) { return f.cell(c); };
  const point_of at_edge = [](const torus_file& f, index_t e, index_t) { return f.edge(e); };
  const point_of at_vertex = [](const torus_file& f, index_t v, index_t) { return f.vertex(v); };
  std::vector<file_variable> all;
  add_angles(all, "clon", "clat", {cell}, "centre of cell", at_cell);
  add_angles(all, "vlon", "vlat", {vertex}, "vertex", at_vertex);
  add_angles(all, "elon", "elat", {edge}, "edge midpoint", at_edge);
  add_angles(all, "clon_vertices", "clat_vertices", {cell, nv}, "corners of cell",
             [](const torus_file& f, index_t c, index_t n) { return f.vertex(f.c2v(c, n)); });
  add_angles(all, "elon_vertices", "elat_vertices", {edge, no}, "corners of edge diamond",
             [](const torus_file& f, index_t e, index_t n) { return f.edge_corner(e, n); });
  add_angles(all, "lon_cell_centre", "lat_cell_centre", {cell}, "centre of cell", at_cell);
  add_angles(all, "longitude_vertices", "latitude_vertices", {vertex}, "vertex", at_vertex);
  add_angles(all, "lon_edge_centre", "lat_edge_centre", {edge}, "edge midpoint", at_edge);
  return all;
}

// `pattern` with its "*" replaced by x, y and z; z is 0.
void add_cartesian(std::vector<file_variable>& all, const std::string& pattern, dimension entity,
                   const char* what, const point_of& where) {
  for (const char axis : {'x', 'y', 'z'}) {
    std::string name = pattern;
    name[name.find('*')] = axis;
    all.push_back({name,
                   NC_DOUBLE,
                   {entity},
                   what,
                   "meters",
                   [where, axis](const torus_file& f, index_t n, index_t) {
                     const point p = where(f, n, 0);
                     return axis == 'x' ? p.x : axis == 'y' ? p.y : 0;
                   }});
  }
}

std::vector<file_variable> cartesian() {
  const point_of middle = [](const torus_file& f, index_t e, index_t) { return f.edge(e); };
  std::vector<file_variable> all;
  add_cartesian(all, "cartesian_*_vertices", vertex, "vertex on the plane",
                [](const torus_file& f, index_t v, index_t) { return f.vertex(v); });
  add_cartesian(all, "edge_middle_cartesian_*", edge, "edge midpoint on the plane", middle);
  add_cartesian(all, "edge_dual_middle_cartesian_*", edge, "dual edge midpoint on the plane",
                middle);
  add_cartesian(all, "edge_primal_normal_cartesian_*", edge, "unit normal to the edge",
                [](const torus_file&, index_t e, index_t) { return primal_normal[e % 3]; });
  add_cartesian(all, "edge_dual_normal_cartesian_*", edge, "unit normal to the dual edge",
                [](const torus_file&, index_t e, index_t) { return dual_normal[e % 3]; });
  add_cartesian(all, "cell_circumcenter_cartesian_*", cell, "circumcentre of cell on the plane",
                [](const torus_file& f, index_t c, index_t) { return f.cell(c); });
  return all;
}

std::vector<file_variable> metrics(const torus_file& f) {
  std::vector<file_variable> all;
  const auto real = [&](const char* name, std::vector<dimension> dims, const char* long_name,
                        const char* units, value_of value) {
    all.push_back({name, NC_DOUBLE, std::move(dims), long_name, units, std::move(value)});
  };
  const auto to_edge = [](const point(&normal)[3], double point::*axis) -> value_of {
    return [&normal, axis](const torus_file&, index_t e, index_t) { return normal[e % 3].*axis; };
  };
  real("cell_area", {cell}, "area of grid cell", "m2", constant(f.cell_area()));
  real("cell_area_p", {cell}, "area of grid cell", "m2", constant(f.cell_area()));
  real("dual_area", {vertex}, "areas of dual hexagonal cells", "m2", constant(f.dual_area()));
  real("dual_area_p", {vertex}, "areas of dual hexagonal cells", "m2", constant(f.dual_area()));
  real("edge_length", {edge}, "lengths of edges of triangular cells", "m", constant(f.side));
  real("dual_edge_length", {edge}, "distances between triangular cell circumcenters", "m",
       constant(f.dual_edge_length()));
  real("edge_cell_distance", {nc, edge}, "distances between edge midpoint and cell centres", "m",
       constant(f.dual_edge_length() / 2));
  real("edge_vert_distance", {nc, edge}, "distances between edge midpoint and vertices", "m",
       constant(f.side / 2));
  real("edgequad_area", {edge}, "area around the edge formed by the two triangles", "m2",
       constant(0));
  real("cell_elevation", {cell}, "elevation at the cell centers", "m", constant(0));
  real("edge_elevation", {edge}, "elevation at the edge centers", "m", constant(0));
  real("zonal_normal_primal_edge", {edge}, "zonal component of normal to primal edge", "radian",
       to_edge(primal_normal, &point::x));
  real("meridional_normal_primal_edge", {edge}, "meridional component of normal to primal edge",
       "radian", to_edge(primal_normal, &point::y));
  real("zonal_normal_dual_edge", {edge}, "zonal component of normal to dual edge", "radian",
       to_edge(dual_normal, &point::x));
  real("meridional_normal_dual_edge", {edge}, "meridional component of normal to dual edge",
       "radian", to_edge(dual_normal, &point::y));
  return all;
}

std::vector<file_variable> all_variables(const torus_file& f) {
  std::vector<file_variable> all = angles();
  for (auto& part : {topology(), refinement(), cartesian(), metrics(f)}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// Same torus, same identifier: a version 8 (custom) UUID of two FNV-1a hashes of the text.
std::string uuid_of(const std::string& text) {
  std::array<std::uint64_t, 2> hash = {hash_of(text), hash_of(text, 1099511628211u)};
  hash[0] = (hash[0] & ~0xf000ull) | 0x8000ull;
  hash[1] = (hash[1] & ~(3ull << 62)) | (2ull << 62);
  std::array<char, 37> out{};
  std::snprintf(out.data(), out.size(), "%08llx-%04llx-%04llx-%04llx-%012llx",
                (unsigned long long)(hash[0] >> 32), (unsigned long long)(hash[0] >> 16 & 0xffff),
                (unsigned long long)(hash[0] & 0xffff), (unsigned long long)(hash[1] >> 48),
                (unsigned long long)(hash[1] & 0xffffffffffff));
  return out.data();
}

class torus_writer {
 public:
  torus_writer(const netcdf_file& file, const torus_file& torus) : file_(file), torus_(torus) {}

  void write() {
    define_dimensions();
    const auto variables = all_variables(torus_);
    std::vector<int> ids;
    for (const auto& v : variables) ids.push_back(define(v));
    describe_grid();
    file_.check(nc_enddef(file_.id()), "cannot finish the header");
    for (std::size_t n = 0; n < variables.size(); ++n) put(variables[n], ids[n]);
  }

 private:
  void define_dimensions() {
    int old_mode = 0;
    file_.check(nc_set_fill(file_.id(), NC_NOFILL, &old_mode), "cannot set the fill mode");
    for (std::size_t d = 0; d < dimensions; ++d) {
      file_.check(nc_def_dim(file_.id(), dimension_names[d], dimension_lengths(torus_)[d],
                             &dimension_ids_[d]),
                  "cannot define a dimension");
    }
  }

  int define(const file_variable& v) {
    std::vector<int> dims;
    for (const dimension d : v.dims) dims.push_back(dimension_ids_[d]);
    int id = -1;
    file_.check(nc_def_var(file_.id(), v.name.c_str(), v.type, int(dims.size()), dims.data(), &id),
                "cannot define variable '" + v.name + "'");
    text(id, "long_name", v.long_name);
    if (*v.units != '\0') text(id, "units", v.units);
    locate(v, id);
    return id;
  }

  // CF attributes that tell a reader where the values lie.
  void locate(const file_variable& v, int id) {
    const std::string& name = v.name;
    if (name == "clon" || name == "elon" || name == "vlon") {
      text(id, "standard_name", "grid_longitude");
    } else if (name == "clat" || name == "elat" || name == "vlat") {
      text(id, "standard_name", "grid_latitude");
    } else if (v.type == NC_DOUBLE && v.dims.size() == 1) {
      constexpr std::array at = {"clon clat", "vlon vlat", "elon elat"};
      text(id, "coordinates", at[v.dims[0]]);
      if (v.dims[0] == cell) text(id, "grid_type", "unstructured");
      if (v.dims[0] == cell) integer(id, "number_of_grid_in_reference", 1);
      return;
    } else {
      return;
    }
    if (name[0] != 'v') text(id, "bounds", name + "_vertices");
  }

  void describe_grid() {
    char side[32];
    std::snprintf(side, sizeof side, "%.17g", torus_.side);
    const std::string what = to_string(torus_.shape) + " side " + side;
    text(NC_GLOBAL, "title", "ICON grid description");
    text(NC_GLOBAL, "institution", "unknown");
    text(NC_GLOBAL, "source", "icobench");
    text(NC_GLOBAL, "revision", "unknown");
    text(NC_GLOBAL, "history", "icobench_grid write " + what);
    // Not recorded, so that the same torus gives the same file.
    for (const char* name : {"date", "user_name", "os_name"}) text(NC_GLOBAL, name, "unknown");
    text(NC_GLOBAL, "uuidOfHGrid", uuid_of(what));
    text(NC_GLOBAL, "grid_mapping_name", "lat_long_on_sphere");
    text(NC_GLOBAL, "crs_id", "urn:ogc:def:cs:EPSG:6.0:6422");
    text(NC_GLOBAL, "crs_name", "Spherical 2D Coordinate System");
    text(NC_GLOBAL, "ellipsoid_name", "Sphere");
    describe_numbers();
  }

  void describe_numbers() {
    constexpr double earth_radius = 6371229;
    constexpr std::pair<const char*, int> integers[] = {
        {"grid_level", 0},     {"grid_root", 2},
        {"grid_ID", 1},        {"parent_grid_ID", 0},
        {"no_of_subgrids", 0}, {"start_subgrid_id", 0},
        {"max_childdom", 1},   {"boundary_depth_index", 0},
        {"grid_geometry", 2},  // planar torus
        {"grid_cell_type", 3}};
    for (const auto& [name, value] : integers) integer(NC_GLOBAL, name, value);
    real("semi_major_axis", {earth_radius});
    real("inverse_flattening", {0});
    real("rotation_vector", {0, 0, 0});
    real("mean_edge_length", {torus_.side});
    real("mean_dual_edge_length", {torus_.dual_edge_length()});
    real("mean_cell_area", {torus_.cell_area()});
    real("mean_dual_cell_area", {torus_.dual_area()});
    real("domain_length", {domain_length(torus_.shape, torus_.side)});
    real("domain_height", {domain_height(torus_.shape, torus_.side)});
    real("sphere_radius", {earth_radius});
    real("domain_cartesian_center", {0, 0, 0});
  }

  void text(int variable, const char* name, const std::string& value) {
    file_.check(nc_put_att_text(file_.id(), variable, name, value.size(), value.c_str()),
                "cannot write an attribute");
  }

  void integer(int variable, const char* name, int value) {
    file_.check(nc_put_att_int(file_.id(), variable, name, NC_INT, 1, &value),
                "cannot write an attribute");
  }

  void real(const char* name, const std::vector<double>& values) {
    file_.check(
        nc_put_att_double(file_.id(), NC_GLOBAL, name, NC_DOUBLE, values.size(), values.data()),
        "cannot write an attribute");
  }

  // Doubles hold our integers exactly; the library converts.
  void put(const file_variable& v, int id) {
    const auto lengths = dimension_lengths(torus_);
    const std::size_t slow = lengths[v.dims[0]];
    const std::size_t fast = v.dims.size() == 2 ? lengths[v.dims[1]] : 1;
    std::vector<double> values;
    values.reserve(slow * fast);
    for (std::size_t a = 0; a < slow; ++a) {
      for (std::size_t b = 0; b < fast; ++b) {
        values.push_back(v.value(torus_, index_t(a), index_t(b)));
      }
    }
    file_.check(nc_put_var_double(file_.id(), id, values.data()),
                "cannot write variable '" + v.name + "'");
  }

  const netcdf_file& file_;
  const torus_file& torus_;
  std::array<int, dimensions> dimension_ids_{};
};

}  // namespace

void write_torus_file(const std::string& path, torus_shape shape, double side, overwrite existing) {
  check_torus(shape);
  if (!(side > 0) || !std::isfinite(side)) {
    throw input_error(path + ": the edge length must be positive and finite");
  }
  const output_file output("", path, {}, existing);
  const torus_file torus = make_torus_file(shape, side);
  output.write_by([&](const std::string& temporary) {
    int id = -1;
    const int status = nc_create(temporary.c_str(), NC_CLOBBER | NC_NETCDF4, &id);
    if (status != NC_NOERR) { throw input_error(path + ": cannot create: " + nc_strerror(status)); }
    netcdf_file file(id, path);
    torus_writer(file, torus).write();
    file.close();
  });
}

}  // namespace icobench
