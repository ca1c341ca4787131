// Reductions, transposes, conversions and the kernels behind the ceilings: on simt with each warp
// size and order of threads, and on the GPU that is there.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <icobench/grids/torus.hpp>

#include "src/catalogue/registry.hpp"
#include "src/measure/ceilings.hpp"
#include "src/operations/operations.hpp"
#include "src/problem/resident.hpp"
#include "src/simt/backend.hpp"

namespace icobench {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<std::unique_ptr<gpu::device>> devices() {
  std::vector<std::unique_ptr<gpu::device>> result;
  for (const gpu::simt_settings& s : {gpu::simt_settings{32, gpu::thread_order::forward, 1},
                                      gpu::simt_settings{32, gpu::thread_order::random, 7},
                                      gpu::simt_settings{64, gpu::thread_order::reverse, 1}}) {
    if (!find_operations("simt")) { break; }  // not compiled
    auto simt = std::make_unique<gpu::simt_device>();
    simt->settings = s;
    result.push_back(std::move(simt));
  }
  for (const std::string name : {"cuda", "hip"}) {
    const auto& backends = registry::instance().backends();
    if (!backends.contains(name)) { continue; }
    try {
      result.push_back(backends.at(name)());
    } catch (const gpu::device_error&) {}  // there is no GPU
  }
  return result;
}

const operations& ops_of(const gpu::device& device) {
  return *find_operations(device.backend());
}

template <class T>
gpu::buffer uploaded(gpu::device& device, const std::vector<T>& values) {
  gpu::buffer result(device, std::max<std::size_t>(values.size(), 1) * sizeof(T));
  if (!values.empty()) { device.upload(result.data(), values.data(), values.size() * sizeof(T)); }
  return result;
}
template <class T>
std::vector<T> downloaded(gpu::device& device, const gpu::buffer& from) {
  std::vector<T> result(from.bytes() / sizeof(T));
  device.download(result.data(), from.data(), from.bytes());
  return result;
}

std::vector<reduction> all_reductions() {
  std::vector<reduction> all{{.deterministic = true},
                             {.grid = across_blocks::two_passes, .deterministic = true}};
  for (const within_block block : {within_block::tree, within_block::shuffle}) {
    for (const across_blocks grid :
         {across_blocks::two_passes, across_blocks::last_block, across_blocks::atomics}) {
      all.push_back({block, grid});
    }
  }
  return all;
}

// Values whose sum is exact in any order; the least and the largest stand anywhere.
template <class T>
void expect_reductions(gpu::device& device, std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t n = 0; n < count; ++n) { values[n] = T(int(n * 37 % 101) - 50); }
  const T expected[] = {std::accumulate(values.begin(), values.end(), T(0)),
                        count ? *std::min_element(values.begin(), values.end()) : T(infinity),
                        count ? *std::max_element(values.begin(), values.end()) : T(-infinity)};
  const gpu::buffer on_device = uploaded(device, values);
  const gpu::buffer result(device, sizeof(T));
  const reduce_space space(device);
  for (const reduction& how : all_reductions()) {
    for (const reduced what : {reduced::sum, reduced::minimum, reduced::maximum}) {
      device.fill(result.data(), 0xff, sizeof(T));
      ops_of(device).reduce(device, what, precision_of<T>, on_device.data(), count, result.data(),
                            space, how);
      EXPECT_EQ(downloaded<T>(device, result).front(), expected[int(what)])
          << count << " values, operator " << int(what) << ", block " << int(how.block) << ", grid "
          << int(how.grid);
    }
  }
}

TEST(reductions, any_length) {
  for (const auto& device : devices()) {
    SCOPED_TRACE(device->backend());
    for (const std::size_t count : {0u, 1u, 2u, 31u, 33u, 255u, 256u, 257u, 2047u, 2049u, 5001u}) {
      expect_reductions<double>(*device, count);
      expect_reductions<float>(*device, count);
    }
    expect_reductions<double>(*device, 100003);
  }
}

