#include "src/problem/resident.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <icobench/errors.hpp>
#include <icobench/gpu/host.hpp>
#include <icobench/grids/blocks.hpp>
#include <icobench/grids/tables.hpp>

#include "src/operations/operations.hpp"

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
  const std::ptrdiff_t padded = round_up(entities, unit);
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

// Elements from row to row.
index_t row_of(const problem& p, const arrangement& a) {
  return elements_of(pitch_of(a.layout_, a.rows), p.mesh->shape->nx, size_of(p.precision_));
}

// Whether a stage of the chain reads one table and the next one the other.
bool reads_in_turn(const chain& c, neighbour_table first, neighbour_table second) {
  for (std::size_t n = 1; n < c.stages.size(); ++n) {
    if (info(c.stages[n - 1]).reads == first && info(c.stages[n]).reads == second) { return true; }
  }
  return false;
}

numbering number_rows(const problem& p, const arrangement& a) {
  if (!p.mesh->shape) { throw unsupported("strided access needs a torus"); }
  if (a.vertices != vertex_order::row) {
    throw unsupported("strided access needs the vertices row after row");
  }
  if (p.halo < 1) { throw unsupported("strided access needs a halo of at least 1"); }
  const index_t row = row_of(p, a);
  if (row > std::numeric_limits<index_t>::max() / 12 / p.mesh->shape->ny) {
    throw input_error(p.mesh->name + ": too large with rows " + std::to_string(row) + " apart");
  }
  return make_strided_numbering(*p.mesh, a.ordering_, row);
}

// Whether the sign of this input follows the order of a point's neighbours.
bool is_odd(const chain& c, field f) {
  return std::any_of(c.stages.begin(), c.stages.end(), [&](stage s) {
    const int odd = info(s).rules.odd_input;
    return odd >= 0 && info(s).inputs[std::size_t(odd)] == f;
  });
}

std::optional<patched_layout> lay_out_patches(const problem& p, const arrangement& a) {
  if (a.access_ != access::patched) { return std::nullopt; }
  if (p.mesh->shape && p.halo > 0) {
    throw unsupported("a torus with a halo has no seams: strided access computes it as a whole");
  }
  if (a.vertices != vertex_order::row) {
    throw unsupported("patched access has an order of its own, patch after patch");
  }
  const std::vector<patch> patches = find_patches(*p.mesh);
  if (patches.empty()) { throw unsupported("no patches were found in " + p.mesh->name); }
  index_t longest = 0;
  for (const patch& each : patches) { longest = std::max(longest, each.ni); }
  return lay_out(*p.mesh, patches, a.ordering_,
                 elements_of(pitch_of(a.layout_, a.rows), longest, size_of(p.precision_)));
}

numbering number(const problem& p, const arrangement& a,
                 const std::optional<patched_layout>& layout) {
  switch (a.access_) {
    case access::strided:
      return number_rows(p, a);
    case access::patched:
      return layout->ids;
    default:
      return make_numbering(*p.mesh, p.computed, a.ordering_, a.vertices);
  }
}

}  // namespace

resident_problem::resident_problem(gpu::device& device, const problem& p, const arrangement& a)
    : device_(device),
      problem_(p),
      arrangement_(a),
      layout_(lay_out_patches(p, a)),
      mesh_(layout_ ? layout_->mesh : *p.mesh),
      numbering_(number(p, a, layout_)) {
  storage_.levels = p.levels;
  if (a.access_ == access::strided) {
    make_strided();
  } else if (a.access_ == access::patched) {
    make_patched();
  } else {
    make_indirect();
  }
  if (p.precision_ == precision::float64) {
    upload_fields<double>();
  } else {
    upload_fields<float>();
  }
  checksums_ = checksums();
}

