// Makes launches of kernels.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "src/gpu/kernel_object.hpp"
#include "src/gpu/launches.hpp"
#include "src/gpu/source.hpp"
#include "src/gpu/space.hpp"

namespace icobench {
namespace {

// The kernel compiled with the program, or for this launch at run time.
gpu::kernel_function function_of(const gpu::device& device, const gpu_description& d,
                                 const gpu_choice& c, const storage& s, const launch& l) {
  if (!c.bounds.fit(l)) {
    const auto compiled =
        device.compiler()->compile(source_of(d, c, s, l), device.facts().architecture);
    if (device.loads_images()) { return device.load(*compiled); }
  }
  return c.function();
}

plan prepare_choice(const gpu::device& device, const gpu_description& d, const gpu_choice& c,
                    const storage& s, const launch& l) {
  if (c.bounds.tables == table_use::by_vertex && s.diamonds.empty()) {
    throw unsupported(to_string(l) + ": edges in threes, as a torus numbers them, are needed");
  }
  const gpu::device_facts facts = device.facts();
  gpu::kernel_launch how{.block = l.block, .shared_bytes = shared_bytes(c, l, facts)};
  if (!d.grid) { how.grid = cover(d, c, s, l); }
  const bool by_levels = levels_first(d, c, s, l, how.grid, facts);
  if (by_levels) { how.grid = {how.grid.z, how.grid.x, how.grid.y}; }
  const kernel_object object(c.in_turns_bytes);
  c.make_ordered(object.data(), s, by_levels,
                 l.adjacent ? index_t(levels_of_thread(s.levels, l)) : 0);
  if (c.set_boxes) { c.set_boxes(object.data(), l, device); }

  const auto function = function_of(device, d, c, s, l);
  if (d.grid) {
    how.cluster = d.cluster(s.levels, l);
    how.grid =
        d.grid(s, l, device.resident_blocks(function, how.block, how.shared_bytes, how.cluster));
  }
  check_grid(how.grid);
  if (l.grid > 0) {
    std::memcpy(static_cast<char*>(object.data()) + c.ordered_bytes, &how.grid, sizeof how.grid);
    const auto most = std::min<unsigned long long>(
        how.grid.volume(), unsigned(l.grid) * unsigned(facts.multiprocessors));
    how.grid = {unsigned(most), 1, 1};
  }
  how.kept = kept_range(d, s, l);
  how.set_aside = std::min(how.kept.bytes, facts.persisting_cache_bytes);

  gpu::kernel_facts of_kernel = device.inspect(function, how.grid, how.block, how.shared_bytes);
  of_kernel.compiled_at_run_time = !c.bounds.fit(l);
  plan result;
  result.kernels = {of_kernel};
  result.set_aside = how.set_aside;
  result.run = [&device, function, how, object] { device.launch(function, how, object.data()); };
  return result;
}

// Throws `unsupported` where the kernel cannot be launched so.
plan prepare(const gpu::device& device, const gpu_description& d, storage s, const launch& l) {
  const auto refuse = [&l](const std::string& reason) {
    if (!reason.empty()) { throw unsupported(to_string(l) + ": " + reason); }
  };
  const gpu::device_facts facts = device.facts();
  refuse(rejection(d, l));
  refuse(hints_rejection(d, l, facts));
  if (d.mesh == access::indirect && d.torus_order && !s.torus_order) {
    throw unsupported("its tables have to be in the slot order of a torus");
  }
  if (d.bulk_copies) {
    if (!facts.bulk_copies) {
      throw unsupported("bulk copies need sm_90, the device is " + facts.architecture);
    }
    // Levels and slots are aligned by the storage; rows of floats may start anywhere.
    if ((s.row | s.plane) % 2 != 0) { throw unsupported("bulk copies need rows of even length"); }
  }
  if (d.grid && (l.adjacent || l.order != block_order::by_size || l.stores != hint::by_kernel ||
                 l.loads != hint::by_kernel)) {
    refuse("this kernel orders its blocks, levels, stores and loads itself");
  }
  if (!d.shaped() && (l.stages != 0 || l.copy_bytes != 0 || l.cluster != 0)) {
    refuse("this kernel has no stages, copies or clusters");
  }
  s = with_hints(d, s, l);
  if (const gpu_choice* c = compiled_choice(d, l)) {
    return prepare_choice(device, d, *c, s, c->bounds.with_cluster(l));
  }
  const bool run_time_only = l.constants || l.grid > 0 || l.loads != hint::by_kernel;
  const std::string reason =
      run_time_only
          ? "constants, hints for loads and limits of the grid are compiled at run time"
          : (d.shaped()
                 ? "this shape is"
                 : "min_blocks=" + std::to_string(l.min_blocks) + " or the use of tables is") +
                std::string(" not among the compiled choices:") + choices_text(d);
  const std::string no_compiler = why_not_at_run_time(d, device);
  if (!no_compiler.empty()) { refuse(reason + "; " + no_compiler); }
  if ((l.grid > 0 || d.shaped()) && !device.loads_images()) {
    refuse(reason + "; not for this backend");
  }
  const gpu_choice* const c = choice_at_run_time(d, l);
  if (!c) { refuse(reason + (run_time_only ? ", which this kernel is not" : "")); }
  return prepare_choice(device, d, *c, s, c->bounds.with_cluster(l));
}

// What to compile for a launch that is not compiled with the program but can be at run time.
std::vector<gpu::kernel_source> sources_of(const gpu_description& d, const storage& s,
                                           const launch& l) {
  if (d.header.empty() || !rejection(d, l).empty() || compiled_choice(d, l)) { return {}; }
  const gpu_choice* const c = choice_at_run_time(d, l);
  if (!c) { return {}; }
  return {source_of(d, *c, with_hints(d, s, l), c->bounds.with_cluster(l))};
}

}  // namespace

implementation implement(std::string_view backend, precision p, ordering o,
                         const gpu_description& d) {
  return {.backend = std::string(backend),
          .precision_ = p,
          .ordering_ = o,
          .defaults = {d.tuned},
          .spaces = [&d] { return std::vector{space_of(d)}; },
          .prepare =
              [&d, name = std::string(backend)](gpu::device& device, const storage& s,
                                                const std::vector<launch>& l) {
                if (device.backend() != name) {  // kernels are called by address
                  throw std::logic_error("kernels of the backend " + name + " on a device of " +
                                         std::string(device.backend()));
                }
                plan result = prepare(device, d, s, l.at(0));
                if (d.facts) { result.facts = d.facts(device, s, l.at(0)); }
                return result;
              },
          .sources = [&d](const storage& s,
                          const std::vector<launch>& l) { return sources_of(d, s, l.at(0)); },
          .needs_torus = d.torus_order};
}

}  // namespace icobench
