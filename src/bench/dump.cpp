#include "src/bench/dump.hpp"

#include <iomanip>
#include <sstream>

#include "src/catalogue/device_facts.hpp"
#include "src/measure/ceilings.hpp"
#include "src/measure/host_ceilings.hpp"
#include "src/support/build_info.hpp"

namespace icobench {
namespace {

// Less often than this a dump is rewritten, at the end of the run excepted.
constexpr std::chrono::seconds pause{2};

json null_if_zero(auto value) {
  return value > 0 ? json(value) : json(nullptr);
}

json describe_ceilings(const ceilings& c) {
  return {{"read_bytes_per_second", null_if_zero(c.read)},
          {"triad_bytes_per_second", null_if_zero(c.triad)},
          {"copy_bytes_per_second", null_if_zero(c.copy)},
          {"write_bytes_per_second", null_if_zero(c.write)},
          {"double_flops_per_second", null_if_zero(c.flops_double)},
          {"float_flops_per_second", null_if_zero(c.flops_float)},
          {"launch_seconds", null_if_zero(c.launch_seconds)},
          {"ways", c.ways}};
}

json describe_huge_pages(const ceilings& c) {
  const std::string setting = host_ceiling_work::huge_page_setting();
  return {{"setting", setting.empty() ? json(nullptr) : json(setting)},
          {"share", c.huge_page_share ? json(*c.huge_page_share) : json(nullptr)}};
}

json describe_device(workspace& w, const std::string& backend, bool timed) {
  const gpu::device_facts f = w.device(backend).facts();
  const ceilings c = timed ? w.device_ceilings(backend) : ceilings{};
  const machine_monitor* monitor = w.monitor(backend);
  json j = to_json(f);
  j.update(json{{"copy_bytes_per_second", null_if_zero(c.copy)},
                {"copy_bytes", null_if_zero(c.bytes)},
                {"empty_interval_seconds", null_if_zero(timed ? w.empty_interval(backend) : 0)},
                {"ceilings", timed ? describe_ceilings(c) : json(nullptr)},
                {"huge_pages", timed && backend == "cpu" ? describe_huge_pages(c) : json(nullptr)},
                {"machine_state", w.machine_state(backend)},
                {"lock_clocks_hint", monitor ? json(monitor->lock_clocks_hint()) : json(nullptr)}});
  return j;
}

json describe_grid(const grid& g) {
  return {{"name", g.name},
          {"uuid", g.uuid},
          {"vertices", g.vertices},
          {"edges", g.edges},
          {"cells", g.cells},
          {"torus", g.shape ? json{g.shape->nx, g.shape->ny} : json(nullptr)}};
}

}  // namespace

std::string utc_now() {
  const std::time_t t = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::ostringstream out;
  out << std::put_time(std::gmtime(&t), "%Y-%m-%dT%H:%M:%SZ");
  return out.str();
}

json make_context(const std::vector<std::string>& arguments, const options& o, workspace& w,
                  const std::vector<std::string>& backends) {
  json devices;
  for (const std::string& backend : backends) {
    devices[backend] = describe_device(w, backend, o.times() && backend != "simt");
  }
  return {{"date", utc_now()},
          {"arguments", arguments},
          {"icobench", build_info()},
          {"grid", describe_grid(w.mesh())},
          {"levels", o.levels},
          {"cache", o.sampling_.cache == cache_mode::cold ? "cold" : "warm"},
          {"devices", devices}};
}

dump_file::dump_file(const std::string& path, const std::vector<std::string>& inputs,
                     std::string schema)
    : file_("--dump", path, inputs), schema_(std::move(schema)) {}

bool dump_file::due() const {
  return std::chrono::steady_clock::now() - written_ > pause;
}

void dump_file::write(bool complete, const json& context, const json& records) {
  const json all{
      {"schema", schema_}, {"complete", complete}, {"context", context}, {"records", records}};
  // A path may hold bytes that are not UTF-8; strict parsers must still read the dump.
  file_.write(all.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  written_ = std::chrono::steady_clock::now();
}

}  // namespace icobench