void resident_problem::make_strided() {
  storage_.row = row_of(problem_, arrangement_);
  storage_.plane = numbering_.count(location::vertex);
  for (const stage s : problem_.chain_->stages) {
    storage_.rectangles[std::size_t(s)] = problem_.computed[std::size_t(s)].vertices.value();
  }
}

// Rectangles of each stage, as far inside the patches as it and those before it read; and the
// points that are computed but in none of them.
void resident_problem::make_patched() {
  const patched_layout& l = *layout_;
  storage_.row = l.row;
  storage_.plane = l.plane;
  storage_.patches.resize(l.patches.size());
  index_t before = 0, after = 0;
  std::vector<index_t> left;  // by the last stage, in the grid's ids
  for (const stage s : problem_.chain_->stages) {
    before += info(s).rules.reach_before;
    after += info(s).rules.reach_after;
    const location on = info(s).on;
    std::vector<bool> reached(std::size_t(numbering_.count(on)), false);
    for (std::size_t p = 0; p < l.patches.size(); ++p) {
      const rectangle r = storage_.patches[p][std::size_t(s)] = inside(l.patches[p], before, after);
      for (index_t j = r.j0; j < r.j0 + r.nj; ++j) {
        for (index_t i = r.i0; i < r.i0 + r.ni; ++i) {
          const index_t v = j * l.row + i;
          for (index_t n = 0; n < owned_by_vertex(on); ++n) {
            reached[std::size_t(on == location::vertex ? v
                                : on == location::cell ? 2 * v + n
                                : arrangement_.ordering_ == ordering::per_vertex
                                    ? 3 * v + n
                                    : n * l.plane + v)] = true;
          }
        }
      }
    }
    left.clear();
    std::vector<index_t> seam;
    for (const index_t h : problem_.computed[std::size_t(s)].ids) {
      const index_t id = numbering_.of(on)[std::size_t(h)];
      if (!reached[std::size_t(id)]) {
        left.push_back(h);
        seam.push_back(id);
      }
    }
    std::sort(seam.begin(), seam.end());
    if (!seam.empty()) {
      storage_.seams[std::size_t(s)] = {upload_ids(seam), index_t(seam.size())};
    }
    const neighbour_table t = info(s).reads;
    storage_.tables[std::size_t(t)] = upload_table(table_of(mesh_, t), info(t).of, info(t).to);
  }
  const chain& c = *problem_.chain_;
  if (!left.empty() && !c.vertical &&
      reads_in_turn(c, neighbour_table::e2c2v, neighbour_table::v2e)) {
    make_blocks(left);
  }
}

void resident_problem::make_indirect() {
  const grid& mesh = mesh_;
  storage_.torus_order = mesh.shape.has_value();
  const chain& c = *problem_.chain_;
  // Composed tables follow from those of stencils one after another.
  const bool diamonds_of_vertices = reads_in_turn(c, neighbour_table::e2c2v, neighbour_table::v2e);
  const bool to_cells = reads_in_turn(c, neighbour_table::v2e, neighbour_table::c2v);
  if (diamonds_of_vertices) {
    if (!c.vertical && arrangement_.layout_ == layout::ifirst) {
      make_blocks(problem_.computed[std::size_t(c.stages.back())].ids);
    }
    const composed v = make_v2e2c2v(mesh);
    storage_.v2e2c2v = upload_table(v.members, location::vertex, location::vertex);
    storage_.e_v2e2c2v = upload_positions(v.positions, location::vertex);
    if (to_cells) {
      const composed edges = make_c2v2e(mesh);
      storage_.c2v2e = upload_table(edges.members, location::cell, location::edge);
      storage_.e_c2v2e = upload_positions(edges.positions, location::cell);
      const composed vertices = make_c2v2e2c2v(mesh, edges.members);
      storage_.c2v2e2c2v = upload_table(vertices.members, location::cell, location::vertex);
      storage_.e_c2v2e2c2v = upload_positions(vertices.positions, location::cell);
    }
  }
  for (const stage s : c.stages) {
    storage_.ranges[std::size_t(s)] = {0, index_t(problem_.computed[std::size_t(s)].ids.size())};
    const neighbour_table t = info(s).reads;
    storage_.tables[std::size_t(t)] = upload_table(table_of(mesh, t), info(t).of, info(t).to);
    if (arrangement_.layout_ == layout::ifirst) { upload_row_table(t); }
  }
  if (arrangement_.layout_ == layout::ifirst && mesh.shape &&
      info(c.stages.front()).reads == neighbour_table::e2c2v) {
    make_diamonds(c.stages.front());
  }
}

