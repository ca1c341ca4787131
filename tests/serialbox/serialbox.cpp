#include "tests/serialbox/serialbox.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace icobench {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the files are little-endian");

constexpr int type_float64 = 5;  // Serialbox's TypeID

[[noreturn]] void fail(const std::string& file, const std::string& what) {
  throw input_error(file + ": " + what);
}

[[noreturn]] void fail(const std::string& file, const std::string& field, const std::string& what) {
  fail(file, "field '" + field + "': " + what);
}

std::ifstream open_file(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) { fail(file, "is a folder"); }
  std::ifstream in(file, std::ios::binary);
  if (!in) { fail(file, std::string("cannot open: ") + std::strerror(errno)); }
  return in;
}

// Runs `interpret` on the parsed file. What it finds missing or of the wrong type is reported in
// the words of the JSON library, which name the key.
template <class Interpret>
void with_json(const std::string& file, Interpret interpret) {
  std::ostringstream text;
  text << open_file(file).rdbuf();
  try {
    const json document = json::parse(text.str());
    interpret(document);
  } catch (const json::parse_error& e) {
    fail(file, std::string("no valid JSON: ") + e.what());
  } catch (const json::exception& e) {
    fail(file, std::string("not as Serialbox writes it: ") + e.what());
  }
}

// The member as an unsigned integer up to `most`; json::get would convert any number silently.
std::uint64_t to_unsigned(const std::string& file, const std::string& what, const json& value,
                          std::uint64_t most) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
    fail(file, what + ": expected an integer from 0 to " + std::to_string(most) + ", found " +
                   (value.is_number() ? value.dump() : value.type_name()));
  }
  return value.get<std::uint64_t>();
}

std::vector<index_t> to_dims(const std::string& file, const std::string& field, const json& dims) {
  constexpr auto most = std::uint64_t(std::numeric_limits<index_t>::max());
  std::vector<index_t> result;
  std::uint64_t size = 1;
  for (const json& d : dims.get_ref<const json::array_t&>()) {
    result.push_back(index_t(to_unsigned(file, "dims of field '" + field + "'", d, most)));
    if (result.back() == 0) { fail(file, field, "has a dimension of 0"); }
    // Files of this size do not exist, and what follows may multiply by 8 without overflow.
    if ((size *= std::uint64_t(result.back())) > (std::uint64_t(1) << 40)) {
      fail(file, field, "is too large");
    }
  }
  return result;
}

std::uint64_t count_values(const std::vector<index_t>& dims) {
  std::uint64_t size = 1;
  for (const index_t d : dims) { size *= std::uint64_t(d); }
  return size;
}

// Column-major (first dimension contiguous) to row-major.
std::vector<double> to_row_major(const std::vector<index_t>& dims, const std::string& bytes) {
  std::vector<double> result(bytes.size() / sizeof(double));
  std::vector<std::size_t> stride(dims.size(), 1);  // of the source
  for (std::size_t d = 1; d < dims.size(); ++d) {
    stride[d] = stride[d - 1] * std::size_t(dims[d - 1]);
  }
  for (std::size_t row_major = 0; row_major < result.size(); ++row_major) {
    std::size_t rest = row_major, column_major = 0;
    for (std::size_t d = dims.size(); d-- > 0;) {
      column_major += rest % std::size_t(dims[d]) * stride[d];
      rest /= std::size_t(dims[d]);
    }
    std::memcpy(&result[row_major], bytes.data() + column_major * sizeof(double), sizeof(double));
  }
  return result;
}

// The 32-bit words of SHA-256 as Serialbox keeps them: signed, so >> copies the sign bit.
constexpr std::uint32_t shift(std::uint32_t x, int n) {
  return std::uint32_t(std::int32_t(x) >> n);
}
constexpr std::uint32_t rotate(std::uint32_t x, int n) {
  return shift(x, n) | (x << (32 - n));
}

// Fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using hash_state = std::array<std::uint32_t, 8>;

// Fractional parts of the square roots of the first 8 primes (FIPS 180-4, 5.3.3).
constexpr hash_state initial_hash = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

std::array<std::uint32_t, 64> message_schedule(const char* block) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t t = 0; t < 16; ++t) {
    for (std::size_t b = 0; b < 4; ++b) {
      w[t] = w[t] << 8 | std::uint32_t(static_cast<unsigned char>(block[4 * t + b]));
    }
  }
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ shift(w[t - 15], 3);
    const std::uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ shift(w[t - 2], 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  return w;
}

// Adds one block of 64 bytes (FIPS 180-4, 6.2.2).
void add_block(hash_state& hash, const char* block) {
  const auto w = message_schedule(block);
  auto [a, b, c, d, e, f, g, h] = hash;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[t] + w[t];
    const std::uint32_t s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const hash_state rounds = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < hash.size(); ++i) { hash[i] += rounds[i]; }
}

}  // namespace

std::string serialbox_digest(std::string_view bytes) {
  hash_state hash = initial_hash;
  const std::size_t whole = bytes.size() / 64 * 64;
  for (std::size_t at = 0; at < whole; at += 64) { add_block(hash, bytes.data() + at); }
  std::string tail(bytes.substr(whole));
  tail += '\x80';
  while (tail.size() % 64 != 56) { tail += '\0'; }
  for (int s = 56; s >= 0; s -= 8) { tail += char(std::uint64_t(bytes.size()) * 8 >> s & 0xff); }
  for (std::size_t at = 0; at < tail.size(); at += 64) { add_block(hash, tail.data() + at); }
  std::ostringstream text;
  text << std::hex << std::uppercase;
  for (const std::uint32_t word : hash) {
    for (int s = 24; s >= 0; s -= 8) { text << (word >> s & 0xff); }
  }
  return text.str();
}

