#include "src/problem/resident.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <icobench/registry.hpp>

#include "grids/tables.hpp"

namespace icobench {
namespace {

// The distance of slots and levels is a multiple of this, so that every level starts on a line.
constexpr std::ptrdiff_t alignment_bytes = 128;

// Where (entity, slot, level) lies: the strides of view for each layout.
struct shape {
  std::ptrdiff_t entity, slot, level;  // strides
  std::ptrdiff_t elements;

  std::ptrdiff_t offset(index_t h, index_t s, index_t k) const {
    return h * entity + s * slot + k * level;
  }
};

shape make_shape(layout l, std::ptrdiff_t entities, std::ptrdiff_t slots, std::ptrdiff_t levels,
                 std::ptrdiff_t element_bytes) {
  if (l == layout::kfirst) { return {slots * levels, levels, 1, entities * slots * levels}; }
  const std::ptrdiff_t unit = alignment_bytes / element_bytes;
  const std::ptrdiff_t padded = (entities + unit - 1) / unit * unit;
  return {1, padded, slots * padded, slots * levels * padded};
}

// Strides are 32 bits wide: see view.
index_t narrow(std::ptrdiff_t stride) {
  if (stride > std::numeric_limits<index_t>::max()) {
    throw input_error("the problem is too large: a stride of " + std::to_string(stride) +
                      " elements does not fit 32 bits");
  }
  return index_t(stride);
}

raw_view make_view(void* data, layout l, const shape& s, bool by_level) {
  narrow(l == layout::kfirst ? s.entity : s.level);  // all slots: kernels add them to the entity
  const std::ptrdiff_t stride = l == layout::kfirst ? s.entity : by_level ? s.level : 0;
  return {data, narrow(stride), narrow(s.slot)};
}

// Error that rounding may cause, relative to the largest value: some dozens of operations.
double tolerance_of(precision p) {
  return p == precision::float64 ? 1e-13 : 1e-5;
}

constexpr std::size_t reported_points = 5;

}  // namespace

resident_problem::resident_problem(gpu::device& device, const problem& p, const arrangement& a)
    : device_(device),
      problem_(p),
      arrangement_(a),
      numbering_(make_numbering(*p.mesh, p.computed, a.access_, a.ordering_)) {
  storage_.levels = p.levels;
  if (a.access_ == access::strided) {
    make_strided();
  } else {
    make_indirect();
  }
  if (p.precision_ == precision::float64) {
    upload_fields<double>();
  } else {
    upload_fields<float>();
  }
}

void resident_problem::make_strided() {
  if (!problem_.mesh->shape) { throw unsupported("strided access needs a torus"); }
  if (problem_.halo < 1) { throw unsupported("strided access needs a halo of at least 1"); }
  storage_.row = problem_.mesh->shape->nx;
  storage_.plane = problem_.mesh->vertices;
  for (const stage s : problem_.chain_->stages) {
    storage_.rectangles[std::size_t(s)] = problem_.computed[std::size_t(s)].vertices.value();
  }
}

void resident_problem::make_indirect() {
  const grid& mesh = *problem_.mesh;
  storage_.torus_order = mesh.shape.has_value();
  if (problem_.chain_->has(stage::nabla4) && problem_.chain_->has(stage::interpolate)) {
    const composed v = make_v2e2c2v(mesh);
    storage_.v2e2c2v = upload_table(v.members, location::vertex, location::vertex);
    storage_.e_v2e2c2v = upload_positions(v.positions, location::vertex);
    if (problem_.chain_->has(stage::verts2cells)) {
      const composed edges = make_c2v2e(mesh);
      storage_.c2v2e = upload_table(edges.members, location::cell, location::edge);
      storage_.e_c2v2e = upload_positions(edges.positions, location::cell);
      const composed vertices = make_c2v2e2c2v(mesh, edges.members);
      storage_.c2v2e2c2v = upload_table(vertices.members, location::cell, location::vertex);
      storage_.e_c2v2e2c2v = upload_positions(vertices.positions, location::cell);
    }
  }
  for (const stage s : problem_.chain_->stages) {
    storage_.ranges[std::size_t(s)] = {0, index_t(problem_.computed[std::size_t(s)].ids.size())};
    switch (s) {
      case stage::nabla4:
        storage_.e2c2v = upload_table(problem_.mesh->e2c2v, location::edge, location::vertex);
        break;
      case stage::interpolate:
        storage_.v2e = upload_table(problem_.mesh->v2e, location::vertex, location::edge);
        break;
      case stage::verts2cells:
        storage_.c2v = upload_table(problem_.mesh->c2v, location::cell, location::vertex);
        break;
    }
  }
}

// Missing neighbours become the row's first one: kernels read it and multiply by 0, or never come
// to the row.
raw_view resident_problem::upload_table(const table& t, location rows, location of) {
  const auto& id = numbering_.of(of);
  return upload_rows(t.rows(), t.slots, rows, [&](index_t row, index_t slot) {
    const index_t neighbour = t(row, slot) != missing ? t(row, slot) : std::max(t(row, 0), 0);
    return id[std::size_t(neighbour)];
  });
}

// Eight positions a word: see packed_positions. Missing ones become 0.
raw_view resident_problem::upload_positions(const table& t, location rows) {
  return upload_rows(t.rows(), (t.slots + 7) / 8, rows, [&](index_t row, index_t word) {
    std::uint32_t packed = 0;
    for (index_t n = 8 * word; n < std::min(8 * word + 8, t.slots); ++n) {
      packed |= std::uint32_t(std::max(t(row, n), 0)) << (4 * (n % 8));
    }
    return index_t(packed);
  });
}

// Row r of the grid's numbering, slot s: value(r, s).
template <class Value>
raw_view resident_problem::upload_rows(index_t rows, index_t slots, location of, Value value) {
  const auto& row_id = numbering_.of(of);
  const shape s = make_shape(arrangement_.layout_, rows, slots, 1, sizeof(index_t));
  std::vector<index_t> values(std::size_t(s.elements), 0);
  for (index_t r = 0; r < rows; ++r) {
    for (index_t n = 0; n < slots; ++n) {
      values[std::size_t(s.offset(row_id[std::size_t(r)], n, 0))] = value(r, n);
    }
  }
  tables_.emplace_back(device_, values.size() * sizeof(index_t));
  device_.upload(tables_.back().data(), values.data(), tables_.back().bytes());
  return make_view(tables_.back().data(), arrangement_.layout_, s, false);
}

template <class T>
void resident_problem::upload_fields() {
  const chain& c = *problem_.chain_;
  const std::vector<field> from_outside = inputs(c);
  std::vector<T> staging;
  for (const field f : icobench::fields(c)) {
    const index_t entities = count(*problem_.mesh, info(f).on);
    const index_t levels = c.by_level(f) ? problem_.levels : 1;
    const shape s = make_shape(arrangement_.layout_, entities, info(f).slots, levels, sizeof(T));
    gpu::buffer& memory = fields_[std::size_t(f)];
    memory = gpu::buffer(device_, std::size_t(s.elements) * sizeof(T));
    storage_.fields[std::size_t(f)] =
        make_view(memory.data(), arrangement_.layout_, s, c.by_level(f));
    if (std::find(from_outside.begin(), from_outside.end(), f) == from_outside.end()) { continue; }
    const host_field& values = problem_.fields.at(f);
    const auto& id = numbering_.of(info(f).on);
    staging.assign(std::size_t(s.elements), T(0));
#pragma omp parallel for schedule(static)
    for (index_t h = 0; h < entities; ++h) {
      for (index_t n = 0; n < info(f).slots; ++n) {
        for (index_t k = 0; k < levels; ++k) {
          staging[std::size_t(s.offset(id[std::size_t(h)], n, k))] = T(values(h, n, k));
        }
      }
    }
    device_.upload(memory.data(), staging.data(), memory.bytes());
  }
}

std::size_t resident_problem::bytes() const {
  std::size_t sum = 0;
  for (const auto& b : fields_) { sum += b.bytes(); }
  for (const auto& b : tables_) { sum += b.bytes(); }
  return sum;
}

void resident_problem::poison_outputs() {
  for (const stage s : problem_.chain_->stages) {
    for (const field f : info(s).outputs) {
      const gpu::buffer& memory = fields_[std::size_t(f)];
      device_.fill(memory.data(), 0xff, memory.bytes());  // all bits set is a NaN
    }
  }
  device_.synchronize();
}

verification resident_problem::verify() const {
  verification result;
  result.tolerance = tolerance_of(problem_.precision_);
  for (const field f : problem_.chain_->outputs()) {
    if (problem_.precision_ == precision::float64) {
      compare<double>(f, result);
    } else {
      compare<float>(f, result);
    }
  }
  result.ok = result.wrong == 0;
  return result;
}

template <class T>
void resident_problem::compare(field f, verification& result) const {
  const host_field& expected = problem_.fields.at(f);
  const gpu::buffer& memory = fields_[std::size_t(f)];
  std::vector<T> got(memory.bytes() / sizeof(T));
  device_.download(got.data(), memory.data(), memory.bytes());
  const shape s =
      make_shape(arrangement_.layout_, expected.entities, 1, expected.levels, sizeof(T));
  const auto& id = numbering_.of(info(f).on);

  double largest = 0, error = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::ptrdiff_t n = 0; n < std::ptrdiff_t(expected.values.size()); ++n) {
    largest = std::fmax(largest, std::fabs(expected.values[std::size_t(n)]));
  }
  // Outside the domain NaN is expected, which only an untouched value gives.
  std::size_t wrong = 0;
  const auto check = [&](index_t h, index_t k, double& worst) {
    const double want = expected(h, 0, k);
    const auto have = double(got[std::size_t(s.offset(id[std::size_t(h)], 0, k))]);
    if (std::isnan(want)) { return std::isnan(have); }
    const double relative = std::fabs(have - want) / largest;
    worst = std::fmax(worst, relative);
    return relative <= result.tolerance;  // false for NaN
  };
#pragma omp parallel for schedule(static) reduction(max : error) reduction(+ : wrong)
  for (index_t h = 0; h < expected.entities; ++h) {
    for (index_t k = 0; k < expected.levels; ++k) { wrong += !check(h, k, error); }
  }
  result.max_error = std::fmax(result.max_error, error);
  result.wrong += wrong;
  for (index_t h = 0; wrong && h < expected.entities; ++h) {
    for (index_t k = 0; k < expected.levels && result.first.size() < reported_points; ++k) {
      if (check(h, k, error)) { continue; }
      result.first.push_back({f, h, k, expected(h, 0, k),
                              double(got[std::size_t(s.offset(id[std::size_t(h)], 0, k))])});
    }
  }
}

}  // namespace icobench