// The table once more, a row at once.
void resident_problem::upload_row_table(neighbour_table t) {
  storage_.rows[std::size_t(t)] =
      upload_row_table(table_of(*problem_.mesh, t), numbering_.of(info(t).of), info(t).to);
}
std::span<const index_t> resident_problem::upload_row_table(const table& t,
                                                            const std::vector<index_t>& row_id,
                                                            location of) {
  const index_t padded = (t.slots + 3) / 4 * 4;
  const raw_view view = upload_rows(layout::kfirst, padded, row_id, [&](index_t row, index_t slot) {
    return slot < t.slots ? neighbour(t, row, slot, of) : 0;
  });
  return {static_cast<const index_t*>(view.data), tables_.back().bytes() / sizeof(index_t)};
}

// Of the three edges of each vertex of a torus together.
void resident_problem::make_diamonds(stage of_edges) {
  const grid& mesh = *problem_.mesh;
  const auto& edge_id = numbering_.of(location::edge);
  // The edges of a vertex follow each other, or lie a third of the computed edges apart.
  const bool together = arrangement_.ordering_ == ordering::per_vertex;
  const index_t computed = storage_.ranges[std::size_t(of_edges)].end / 3;
  storage_.owner_step = together ? 3 : 1;
  storage_.colour_step = together ? 1 : computed;
  table diamonds(mesh.vertices, 6);
  std::vector<index_t> owner(std::size_t(mesh.vertices));
  for (index_t v = 0; v < mesh.vertices; ++v) {
    const index_t first = edge_id[std::size_t(3 * v)];
    owner[std::size_t(v)] = together ? first / 3 : first < computed ? first : first - 2 * computed;
    for (index_t s = 0; s < 4; ++s) { diamonds(v, s) = mesh.e2c2v(3 * v, s); }
    diamonds(v, 4) = mesh.e2c2v(3 * v + 1, 3);
    diamonds(v, 5) = mesh.e2c2v(3 * v + 2, 3);
  }
  storage_.diamonds = upload_row_table(diamonds, owner, location::vertex);
}

// The storage id of a neighbour. Missing ones become the row's first one: kernels read it and
// multiply by 0, or never come to the row.
index_t resident_problem::neighbour(const table& t, index_t row, index_t slot, location of) const {
  const index_t id = t(row, slot) != missing ? t(row, slot) : std::max(t(row, 0), index_t(0));
  return numbering_.of(of)[std::size_t(id)];
}

void resident_problem::make_blocks(const std::vector<index_t>& computed) {
  const stage last = problem_.chain_->stages.back();
  const std::vector<block> blocks = icobench::make_blocks(mesh_, last, computed);
  const local_tables t =
      make_local_tables(mesh_, last, blocks, numbering_, index_t(size_of(problem_.precision_)));
  storage_.blocks = {t.blocks,
                     0,
                     upload_ids(t.around),
                     upload_ids(t.edges),
                     upload_ids(t.vertices),
                     upload_ids(t.places),
                     upload_ids(t.fans),
                     upload_ids(t.results),
                     upload_ids(t.corners)};
}

raw_view resident_problem::upload_table(const table& t, location rows, location of) {
  return upload_rows(arrangement_.layout_, t.slots, numbering_.of(rows),
                     [&](index_t row, index_t slot) { return neighbour(t, row, slot, of); });
}

