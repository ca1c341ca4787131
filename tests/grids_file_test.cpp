// Grid files: round trips, formats, and files that are damaged or lie.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>

#include <icobench/grids/grid_file.hpp>
#include <icobench/grids/isolated.hpp>
#include <icobench/grids/recognise.hpp>
#include <icobench/grids/tables.hpp>
#include <icobench/grids/torus.hpp>

#include "tests/grids_support.hpp"
#include "tests/scratch_folder.hpp"

namespace icobench::test {
namespace {

namespace fs = std::filesystem;

void must(int status) {
  if (status != NC_NOERR) throw std::runtime_error(nc_strerror(status));
}

struct file_style {
  int format = NC_NETCDF4;
  nc_type type = NC_INT;
  int base = 1;
  bool entity_first = false;
  const char* omit = "";   // a variable to leave out
  bool named_dims = true;  // "edge" ..., or names that say nothing
  int missing_value = -1;
  bool declare_missing = false;
  const char* declared_as = "_FillValue";
};

struct variable {
  const char* name;
  const char* slot_dim;
  const char* entity_dim;
  const table* values;
};

std::vector<variable> variables_of(const grid& g) {
  return {{"edge_vertices", "nc", "edge", &g.e2v},
          {"adjacent_cell_of_edge", "nc", "edge", &g.e2c},
          {"vertex_of_cell", "nv", "cell", &g.c2v},
          {"edges_of_vertex", "ne", "vertex", &g.v2e}};
}

// One dimension per name and length, as files with repeated names would be refused by the library.
int dimension(int file, const std::string& name, index_t length, bool named) {
  const std::string full = named ? name : "d_" + name;
  int id = -1;
  if (nc_inq_dimid(file, full.c_str(), &id) == NC_NOERR) return id;
  must(nc_def_dim(file, full.c_str(), std::size_t(length), &id));
  return id;
}

int define(int file, const variable& v, const file_style& style) {
  int dims[2] = {dimension(file, v.slot_dim, v.values->slots, style.named_dims),
                 dimension(file, v.entity_dim, v.values->rows(), style.named_dims)};
  if (style.entity_first) std::swap(dims[0], dims[1]);
  int id = -1;
  must(nc_def_var(file, v.name, style.type, 2, dims, &id));
  if (style.declare_missing) {
    const int fill = style.missing_value;
    must(nc_put_att_int(file, id, style.declared_as, style.type, 1, &fill));
  }
  return id;
}

void put(int file, int id, const table& t, const file_style& style) {
  std::vector<long long> values;
  const index_t slow = style.entity_first ? t.rows() : t.slots;
  const index_t fast = style.entity_first ? t.slots : t.rows();
  for (index_t a = 0; a < slow; ++a) {
    for (index_t b = 0; b < fast; ++b) {
      const index_t value = style.entity_first ? t(a, b) : t(b, a);
      values.push_back(value == missing ? style.missing_value : value + style.base);
    }
  }
  must(nc_put_var_longlong(file, id, values.data()));
}

void write(const std::string& path, const grid& g, const file_style& style = {}) {
  int file = -1;
  must(nc_create(path.c_str(), NC_CLOBBER | style.format, &file));
  std::vector<std::pair<int, const table*>> defined;
  for (const variable& v : variables_of(g)) {
    if (v.name != style.omit) defined.emplace_back(define(file, v, style), v.values);
  }
  const std::string uuid("0123\0\x01xyz", 9);  // as damaged as some files have their attributes
  must(nc_put_att_text(file, NC_GLOBAL, "uuidOfHGrid", uuid.size(), uuid.data()));
  must(nc_enddef(file));
  for (const auto& [id, values] : defined) put(file, id, *values, style);
  must(nc_close(file));
}

void expect_same_tables(const grid& a, const grid& b) {
  EXPECT_EQ(a.e2v, b.e2v);
  EXPECT_EQ(a.e2c, b.e2c);
  EXPECT_EQ(a.c2v, b.c2v);
  EXPECT_EQ(a.v2e, b.v2e);
  EXPECT_EQ(a.e2c2v, b.e2c2v);
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const input_error& e) { return e.what(); }
  return "no error";
}

void expect_refused(const std::string& path, const std::string& part) {
  const std::string message = message_of([&] { read_grid_file(path); });
  EXPECT_TRUE(message.starts_with(path + ": ")) << message;
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

const file_style formats[] = {{.format = 0},
                              {.format = NC_64BIT_OFFSET},
                              {.format = NC_64BIT_DATA},
                              {.format = NC_NETCDF4},
                              {.format = NC_NETCDF4 | NC_CLASSIC_MODEL}};

TEST(grid_file, written_tori_are_read_back) {
  const scratch_folder dir;
  for (const auto& shape : torus_shapes()) {
    const std::string path = dir / (to_string(shape) + ".nc");
    write_torus_file(path, shape, 1000);
    const grid expected = make_torus(shape);
    const grid loaded = load_grid(path);
    expect_same_tables(loaded, expected);
    EXPECT_EQ(loaded.shape, shape);
    EXPECT_EQ(loaded.name, path);
    EXPECT_EQ(loaded.uuid.size(), 36u);
    const grid in_file = read_grid_file(path);
    EXPECT_EQ(edge_numbering(in_file, recognise_torus(in_file).value()), "icon_file");
    EXPECT_FALSE(in_file.shape);
  }
}

TEST(grid_file, loads_a_torus_by_name) {
  expect_same_tables(load_grid("torus:8x7"), make_torus({8, 7}));
  EXPECT_THROW(load_grid("torus:7x8"), input_error);
}

TEST(grid_file, does_not_replace_files_unasked_and_leaves_no_debris) {
  const scratch_folder dir;
  const std::string path = dir / "t.nc";
  write_torus_file(path, {4, 3}, 1000);
  EXPECT_EQ(message_of([&] { write_torus_file(path, {6, 5}, 1000); }), path + ": exists already");
  EXPECT_EQ(load_grid(path).shape, (torus_shape{4, 3}));
  write_torus_file(path, {6, 5}, 1000, overwrite::yes);
  EXPECT_EQ(load_grid(path).shape, (torus_shape{6, 5}));
  EXPECT_THROW(write_torus_file(dir / "none/t.nc", {4, 3}, 1000), input_error);
  EXPECT_THROW(write_torus_file(dir / "u.nc", {4, 3}, -1), input_error);
  EXPECT_THROW(write_torus_file(dir / "u.nc", {5, 3}, 1000), input_error);
  EXPECT_THROW(write_torus_file(dir / "", {4, 3}, 1000, overwrite::yes), input_error);
  EXPECT_EQ(dir.files().size(), 1u);
}

TEST(grid_file, same_torus_same_uuid) {
  const scratch_folder dir;
  const auto uuid = [&](torus_shape shape, double side) {
    write_torus_file(dir / "t.nc", shape, side, overwrite::yes);
    return read_grid_file(dir / "t.nc").uuid;
  };
  EXPECT_EQ(uuid({4, 3}, 1000), uuid({4, 3}, 1000));
  EXPECT_NE(uuid({4, 3}, 1000), uuid({4, 3}, 1001));
  EXPECT_NE(uuid({4, 3}, 1000), uuid({4, 4}, 1000));
}

TEST(grid_file, all_formats_and_layouts_read_the_same) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  for (const grid& g : {make_torus({6, 5}), icosphere(1), grid_from_cells(3, {{0, 1, 2}}),
                        grid_from_cells(5, {{0, 1, 2}, {2, 1, 3}, {3, 2, 4}})}) {
    for (file_style style : formats) {
      for (int layout = 0; layout < 8; ++layout) {
        style.base = layout & 1;
        style.entity_first = layout & 2;
        style.declare_missing = layout & 4;
        style.missing_value = style.declare_missing ? 1234567 : -1;
        write(path, g, style);
        const grid read = read_grid_file(path);
        expect_same_tables(read, g);
        EXPECT_EQ(read.uuid, "0123");
      }
    }
  }
}

TEST(grid_file, wide_and_narrow_integers_read_the_same) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  const grid g = icosphere(1);
  for (const nc_type type : {NC_INT64, NC_SHORT, NC_BYTE}) {
    write(path, g, {.type = type});
    expect_same_tables(read_grid_file(path), g);
  }
  for (const nc_type type : {NC_UINT64, NC_UINT, NC_USHORT, NC_UBYTE}) {
    write(path, g, {.type = type, .missing_value = 0});
    expect_same_tables(read_grid_file(path), g);
  }
}