TEST(reductions, of_nan) {
  const std::vector<double> values{std::nan(""), 3, std::nan(""), -2, 7, std::nan("")};
  for (const auto& device : devices()) {
    const gpu::buffer on_device = uploaded(*device, values), result(*device, sizeof(double));
    const reduce_space space(*device);
    const auto reduce = [&](reduced what) {
      ops_of(*device).reduce(*device, what, precision::float64, on_device.data(), values.size(),
                             result.data(), space);
      return downloaded<double>(*device, result).front();
    };
    EXPECT_EQ(reduce(reduced::minimum), -2);
    EXPECT_EQ(reduce(reduced::maximum), 7);
    EXPECT_TRUE(std::isnan(reduce(reduced::sum)));
  }
}

// The same bits on all devices, for numbers whose sum depends on the order.
TEST(reductions, deterministic) {
  std::vector<double> values(50021);
  for (std::size_t n = 0; n < values.size(); ++n) { values[n] = 1.0 / double(n + 1); }
  std::vector<double> sums;
  for (const auto& device : devices()) {
    const gpu::buffer on_device = uploaded(*device, values), result(*device, sizeof(double));
    const reduce_space space(*device);
    for (const across_blocks grid : {across_blocks::two_passes, across_blocks::last_block}) {
      ops_of(*device).reduce(*device, reduced::sum, precision::float64, on_device.data(),
                             values.size(), result.data(), space,
                             {.grid = grid, .deterministic = true});
      sums.push_back(downloaded<double>(*device, result).front());
    }
    EXPECT_THROW(ops_of(*device).reduce(*device, reduced::sum, precision::float64, on_device.data(),
                                        values.size(), result.data(), space,
                                        {.grid = across_blocks::atomics, .deterministic = true}),
                 std::invalid_argument);
  }
  for (const double sum : sums) { EXPECT_EQ(sum, sums.front()); }
  EXPECT_NEAR(sums.front(), std::accumulate(values.begin(), values.end(), 0.0), 1e-12);
  EXPECT_NE(sums.front(), std::accumulate(values.begin(), values.end(), 0.0))
      << "these values do not show the order";
}

template <class T>
located largest_error(gpu::device& device, std::vector<T> got, const std::vector<double>& want) {
  const gpu::buffer on_device = uploaded(device, got), expected = uploaded(device, want);
  const gpu::buffer result(device, sizeof(located));
  const reduce_space space(device);
  ops_of(device).find_error(device, precision_of<T>, on_device.data(), expected.as<double>(),
                            got.size(), result.as<located>(), space);
  return downloaded<located>(device, result).front();
}

TEST(reductions, largest_error_and_where) {
  const std::size_t count = 4099;
  for (const auto& device : devices()) {
    std::vector<double> want(count), got;
    for (std::size_t n = 0; n < count; ++n) { want[n] = double(n); }
    want[100] = want[4098] = std::nan("");
    got = want;
    EXPECT_EQ(largest_error(*device, got, want).value, 0);
    EXPECT_EQ(largest_error(*device, got, want).index, 0);
    got[2500] -= 3;
    got[7] += 3;
    got[8] += 2;
    EXPECT_EQ(largest_error(*device, got, want).value, 3);
    EXPECT_EQ(largest_error(*device, got, want).index, 7) << "not the first of the largest";
    EXPECT_EQ(largest_error(*device, std::vector<float>(got.begin(), got.end()), want).index, 7);
    for (const auto& [index, value] :
         {std::pair<std::size_t, double>{3000, std::nan("")}, {100, 1.0}, {2, infinity}}) {
      std::vector<double> bad = got;
      bad[index] = value;
      EXPECT_EQ(largest_error(*device, bad, want).value, infinity) << index;
      EXPECT_EQ(largest_error(*device, bad, want).index, std::int64_t(index));
    }
    const std::vector<double> nothing(3, std::nan(""));
    EXPECT_EQ(largest_error(*device, nothing, nothing).index, -1);
    EXPECT_EQ(largest_error(*device, std::vector<double>{}, {}).index, -1);
  }
}