// Eight positions a word: see packed_positions. Missing ones become 0.
raw_view resident_problem::upload_positions(const table& t, location rows) {
  return upload_rows(arrangement_.layout_, (t.slots + 7) / 8, numbering_.of(rows),
                     [&](index_t row, index_t word) {
                       std::uint32_t packed = 0;
                       for (index_t n = 8 * word; n < std::min(8 * word + 8, t.slots); ++n) {
                         packed |= std::uint32_t(std::max(t(row, n), index_t(0))) << (4 * (n % 8));
                       }
                       return index_t(packed);
                     });
}

// Row r of the grid's numbering, which is row_id[r] in memory, slot s: value(r, s).
template <class Value>
raw_view resident_problem::upload_rows(layout l, index_t slots, const std::vector<index_t>& row_id,
                                       Value value) {
  const auto rows = index_t(row_id.size());
  const index_t places = row_id.empty() ? 0 : *std::max_element(row_id.begin(), row_id.end()) + 1;
  const shape s = make_shape(l, places, slots, 1, sizeof(index_t));
  std::vector<index_t> values(std::size_t(s.elements), 0);
  for (index_t r = 0; r < rows; ++r) {
    for (index_t n = 0; n < slots; ++n) {
      values[std::size_t(s.offset(row_id[std::size_t(r)], n, 0))] = value(r, n);
    }
  }
  upload_ids(values);
  return make_view(tables_.back().data(), l, s, false);
}

const index_t* resident_problem::upload_ids(const std::vector<index_t>& ids) {
  tables_.emplace_back(device_, ids.size() * sizeof(index_t));
  device_.upload(tables_.back().data(), ids.data(), tables_.back().bytes());
  return static_cast<const index_t*>(tables_.back().data());
}

// Of a coefficient of the points that a stage computes: which slot of the problem's lies where, if
// the layout has another order.
const table* resident_problem::slots_in_layout(field f) const {
  if (!layout_ || info(f).slots == 1) { return nullptr; }
  for (const stage s : problem_.chain_->stages) {
    const auto& inputs = info(s).inputs;
    if (std::find(inputs.begin(), inputs.end(), f) != inputs.end()) {
      return &layout_->slot[std::size_t(info(s).reads)];
    }
  }
  return nullptr;
}

template <class T>
void resident_problem::upload_fields() {
  const chain& c = *problem_.chain_;
  const auto shape_of = [&](field f) {
    return make_shape(arrangement_.layout_, numbering_.count(info(f).on), info(f).slots,
                      c.by_level(f) ? problem_.levels : 1, sizeof(T));
  };
  // What does not depend on the level lies together: see kept.
  const auto bytes_of = [&](field f) {
    const std::size_t bytes = std::size_t(shape_of(f).elements) * sizeof(T);
    return round_up(bytes, alignment_bytes);
  };
  std::size_t coefficient_bytes = 0;
  for (const field f : icobench::fields(c)) {
    if (!c.by_level(f)) { coefficient_bytes += bytes_of(f); }
  }
  if (coefficient_bytes > 0) { coefficients_ = gpu::buffer(device_, coefficient_bytes); }
  auto* next_coefficient = static_cast<char*>(coefficients_.data());

  const std::vector<field> from_outside = inputs(c);
  std::vector<T> staging;
  for (const field f : icobench::fields(c)) {
    const shape s = shape_of(f);
    void* memory = next_coefficient;
    if (c.by_level(f)) {
      gpu::buffer& own = fields_[std::size_t(f)];
      own = gpu::buffer(device_, bytes_of(f));
      memory = own.data();
    } else {
      next_coefficient += bytes_of(f);
    }
    storage_.fields[std::size_t(f)] = make_view(memory, arrangement_.layout_, s, c.by_level(f));
    if (std::find(from_outside.begin(), from_outside.end(), f) == from_outside.end()) { continue; }
    const host_field& values = problem_.fields.at(f);
    const auto& id = numbering_.of(info(f).on);
    staging.assign(std::size_t(s.elements), T(0));
    const table* const slots = slots_in_layout(f);
    const bool odd = layout_ && is_odd(c, f);
#pragma omp parallel for schedule(static)
    for (index_t h = 0; h < values.entities; ++h) {
      const T sign = odd && layout_->turned[std::size_t(h)] ? T(-1) : T(1);
      for (index_t n = 0; n < values.slots; ++n) {
        for (index_t k = 0; k < values.levels; ++k) {
          staging[std::size_t(s.offset(id[std::size_t(h)], n, k))] =
              sign * T(values(h, slots ? (*slots)(h, n) : n, k));
        }
      }
    }
    device_.upload(memory, staging.data(), staging.size() * sizeof(T));
  }
}