// As tools leave them: other attributes for what is missing, the largest number, real numbers.
TEST(grid_file, missing_neighbours_however_they_are_said) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  const grid g = icosphere(1);
  for (const nc_type type : {NC_INT, NC_DOUBLE, NC_FLOAT}) {
    for (const char* name : {"_FillValue", "missing_value"}) {
      write(path, g,
            {.type = type, .missing_value = 99999, .declare_missing = true, .declared_as = name});
      expect_same_tables(read_grid_file(path), g);
    }
    write(path, g, {.type = type});
    expect_same_tables(read_grid_file(path), g);
  }
  const auto rewrite = [&](nc_type type, const std::function<void(int file, int id)>& change) {
    write(path, g, {.type = type, .missing_value = type == NC_UINT64 ? 0 : -1});
    int file = -1, id = -1;
    must(nc_open(path.c_str(), NC_WRITE, &file));
    must(nc_inq_varid(file, "edges_of_vertex", &id));
    change(file, id);
    must(nc_close(file));
  };
  rewrite(NC_DOUBLE, [&](int file, int id) {
    std::vector<double> values(std::size_t(6 * g.vertices));
    must(nc_get_var_double(file, id, values.data()));
    for (double& v : values) { v = v < 0 ? std::numeric_limits<double>::quiet_NaN() : v; }
    must(nc_put_var_double(file, id, values.data()));
  });
  expect_same_tables(read_grid_file(path), g);
  rewrite(NC_DOUBLE, [&](int file, int id) {
    const std::size_t first[2] = {0, 0};
    const double half = 1.5;
    must(nc_put_var1_double(file, id, first, &half));
  });
  expect_refused(path, "variable 'edges_of_vertex': expected integers, found 1.5");
  rewrite(NC_UINT64, [&](int file, int id) {
    const unsigned long long largest = std::numeric_limits<unsigned long long>::max();
    must(nc_redef(file));
    must(nc_put_att_ulonglong(file, id, "missing_value", NC_UINT64, 1, &largest));
    must(nc_enddef(file));
    std::vector<unsigned long long> values(std::size_t(6 * g.vertices));
    for (index_t v = 0; v < g.vertices; ++v) {
      for (index_t s = 0; s < 6; ++s) {
        values[std::size_t(s * g.vertices + v)] =
            g.v2e(v, s) == missing ? largest : static_cast<unsigned long long>(g.v2e(v, s)) + 1;
      }
    }
    must(nc_put_var_ulonglong(file, id, values.data()));
  });
  expect_same_tables(read_grid_file(path), g);
}