serialbox_archive::serialbox_archive(const std::string& folder, const std::string& prefix)
    : metadata_file_(folder + "/MetaData-" + prefix + ".json"),
      archive_file_(folder + "/ArchiveMetaData-" + prefix + ".json"),
      data_prefix_(folder + "/" + prefix + "_") {
  read_field_map();
  read_field_table();
}

// MetaData: what the fields are, and which entry of a field belongs to which savepoint.
void serialbox_archive::read_field_map() {
  with_json(metadata_file_, [&](const json& document) {
    for (const auto& [name, about] : document.at("field_map").items()) {
      description& field = fields_[name];
      field.dims = to_dims(metadata_file_, name, about.at("dims"));
      field.type_id = int(to_unsigned(metadata_file_, "type_id of field '" + name + "'",
                                      about.at("type_id"), std::numeric_limits<int>::max()));
    }
    const json& savepoints = document.at("savepoint_vector").at("fields_per_savepoint");
    for (const json& savepoint : savepoints.get_ref<const json::array_t&>()) {
      auto& entries = savepoints_.emplace_back();
      // An object with one member, the savepoint's name.
      for (const auto& [savepoint_name, ids] : savepoint.items()) {
        for (const auto& [name, id] : ids.items()) {
          entries[name] = std::size_t(to_unsigned(metadata_file_, "id of field '" + name + "'", id,
                                                  std::numeric_limits<std::uint32_t>::max()));
        }
      }
    }
  });
}

// ArchiveMetaData: where the entries lie in the data files.
void serialbox_archive::read_field_table() {
  with_json(archive_file_, [&](const json& document) {
    if (const auto& kind = document.at("archive_name").get_ref<const std::string&>();
        kind != "Binary") {
      fail(archive_file_, "the archive is of kind '" + kind + "', expected 'Binary'");
    }
    hash_algorithm_ = document.at("hash_algorithm").get<std::string>();
    for (const auto& [name, entries] : document.at("fields_table").items()) {
      const auto field = fields_.find(name);
      if (field == fields_.end()) { fail(archive_file_, name, "is not in " + metadata_file_); }
      for (const json& e : entries.get_ref<const json::array_t&>()) {
        const auto offset = to_unsigned(archive_file_, "offset of field '" + name + "'", e.at(0),
                                        std::numeric_limits<std::int64_t>::max() / 2);
        field->second.entries.push_back({offset, e.at(1).get<std::string>()});
      }
    }
  });
}

std::vector<std::string> serialbox_archive::fields() const {
  std::vector<std::string> names;
  for (const auto& [name, about] : fields_) { names.push_back(name); }
  return names;
}

const serialbox_archive::description& serialbox_archive::describe(const std::string& name) const {
  const auto field = fields_.find(name);
  if (field == fields_.end()) { fail(metadata_file_, name, "there is no such field"); }
  if (field->second.type_id != type_float64) {
    fail(metadata_file_, name,
         "has type_id " + std::to_string(field->second.type_id) + ", only " +
             std::to_string(type_float64) + " (double) is read");
  }
  return field->second;
}

const serialbox_archive::entry& serialbox_archive::find_entry(const std::string& name,
                                                              std::size_t savepoint) const {
  if (savepoint >= savepoints_.size()) {
    fail(metadata_file_, "there is no savepoint " + std::to_string(savepoint) + ", only " +
                             std::to_string(savepoints_.size()));
  }
  const auto id = savepoints_[savepoint].find(name);
  if (id == savepoints_[savepoint].end()) {
    fail(metadata_file_, name, "is not part of savepoint " + std::to_string(savepoint));
  }
  const auto& entries = describe(name).entries;
  if (id->second >= entries.size()) {
    fail(archive_file_, name, "has no entry " + std::to_string(id->second));
  }
  return entries[id->second];
}

serialbox_field serialbox_archive::read(const std::string& name, std::size_t savepoint) const {
  const description& field = describe(name);
  const entry& wanted = find_entry(name, savepoint);
  const std::string file = data_prefix_ + name + ".dat";
  std::ifstream in = open_file(file);
  in.seekg(0, std::ios::end);
  const std::streamoff size = in.tellg();
  const std::uint64_t bytes = count_values(field.dims) * sizeof(double);
  std::uint64_t expected = 0;
  for (const entry& e : field.entries) { expected = std::max(expected, e.offset + bytes); }
  if (size < 0 || std::uint64_t(size) != expected) {
    fail(file, name,
         "the file has " + std::to_string(size) + " bytes, dims and offsets ask for " +
             std::to_string(expected));
  }
  std::string data(std::size_t(bytes), '\0');
  in.seekg(std::streamoff(wanted.offset));
  if (!in.read(data.data(), std::streamsize(bytes))) { fail(file, name, "cannot be read"); }
  if (hash_algorithm_ == "SHA256" && serialbox_digest(data) != wanted.digest) {
    fail(file, name, "the digest differs from the one in " + archive_file_ + "; damaged?");
  }
  return {field.dims, to_row_major(field.dims, data)};
}

}  // namespace icobench
