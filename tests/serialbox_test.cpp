// Serialbox archives: one written here, damaged in every way, and the reference data of ICON's
// Python port, in the folder serialized/ of $ICOBENCH_TEST_DATA.
#include "tests/serialbox/serialbox.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include <icobench/grids/grid_file.hpp>
#include <icobench/stencil/interpolate.hpp>
#include <icobench/stencil/nabla4.hpp>

#include "tests/scratch_folder.hpp"

namespace icobench {
namespace {

using nlohmann::json;

// ---- the digest

TEST(serialbox_digest, is_that_of_serialbox) {
  // Computed by an implementation in Python that reproduces the digests of the real archives.
  EXPECT_EQ(serialbox_digest(""), "64F0588447D845D68FAF4851BB5B1954E1DCFB6F5D3F7DCB4383273F5B614");
  EXPECT_EQ(serialbox_digest("abc"),
            "BD706453F1F2DCDDC9B6CDDBB8F652CDF69E3209829117CDCAAAAE9DCAEDC63");
  EXPECT_EQ(serialbox_digest(std::string(55, 'x')),
            "5B6EDB8E5C7E8D1D332DC729D6900D7B6D4D93ED3C1B862DA9561E479169BA");
  EXPECT_EQ(serialbox_digest(std::string(56, 'x')),
            "C281333588A99DE717CECCF9793C9A26A8A97845652CC97BBE3E75D3A702F2E");
  EXPECT_EQ(serialbox_digest(std::string(64, '\xff')),
            "9BDB178FA48DAA831AE44B1520C89AFE4D9EFBA167E5FEB3A78A571FE73322");
  EXPECT_EQ(serialbox_digest(std::string(1000, 'z')),
            "5915931635A2F16F4AD5D4E21F4401771C495417AC4194ADC50421620FFA1FB");
}

// ---- an archive written by the test

std::string bytes_of(const std::vector<double>& values) {
  std::string bytes(values.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// Fields `a` (2 x 3, another at the second savepoint) and `b` (2 x 2 x 2, the same at both).
class written_archive : public testing::Test {
 protected:
  void SetUp() override {
    const std::string first = bytes_of({1, 2, 3, 4, 5, 6}),
                      second = bytes_of({7, 8, 9, 10, 11, 12});
    const std::string b = bytes_of({0, 1, 2, 3, 4, 5, 6, 7});
    meta_ = json::parse(R"({
        "field_map": {"a": {"dims": [2, 3], "meta_info": null, "type_id": 5},
                      "b": {"dims": [2, 2, 2], "meta_info": null, "type_id": 5}},
        "global_meta_info": null, "prefix": "test",
        "savepoint_vector": {
          "fields_per_savepoint": [{"First": {"a": 0, "b": 0}}, {"Second": {"a": 1, "b": 0}}],
          "savepoints": [{"meta_info": {}, "name": "First"}, {"meta_info": {}, "name": "Second"}]},
        "serialbox_version": 261})");
    archive_ = {{"archive_name", "Binary"},
                {"archive_version", 0},
                {"fields_table",
                 {{"a", json::array({json::array({0, serialbox_digest(first)}),
                                     json::array({48, serialbox_digest(second)})})},
                  {"b", json::array({json::array({0, serialbox_digest(b)})})}}},
                {"hash_algorithm", "SHA256"},
                {"serialbox_version", 261}};
    write("test_a.dat", first + second);
    write("test_b.dat", b);
    write_metadata();
  }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  void write_metadata() const {
    write("MetaData-test.json", meta_.dump());
    write("ArchiveMetaData-test.json", archive_.dump());
  }
  std::string content(const std::string& name) const {
    std::ifstream in(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  serialbox_archive open() const { return {folder_.path().string(), "test"}; }
  void read_all() const {
    const serialbox_archive archive = open();
    for (const std::size_t savepoint : {0u, 1u}) {
      for (const auto& name : archive.fields()) { archive.read(name, savepoint); }
    }
  }
  // Reading fails with a message that names `file` and contains `what`.
  void expect_refused(const std::string& file, const std::string& what) const {
    try {
      read_all();
      ADD_FAILURE() << "not refused, expected: " << what;
    } catch (const input_error& e) {
      const std::string message = e.what();
      EXPECT_EQ(message.find((folder_ / file).string() + ": "), 0u) << message;
      EXPECT_NE(message.find(what), std::string::npos) << message;
    }
  }

  test::scratch_folder folder_;
  json meta_, archive_;
};

TEST_F(written_archive, is_read_in_row_major_order) {
  const serialbox_archive archive = open();
  EXPECT_EQ(archive.fields(), (std::vector<std::string>{"a", "b"}));
  const serialbox_field a = archive.read("a");
  EXPECT_EQ(a.dims, (std::vector<index_t>{2, 3}));
  EXPECT_EQ(a.values, (std::vector<double>{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(archive.read("a", 1).values, (std::vector<double>{7, 9, 11, 8, 10, 12}));
  EXPECT_EQ(archive.read("b").values, (std::vector<double>{0, 4, 2, 6, 1, 5, 3, 7}));
  EXPECT_EQ(archive.read("b", 1).values, archive.read("b", 0).values);
}

TEST_F(written_archive, without_field_or_savepoint) {
  EXPECT_THROW(open().read("c"), input_error);
  EXPECT_THROW(open().read("a", 2), input_error);
  meta_["savepoint_vector"]["fields_per_savepoint"][1]["Second"].erase("a");
  write_metadata();
  EXPECT_NO_THROW(open().read("a", 0));
  expect_refused("MetaData-test.json", "field 'a'");
}

TEST_F(written_archive, with_a_missing_file) {
  for (const char* file : {"test_a.dat", "MetaData-test.json", "ArchiveMetaData-test.json"}) {
    const std::string kept = content(file);
    std::filesystem::remove(folder_ / file);
    expect_refused(file, "No such file");
    write(file, kept);
  }
  EXPECT_NO_THROW(read_all());
  EXPECT_THROW(serialbox_archive(folder_.path().string() + "/none", "test"), input_error);
}

TEST_F(written_archive, with_a_folder_in_place_of_a_file) {
  for (const char* file : {"test_a.dat", "MetaData-test.json", "ArchiveMetaData-test.json"}) {
    const std::string kept = content(file);
    std::filesystem::remove(folder_ / file);
    std::filesystem::create_directory(folder_ / file);
    expect_refused(file, "is a folder");
    std::filesystem::remove(folder_ / file);
    write(file, kept);
  }
}

TEST_F(written_archive, with_metadata_truncated_anywhere) {
  for (const char* file : {"MetaData-test.json", "ArchiveMetaData-test.json"}) {
    const std::string whole = content(file);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      write(file, whole.substr(0, length));
      expect_refused(file, "no valid JSON");
    }
    write(file, whole);
  }
}

TEST_F(written_archive, with_any_byte_of_the_metadata_damaged) {
  for (const char* file : {"MetaData-test.json", "ArchiveMetaData-test.json"}) {
    const std::string whole = content(file);
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string damaged = whole;
      damaged[at] = std::string_view("\0009-\"[\xff", 6)[at % 6];
      write(file, damaged);
      try {
        read_all();
      } catch (const input_error&) {}  // nothing else may be thrown
    }
    write(file, whole);
  }
}

TEST_F(written_archive, with_wrong_metadata) {
  struct damage {
    const char *what, *file;
    std::function<void(json& meta, json& archive)> apply;
  };
  const char *const meta_file = "MetaData-test.json", *const archive_file =
                                                          "ArchiveMetaData-test.json";
  const std::vector<damage> damages = {
      {"type_id 4", meta_file, [](json& m, json&) { m["field_map"]["a"]["type_id"] = 4; }},
      {"type_id", meta_file, [](json& m, json&) { m["field_map"]["a"]["type_id"] = "five"; }},
      {"type_id", meta_file, [](json& m, json&) { m["field_map"]["a"].erase("type_id"); }},
      {"dims", meta_file,
       [](json& m, json&) {
         m["field_map"]["a"]["dims"] = {2, -3};
       }},
      {"dims", meta_file,
       [](json& m, json&) {
         m["field_map"]["a"]["dims"] = {2, 3.5};
       }},
      {"dimension of 0", meta_file,
       [](json& m, json&) {
         m["field_map"]["a"]["dims"] = {2, 0};
       }},
      {"not as Serialbox", meta_file, [](json& m, json&) { m["field_map"]["a"]["dims"] = 6; }},
      {"too large", meta_file,
       [](json& m, json&) {
         m["field_map"]["a"]["dims"] = {2147483647, 2147483647, 2147483647};
       }},
      {"not as Serialbox", meta_file, [](json& m, json&) { m.erase("field_map"); }},
      {"not as Serialbox", meta_file, [](json& m, json&) { m["field_map"] = 3; }},
      {"id of field 'a'", meta_file,
       [](json& m, json&) { m["savepoint_vector"]["fields_per_savepoint"][0]["First"]["a"] = -1; }},
      {"has no entry 2", archive_file,
       [](json& m, json&) { m["savepoint_vector"]["fields_per_savepoint"][0]["First"]["a"] = 2; }},
      {"no savepoint 0", meta_file,
       [](json& m, json&) { m["savepoint_vector"]["fields_per_savepoint"] = json::array(); }},
      {"kind 'NetCDF'", archive_file, [](json&, json& a) { a["archive_name"] = "NetCDF"; }},
      {"offset", archive_file, [](json&, json& a) { a["fields_table"]["a"][0][0] = -8; }},
      {"not as Serialbox", archive_file, [](json&, json& a) { a["fields_table"]["a"][0] = 0; }},
      {"not as Serialbox", archive_file, [](json&, json& a) { a["fields_table"]["a"][0][1] = 0; }},
      {"has no entry 0", archive_file, [](json&, json& a) { a["fields_table"].erase("a"); }},
      {"field 'z'", archive_file, [](json&, json& a) { a["fields_table"]["z"] = json::array(); }},
      {"ask for 104", "test_a.dat", [](json&, json& a) { a["fields_table"]["a"][1][0] = 56; }},
      {"dims and offsets ask for", "test_a.dat",
       [](json&, json& a) { a["fields_table"]["a"][1][0] = 1ull << 60; }},
      {"dims and offsets ask for", "test_a.dat",
       [](json& m, json&) {
         m["field_map"]["a"]["dims"] = {2, 4};
       }},
      {"digest", "test_a.dat", [](json&, json& a) { a["fields_table"]["a"][0][1] = "0"; }},
  };
  for (const damage& d : damages) {
    json meta = meta_, archive = archive_;
    d.apply(meta, archive);
    write("MetaData-test.json", meta.dump());
    write("ArchiveMetaData-test.json", archive.dump());
    expect_refused(d.file, d.what);
  }
}

TEST_F(written_archive, with_data_truncated_or_too_long) {
  const std::string whole = content("test_a.dat");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write("test_a.dat", whole.substr(0, length));
    expect_refused("test_a.dat", std::to_string(length) + " bytes");
  }
  write("test_a.dat", whole + "x");
  expect_refused("test_a.dat", "97 bytes");
}

TEST_F(written_archive, with_a_flipped_bit_in_the_data) {
  const std::string whole = content("test_a.dat");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = char(damaged[at] ^ 1);
    write("test_a.dat", damaged);
    expect_refused("test_a.dat", "digest");
  }
}

TEST_F(written_archive, with_another_hash_is_read_unverified) {
  archive_["hash_algorithm"] = "MD5";
  archive_["fields_table"]["a"][0][1] = "0";
  write_metadata();
  EXPECT_NO_THROW(read_all());
}

// ---- the reference data

class serialized_data : public testing::Test {
 protected:
  void SetUp() override {
    const char* folder = std::getenv("ICOBENCH_TEST_DATA");
    if (!folder) { GTEST_SKIP() << "ICOBENCH_TEST_DATA is not set: no serialized data to read"; }
    folder_ = folder;
  }
  serialbox_archive open(const std::string& grid, const std::string& prefix) const {
    return {(folder_ / "serialized" / grid).string(), prefix};
  }
  grid read_grid(const std::string& name) const {
    return read_grid_file((folder_ / "grids" / name).string());
  }

  std::filesystem::path folder_;
};

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double x : values) { most = std::max(most, std::abs(x)); }
  return most;
}

void expect_equal(const std::vector<double>& values, const serialbox_field& expected) {
  ASSERT_EQ(values.size(), expected.values.size());
  const double tolerance = 1e-13 * largest(expected.values);
  for (std::size_t n = 0; n < values.size(); ++n) {
    ASSERT_NEAR(values[n], expected.values[n], tolerance) << "at " << n;
  }
}

TEST_F(serialized_data, is_readable_and_undamaged) {
  std::size_t fields = 0;
  for (const auto& [grid, prefix] : {std::pair{"torus_grid", "nabla4_fields"},
                                     {"torus_grid", "nabla4_output"},
                                     {"torus_grid", "MoIntpRbfRbfVecInterpolVertex_fields"},
                                     {"torus_grid", "MoIntpRbfRbfVecInterpolVertex_output"},
                                     {"simple_grid", "nabla4_fields"},
                                     {"simple_grid", "nabla4_output"}}) {
    const serialbox_archive archive = open(grid, prefix);
    for (const auto& name : archive.fields()) {
      EXPECT_GT(largest(archive.read(name).values), 0.1) << name;
      ++fields;
    }
  }
  EXPECT_EQ(fields, 25u);
}

TEST_F(serialized_data, flattened_normals_are_row_major) {
  for (const char* grid : {"torus_grid", "simple_grid"}) {
    const serialbox_archive in = open(grid, "nabla4_fields");
    for (const std::string name : {"primal_normal_vert_v1", "primal_normal_vert_v2"}) {
      EXPECT_EQ(in.read(name).values, in.read(name + "_new").values);
    }
  }
}

// nabla4 of the archive's fields with this diamond table.
std::vector<double> nabla4_of(const serialbox_archive& in, const table& e2c2v) {
  const auto u = in.read("u_vert"), v = in.read("v_vert"), z = in.read("z_nabla2_e"),
             n1 = in.read("primal_normal_vert_v1"), n2 = in.read("primal_normal_vert_v2"),
             vert_vert = in.read("inv_vert_vert_length"), edge = in.read("inv_primal_edge_length");
  const std::size_t levels = std::size_t(z.dims[1]);
  std::vector<double> result(z.values.size());
  for (std::size_t n = 0; n < result.size(); ++n) {
    const std::size_t e = n / levels, k = n % levels;
    const double a = vert_vert.values[e], b = edge.values[e];
    nabla4<double> stencil{{}, {}, a * a, b * b};
    neighbours<double, 4> u_at{}, v_at{};
    for (int s = 0; s < 4; ++s) {
      const std::size_t row = std::size_t(e2c2v(index_t(e), s)) * levels + k;
      stencil.normal_1[s] = n1.values[4 * e + std::size_t(s)];
      stencil.normal_2[s] = n2.values[4 * e + std::size_t(s)];
      u_at[s] = u.values[row];
      v_at[s] = v.values[row];
    }
    result[n] = stencil(u_at, v_at, z.values[n]);
  }
  return result;
}

// The diamonds of a torus of 4 x 3 vertices, edges numbered per vertex.
table torus_diamonds() {
  constexpr index_t nx = 4, ny = 3;
  constexpr std::array<std::array<std::array<index_t, 2>, 4>, 3> offsets{
      {{{{0, 0}, {0, 1}, {-1, 1}, {1, 0}}},
       {{{0, 0}, {1, 0}, {0, 1}, {1, -1}}},
       {{{0, 0}, {1, -1}, {1, 0}, {0, -1}}}}};
  table result(3 * nx * ny, 4);
  for (index_t e = 0; e < result.rows(); ++e) {
    for (index_t s = 0; s < 4; ++s) {
      const auto [di, dj] = offsets[std::size_t(e % 3)][std::size_t(s)];
      const index_t i = e / 3 % nx + di, j = e / 3 / nx + dj;
      const index_t around = i < 0 ? -1 : i / nx;  // nx rows are shifted by nx/2 columns
      const index_t column = (j + around * (nx / 2) + 2 * ny) % ny;
      result(e, s) = column * nx + i - around * nx;
    }
  }
  return result;
}

TEST_F(serialized_data, nabla4_on_the_torus) {
  const auto expected = open("torus_grid", "nabla4_output").read("z_nabla4_e2");
  const auto result = nabla4_of(open("torus_grid", "nabla4_fields"), torus_diamonds());
  expect_equal(result, expected);
#if !defined(__FP_FAST_FMA) && !defined(__FMA__) && !defined(__ARM_FEATURE_FMA)
  EXPECT_EQ(result, expected.values);  // products are summed as the reference does: to the bit
#endif
}

TEST_F(serialized_data, nabla4_on_the_simple_grid) {
  const grid g = read_grid("simple_grid_gridfile.nc");
  expect_equal(nabla4_of(open("simple_grid", "nabla4_fields"), g.e2c2v),
               open("simple_grid", "nabla4_output").read("z_nabla4_e2"));
}

TEST_F(serialized_data, interpolate_on_the_torus) {
  const grid g = read_grid("torus_100000_100000_24576.nc");
  const serialbox_archive in = open("torus_grid", "MoIntpRbfRbfVecInterpolVertex_fields"),
                          out = open("torus_grid", "MoIntpRbfRbfVecInterpolVertex_output");
  const auto p_e = in.read("p_e_in"), c1 = in.read("ptr_coeff_1"), c2 = in.read("ptr_coeff_2"),
             p_u = out.read("p_u_out"), p_v = out.read("p_v_out");
  const std::size_t levels = std::size_t(p_u.dims[1]);
  std::vector<double> u(p_u.values.size()), v(p_v.values.size());
  for (std::size_t n = 0; n < u.size(); ++n) {
    const std::size_t vertex = n / levels, k = n % levels;
    interpolate<double> stencil{};
    neighbours<double, 6> p_e_at{};
    for (int s = 0; s < 6; ++s) {
      stencil.coeff_1[s] = c1.values[6 * vertex + std::size_t(s)];
      stencil.coeff_2[s] = c2.values[6 * vertex + std::size_t(s)];
      // The numbering of the file, not ours.
      p_e_at[s] = p_e.values[std::size_t(g.v2e(index_t(vertex), s)) * levels + k];
    }
    const auto sum = stencil(p_e_at);
    u[n] = sum.u;
    v[n] = sum.v;
  }
  expect_equal(u, p_u);
  expect_equal(v, p_v);
}

}  // namespace
}  // namespace icobench
