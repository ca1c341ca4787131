// A problem brought to a device: numbered, laid out, converted to its precision, uploaded.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <icobench/gpu/device.hpp>
#include <icobench/grids/numbering.hpp>
#include <icobench/grids/patches.hpp>
#include <icobench/storage.hpp>

#include "src/problem/problem.hpp"

namespace icobench {

// What distinguishes two resident copies of the same problem.
struct arrangement {
  access access_;
  ordering ordering_;
  layout layout_;
  vertex_order vertices = vertex_order::row;  // of indirect access
  row_pitch rows = row_pitch::staggered;      // of strided and patched access
  bool operator==(const arrangement&) const = default;
};

// The distance of rows that counts: with kfirst, where a column of levels is contiguous, rows do
// not matter.
constexpr row_pitch pitch_of(layout l, row_pitch rows) {
  return l == layout::kfirst ? row_pitch::grid : rows;
}

// A point of a result, wrong or not.
struct wrong_point {
  field f;
  index_t entity, level;  // in the grid's numbering
  double expected, got;
};

struct verification {
  bool ok = false;
  double max_error = 0;              // largest |got - expected| / largest |expected|
  std::optional<wrong_point> worst;  // where that is
  // Norms of got - expected relative to those of expected, the largest of all outputs: the sum of
  // magnitudes, the root of the sum of squares. The same for any number of threads.
  double l1_error = 0, l2_error = 0;
  double tolerance = 0;
  std::size_t wrong = 0;  // values beyond the tolerance, unwritten or written outside the domain
  std::vector<wrong_point> first;
};

class resident_problem {
 public:
  // Uploads inputs and tables. Throws unsupported when the arrangement cannot hold the problem
  // (strided access needs a torus with a halo, and its vertices in rows; patched access any other
  // grid in which there are patches).
  resident_problem(gpu::device&, const problem&, const arrangement&);

  const storage& view() const { return storage_; }
  const arrangement& arranged() const { return arrangement_; }
  std::size_t bytes() const;

  // Fills what the chain writes with NaN.
  void poison_outputs();
  // Compares the chain's last outputs with the expected ones on all points, including that nothing
  // outside the domain was written. `on_device`: there, if it can, which copies a few numbers to
  // the host; results that are wrong are copied as a whole. On simt that would only cost time.
  verification verify(bool on_device) const;
  verification verify() const { return verify(device_.backend() != "simt"); }
  // The same for what a roofline variant writes, see input_sums.
  verification verify_sums() const;

  // Names what the chain reads and no longer is what was uploaded: "vn", "a neighbour table"; "" if
  // all is. By checksums, which are made on the device.
  std::string changed_inputs() const;
  // Uploads it once more.
  void restore_inputs();

 private:
  void make_strided();
  void make_indirect();
  void make_patched();
  void make_diamonds(stage of_edges);
  void upload_row_table(neighbour_table);
  std::span<const index_t> upload_row_table(const table&, const std::vector<index_t>& row_id,
                                            location of);
  // Of these points of the chain's last stage.
  void make_blocks(const std::vector<index_t>& computed);
  const table* slots_in_layout(field) const;
  template <class T>
  void upload_fields();
  template <class Compare>
  verification verify_outputs(Compare) const;
  template <class T>
  void compare(field f, const host_field& expected, verification&) const;
  index_t neighbour(const table&, index_t row, index_t slot, location of) const;
  template <class T>
  bool right_on_device(field f, verification&) const;
  raw_view upload_table(const table&, location rows, location of);
  raw_view upload_positions(const table&, location rows);
  template <class Value>
  raw_view upload_rows(layout, index_t slots, const std::vector<index_t>& row_id, Value);
  const index_t* upload_ids(const std::vector<index_t>&);
  std::vector<std::pair<std::string, const gpu::buffer*>> memory_of_inputs() const;
  std::vector<unsigned long long> checksums() const;

  // Expected values on the device, laid out as the result is.
  struct expectation {
    gpu::buffer values;
    double largest = 0;
  };

  gpu::device& device_;
  const problem& problem_;
  arrangement arrangement_;
  std::optional<patched_layout> layout_;  // of patched access
  const grid& mesh_;                      // the problem's, or as the layout has it
  numbering numbering_;
  storage storage_;
  std::array<gpu::buffer, field_count> fields_;  // with levels
  gpu::buffer coefficients_;                     // fields without
  std::vector<gpu::buffer> tables_;
  std::vector<unsigned long long> checksums_;      // of the inputs as they were uploaded
  mutable std::map<field, expectation> expected_;  // made when first needed
};

}  // namespace icobench
