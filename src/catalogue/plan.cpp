// Makes launches of kernels.
#include <stdexcept>

#include "src/catalogue/gpu_variant.hpp"
#include "src/catalogue/source.hpp"
#include "src/catalogue/space.hpp"

namespace icobench {
namespace {

// The kernel compiled with the program, or for this launch at run time.
gpu::kernel_function function_of(const gpu::device& device, const gpu_variant& v,
                                 const kernel_choice& c, const storage& s, const launch& l) {
  if (!c.bounds.fit(l)) {
    const auto compiled =
        device.compiler()->compile(source_of(v, c, s, l), device.limits().architecture);
    if (device.loads_images()) { return device.load(*compiled); }
  }
  return c.function();
}

plan prepare_choice(const gpu::device& device, const gpu_variant& v, const kernel_choice& c,
                    const storage& s, const launch& l) {
  if (c.bounds.tables == table_use::by_vertex && s.diamonds.empty()) {
    throw unsupported(to_string(l) + ": edges in threes, as a torus numbers them, are needed");
  }
  const bound_kernel b = v.bind(c, s);
  detail::ready_kernel ready =
      detail::make_ready(device, *v.kernel, c, b, l, function_of(device, v, c, s, l));
  ready.facts.compiled_at_run_time = !c.bounds.fit(l);
  plan result;
  result.kernels = {ready.facts};
  result.run = [&device, run = prepared(device, {std::move(ready)})] {
    run(device.current_stream());
  };
  return result;
}

// Throws `unsupported` where the kernel cannot be launched so.
plan prepare_variant(const gpu::device& device, const gpu_variant& v, const storage& s,
                     const launch& l) {
  const kernel_description& d = *v.kernel;
  const auto refuse = [&l](const std::string& reason) {
    if (!reason.empty()) { throw unsupported(to_string(l) + ": " + reason); }
  };
  if (d.mesh == access::indirect && d.info.torus_order && !s.torus_order) {
    throw unsupported("its tables have to be in the slot order of a torus");
  }
  detail::check_launch(device.limits(), d, l);
  if (const kernel_choice* c = detail::compiled_choice(d, l)) {
    return prepare_choice(device, v, *c, s, c->bounds.with_cluster(l));
  }
  const std::string reason =
      l.constants
          ? "constants are compiled in at run time"
          : (d.shaped()
                 ? "this shape is"
                 : "min_blocks=" + std::to_string(l.min_blocks) + " or the use of tables is") +
                std::string(" not among the compiled choices:") + detail::choices_text(d);
  const std::string no_compiler = why_not_at_run_time(v, device);
  if (!no_compiler.empty()) { refuse(reason + "; " + no_compiler); }
  if (d.shaped() && !device.loads_images()) { refuse(reason + "; not for this backend"); }
  const kernel_choice* const c = choice_at_run_time(d, l);
  if (!c) { refuse(reason + (l.constants ? ", which this kernel has not" : "")); }
  return prepare_choice(device, v, *c, s, c->bounds.with_cluster(l));
}

// What to compile for a launch that is not compiled with the program but can be at run time.
std::vector<gpu::kernel_source> sources_of(const gpu_variant& v, const storage& s,
                                           const launch& l) {
  const kernel_description& d = *v.kernel;
  if (v.header.empty() || !detail::rejection(d, l).empty() || detail::compiled_choice(d, l)) {
    return {};
  }
  const kernel_choice* const c = choice_at_run_time(d, l);
  if (!c) { return {}; }
  return {source_of(v, *c, s, c->bounds.with_cluster(l))};
}

}  // namespace

implementation implement(std::string_view backend, precision p, ordering o, const gpu_variant& v) {
  return {.backend = std::string(backend),
          .precision_ = p,
          .ordering_ = o,
          .defaults = {v.kernel->tuned},
          .spaces = [&v] { return std::vector{space_of(*v.kernel)}; },
          .prepare =
              [&v, name = std::string(backend)](gpu::device& device, const storage& s,
                                                const std::vector<launch>& l) {
                if (device.backend() != name) {  // kernels are called by address
                  throw std::logic_error("kernels of the backend " + name + " on a device of " +
                                         std::string(device.backend()));
                }
                return prepare_variant(device, v, s, l.at(0));
              },
          .sources = [&v](const storage& s,
                          const std::vector<launch>& l) { return sources_of(v, s, l.at(0)); },
          .copies = v.kernel->copies,
          .needs_torus = v.kernel->info.torus_order};
}

}  // namespace icobench