// Whether ids count from 0 or 1 shows where the first vertex has no edge, too.
TEST(grid_file, isolated_vertices_are_accepted) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  for (const int base : {0, 1}) {
    const grid first = grid_from_cells(7, {{1, 2, 3}, {3, 2, 4}, {4, 5, 6}});
    write(path, first, {.base = base});
    expect_same_tables(read_grid_file(path), first);
    const grid last = grid_from_cells(7, {{0, 2, 3}, {3, 2, 4}, {4, 5, 1}});
    write(path, last, {.base = base});
    expect_same_tables(read_grid_file(path), last);
  }
}

// In 22 000 chunks.
TEST(grid_file, time_to_read_follows_what_a_file_holds) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  const grid g = make_torus({100, 100});
  int file = -1;
  must(nc_create(path.c_str(), NC_CLOBBER | NC_NETCDF4, &file));
  std::vector<std::pair<int, const table*>> defined;
  for (const variable& v : variables_of(g)) {
    defined.emplace_back(define(file, v, {}), v.values);
    const std::size_t chunk[2] = {1, 10};
    must(nc_def_var_chunking(file, defined.back().first, NC_CHUNKED, chunk));
  }
  must(nc_enddef(file));
  for (const auto& [id, values] : defined) { put(file, id, *values, {}); }
  must(nc_close(file));
  expect_same_tables(read_grid_file(path), g);
}

TEST(grid_file, packed_files_are_recognised) {
  const scratch_folder dir;
  for (const auto& [start, tool] : {std::pair{"BZh91AY", "bunzip2"},
                                    {"\x1f\x8b\x08 abc", "gunzip"},
                                    {"\x28\xb5\x2f\xfd abc", "unzstd"}}) {
    std::ofstream(dir / "g.nc.packed") << start;
    expect_refused(dir / "g.nc.packed", std::string("unpack it with ") + tool);
  }
}

TEST(grid_file, work_that_takes_too_long_is_told_from_a_crash) {
  const auto busy = run_isolated(
      []() -> std::string {
        while (std::clock() >= 0) {}
        return "";
      },
      1);
  EXPECT_FALSE(busy.bytes);
  EXPECT_TRUE(busy.timed_out);
  const auto crashed = run_isolated([]() -> std::string { std::abort(); }, 1);
  EXPECT_FALSE(crashed.bytes);
  EXPECT_FALSE(crashed.timed_out);
  const auto longer = run_isolated(
      []() -> std::string {
        allow_cpu_seconds(60);
        const std::clock_t start = std::clock();
        while (std::clock() - start < 3 * CLOCKS_PER_SEC / 2) {}
        return "done";
      },
      1);
  EXPECT_EQ(longer.bytes, "done");
}

