// bench_device streams: chains of stencils side by side, and as graphs.
#include <icobench/grids/grid_file.hpp>

#include "src/bench/workspace.hpp"
#include "src/catalogue/registry.hpp"
#include "src/device/device_bench.hpp"

namespace icobench {
namespace {

// One chain on its own copy of the problem.
struct running_chain {
  resident_problem resident;
  plan planned;

  running_chain(gpu::device& device, const problem& p, const variant& v, const implementation& i)
      : resident(device, p, {v.access_, i.ordering_, i.layout_}),
        planned(i.prepare(device, resident.view(), i.defaults)) {
    resident.poison_outputs();
  }
  std::string check() {
    const verification v = resident.verify();
    resident.poison_outputs();
    return v.ok ? "" : std::to_string(v.wrong) + " wrong values";
  }
};

void measure_chain(device_bench& bench, const problem& p, const variant& v,
                   const implementation& i) {
  gpu::device& device = bench.device();
  running_chain first(device, p, v, i), second(device, p, v, i);
  const auto streams = std::pair{device.make_stream(), device.make_stream()};
  const std::string of = v.name() + "/" + p.mesh->name;
  const auto named = [&](const std::string& how, std::function<void()> run) {
    measurement m;
    m.name = "streams/" + how + "/" + of;
    m.parameters = {{"variant", v.name()},
                    {"grid", p.mesh->name},
                    {"levels", p.levels},
                    {"launches", first.planned.kernels.size()}};
    m.run = std::move(run);
    return m;
  };
  const auto both = [&] { return first.check() + second.check(); };
  const auto launches = [&] { first.planned.run(); };
  const auto graph = device.capture(launches);

  std::vector<measurement> all;
  all.push_back(named("launches", launches));
  all.push_back(named("graph", graph));
  for (measurement& m : all) {
    m.check = [&] { return first.check(); };
  }
  all.push_back(named("one_after_another", [&] {
    first.planned.run();
    second.planned.run();
  }));
  all.push_back(named("side_by_side", [&] {
    device.on(*streams.first, first.planned.run);
    device.on(*streams.second, second.planned.run);
  }));
  all[2].check = all[3].check = both;
  bench.measure(std::move(all));

  // Many steps in a row, as a model makes them: where launches take longer than kernels, a graph of
  // all of them shows what launching costs.
  constexpr int steps = 20;
  const auto many = [&] {
    for (int n = 0; n < steps; ++n) { first.planned.run(); }
  };
  const auto many_in_graph = device.capture(many);
  measurement plain = named("launches20", many), captured = named("graph20", many_in_graph);
  plain.check = captured.check = [&] { return first.check(); };
  bench.measure({std::move(plain), std::move(captured)});
}

}  // namespace

void measure_streams(device_bench& bench) {
  options o;
  o.levels = bench.simt() ? 3 : bench.options().levels;
  std::vector<std::string> grids{bench.options().grid};
  if (grids.front().empty()) {
    grids = bench.simt() ? std::vector<std::string>{"torus:12x9"}
                         : std::vector<std::string>{"torus:24x20", "torus:76x66", "torus:594x514"};
  }
  const chain& c = *find_chain("nabla4_interpolate_verts2cells");
  for (const std::string& name : grids) {
    const auto mesh = std::make_shared<const grid>(load_grid(name));
    problem p = make_problem(mesh, c, o.levels, default_halo(*mesh, c), precision::float64);
    compute_reference(p);
    bool any = false;
    for (const variant& v : registry::instance().variants()) {
      if (v.info.chain != c.name || v.info.schedule != "kloop" || v.info.fusion != "separate" ||
          v.access_ != access::strided) {
        continue;
      }
      const implementation* const i =
          v.find(bench.options().backend, precision::float64, ordering::per_orientation);
      if (!i) { continue; }
      measure_chain(bench, p, v, *i);
      any = true;
    }
    if (!any) { bench.skip("streams/" + name, "this build lacks the chain's kloop/separate"); }
  }
}

}  // namespace icobench
