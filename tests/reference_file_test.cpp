// Reference dumps: round trips, the committed ones against our reference loops, damaged files.
#include "src/problem/reference_file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include <icobench/grids/torus.hpp>

#include "tests/scratch_folder.hpp"

// HDF5 1.10 does not free the object headers it finds damaged. What we should have closed is tested
// below, in TearDown.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libhdf5";
}

namespace icobench {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

problem torus_problem(const char* chain_name, torus_shape shape, index_t levels, index_t halo,
                      precision p = precision::float64) {
  problem result = make_problem(std::make_shared<const grid>(make_torus(shape)),
                                *find_chain(chain_name), levels, halo, p);
  compute_reference(result);
  return result;
}

bool same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}

void expect_equal(const host_field& a, const host_field& b) {
  EXPECT_EQ(a.entities, b.entities);
  EXPECT_EQ(a.slots, b.slots);
  EXPECT_EQ(a.levels, b.levels);
  EXPECT_TRUE(std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(), same));
}

void expect_equal(const problem& a, const problem& b) {
  EXPECT_EQ(a.chain_, b.chain_);
  EXPECT_EQ(a.levels, b.levels);
  EXPECT_EQ(a.halo, b.halo);
  EXPECT_EQ(a.precision_, b.precision_);
  EXPECT_EQ(a.mesh->name, b.mesh->name);
  EXPECT_EQ(a.mesh->shape, b.mesh->shape);
  EXPECT_EQ(a.mesh->vertices, b.mesh->vertices);
  EXPECT_EQ(a.mesh->edges, b.mesh->edges);
  EXPECT_EQ(a.mesh->cells, b.mesh->cells);
  EXPECT_EQ(a.mesh->e2v, b.mesh->e2v);
  EXPECT_EQ(a.mesh->e2c, b.mesh->e2c);
  EXPECT_EQ(a.mesh->c2v, b.mesh->c2v);
  EXPECT_EQ(a.mesh->v2e, b.mesh->v2e);
  EXPECT_EQ(a.mesh->e2c2v, b.mesh->e2c2v);
  for (std::size_t s = 0; s < stage_count; ++s) {
    EXPECT_EQ(a.computed[s].ids, b.computed[s].ids);
    EXPECT_EQ(a.computed[s].vertices.has_value(), b.computed[s].vertices.has_value());
  }
  ASSERT_EQ(a.fields.size(), b.fields.size());
  for (const auto& [f, values] : a.fields) { expect_equal(values, b.fields.at(f)); }
}

class reference_file : public testing::Test {
 protected:
  void SetUp() override { path_ = (folder_ / "dump.h5").string(); }
  void TearDown() override {
    EXPECT_EQ(H5Fget_obj_count(hid_t(H5F_OBJ_ALL), H5F_OBJ_ALL), 0) << "left open";
  }

  // Reading fails with a message that names the file and contains `what`.
  void expect_refused(const std::string& what) const {
    try {
      read_reference(path_);
      ADD_FAILURE() << "not refused, expected: " << what;
    } catch (const input_error& e) {
      const std::string message = e.what();
      EXPECT_EQ(message.find(path_ + ": "), 0u) << message;
      EXPECT_NE(message.find(what), std::string::npos) << message << "\nexpected: " << what;
    }
  }

  test::scratch_folder folder_;
  std::string path_;
};

TEST_F(reference_file, round_trips_every_chain) {
  for (const chain& c : chain_table) {
    for (const index_t halo : {0, 1, 2}) {
      for (const index_t levels : {1, 3}) {
        const problem p = torus_problem(c.name.data(), {10, 9}, levels, halo);
        write_reference(path_, p, overwrite::yes);
        expect_equal(read_reference(path_), p);
      }
    }
  }
}

TEST_F(reference_file, keeps_precision_and_names) {
  problem p = torus_problem("interpolate", {6, 5}, 2, 1, precision::float32);
  grid renamed = *p.mesh;
  renamed.name = "";
  p.mesh = std::make_shared<const grid>(renamed);
  write_reference(path_, p);
  expect_equal(read_reference(path_), p);
}