// A grid as large as its tables have slots, where sizes do not tell the layout.
TEST(grid_file, dimension_names_decide_where_sizes_cannot) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  const grid g = grid_from_cells(6, {{0, 1, 2}, {2, 1, 3}, {3, 2, 4}, {3, 4, 5}});
  for (const bool entity_first : {false, true}) {
    write(path, g, {.entity_first = entity_first});
    expect_same_tables(read_grid_file(path), g);
  }
  write(path, g, {.named_dims = false});
  expect_same_tables(read_grid_file(path), g);
}

TEST(grid_file, gaps_and_repetitions_of_pentagons_are_tidied) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  const grid g = icosphere(1);
  grid odd = g;
  for (index_t v = 0; v < g.vertices; ++v) {
    if (g.v2e(v, 5) != missing) continue;
    if (v % 2 == 0) odd.v2e(v, 5) = odd.v2e(v, 2);
    if (v % 2 == 1) std::swap(odd.v2e(v, 5), odd.v2e(v, 0));
  }
  write(path, odd);
  const grid read = read_grid_file(path);
  for (index_t v = 0; v < g.vertices; ++v) {
    EXPECT_EQ(row_set(read.v2e, v), row_set(g.v2e, v));
    EXPECT_NE(read.v2e(v, 4), missing);
  }
}

TEST(grid_file, missing_variables_are_named) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  for (const char* name :
       {"edge_vertices", "adjacent_cell_of_edge", "vertex_of_cell", "edges_of_vertex"}) {
    write(path, make_torus({4, 3}), {.omit = name});
    expect_refused(path, "variable '" + std::string(name) + "' is missing");
  }
}

TEST(grid_file, impossible_tables_are_named) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  const auto refused = [&](const std::string& part, const std::function<void(grid&)>& inflict) {
    grid g = make_torus({6, 5});
    inflict(g);
    write(path, g);
    expect_refused(path, part);
  };
  refused("variable 'edge_vertices': index 31", [](grid& g) { g.e2v(4, 1) = 30; });
  refused("variable 'adjacent_cell_of_edge': index 61", [](grid& g) { g.e2c(4, 1) = 60; });
  refused("variable 'vertex_of_cell': index 31", [](grid& g) { g.c2v(4, 1) = 30; });
  refused("variable 'edges_of_vertex': index 91", [](grid& g) { g.v2e(4, 1) = 90; });
  refused("variable 'edge_vertices'", [](grid& g) { g.e2v(4, 1) = missing; });
  refused("variable 'edge_vertices': index", [](grid& g) {
    for (index_t& v : g.e2v.ids) v += 7;
  });
  refused("variable 'vertex_of_cell'", [](grid& g) { g.c2v(4, 1) = g.c2v(4, 0); });
  refused("variable 'edges_of_vertex'", [](grid& g) { std::swap(g.v2e(0, 0), g.v2e(20, 0)); });
  refused("variable 'adjacent_cell_of_edge'",
          [](grid& g) { std::swap(g.e2c(0, 0), g.e2c(50, 0)); });
  refused("variable 'vertex_of_cell': expected one dimension of 3",
          [](grid& g) { g.c2v = table(60, 4); });
  refused("are not those of a triangular grid", [](grid& g) {
    g.e2c.ids.resize(178);
    g.e2v.ids.resize(178);
  });
  refused("are not those of a triangular grid", [](grid& g) { g.c2v = table(600, 3); });
}

TEST(grid_file, wrong_ranks_and_empty_dimensions_are_named) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  for (const bool empty : {false, true}) {
    int file = -1, id = -1, dims[2];
    must(nc_create(path.c_str(), NC_CLOBBER | NC_NETCDF4, &file));
    must(nc_def_dim(file, "nc", 2, &dims[0]));
    must(nc_def_dim(file, "edge", empty ? NC_UNLIMITED : 5, &dims[1]));
    must(nc_def_var(file, "edge_vertices", NC_INT, empty ? 2 : 1, dims, &id));
    must(nc_close(file));
    expect_refused(path, empty ? "variable 'edge_vertices': has no entries"
                               : "variable 'edge_vertices': expected 2 dimensions, found 1");
  }
}