std::size_t resident_problem::bytes() const {
  std::size_t sum = coefficients_.bytes();
  for (const auto& b : fields_) { sum += b.bytes(); }
  for (const auto& b : tables_) { sum += b.bytes(); }
  for (const auto& [f, e] : expected_) { sum += e.values.bytes(); }
  return sum;
}

std::vector<std::pair<std::string, const gpu::buffer*>> resident_problem::memory_of_inputs() const {
  std::vector<std::pair<std::string, const gpu::buffer*>> result;
  for (const field f : inputs(*problem_.chain_)) {
    const gpu::buffer& own = fields_[std::size_t(f)];
    if (own.bytes() > 0) { result.emplace_back(info(f).name, &own); }
  }
  if (coefficients_.bytes() > 0) { result.emplace_back("coefficients", &coefficients_); }
  for (const gpu::buffer& t : tables_) { result.emplace_back("a neighbour table", &t); }
  return result;
}

std::vector<unsigned long long> resident_problem::checksums() const {
  const auto memory = memory_of_inputs();
  std::vector<unsigned long long> result(memory.size());
  const operations* const ops =
      device_.backend() == "simt" ? nullptr : find_operations(device_.backend());
  if (!ops) {  // the host's memory
    for (std::size_t n = 0; n < memory.size(); ++n) {
      const weighted_word word{memory[n].second->as<const std::uint32_t>()};
      const auto count = std::ptrdiff_t(memory[n].second->bytes() / sizeof(std::uint32_t));
      unsigned long long sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
      for (std::ptrdiff_t i = 0; i < count; ++i) { sum += word(std::size_t(i)); }
      result[n] = sum;
    }
    return result;
  }
  const reduce_space space(device_);
  const gpu::buffer sums(device_, result.size() * sizeof(result[0]));
  for (std::size_t n = 0; n < memory.size(); ++n) {
    ops->checksum(device_, memory[n].second->data(),
                  memory[n].second->bytes() / sizeof(std::uint32_t),
                  sums.as<unsigned long long>() + n, space);
  }
  device_.download(result.data(), sums.data(), sums.bytes());
  return result;
}