template <class T>
void expect_transposes(gpu::device& device, std::size_t rows, std::size_t columns,
                       unsigned matrices, bool aligned) {
  transposition m{rows, columns, columns + 3, rows + 5, matrices};
  m.from_distance = rows * m.from_pitch + 2;
  m.to_distance = std::max(columns * m.to_pitch, rows * m.from_pitch) + 1;
  if (aligned) {
    m.from_pitch = round_up(columns, 4), m.to_pitch = round_up(rows, 4);
    m.from_distance = m.to_distance = m.from_pitch * m.to_pitch + 4;
  }
  std::vector<T> from(m.from_distance * matrices);
  std::iota(from.begin(), from.end(), T(1));
  const gpu::buffer in = uploaded(device, from);
  const T untouched = -1;
  for (const transpose_method how :
       {transpose_method::copy, transpose_method::naive, transpose_method::tile,
        transpose_method::padded, transpose_method::column, transpose_method::vector}) {
    for (const unsigned tile : {0u, 16u, 32u, 256u}) {
      std::vector<T> expected(m.to_distance * matrices, untouched);
      const gpu::buffer out = uploaded(device, expected);
      for (std::size_t n = 0; n < matrices; ++n) {
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t c = 0; c < columns; ++c) {
            const std::size_t to =
                how == transpose_method::copy ? r * m.from_pitch + c : c * m.to_pitch + r;
            expected[n * m.to_distance + to] = from[n * m.from_distance + r * m.from_pitch + c];
          }
        }
      }
      ops_of(device).transpose(device, precision_of<T>, in.data(), out.data(), m, how, tile);
      EXPECT_EQ(downloaded<T>(device, out), expected)
          << rows << "x" << columns << ", method " << int(how) << ", tile " << tile;
    }
  }
}

TEST(transposes, any_shape) {
  for (const auto& device : devices()) {
    SCOPED_TRACE(device->backend());
    for (const auto& [rows, columns] :
         std::initializer_list<std::pair<std::size_t, std::size_t>>{{1, 1},
                                                                    {1, 70},
                                                                    {70, 1},
                                                                    {16, 16},
                                                                    {17, 33},
                                                                    {33, 64},
                                                                    {80, 131},
                                                                    {131, 80},
                                                                    {128, 129},
                                                                    {150, 140}}) {
      for (const bool aligned : {false, true}) {
        expect_transposes<double>(*device, rows, columns, 1, aligned);
        expect_transposes<float>(*device, rows, columns, 2, aligned);
      }
    }
  }
}

// There and back, with what lies between the elements untouched.
template <class T>
void expect_conversion(gpu::device& device, index_t entities, index_t slots, index_t levels) {
  const index_t padded = round_up(entities, 32);
  const bool by_level = levels > 1;
  const auto many = std::size_t(padded) * std::size_t(slots) * std::size_t(levels);
  std::vector<T> ifirst(many, T(-1)), kfirst(many, T(-1));
  const view<T, layout::ifirst> a{ifirst.data(), by_level ? slots * padded : 0, padded};
  const view<T, layout::kfirst> b{kfirst.data(), slots * levels, levels};
  T value = 0;
  for (index_t h = 0; h < entities; ++h) {
    for (int s = 0; s < slots; ++s) {
      for (index_t k = 0; k < levels; ++k) {
        a(h, s, k) = ++value;
        b(h, s, k) = value;
      }
    }
  }
  const auto nothing = std::vector<T>(many, T(-1));
  const gpu::buffer in_a = uploaded(device, ifirst), in_b = uploaded(device, kfirst);
  const gpu::buffer to_a = uploaded(device, nothing), to_b = uploaded(device, nothing);
  const auto raw = [](const auto& v, const gpu::buffer& memory) {
    return raw_view{memory.data(), v.stride, v.slot_stride};
  };
  const operations& ops = ops_of(device);
  ops.convert(device, precision_of<T>, raw(a, in_a), layout::ifirst, raw(b, to_b), entities, slots,
              levels);
  ops.convert(device, precision_of<T>, raw(b, in_b), layout::kfirst, raw(a, to_a), entities, slots,
              levels);
  EXPECT_EQ(downloaded<T>(device, to_b), kfirst) << entities << " " << slots << " " << levels;
  EXPECT_EQ(downloaded<T>(device, to_a), ifirst) << entities << " " << slots << " " << levels;
}