TEST(grid_file, absurd_sizes_are_refused_before_memory_is_asked_for) {
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  int file = -1, id = -1, dims[2];
  must(nc_create(path.c_str(), NC_CLOBBER | NC_NETCDF4, &file));
  must(nc_def_dim(file, "nc", 2, &dims[0]));
  must(nc_def_dim(file, "edge", std::size_t{1} << 40, &dims[1]));
  must(nc_def_var(file, "edge_vertices", NC_INT, 2, dims, &id));
  const std::size_t chunk[2] = {1, 1 << 20};
  must(nc_def_var_chunking(file, id, NC_CHUNKED, chunk));
  must(nc_close(file));
  expect_refused(path, "variable 'edge_vertices': claims");
}

// HDF5 reports a file it cannot lock as "HDF error", as if it were damaged.
TEST(grid_file, a_refused_lock_is_explained) {
  if (std::getenv("HDF5_USE_FILE_LOCKING")) GTEST_SKIP() << "HDF5_USE_FILE_LOCKING is set";
  const scratch_folder dir;
  const std::string path = dir / "g.nc";
  write(path, make_torus({4, 3}));
  const int descriptor = ::open(path.c_str(), O_RDWR);
  ASSERT_GE(descriptor, 0);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    expect_refused(path, "HDF5_USE_FILE_LOCKING=FALSE");
  }
  ::close(descriptor);
  EXPECT_NO_THROW(read_grid_file(path));
}

TEST(grid_file, other_files_are_refused) {
  const scratch_folder dir;
  expect_refused(dir / "none.nc", "no such file");
  expect_refused(fs::temp_directory_path().string(), "not a regular file");
  for (const std::string& content : {std::string(), std::string("CD"), std::string("hello, world"),
                                     std::string("CDF\x07 something"), std::string(2000, '\0')}) {
    std::ofstream(dir / "g.nc", std::ios::binary) << content;
    expect_refused(dir / "g.nc", "not a netCDF file");
  }
  for (const std::string& content :
       {std::string("CDF\x01 something"), "\x89HDF\r\n\x1a\n" + std::string(600, 'x')}) {
    std::ofstream(dir / "g.nc", std::ios::binary) << content;
    expect_refused(dir / "g.nc", "cannot open as netCDF");
  }
}

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A damaged file gives an error (also where the library itself crashes or hangs, see isolated.hpp),
//  or a grid that passes all checks (damage to what we don't read).
void expect_error_or_grid(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  try {
    check_grid(load_grid(path));
  } catch (const input_error& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with(path + ": ")) << e.what();
  }
}

TEST(grid_file, truncation_never_crashes) {
  const scratch_folder dir;
  for (const file_style& style : formats) {
    write(dir / "g.nc", make_torus({4, 3}), style);
    const std::string bytes = bytes_of(dir / "g.nc");
    for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 24) {
      expect_error_or_grid(dir / "cut.nc", bytes.substr(0, length));
    }
  }
}

TEST(grid_file, a_damaged_byte_never_crashes) {
  const scratch_folder dir;
  for (const file_style& style : formats) {
    write(dir / "g.nc", make_torus({4, 3}), style);
    const std::string bytes = bytes_of(dir / "g.nc");
    // Few places in HDF5, where one in a hundred makes the library hang until its time is up.
    const bool hdf5 = style.format & NC_NETCDF4;
    const std::size_t step = 1 + bytes.size() / (hdf5 ? 20 : 120);
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      for (const unsigned flip : {0x01u, 0x80u, 0xffu}) {
        std::string damaged = bytes;
        damaged[at] = char(static_cast<unsigned char>(damaged[at]) ^ flip);
        expect_error_or_grid(dir / "bad.nc", damaged);
      }
    }
  }
}

// A child that was damaged sends a size, and no bytes: no memory is taken for them.
TEST(grid_file, a_damaged_childs_size_is_not_believed) {
  const auto most_kilobytes = [] {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
  };
  const long before = most_kilobytes();
  const auto answer = run_isolated(
      []() -> std::string {
        const std::uint64_t size = std::uint64_t(2) << 30;
        for (int id = 3; id < 64; ++id) {
          struct stat found {};
          if (::fstat(id, &found) == 0 && S_ISFIFO(found.st_mode) &&
              ::write(id, &size, sizeof size) == ssize_t(sizeof size)) {
            ::_exit(0);
          }
        }
        return "no pipe";
      },
      10);
  EXPECT_FALSE(answer.bytes);
  EXPECT_LT(most_kilobytes() - before, 1 << 20);
}

}  // namespace
}  // namespace icobench::test