std::string resident_problem::changed_inputs() const {
  const auto memory = memory_of_inputs();
  const std::vector<unsigned long long> now = checksums();
  std::string names;
  for (std::size_t n = 0; n < now.size(); ++n) {
    const std::string& name = memory[n].first;
    if (now[n] == checksums_[n] || names.ends_with(name)) { continue; }
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

// From a copy in the host's memory, so that the device needs no more than it has.
void resident_problem::restore_inputs() {
  gpu::host_device host("cpu");
  const resident_problem intact(host, problem_, arrangement_);
  const auto from = intact.memory_of_inputs();
  const auto to = memory_of_inputs();
  for (std::size_t n = 0; n < to.size(); ++n) {
    device_.upload(to[n].second->data(), from[n].second->data(), to[n].second->bytes());
  }
  checksums_ = checksums();
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

namespace {

// Of one output, beside those of others.
void add_errors(const norms& difference, const norms& expected, verification& result) {
  const auto add = [](double& worst, double error) {
    if (!std::isnan(worst) && !(error <= worst)) { worst = error; }  // NaN stays
  };
  add(result.l1_error, difference.absolute / expected.absolute);
  add(result.l2_error, std::sqrt(difference.squares / expected.squares));
}

// Of load(entity, level), added up in parts that do not depend on the number of threads.
template <class Load>
norms sum_norms(index_t entities, index_t levels, Load load) {
  constexpr index_t part = 256;  // entities
  std::vector<norms> sums(std::size_t(ceil_div(entities, part)), norms{0, 0});
#pragma omp parallel for schedule(static)
  for (index_t n = 0; n < index_t(sums.size()); ++n) {
    for (index_t h = n * part; h < std::min((n + 1) * part, entities); ++h) {
      for (index_t k = 0; k < levels; ++k) {
        norms& sum = sums[std::size_t(n)];
        sum = add_norms{}(sum, load(h, k));
      }
    }
  }
  return std::accumulate(sums.begin(), sums.end(), norms{0, 0}, add_norms{});
}

}  // namespace

template <class Compare>
verification resident_problem::verify_outputs(Compare compare_output) const {
  verification result;
  result.tolerance = tolerance_of(problem_.precision_);
  for (const field f : problem_.chain_->outputs()) {
    if (problem_.precision_ == precision::float64) {
      compare_output.template operator()<double>(f, result);
    } else {
      compare_output.template operator()<float>(f, result);
    }
  }
  result.ok = result.wrong == 0;
  return result;
}

verification resident_problem::verify(bool on_device) const {
  return verify_outputs([&]<class T>(field f, verification& result) {
    if (on_device && right_on_device<T>(f, result)) { return; }
    compare<T>(f, problem_.fields.at(f), result);
  });
}

verification resident_problem::verify_sums() const {
  return verify_outputs([&]<class T>(field f, verification& result) {
    compare<T>(f, input_sums(problem_, f), result);
  });
}

// False where there is something wrong, and where the device cannot tell.
template <class T>
bool resident_problem::right_on_device(field f, verification& result) const {
  const operations* const ops = find_operations(device_.backend());
  if (!ops) { return false; }
  const host_field& host = problem_.fields.at(f);
  const shape s =
      make_shape(arrangement_.layout_, numbering_.count(info(f).on), 1, host.levels, sizeof(T));
  const auto& id = numbering_.of(info(f).on);
  expectation& e = expected_[f];
  if (!e.values.data()) {
    // Padding is expected to be untouched, too.
    std::vector<double> values(std::size_t(s.elements), std::numeric_limits<double>::quiet_NaN());
    double largest = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (index_t h = 0; h < host.entities; ++h) {
      for (index_t k = 0; k < host.levels; ++k) {
        const double want = host(h, 0, k);
        values[std::size_t(s.offset(id[std::size_t(h)], 0, k))] = want;
        largest = std::fmax(largest, std::fabs(want));
      }
    }
    e.largest = largest;
    e.values = gpu::buffer(device_, values.size() * sizeof(double));
    device_.upload(e.values.data(), values.data(), e.values.bytes());
  }
  struct findings {
    located worst;
    norms difference, expected;
  } found{};
  const reduce_space space(device_);
  const gpu::buffer memory(device_, sizeof found);
  auto* const there = memory.as<findings>();
  const T* const got = fields_[std::size_t(f)].as<const T>();
  const double* const want = e.values.as<double>();
  const auto count = std::size_t(s.elements);
  ops->find_error(device_, precision_of<T>, got, want, count, &there->worst, space);
  ops->find_difference(device_, precision_of<T>, got, want, count, &there->difference, space);
  ops->find_norms(device_, want, count, &there->expected, space);
  device_.download(&found, there, sizeof found);
  const located& worst = found.worst;
  const double error = worst.value / e.largest;
  if (!(error <= result.tolerance)) { return false; }
  add_errors(found.difference, found.expected, result);
  if (worst.index >= 0 && (!result.worst || error > result.max_error)) {
    const index_t level = index_t(worst.index / s.level % host.levels);
    const auto place = index_t((worst.index - level * s.level) / s.entity);
    const auto entity = index_t(std::find(id.begin(), id.end(), place) - id.begin());
    T value{};
    device_.download(&value, got + worst.index, sizeof value);
    result.worst = wrong_point{f, entity, level, host(entity, 0, level), double(value)};
    result.max_error = error;
  }
  return true;
}

template <class T>
void resident_problem::compare(field f, const host_field& expected, verification& result) const {
  const gpu::buffer& memory = fields_[std::size_t(f)];
  std::vector<T> got(memory.bytes() / sizeof(T));
  device_.download(got.data(), memory.data(), memory.bytes());
  const shape s =
      make_shape(arrangement_.layout_, numbering_.count(info(f).on), 1, expected.levels, sizeof(T));
  const auto& id = numbering_.of(info(f).on);

  double largest = 0, error = 0;
#pragma omp parallel for schedule(static) reduction(max : largest)
  for (std::ptrdiff_t n = 0; n < std::ptrdiff_t(expected.values.size()); ++n) {
    largest = std::fmax(largest, std::fabs(expected.values[std::size_t(n)]));
  }
  const auto value = [&](index_t h, index_t k) {
    return double(got[std::size_t(s.offset(id[std::size_t(h)], 0, k))]);
  };
  // Outside the domain NaN is expected, which only an untouched value gives.
  std::size_t wrong = 0, written = 0;
  const auto relative = [&](index_t h, index_t k) {
    return std::fabs(value(h, k) - expected(h, 0, k)) / largest;
  };
  const auto right = [&](index_t h, index_t k) {
    if (std::isnan(expected(h, 0, k))) { return std::isnan(value(h, k)); }
    return relative(h, k) <= result.tolerance;  // false for NaN
  };
#pragma omp parallel for schedule(static) reduction(max : error) reduction(+ : wrong, written)
  for (index_t h = 0; h < expected.entities; ++h) {
    for (index_t k = 0; k < expected.levels; ++k) {
      wrong += !right(h, k);
      written += !std::isnan(value(h, k));
      error = std::fmax(error, relative(h, k));
    }
  }
  bool known = result.worst && error <= result.max_error;
  for (index_t h = 0; !known && h < expected.entities; ++h) {
    for (index_t k = 0; !known && k < expected.levels; ++k) {
      if (!(relative(h, k) >= error)) { continue; }
      result.worst = wrong_point{f, h, k, expected(h, 0, k), value(h, k)};
      result.max_error = error;
      known = true;
    }
  }
  const auto difference = [&](index_t h, index_t k) {
    const double want = expected(h, 0, k), have = value(h, k);
    return difference_at<double>{&have, &want}(0);
  };
  const auto size = [&](index_t h, index_t k) {
    const double want = expected(h, 0, k);
    return norms_at{&want}(0);
  };
  add_errors(sum_norms(expected.entities, expected.levels, difference),
             sum_norms(expected.entities, expected.levels, size), result);
  // Padding is untouched, too.
  const auto all_written = std::size_t(
      std::count_if(got.begin(), got.end(), [](T written_) { return !std::isnan(written_); }));
  result.wrong += wrong + (all_written - written);
  for (index_t h = 0; wrong && h < expected.entities; ++h) {
    for (index_t k = 0; k < expected.levels && result.first.size() < reported_points; ++k) {
      if (right(h, k)) { continue; }
      result.first.push_back({f, h, k, expected(h, 0, k), value(h, k)});
    }
  }
}

}  // namespace icobench