TEST(transposes, layouts_of_fields) {
  for (const auto& device : devices()) {
    for (const index_t levels : {1, 2, 7, 80}) {
      for (const index_t slots : {1, 4}) {
        expect_conversion<double>(*device, 45, slots, levels);
        expect_conversion<float>(*device, 130, slots, levels);
      }
    }
  }
}

// Every measurement behind a ceiling checks what it computed, and notices when it is wrong.
TEST(ceilings, kernels_are_right) {
  for (const auto& device : devices()) {
    for (const std::size_t count : {1u, 10007u}) {
      ceiling_work work(*device, ops_of(*device), count);
      std::vector<measurement> all = work.memory(precision::float64);
      for (auto more : {work.memory(precision::float32), work.caches(), work.read_ways(),
                        work.write_ways(), work.copy_ways(), work.triad_ways()}) {
        all.insert(all.end(), more.begin(), more.end());
      }
      all.push_back(work.arithmetic(precision::float64));
      all.push_back(work.arithmetic(precision::float32));
      // Arrays that are smaller than the part of the L2 cache that is read show nothing of it.
      if (device->backend() == "simt") { EXPECT_EQ(all.size(), count == 1 ? 41u : 43u); }
      for (const measurement& m : all) {
        m.run();
        EXPECT_EQ(m.check(), "") << m.name;
      }
      // What runs last leaves nothing that would please another one.
      EXPECT_NE(all.front().check(), "") << all.front().name;
    }
  }
}

TEST(streams, order_events_and_graphs) {
  for (const auto& device : devices()) {
    const std::size_t count = 5000;
    const gpu::buffer a(*device, count * sizeof(double)), b(*device, count * sizeof(double)),
        c(*device, count * sizeof(double));
    const operations& ops = ops_of(*device);
    const auto triple = [&](const gpu::buffer& to, const gpu::buffer& from) {  // from + 2 from
      ops.compute(*device, array_kernel::triad, precision::float64, to.data(), from.data(),
                  from.data(), count);
    };
    const auto one = device->make_stream(), two = device->make_stream();
    const auto start = device->make_event(), half = device->make_event();
    ops.compute(*device, array_kernel::write, precision::float64, a.data(), nullptr, nullptr,
                count);
    start->record();
    device->on(*one, [&] {
      triple(b, a);
      half->record();
    });
    device->on(*two, [&] {
      half->await();
      triple(c, b);
    });
    device->synchronize();
    EXPECT_GE(half->seconds_since(*start), 0);
    EXPECT_EQ(downloaded<double>(*device, c), std::vector<double>(count, 18));

    const auto graph = device->capture([&] { triple(b, c), triple(c, b); });
    EXPECT_EQ(downloaded<double>(*device, c), std::vector<double>(count, 18)) << "a capture ran";
    graph();
    graph();
    device->synchronize();
    EXPECT_EQ(downloaded<double>(*device, c), std::vector<double>(count, 18 * 81));
    EXPECT_THROW(device->on(*one, [] { throw std::runtime_error("work"); }), std::runtime_error);
    triple(b, a);  // goes to the first stream again
    EXPECT_EQ(downloaded<double>(*device, b), std::vector<double>(count, 6));
  }
}

