#include "src/gpu/launches.hpp"

#include <algorithm>

namespace icobench {
namespace {

// Calls use(stage, field, view) for what the stages read that does not depend on the level.
template <class Use>
void for_each_coefficient(const gpu_description& d, const storage& s, const Use& use) {
  for (const stage computed : d.computes) {
    for (const field f : info(computed).inputs) {
      const raw_view& v = s.fields[std::size_t(f)];
      if (v.stride == 0) { use(computed, f, v); }
    }
  }
}

std::size_t coefficient_bytes(const gpu_description& d, const gpu_choice& c, const storage& s) {
  std::size_t bytes = 0;
  for_each_coefficient(d, s, [&](stage computed, field f, const raw_view&) {
    bytes += c.elements(s, computed) * std::size_t(info(f).slots) * d.value_bytes;
  });
  return bytes;
}

gpu::memory_range range_of(const raw_view& v, int slots, std::size_t element_bytes) {
  return {v.data, std::size_t(v.slot_stride) * std::size_t(slots) * element_bytes};
}

gpu::memory_range range_of(std::span<const index_t> rows) {
  return {rows.data(), rows.size_bytes()};
}

// The table that a single stencil reads.
gpu::memory_range table_range(const storage& s, stage computed, table_use use) {
  if (use == table_use::by_vertex) { return range_of(s.diamonds); }
  const bool rows = use == table_use::rows;
  switch (computed) {
    case stage::nabla4:
      return rows ? range_of(s.e2c2v_rows) : range_of(s.e2c2v, 4, sizeof(index_t));
    case stage::interpolate:
      return rows ? range_of(s.v2e_rows) : range_of(s.v2e, 6, sizeof(index_t));
    default:
      return rows ? range_of(s.c2v_rows) : range_of(s.c2v, 3, sizeof(index_t));
  }
}

}  // namespace

std::string block_rejection(const gpu::extent3& block) {
  if (block.volume() > 1024) {
    return "a block of " + std::to_string(block.volume()) + " threads exceeds the limit of 1024";
  }
  if (block.z > 64) {
    return "a block of " + std::to_string(block.z) +
           " threads along levels exceeds the limit of 64";
  }
  return "";
}

std::string rejection(const gpu_description& d, const launch& l) {
  if (l.block.x <= d.halo.x() || l.block.y <= d.halo.y()) {
    return "blocks overlap: they need more than " + std::to_string(d.halo.x()) + " x " +
           std::to_string(d.halo.y()) + " threads";
  }
  if (const std::string reason = block_rejection(l.block); !reason.empty()) { return reason; }
  return d.reject ? d.reject(l) : "";
}

std::string hints_rejection(const gpu_description& d, const launch& l,
                            const gpu::device_facts& facts) {
  if (l.persist == kept::nothing) { return ""; }
  if (facts.persisting_cache_bytes == 0) {
    return "no cache of this device keeps lines on request";
  }
  if (l.persist == kept::tables && (d.mesh == access::strided || d.computes.size() > 1)) {
    return "the table of one stencil can be kept, this kernel reads none or several";
  }
  return "";
}

const gpu_choice* compiled_choice(const gpu_description& d, const launch& l) {
  for (const gpu_choice& c : d.choices) {
    if (c.bounds.fit(l)) { return &c; }
  }
  return nullptr;
}

std::string choices_text(const gpu_description& d) {
  std::string text;
  for (const gpu_choice& c : d.choices) {
    const compiled_bounds& b = c.bounds;
    if (b.shaped) {
      launch shape = b.shape;
      if (shape.cluster == 1) { shape.cluster = 0; }
      text += " " + to_string(shape);
    } else {
      text += " min_blocks=" + std::to_string(b.min_blocks);
      if (b.tables == table_use::rows) { text += ",tables=rows"; }
      if (b.tables == table_use::by_vertex) { text += ",tables=by_vertex"; }
      if (b.max_threads > max_block_threads) {
        text += " (blocks of up to " + std::to_string(b.max_threads) + " threads)";
      }
    }
  }
  return text;
}

unsigned levels_of_thread(index_t levels, const launch& l) {
  return l.levels == 0 ? ceil_div(unsigned(levels), l.block.z) : unsigned(l.levels);
}

gpu::extent3 cover(const gpu_description& d, const gpu_choice& c, const storage& s,
                   const launch& l) {
  const gpu::extent3 points = c.points(s);
  return {ceil_div(points.x, l.block.x - d.halo.x()), ceil_div(points.y, l.block.y - d.halo.y()),
          ceil_div(unsigned(s.levels), l.block.z * levels_of_thread(s.levels, l))};
}

void check_grid(const gpu::extent3& grid) {
  if (grid.y > 65535 || grid.z > 65535) {
    throw unsupported("a grid of " + std::to_string(grid.y) + " x " + std::to_string(grid.z) +
                      " blocks in its second and third direction exceeds the limit of 65535");
  }
}

void check_tensor_box(const gpu::tensor_box& box) {
  for (const std::int64_t stride : box.stride) {
    if (stride % 16 != 0) {
      throw unsupported("tensor maps need rows and planes of a multiple of 16 bytes, not " +
                        std::to_string(stride));
    }
  }
}

std::size_t shared_bytes(const gpu_choice& c, const launch& l, const gpu::device_facts& facts) {
  const std::size_t bytes = c.shared_bytes(l);
  if (bytes > facts.shared_bytes_per_block) {
    throw unsupported(to_string(l) + ": needs " + std::to_string(bytes) +
                      " bytes of shared memory a block, the device has " +
                      std::to_string(facts.shared_bytes_per_block));
  }
  return bytes;
}

// By size, H200 (60 MB of L2), `naive` at 298x257 and 594x514: with 7 MB of coefficients points
// first is 8 per cent faster (interpolate), with 18 MB there is no difference (nabla4), with 29 MB
// levels first is 21 and with 73 MB 65 per cent faster.
bool levels_first(const gpu_description& d, const gpu_choice& c, const storage& s, const launch& l,
                  const gpu::extent3& grid, const gpu::device_facts& facts) {
  if (d.grid) { return false; }  // it knows the order of its blocks
  if (l.order != block_order::by_size) { return l.order == block_order::levels_first; }
  // Points along y or z have a limit that those along x have not.
  return std::max(grid.x, grid.y) <= 65535 && coefficient_bytes(d, c, s) > facts.cache_bytes / 4;
}

gpu::memory_range kept_range(const gpu_description& d, const storage& s, const launch& l) {
  if (l.persist == kept::tables) { return table_range(s, d.computes.back(), l.tables); }
  gpu::memory_range all;
  if (l.persist == kept::coefficients) {
    // Those of all stages lie one after another: see resident_problem.
    for_each_coefficient(d, s, [&](stage, field f, const raw_view& v) {
      const auto one = range_of(v, info(f).slots, d.value_bytes);
      if (!all.begin) { all.begin = one.begin; }
      all.bytes =
          std::size_t(static_cast<const char*>(one.begin) - static_cast<const char*>(all.begin)) +
          one.bytes;
    });
  }
  return all;
}

storage with_hints(const gpu_description& d, storage s, const launch& l) {
  const auto set = [&](field f, hint h) { s.fields[std::size_t(f)].caching = h; };
  for (const stage computed : d.computes) {
    for (const field f : info(computed).outputs) { set(f, l.stores); }
    for (const field f : info(computed).inputs) {
      if (info(f).on == info(computed).on) { set(f, l.loads); }
    }
  }
  return s;
}

}  // namespace icobench
