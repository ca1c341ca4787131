// Reader of Serialbox 2.6 archives of kind "Binary": the reference data of ICON's Python port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <icobench/errors.hpp>
#include <icobench/types.hpp>

namespace icobench {

// A field of a savepoint, row-major: the last dimension is contiguous.
struct serialbox_field {
  std::vector<index_t> dims;
  std::vector<double> values;
};

// An archive is the files MetaData-PREFIX.json, ArchiveMetaData-PREFIX.json and PREFIX_FIELD.dat of
// one folder. Every function throws input_error "FILE: ..." for whatever the files may contain.
class serialbox_archive {
 public:
  // Reads both metadata files.
  serialbox_archive(const std::string& folder, const std::string& prefix);

  // Names of all fields, in alphabetical order.
  std::vector<std::string> fields() const;

  // The field at a savepoint, counted from 0. Only fields of double are understood. The digest is
  // verified, unless the archive was written with another hash than SHA256.
  serialbox_field read(const std::string& name, std::size_t savepoint = 0) const;

 private:
  // One version of a field in its .dat file; savepoints with equal values share it.
  struct entry {
    std::uint64_t offset = 0;
    std::string digest;
  };
  struct description {
    std::vector<index_t> dims;
    int type_id = 0;
    std::vector<entry> entries;
  };

  void read_field_map();
  void read_field_table();
  const description& describe(const std::string& name) const;
  const entry& find_entry(const std::string& name, std::size_t savepoint) const;

  std::string metadata_file_, archive_file_, data_prefix_;
  std::string hash_algorithm_;
  std::map<std::string, description> fields_;
  std::vector<std::map<std::string, std::size_t>> savepoints_;  // field -> entry
};

// What Serialbox calls SHA256 of these bytes: 32 bytes in upper-case hexadecimal. It differs from
// the standard in two ways, which a reader must repeat: words are signed, so that shifts to the
// right copy the sign bit (in rotations too), and a byte below 16 is printed as one digit.
std::string serialbox_digest(std::string_view bytes);

}  // namespace icobench