// A result that is put on a device and changed there, value by value.
class put_result {
 public:
  put_result(gpu::device& device, const problem& p)
      : device_(device),
        problem_(p),
        resident_(device, p, where),
        ids_(make_numbering(*p.mesh, p.computed, where.ordering_)) {
    resident_.poison_outputs();
    for (const index_t h : p.computed[std::size_t(stage::verts2cells)].ids) {
      for (index_t k = 0; k < p.levels; ++k) { put(h, k, expected()(h, 0, k)); }
    }
  }
  const host_field& expected() const { return problem_.fields.at(field_named("p_cell")); }
  void put(index_t cell, index_t level, double value) {
    const raw_view to = resident_.view().fields[std::size_t(field_named("p_cell"))];
    const std::size_t at = std::size_t(level) * std::size_t(to.stride) +
                           std::size_t(ids_.of(location::cell)[std::size_t(cell)]);
    const auto rounded = float(value);
    if (problem_.precision_ == precision::float64) {
      device_.upload(static_cast<double*>(to.data) + at, &value, sizeof value);
    } else {
      device_.upload(static_cast<float*>(to.data) + at, &rounded, sizeof rounded);
    }
  }
  // As both ways of comparing see it.
  verification verify() const {
    const verification there = resident_.verify(true), here = resident_.verify(false);
    EXPECT_EQ(there.ok, here.ok);
    EXPECT_EQ(there.wrong, here.wrong);
    EXPECT_DOUBLE_EQ(there.max_error, here.max_error);
    EXPECT_EQ(std::isnan(there.l2_error), std::isnan(here.l2_error));
    if (!std::isnan(here.l2_error)) {  // added up in another order
      EXPECT_NEAR(there.l1_error, here.l1_error, 1e-14 * here.l1_error);
      EXPECT_NEAR(there.l2_error, here.l2_error, 1e-14 * here.l2_error);
    }
    if (there.max_error > 0) {
      EXPECT_EQ(there.worst->entity, here.worst->entity);
      EXPECT_EQ(there.worst->level, here.worst->level);
    }
    return there;
  }

 private:
  static constexpr arrangement where{access::indirect, ordering::per_orientation, layout::ifirst};
  gpu::device& device_;
  const problem& problem_;
  resident_problem resident_;
  numbering ids_;
};

TEST(verification, on_the_device_as_on_the_host) {
  const auto mesh = std::make_shared<const grid>(make_torus({12, 9}));
  for (const precision p : {precision::float64, precision::float32}) {
    problem chain_ = make_problem(mesh, *find_chain("verts2cells"), 5, 2, p);
    compute_reference(chain_);
    const std::vector<index_t>& computed = chain_.computed[std::size_t(stage::verts2cells)].ids;
    const index_t inside = computed[computed.size() / 2];
    index_t outside = 0;
    while (!std::isnan(chain_.fields.at(field_named("p_cell"))(outside, 0, 0))) { ++outside; }
    for (const auto& device : devices()) {
      put_result result(*device, chain_);
      EXPECT_TRUE(result.verify().ok);
      const double want = result.expected()(inside, 0, 3);
      result.put(inside, 3, want * (p == precision::float64 ? 1 + 1e-14 : 1 + 1e-6));
      const verification close = result.verify();
      EXPECT_TRUE(close.ok);
      EXPECT_GT(close.max_error, 0);
      EXPECT_EQ(close.worst->entity, inside);
      EXPECT_EQ(close.worst->level, 3);
      for (const double bad : {want + 100, std::nan("")}) {
        result.put(inside, 3, bad);
        EXPECT_EQ(result.verify().wrong, 1u);
      }
      result.put(inside, 3, want);
      result.put(outside, 1, 0);
      EXPECT_EQ(result.verify().wrong, 1u);
    }
  }
}