TEST_F(reference_file, of_the_same_problem_has_the_same_bytes) {
  const problem p = torus_problem("nabla4_interpolate", {6, 5}, 2, 0);
  write_reference(path_, p);
  write_reference(path_ + "2", p);
  EXPECT_EQ(content(path_), content(path_ + "2"));
}

TEST_F(reference_file, with_fields_of_several_chunks) {
  const problem p = torus_problem("verts2cells", {64, 64}, 300, 1);
  write_reference(path_, p);
  expect_equal(read_reference(path_), p);
}

TEST_F(reference_file, is_overwritten_only_if_asked) {
  const problem p = torus_problem("nabla4", {6, 5}, 2, 1);
  write(path_, "precious");
  EXPECT_THROW(write_reference(path_, p), input_error);
  EXPECT_EQ(content(path_), "precious");
  write_reference(path_, p, overwrite::yes);
  EXPECT_NO_THROW(read_reference(path_));
}

TEST_F(reference_file, is_written_completely_or_not_at_all) {
  problem p = torus_problem("nabla4", {6, 5}, 2, 1);
  p.fields.erase(field_named("z_nabla4_e2"));
  EXPECT_THROW(write_reference(path_, p), input_error);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  EXPECT_THROW(write_reference(path_ + "/no/such/folder", p), input_error);
  EXPECT_THROW(write_reference(folder_.path().string(), p, overwrite::yes), input_error);
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

// ---- the committed dumps

std::vector<fs::path> committed() {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(ICOBENCH_SOURCE_DIR "/tests/data")) {
    if (entry.path().extension() == ".h5") { paths.push_back(entry.path()); }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void expect_reference(const problem& computed, const problem& expected, stage s, field f) {
  const host_field &got = computed.fields.at(f), &right = expected.fields.at(f);
  const auto& ids = expected.computed[std::size_t(s)].ids;
  double most = 0;
  for (const index_t h : ids) {
    for (index_t k = 0; k < expected.levels; ++k) {
      most = std::max(most, std::abs(right(h, 0, k)));
    }
  }
  ASSERT_GT(most, 0);
  for (const index_t h : ids) {
    for (index_t k = 0; k < expected.levels; ++k) {
      ASSERT_NEAR(got(h, 0, k), right(h, 0, k), 1e-13 * most)
          << info(f).name << " at id " << h << ", level " << k;
    }
  }
}

TEST(committed_dumps, are_what_our_reference_computes) {
  ASSERT_GE(committed().size(), 8u);
  for (const fs::path& path : committed()) {
    SCOPED_TRACE(path.filename().string());
    EXPECT_LT(fs::file_size(path), 60'000u);
    const problem expected = read_reference(path.string());
    problem p{expected.mesh,
              expected.chain_,
              expected.levels,
              expected.halo,
              expected.precision_,
              expected.computed,
              {}};
    for (const field f : inputs(*p.chain_)) { p.fields[f] = expected.fields.at(f); }
    compute_reference(p);
    for (const stage s : p.chain_->stages) {
      for (const field f : info(s).outputs) { expect_reference(p, expected, s, f); }
    }
  }
}

TEST(committed_dumps, cover_torus_sphere_and_boundary) {
  int tori = 0, pentagons = 0, boundaries = 0;
  for (const fs::path& path : committed()) {
    const auto has_missing = [](const table& t) {
      return std::count(t.ids.begin(), t.ids.end(), missing) > 0;
    };
    const problem p = read_reference(path.string());
    const grid& g = *p.mesh;
    tori += g.shape.has_value();
    pentagons += has_missing(g.v2e) && !has_missing(g.e2c);
    boundaries += has_missing(g.e2c);
  }
  EXPECT_GE(tori, 6);
  EXPECT_GE(pentagons, 1);
  EXPECT_GE(boundaries, 1);
}

// ---- damage

TEST_F(reference_file, that_is_none) {
  expect_refused("no such file");
  write(path_, "");
  expect_refused("cannot be opened as HDF5");
  write(path_, "not HDF5 at all, but some text");
  expect_refused("cannot be opened as HDF5");
  fs::remove(path_);
  fs::create_directory(path_);
  expect_refused("not a regular file");
}

// input_error or, where the damage is harmless, a valid problem; never anything else.
void read_damaged(const std::string& path) {
  try {
    read_reference(path);
  } catch (const input_error&) {}
}

std::string smallest_dump() {
  const auto paths = committed();
  return content(*std::min_element(paths.begin(), paths.end(), [](const auto& a, const auto& b) {
    return fs::file_size(a) < fs::file_size(b);
  }));
}

TEST_F(reference_file, truncated) {
  const std::string whole = smallest_dump();
  for (std::size_t length = 0; length < whole.size(); length += length < 100 ? 1 : 61) {
    write(path_, whole.substr(0, length));
    expect_refused("");
  }
}

TEST_F(reference_file, with_a_damaged_byte) {
  const std::string whole = smallest_dump();
  for (std::size_t at = 0; at < whole.size(); at += at < 200 ? 1 : 17) {
    std::string damaged = whole;
    damaged[at] = char(damaged[at] ^ (at % 2 ? 0xff : 0x01));
    write(path_, damaged);
    read_damaged(path_);
  }
}

TEST_F(reference_file, with_damaged_values_is_noticed) {
  problem p = torus_problem("nabla4", {6, 5}, 3, 1);
  auto& values = p.fields.at(field_named("u_vert")).values;
  values[0] = 0x1.23456789abcdep0;
  write_reference(path_, p);
  std::string bytes = content(path_);
  const auto at = bytes.find(std::string("\xde\xbc\x9a\x78\x56\x34\xf2\x3f", 8));
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  write(path_, bytes);
  expect_refused("dataset 'inputs/u_vert': cannot be read");
}

TEST_F(reference_file, that_is_locked) {
  if (std::getenv("HDF5_USE_FILE_LOCKING")) { GTEST_SKIP() << "HDF5_USE_FILE_LOCKING is set"; }
  write_reference(path_, torus_problem("nabla4", {6, 5}, 2, 1));
  std::FILE* const holder = std::fopen(path_.c_str(), "r");
  ASSERT_NE(holder, nullptr);
  if (::flock(::fileno(holder), LOCK_EX | LOCK_NB) == 0) {
    expect_refused("HDF5_USE_FILE_LOCKING=FALSE");
  }
  std::fclose(holder);
}

// A change to the problem before it is written, and what the reader then finds.
struct mistake {
  const char* what;
  std::function<void(problem&, grid&)> make;
};

TEST_F(reference_file, of_a_wrong_problem) {
  const std::vector<mistake> mistakes = {
      {"dataset 'tables/e2v': id 300 at position 14 is out of range, there are 80",
       [](problem&, grid& g) { g.e2v(7, 0) = 300; }},
      {"dataset 'tables/e2c': id -2", [](problem&, grid& g) { g.e2c(0, 0) = -2; }},
      {"dataset 'tables/v2e': id 240", [](problem&, grid& g) { g.v2e(79, 5) = 240; }},
      {"dataset 'tables/c2v': id 80", [](problem&, grid& g) { g.c2v(3, 1) = 80; }},
      {"dataset 'tables/e2c2v': id 2147483647",
       [](problem&, grid& g) { g.e2c2v(0, 2) = 2147483647; }},
      {"group 'tables': ", [](problem&, grid& g) { g.e2v(7, 0) = missing; }},
      {"group 'tables': ", [](problem&, grid& g) { std::swap(g.c2v(0, 0), g.c2v(8, 0)); }},
      {"dataset 'tables/e2c': expected 240 x 2, found 239 x 2",
       [](problem&, grid& g) { g.e2c.ids.resize(239 * 2); }},
      {"dataset 'tables/e2c2v': expected 240 x 4, found 480 x 2",
       [](problem&, grid& g) { g.e2c2v.slots = 2; }},
      {"attribute 'shape': ",
       [](problem&, grid& g) {
         g.shape = torus_shape{9, 8};
       }},
      {"is not that of torus:8x10",
       [](problem&, grid& g) {
         g.shape = torus_shape{8, 10};
       }},
      {"dataset 'tables/v2e': is not that of torus:10x8",
       [](problem&, grid& g) { std::swap(g.v2e(30, 0), g.v2e(30, 1)); }},
      {"dataset 'domain/edges': has 71 ids, not the 72",
       [](problem& p, grid&) { p.computed[0].ids.pop_back(); }},
      {"dataset 'domain/vertices': id 80",
       [](problem& p, grid&) { p.computed[1].ids.back() = 80; }},
      {"dataset 'domain/edges': ids are not in ascending order",
       [](problem& p, grid&) { std::swap(p.computed[0].ids[3], p.computed[0].ids[4]); }},
      {"dataset 'domain/edges': has ", [](problem& p, grid&) { p.halo = 1; }},
      {"a halo of 99 leaves nothing", [](problem& p, grid&) { p.halo = 99; }},
      {"attribute 'halo': -1", [](problem& p, grid&) { p.halo = -1; }},
      {"dataset 'outputs/z_nabla4_e2': NaN inside the domain",
       [](problem& p, grid&) {
         auto& out = p.fields.at(field_named("z_nabla4_e2"));
         out(p.computed[0].ids[5], 0, 1) = NAN;
       }},
      {"dataset 'outputs/p_v': a value outside the domain, at id 0, level 1",
       [](problem& p, grid&) { p.fields.at(field_named("p_v"))(0, 0, 1) = 0; }},
  };
  for (const mistake& m : mistakes) {
    problem p = torus_problem("nabla4_interpolate", {10, 8}, 2, 2);
    grid g = *p.mesh;
    m.make(p, g);
    p.mesh = std::make_shared<const grid>(g);
    write_reference(path_, p, overwrite::yes);
    expect_refused(m.what);
  }
}

// ---- files changed after they were written

void set_text(hid_t file, const char* name, const char* value) {
  H5Adelete(file, name);
  const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
  H5Tset_size(type, H5T_VARIABLE);
  const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, type, &value), 0);
  H5Aclose(attribute);
  H5Sclose(space);
  H5Tclose(type);
}

void set_integers(hid_t file, const char* name, std::vector<long long> values) {
  H5Adelete(file, name);
  const hsize_t count = values.size();
  const hid_t space = H5Screate_simple(1, &count, nullptr);
  const hid_t attribute = H5Acreate2(file, name, H5T_STD_I64BE, space, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(H5Awrite(attribute, H5T_NATIVE_LLONG, values.data()), 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

// Replaces a dataset by one without stored values.
void set_dataset(hid_t file, const char* name, hid_t type, std::vector<hsize_t> extents) {
  H5Ldelete(file, name, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(int(extents.size()), extents.data(), nullptr);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(properties, int(extents.size()), std::vector<hsize_t>(extents.size(), 1).data());
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT);
  EXPECT_GE(dataset, 0);
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(space);
}

class changed_file : public reference_file {
 protected:
  // On a torus of 10 x 8 vertices, halo 2, 2 levels.
  void change(const std::function<void(hid_t)>& action) const {
    write_reference(path_, torus_problem("nabla4_interpolate", {10, 8}, 2, 2), overwrite::yes);
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    action(file);
    ASSERT_GE(H5Fclose(file), 0);
  }
};

TEST_F(changed_file, with_other_strings_and_integers_is_read) {
  change([](hid_t f) {
    set_text(f, "schema", "icobench-reference-1");
    set_text(f, "chain", "nabla4_interpolate");
    set_integers(f, "levels", {2});
    set_integers(f, "shape", {10, 8});
  });
  EXPECT_EQ(read_reference(path_).chain_->name, "nabla4_interpolate");
}

TEST_F(changed_file, with_wrong_attributes) {
  const std::vector<std::pair<const char*, std::function<void(hid_t)>>> changes = {
      {"attribute 'schema': expected 'icobench-reference-1', found 'icobench-reference-2'",
       [](hid_t f) { set_text(f, "schema", "icobench-reference-2"); }},
      {"attribute 'schema': is missing", [](hid_t f) { H5Adelete(f, "schema"); }},
      {"attribute 'schema': expected one string", [](hid_t f) { set_integers(f, "schema", {1}); }},
      {"attribute 'chain': unknown chain 'nabla5'",
       [](hid_t f) { set_text(f, "chain", "nabla5"); }},
      {"dataset 'domain/cells'",
       [](hid_t f) { set_text(f, "chain", "nabla4_interpolate_verts2cells"); }},
      {"attribute 'precision'", [](hid_t f) { set_text(f, "precision", "half"); }},
      {"attribute 'generator'", [](hid_t f) { H5Adelete(f, "generator"); }},
      {"attribute 'grid'", [](hid_t f) { H5Adelete(f, "grid"); }},
      {"attribute 'levels'", [](hid_t f) { H5Adelete(f, "levels"); }},
      {"attribute 'levels': 0 is out of range", [](hid_t f) { set_integers(f, "levels", {0}); }},
      {"attribute 'levels': 4294967298", [](hid_t f) { set_integers(f, "levels", {4294967298}); }},
      {"attribute 'levels': expected 1 integer", [](hid_t f) { set_text(f, "levels", "2"); }},
      {"dataset 'inputs/u_vert': expected 80 x 3, found 80 x 2",
       [](hid_t f) { set_integers(f, "levels", {3}); }},
      {"dataset 'inputs/u_vert': expected 80 x 2147483647",
       [](hid_t f) { set_integers(f, "levels", {2147483647}); }},
      {"attribute 'shape': expected 2 integers", [](hid_t f) { set_integers(f, "shape", {10}); }},
      {"attribute 'shape': 0 is out of range",
       [](hid_t f) {
         set_integers(f, "shape", {10, 0});
       }},
      {"attribute 'shape': torus:",
       [](hid_t f) {
         set_integers(f, "shape", {1 << 20, 1 << 20});
       }},
      {"needs a torus", [](hid_t f) { H5Adelete(f, "shape"); }},
  };
  for (const auto& [what, action] : changes) {
    change(action);
    expect_refused(what);
  }
}

TEST_F(changed_file, with_wrong_datasets) {
  const auto f64 = H5T_IEEE_F64LE, i32 = H5T_STD_I32LE;
  const std::vector<std::pair<const char*, std::function<void(hid_t)>>> changes = {
      {"dataset 'inputs/u_vert': is missing",
       [](hid_t f) { H5Ldelete(f, "inputs/u_vert", H5P_DEFAULT); }},
      {"dataset 'tables/v2e': is missing",
       [](hid_t f) { H5Ldelete(f, "tables/v2e", H5P_DEFAULT); }},
      {"dataset 'outputs/z_nabla4_e2': is missing",
       [](hid_t f) { H5Ldelete(f, "outputs", H5P_DEFAULT); }},
      {"dataset 'domain/edges': is missing",
       [](hid_t f) {
         H5Ldelete(f, "domain/edges", H5P_DEFAULT);
         H5Gclose(H5Gcreate2(f, "domain/edges", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
       }},
      {"dataset 'inputs/u_vert': expected values of type float64",
       [&](hid_t f) {
         set_dataset(f, "inputs/u_vert", i32, {80, 2});
       }},
      {"dataset 'tables/e2v': expected values of type int32",
       [&](hid_t f) {
         set_dataset(f, "tables/e2v", f64, {240, 2});
       }},
      {"dataset 'tables/e2v': expected values of type int32",
       [&](hid_t f) {
         set_dataset(f, "tables/e2v", H5T_STD_U32LE, {240, 2});
       }},
      {"dataset 'inputs/u_vert': expected 80 x 2, found 80 x 1 x 2",
       [&](hid_t f) {
         set_dataset(f, "inputs/u_vert", f64, {80, 1, 2});
       }},
      {"dataset 'tables/e2v': expected any x 2, found 240",
       [&](hid_t f) { set_dataset(f, "tables/e2v", i32, {240}); }},
      {"dataset 'tables/e2v': claims",
       [&](hid_t f) {
         set_dataset(f, "tables/e2v", i32, {hsize_t(1) << 40, 2});
       }},
      {"dataset 'tables/e2v': 4611686018427387904 x 2 values are too many",
       [&](hid_t f) {
         set_dataset(f, "tables/e2v", i32, {hsize_t(1) << 62, 2});
       }},
  };
  for (const auto& [what, action] : changes) {
    change(action);
    expect_refused(what);
  }
}

}  // namespace
}  // namespace icobench
