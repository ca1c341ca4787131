#include "src/problem/reference_file.hpp"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

namespace icobench {
namespace {

constexpr std::string_view schema_name = "icobench-reference-1";

// Owner of an HDF5 id.
class handle {
 public:
  using closer = herr_t (*)(hid_t);

  handle(hid_t id, closer closer_of_id) : id_(id), close_(closer_of_id) {}
  handle(handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  handle& operator=(handle&&) = delete;
  ~handle() { close(); }

  operator hid_t() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_;
  closer close_;
};

// Keeps HDF5 from printing its errors, which become exceptions here. At exit, too: the library does
// not free all it has of a damaged file, and would complain of itself ("infinite loop closing
// library", HDF5 1.10). We leave nothing open that it had to close then.
class quiet {
 public:
  quiet() {
    H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  quiet(const quiet&) = delete;
  quiet& operator=(const quiet&) = delete;
  ~quiet() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

// The innermost of the errors of the last HDF5 call; the outer ones only name functions.
std::string last_error() {
  std::string cause;
  const auto innermost = [](unsigned n, const H5E_error2_t* e, void* text) -> herr_t {
    if (n == 0 && e->desc != nullptr) { *static_cast<std::string*>(text) = e->desc; }
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &cause);
  const bool locked = cause.find("unable to lock") != cause.npos;
  // "file write failed: time = ..., errno = 28, error message = 'No space left on device', buf =
  // ..."
  if (const auto message = cause.find("error message = '"); message != cause.npos) {
    const auto begin = message + std::string_view("error message = '").size();
    cause = cause.substr(begin, cause.find('\'', begin) - begin);
  }
  if (locked) {
    cause = "cannot be locked: " + cause +
            " (if nobody writes the file, set HDF5_USE_FILE_LOCKING=FALSE)";
  }
  return cause.empty() ? "damaged?" : cause;
}

// The file under way: where it is, and how its errors read.
struct hdf5_file {
  std::string path;
  handle id;

  [[noreturn]] void fail(const std::string& what) const { throw input_error(path + ": " + what); }
  [[noreturn]] void fail(const std::string& dataset, const std::string& what) const {
    fail("dataset '" + dataset + "': " + what);
  }
};

// What a dataset is, for its attributes.
struct text {
  std::string description, axes, units;
};

struct table_info {
  const char* name;
  index_t slots;
  location from, to;
  table grid::*member;
  const char* description;
};
constexpr std::array<table_info, 5> table_infos{{
    {"e2v", 2, location::edge, location::vertex, &grid::e2v,
     "ends of an edge (ICON edge_vertices)"},
    {"e2c", 2, location::edge, location::cell, &grid::e2c,
     "cells adjacent to an edge (ICON adjacent_cell_of_edge)"},
    {"c2v", 3, location::cell, location::vertex, &grid::c2v,
     "corners of a cell (ICON vertex_of_cell)"},
    {"v2e", 6, location::vertex, location::edge, &grid::v2e,
     "edges of a vertex (ICON edges_of_vertex), missing ones last"},
    {"e2c2v", 4, location::edge, location::vertex, &grid::e2c2v,
     "diamond of an edge: both ends, then the tips of its cells e2c[0] and e2c[1]"},
}};

const char* name_of(location l) {
  return l == location::vertex ? "vertex" : l == location::edge ? "edge" : "cell";
}

const char* domain_name(stage s) {
  const location l = info(s).on;
  return l == location::vertex ? "vertices" : l == location::edge ? "edges" : "cells";
}

std::string name_of(field f) {
  return std::string(info(f).name);
}

using extents = std::vector<hsize_t>;

std::string to_string(const extents& dims) {
  std::string result;
  for (const hsize_t d : dims) { result += (result.empty() ? "" : " x ") + std::to_string(d); }
  return result.empty() ? "one value" : result;
}

// The axes of a field in a file.
extents field_extents(const problem& p, field f) {
  extents dims{hsize_t(count(*p.mesh, info(f).on))};
  if (info(f).slots > 1) { dims.push_back(hsize_t(info(f).slots)); }
  if (p.chain_->by_level(f)) { dims.push_back(hsize_t(p.levels)); }
  return dims;
}

text describe(const problem& p, field f) {
  return {info(f).description,
          std::string(name_of(info(f).on)) + (info(f).slots > 1 ? " slot" : "") +
              (p.chain_->by_level(f) ? " level" : ""),
          info(f).units};
}

std::vector<field> outputs_of_all_stages(const chain& c) {
  std::vector<field> result;
  for (const stage s : c.stages) {
    result.insert(result.end(), info(s).outputs.begin(), info(s).outputs.end());
  }
  return result;
}

template <class T>
hid_t memory_type() {
  if constexpr (std::is_same_v<T, double>) {
    return H5T_NATIVE_DOUBLE;
  } else {
    static_assert(std::is_same_v<T, index_t>);
    return sizeof(index_t) == 8 ? H5T_NATIVE_INT64 : H5T_NATIVE_INT32;
  }
}

// Ids have 32 bits in files, whatever they have here.
template <class T>
hid_t file_type() {
  return std::is_same_v<T, double> ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT32;
}

// ---- writing

void write_attribute(const hdf5_file& file, hid_t object, const char* name, hid_t type,
                     const extents& dims, const void* value) {
  const handle space(dims.empty() ? H5Screate(H5S_SCALAR)
                                  : H5Screate_simple(int(dims.size()), dims.data(), nullptr),
                     H5Sclose);
  const handle attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (!attribute || H5Awrite(attribute, type, value) < 0) {
    file.fail(std::string("attribute '") + name + "': cannot be written: " + last_error());
  }
}

// Strings of fixed length lie in the object's header, whose checksum covers them.
void write_text(const hdf5_file& file, hid_t object, const char* name, std::string_view value) {
  std::string padded(value);
  if (padded.empty()) { padded += '\0'; }
  const handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type, padded.size());
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  write_attribute(file, object, name, type, {}, padded.data());
}

// Chunks of up to 16 MiB, each with a Fletcher-32 checksum: damaged values are found when read.
handle chunks_of(const extents& dims, std::size_t value_size) {
  constexpr hsize_t most = hsize_t(16) << 20;
  extents chunk = dims;
  hsize_t row = value_size;
  for (std::size_t d = 1; d < dims.size(); ++d) { row *= dims[d]; }
  chunk[0] = std::clamp<hsize_t>(most / row, 1, dims[0]);
  handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(properties, int(chunk.size()), chunk.data());
  H5Pset_fletcher32(properties);
  H5Pset_obj_track_times(properties, false);
  return properties;
}

template <class T>
void write_dataset(const hdf5_file& file, const std::string& name, const extents& dims,
                   const std::vector<T>& values, const text& about) {
  const handle space(H5Screate_simple(int(dims.size()), dims.data(), nullptr), H5Sclose);
  const handle dataset(H5Dcreate2(file.id, name.c_str(), file_type<T>(), space, H5P_DEFAULT,
                                  chunks_of(dims, sizeof(T)), H5P_DEFAULT),
                       H5Dclose);
  if (!dataset ||
      H5Dwrite(dataset, memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0) {
    file.fail(name, "cannot be written: " + last_error());
  }
  write_text(file, dataset, "description", about.description);
  write_text(file, dataset, "axes", about.axes);
  if (!about.units.empty()) { write_text(file, dataset, "units", about.units); }
}

void write_root(const hdf5_file& file, const problem& p) {
  write_text(file, file.id, "schema", schema_name);
  write_text(file, file.id, "generator", "icobench");
  write_text(file, file.id, "chain", p.chain_->name);
  write_text(file, file.id, "grid", p.mesh->name);
  write_text(file, file.id, "precision", to_string(p.precision_));
  const auto levels = std::int32_t(p.levels), halo = std::int32_t(p.halo);
  write_attribute(file, file.id, "levels", H5T_NATIVE_INT32, {}, &levels);
  write_attribute(file, file.id, "halo", H5T_NATIVE_INT32, {}, &halo);
  if (p.mesh->shape) {
    const std::array shape{std::int32_t(p.mesh->shape->nx), std::int32_t(p.mesh->shape->ny)};
    write_attribute(file, file.id, "shape", H5T_NATIVE_INT32, {2}, shape.data());
  }
}

void write_grid_and_domain(const hdf5_file& file, const problem& p) {
  for (const table_info& t : table_infos) {
    const table& values = (*p.mesh).*t.member;
    write_dataset(file, std::string("tables/") + t.name,
                  {hsize_t(values.rows()), hsize_t(values.slots)}, values.ids,
                  {t.description, std::string(name_of(t.from)) + " slot",
                   std::string("id of ") + name_of(t.to) + ", -1 if missing"});
  }
  for (const stage s : p.chain_->stages) {
    const auto& ids = p.computed[std::size_t(s)].ids;
    write_dataset(file, std::string("domain/") + domain_name(s), {hsize_t(ids.size())}, ids,
                  {"where " + std::string(info(s).name) + " is computed", "position",
                   std::string("id of ") + name_of(info(s).on)});
  }
}

void write_fields(const hdf5_file& file, const problem& p, const char* group,
                  const std::vector<field>& fields) {
  for (const field f : fields) {
    const std::string name = std::string(group) + "/" + name_of(f);
    const auto values = p.fields.find(f);
    if (values == p.fields.end()) { file.fail(name, "the problem has no such field"); }
    write_dataset(file, name, field_extents(p, f), values->second.values, describe(p, f));
  }
}

// The format of HDF5 1.10, because its metadata has checksums: a damaged file is refused, where
// older formats may crash the library.
handle create_file(const std::string& path, const std::string& name_to_report) {
  const handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110);
  const handle properties(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  handle id(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, properties, access), H5Fclose);
  if (!id) { throw input_error(name_to_report + ": cannot be created: " + last_error()); }
  return id;
}

// Without times, so that the same problem gives the same bytes.
void create_groups(const hdf5_file& file) {
  const handle properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  H5Pset_obj_track_times(properties, false);
  for (const char* name : {"tables", "domain", "inputs", "outputs"}) {
    const handle group(H5Gcreate2(file.id, name, H5P_DEFAULT, properties, H5P_DEFAULT), H5Gclose);
    if (!group) {
      file.fail(std::string("group '") + name + "' cannot be created: " + last_error());
    }
  }
}

// Writes to `part`, which exists; errors speak of `path`.
void write_file(const std::string& part, const std::string& path, const problem& p) {
  hdf5_file file{path, create_file(part, path)};
  write_root(file, p);
  create_groups(file);
  write_grid_and_domain(file, p);
  write_fields(file, p, "inputs", inputs(*p.chain_));
  write_fields(file, p, "outputs", outputs_of_all_stages(*p.chain_));
  if (!file.id.close()) { file.fail("cannot be completed: " + last_error()); }
}

// ---- reading

handle open_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) { throw input_error(path + ": no such file"); }
  if (!std::filesystem::is_regular_file(path, error)) {
    throw input_error(path + ": not a regular file");
  }
  handle id(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!id) { throw input_error(path + ": cannot be opened as HDF5: " + last_error()); }
  return id;
}

[[noreturn]] void fail_attribute(const hdf5_file& file, const char* name, const std::string& what) {
  file.fail(std::string("attribute '") + name + "': " + what);
}

bool has_attribute(const hdf5_file& file, const char* name) {
  const htri_t exists = H5Aexists(file.id, name);
  if (exists < 0) { fail_attribute(file, name, "cannot be read: " + last_error()); }
  return exists > 0;
}

handle open_attribute(const hdf5_file& file, const char* name) {
  if (!has_attribute(file, name)) {
    fail_attribute(file, name, "is missing; is this a reference dump?");
  }
  handle attribute(H5Aopen(file.id, name, H5P_DEFAULT), H5Aclose);
  if (!attribute) { fail_attribute(file, name, "cannot be read: " + last_error()); }
  return attribute;
}

bool holds(const handle& attribute, H5T_class_t type_class, hssize_t values) {
  const handle type(H5Aget_type(attribute), H5Tclose);
  const handle space(H5Aget_space(attribute), H5Sclose);
  return type && space && H5Tget_class(type) == type_class &&
         H5Sget_simple_extent_npoints(space) == values;
}

// Accepts strings of fixed and, as h5py writes by default, of variable length.
std::string read_text(const hdf5_file& file, const char* name) {
  const handle attribute = open_attribute(file, name);
  if (!holds(attribute, H5T_STRING, 1)) { fail_attribute(file, name, "expected one string"); }
  const handle type(H5Aget_type(attribute), H5Tclose);
  std::string value;
  if (H5Tis_variable_str(type) > 0) {
    char* string = nullptr;
    if (H5Aread(attribute, type, &string) < 0) { fail_attribute(file, name, "cannot be read"); }
    if (string != nullptr) { value = string; }
    H5free_memory(string);
    return value;
  }
  value.resize(H5Tget_size(type));
  if (H5Aread(attribute, type, value.data()) < 0) { fail_attribute(file, name, "cannot be read"); }
  value.resize(std::min(value.find('\0'), value.size()));
  return value;
}

template <std::size_t count>
std::array<index_t, count> read_integers(const hdf5_file& file, const char* name, index_t least) {
  const handle attribute = open_attribute(file, name);
  if (!holds(attribute, H5T_INTEGER, hssize_t(count))) {
    fail_attribute(file, name,
                   "expected " + std::to_string(count) + " integer" + (count > 1 ? "s" : ""));
  }
  std::array<std::int64_t, count> values{};
  if (H5Aread(attribute, H5T_NATIVE_INT64, values.data()) < 0) {
    fail_attribute(file, name, "cannot be read");
  }
  std::array<index_t, count> result{};
  for (std::size_t i = 0; i < count; ++i) {
    if (values[i] < least || values[i] > std::numeric_limits<index_t>::max()) {
      fail_attribute(file, name, std::to_string(values[i]) + " is out of range");
    }
    result[i] = index_t(values[i]);
  }
  return result;
}

// A dataset that exists and holds numbers of the right type.
template <class T>
handle open_dataset(const hdf5_file& file, const std::string& name) {
  handle dataset(H5Dopen2(file.id, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset) { file.fail(name, "is missing or damaged: " + last_error()); }
  const handle type(H5Dget_type(dataset), H5Tclose);
  const bool wanted = H5Tget_size(type) == H5Tget_size(file_type<T>()) &&
                      (std::is_same_v<T, double>
                           ? H5Tget_class(type) == H5T_FLOAT
                           : H5Tget_class(type) == H5T_INTEGER && H5Tget_sign(type) == H5T_SGN_2);
  if (!wanted) {
    file.fail(name, std::string("expected values of type ") +
                        (std::is_same_v<T, double> ? "float64" : "int32"));
  }
  return dataset;
}

extents extents_of(const hdf5_file& file, const std::string& name, const handle& dataset) {
  const handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank < 0) { file.fail(name, "has no extents: " + last_error()); }
  extents dims(std::size_t(rank), 0);
  if (H5Sget_simple_extent_dims(space, dims.data(), nullptr) < 0) {
    file.fail(name, "has no extents: " + last_error());
  }
  return dims;
}

// A damaged file may claim any extents: believe no more than compression could explain (deflate
// reaches 1032:1) before memory is asked for.
void check_storage(const hdf5_file& file, const std::string& name, const handle& dataset,
                   hsize_t values, std::size_t value_size) {
  constexpr hsize_t best_compression = 1100;
  const hsize_t stored = H5Dget_storage_size(dataset);
  if (values / best_compression > stored / value_size) {
    file.fail(name, "claims " + std::to_string(values) + " values, but holds only " +
                        std::to_string(stored) + " bytes");
  }
}

// The values of a dataset. An expected extent of 0 stands for any from 1 on.
template <class T>
std::vector<T> read_dataset(const hdf5_file& file, const std::string& name, const extents& wanted) {
  const handle dataset = open_dataset<T>(file, name);
  const extents dims = extents_of(file, name, dataset);
  const auto fits = [](hsize_t want, hsize_t found) { return want == 0 || want == found; };
  if (!std::equal(wanted.begin(), wanted.end(), dims.begin(), dims.end(), fits)) {
    std::string expected = to_string(wanted);
    if (!wanted.empty() && wanted[0] == 0) { expected.replace(0, 1, "any"); }
    file.fail(name, "expected " + expected + ", found " + to_string(dims));
  }
  constexpr hsize_t most = hsize_t(1) << 45;  // more than any machine holds, far from overflow
  hsize_t values = 1;
  for (const hsize_t d : dims) {
    if (d == 0) { file.fail(name, "is empty"); }
    if (d > most / values) { file.fail(name, to_string(dims) + " values are too many"); }
    values *= d;
  }
  check_storage(file, name, dataset, values, sizeof(T));
  std::vector<T> result(values);
  if (H5Dread(dataset, memory_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, result.data()) < 0) {
    file.fail(name, "cannot be read: " + last_error());
  }
  return result;
}

// Adds what file it was to the message of another part of the program.
template <class Action>
auto in_file(const hdf5_file& file, const std::string& where, Action action) {
  try {
    return action();
  } catch (const input_error& e) { file.fail(where + e.what()); }
}

void check_ids(const hdf5_file& file, const std::string& name, const std::vector<index_t>& ids,
               index_t least, index_t count_) {
  for (std::size_t n = 0; n < ids.size(); ++n) {
    if (ids[n] < least || ids[n] >= count_) {
      file.fail(name, "id " + std::to_string(ids[n]) + " at position " + std::to_string(n) +
                          " is out of range, there are " + std::to_string(count_));
    }
  }
}

table read_table(const hdf5_file& file, const table_info& t, index_t rows) {
  const std::string name = std::string("tables/") + t.name;
  table result;
  result.slots = t.slots;
  result.ids = read_dataset<index_t>(file, name, {hsize_t(rows), hsize_t(t.slots)});
  if (result.ids.size() > std::size_t(std::numeric_limits<index_t>::max())) {
    file.fail(name, "is too large for 32-bit ids");
  }
  return result;
}

void check_shape(const hdf5_file& file, const grid& g) {
  const grid torus = in_file(file, "attribute 'shape': ", [&] { return make_torus(*g.shape); });
  for (const table_info& t : table_infos) {
    if (g.*t.member != torus.*t.member) {
      file.fail(std::string("tables/") + t.name, "is not that of " + torus.name);
    }
  }
}

grid read_grid(const hdf5_file& file) {
  grid g;
  g.name = read_text(file, "grid");
  for (const table_info& t : table_infos) {
    g.*t.member = read_table(file, t, count(g, t.from));
    // The first table of each kind says how many entities there are.
    (t.from == location::vertex ? g.vertices
     : t.from == location::edge ? g.edges
                                : g.cells) = (g.*t.member).rows();
  }
  for (const table_info& t : table_infos) {
    check_ids(file, std::string("tables/") + t.name, (g.*t.member).ids, missing, count(g, t.to));
  }
  in_file(file, "group 'tables': ", [&] { check_grid(g); });
  g.c2e = make_c2e(g.e2v, g.e2c, g.c2v);
  if (has_attribute(file, "shape")) {
    const auto [nx, ny] = read_integers<2>(file, "shape", 1);
    g.shape = torus_shape{nx, ny};
    check_shape(file, g);
  }
  return g;
}

// The domain follows from grid, chain and halo; the file's must be the same.
domain read_domain(const hdf5_file& file, const problem& p) {
  const domain expected =
      in_file(file, "", [&] { return make_domain(*p.mesh, *p.chain_, p.halo); });
  for (const stage s : p.chain_->stages) {
    const std::string name = std::string("domain/") + domain_name(s);
    const auto ids = read_dataset<index_t>(file, name, {0});
    check_ids(file, name, ids, 0, count(*p.mesh, info(s).on));
    if (std::adjacent_find(ids.begin(), ids.end(), std::greater_equal{}) != ids.end()) {
      file.fail(name, "ids are not in ascending order");
    }
    const auto& right = expected[std::size_t(s)].ids;
    if (ids != right) {
      file.fail(name, "has " + std::to_string(ids.size()) + " ids, not the " +
                          std::to_string(right.size()) + " that " + std::string(info(s).name) +
                          " computes with halo " + std::to_string(p.halo));
    }
  }
  return expected;
}

host_field read_field(const hdf5_file& file, const problem& p, const std::string& name, field f) {
  host_field result;
  result.values = read_dataset<double>(file, name, field_extents(p, f));
  result.entities = count(*p.mesh, info(f).on);
  result.slots = index_t(info(f).slots);
  result.levels = p.chain_->by_level(f) ? p.levels : 1;
  return result;
}

// Values where the stage computes, NaN elsewhere.
void check_output(const hdf5_file& file, const std::string& name, const host_field& values,
                  const std::vector<index_t>& ids) {
  auto next = ids.begin();
  for (index_t h = 0; h < values.entities; ++h) {
    const bool computed = next != ids.end() && *next == h;
    if (computed) { ++next; }
    for (index_t k = 0; k < values.levels; ++k) {
      if (std::isnan(values(h, 0, k)) == computed) {
        file.fail(name, std::string(computed ? "NaN inside" : "a value outside") +
                            " the domain, at id " + std::to_string(h) + ", level " +
                            std::to_string(k));
      }
    }
  }
}

void read_fields(const hdf5_file& file, problem& p) {
  for (const field f : inputs(*p.chain_)) {
    p.fields.emplace(f, read_field(file, p, "inputs/" + name_of(f), f));
  }
  for (const stage s : p.chain_->stages) {
    for (const field f : info(s).outputs) {
      const std::string name = "outputs/" + name_of(f);
      host_field values = read_field(file, p, name, f);
      check_output(file, name, values, p.computed[std::size_t(s)].ids);
      p.fields.emplace(f, std::move(values));
    }
  }
}

void read_root(const hdf5_file& file, problem& p) {
  if (const std::string schema = read_text(file, "schema"); schema != schema_name) {
    fail_attribute(file, "schema",
                   "expected '" + std::string(schema_name) + "', found '" + schema + "'");
  }
  read_text(file, "generator");
  const std::string chain_name = read_text(file, "chain");
  p.chain_ = find_chain(chain_name);
  if (p.chain_ == nullptr) { fail_attribute(file, "chain", "unknown chain '" + chain_name + "'"); }
  p.levels = read_integers<1>(file, "levels", 1)[0];
  p.halo = read_integers<1>(file, "halo", 0)[0];
  const std::string precision_name = read_text(file, "precision");
  if (precision_name != "double" && precision_name != "float") {
    fail_attribute(file, "precision",
                   "expected 'double' or 'float', found '" + precision_name + "'");
  }
  p.precision_ = precision_name == "double" ? precision::float64 : precision::float32;
}

problem read_file(const std::string& path) {
  const hdf5_file file{path, open_file(path)};
  problem p;
  read_root(file, p);
  p.mesh = std::make_shared<const grid>(read_grid(file));
  p.computed = read_domain(file, p);
  read_fields(file, p);
  return p;
}

}  // namespace

void write_reference(const std::string& path, const problem& p, overwrite existing) {
  const quiet no_messages;
  const output_file output("", path, {}, existing);
  output.write_by([&](const std::string& temporary) { write_file(temporary, path, p); });
}

problem read_reference(const std::string& path) {
  const quiet no_messages;
  try {
    return read_file(path);
  } catch (const std::bad_alloc&) { throw input_error(path + ": does not fit into memory"); }
}

}  // namespace icobench