// Norms of one planted error are known.
TEST(verification, norms_of_a_planted_error) {
  const auto mesh = std::make_shared<const grid>(make_torus({12, 9}));
  for (const precision p : {precision::float64, precision::float32}) {
    const double unit = p == precision::float64 ? 0x1p-40 : 0x1p-13;
    problem chain_ = make_problem(mesh, *find_chain("verts2cells"), 5, 2, p);
    compute_reference(chain_);
    host_field& expected = chain_.fields.at(field_named("p_cell"));
    for (double& x : expected.values) {
      if (!std::isnan(x)) { x = std::round(x * 16) / 16; }  // what is planted is exact
    }
    double sum = 0, squares = 0;
    for (const double x : expected.values) {
      if (!std::isnan(x)) { sum += std::fabs(x), squares += x * x; }
    }
    const auto& computed = chain_.computed[std::size_t(stage::verts2cells)].ids;
    const index_t first = computed.front(), last = computed.back();
    for (const auto& device : devices()) {
      put_result result(*device, chain_);
      EXPECT_EQ(result.verify().l1_error, 0);
      EXPECT_EQ(result.verify().l2_error, 0);
      result.put(first, 4, expected(first, 0, 4) + unit);
      result.put(last, 0, expected(last, 0, 0) - 2 * unit);
      const verification found = result.verify();
      EXPECT_TRUE(found.ok);
      EXPECT_NEAR(found.l1_error, 3 * unit / sum, 1e-14 * found.l1_error);
      EXPECT_NEAR(found.l2_error, unit * std::sqrt(5 / squares), 1e-14 * found.l2_error);
      EXPECT_EQ(found.worst->entity, last);
      EXPECT_EQ(found.worst->level, 0);
      result.put(first, 4, std::nan(""));
      EXPECT_TRUE(std::isnan(result.verify().l2_error));
    }
  }
}

TEST(reductions, norms_are_the_same_in_every_run) {
  for (const std::size_t count : {0u, 1u, 255u, 100003u}) {
    std::vector<double> want(count), have(count);
    double absolute = 0, squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
      want[i] = i % 7 == 3 ? std::nan("") : std::sin(double(i));
      have[i] = i % 7 == 3 ? std::nan("") : std::cos(double(i));
      if (i % 7 == 3) { continue; }
      absolute += std::fabs(have[i] - want[i]);
      squares += (have[i] - want[i]) * (have[i] - want[i]);
    }
    std::map<std::string, norms, std::less<>> first;
    for (const auto& device : devices()) {
      const gpu::buffer values = uploaded(*device, have), expected = uploaded(*device, want);
      const gpu::buffer on_device(*device, sizeof(norms));
      const reduce_space space(*device);
      norms got{};
      ops_of(*device).find_difference(*device, precision::float64, values.data(),
                                      expected.as<double>(), count, on_device.as<norms>(), space);
      device->download(&got, on_device.data(), sizeof got);
      EXPECT_NEAR(got.absolute, absolute, 1e-12 * absolute);
      EXPECT_NEAR(got.squares, squares, 1e-12 * squares);
      // simt for other warps and orders of threads, too.
      const norms& earlier = first.try_emplace(std::string(device->backend()), got).first->second;
      EXPECT_EQ(got.absolute, earlier.absolute) << device->backend();
      EXPECT_EQ(got.squares, earlier.squares) << device->backend();
      ops_of(*device).find_norms(*device, values.as<double>(), count, on_device.as<norms>(), space);
      device->download(&got, on_device.data(), sizeof got);
      double sizes = 0;
      for (const double x : have) { sizes += std::isnan(x) ? 0 : x * x; }
      EXPECT_NEAR(got.squares, sizes, 1e-12 * sizes);
    }
  }
}

TEST(memory, kinds) {
  for (const auto& device : devices()) {
    for (const gpu::memory_kind kind : {gpu::memory_kind::pinned, gpu::memory_kind::managed}) {
      if (kind == gpu::memory_kind::managed && device->backend() != "simt" &&
          !device->facts().managed_memory) {
        continue;
      }
      const gpu::buffer from(*device, 4096, kind), to(*device, 4096);
      std::memset(from.data(), 7, 4096);
      if (kind == gpu::memory_kind::managed) {
        device->advise_read_mostly(from.data(), 4096);
        device->prefetch(from.data(), 4096, true);
      }
      device->copy(to.data(), from.data(), 4096);
      device->synchronize();
      EXPECT_EQ(downloaded<char>(*device, to), std::vector<char>(4096, 7));
    }
  }
}

}  // namespace
}  // namespace icobench
