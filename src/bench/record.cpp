#include "src/bench/record.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "src/measure/statistics.hpp"

namespace icobench {
namespace {

json to_json(const gpu::kernel_facts& k, const gpu::device_facts& device) {
  const auto extent = [](const gpu::extent3& e) { return json{e.x, e.y, e.z}; };
  json j{{"grid", extent(k.grid)}, {"block", extent(k.block)}, {"shared_bytes", k.shared_bytes}};
  if (k.compiled_at_run_time) { j["compiled"] = "at run time"; }
  if (k.registers > 0) {
    j["registers"] = k.registers;
    j["local_bytes"] = k.local_bytes;
    j["blocks_per_multiprocessor"] = k.blocks_per_multiprocessor;
    j["occupancy"] = double(k.blocks_per_multiprocessor) * double(k.block.volume()) /
                     device.max_threads_per_multiprocessor;
  }
  return j;
}

json to_json(const verification& v) {
  const auto point = [](const wrong_point& w) {
    return json{{"field", info(w.f).name},
                {"entity", w.entity},
                {"level", w.level},
                {"expected", w.expected},  // NaN becomes null
                {"got", w.got}};
  };
  json j{{"ok", v.ok},
         {"max_error", v.max_error},
         {"l1_error", v.l1_error},
         {"l2_error", v.l2_error},
         {"tolerance", v.tolerance},
         {"wrong", v.wrong}};
  j["worst"] = v.worst ? point(*v.worst) : json(nullptr);
  for (const wrong_point& w : v.first) { j["first"].push_back(point(w)); }
  return j;
}

}  // namespace

json statistics(const std::vector<double>& seconds) {
  const interval i = median_interval(seconds);
  const auto [least, most] = std::minmax_element(seconds.begin(), seconds.end());
  return {{"median", median(seconds)},
          {"low", i.low},
          {"high", i.high},
          {"min", *least},
          {"max", *most},
          {"count", seconds.size()}};
}

std::string_view to_string(status s) {
  switch (s) {
    case status::ok:
      return "ok";
    case status::verified:
      return "verified";
    case status::wrong:
      return "wrong";
    case status::skipped:
      return "skipped";
    case status::failed:
      return "failed";
    default:
      return "stopped";
  }
}

std::string record::name() const {
  std::string text = variant_->name();
  if (implementation_->ordering_ != ordering::per_orientation) {
    text += "/" + std::string(to_string(implementation_->ordering_));
  }
  if (vertices != vertex_order::row) { text += "/" + std::string(icobench::to_string(vertices)); }
  if (rows != row_pitch::staggered) { text += "/rows_" + std::string(icobench::to_string(rows)); }
  if (implementation_->precision_ != precision::float64) {
    text += "/" + std::string(to_string(implementation_->precision_));
  }
  for (const launch& l : launches) {
    text += (&l == &launches.front() ? "/" : "+") + icobench::to_string(l);
  }
  return text;
}

std::vector<double> record::latest() const {
  return {samples.seconds.begin() + std::ptrdiff_t(earlier), samples.seconds.end()};
}

double record::seconds() const {
  return median(samples.seconds);
}

double record::bytes_per_second() const {
  return seconds() > 0 ? double(traffic_.fused_bytes) / seconds() : 0;
}

double record::share_of_copy() const {
  return copy > 0 ? bytes_per_second() / copy : 0;
}

floor_of_run record::floor() const {
  return find_floor(ceilings_, double(traffic_.fused_bytes), double(traffic_.fused_written_bytes),
                    double(traffic_.flops), implementation_->precision_, kernels.size());
}

double record::share_of_ceiling() const {
  return seconds() > 0 ? floor().seconds() / seconds() : 0;
}

std::vector<std::string> record::marks() const {
  std::vector<std::string> result;
  if (variant_->info.roofline) { result.emplace_back("roofline"); }
  if (share_of_ceiling() > 1) { result.emplace_back("suspect"); }
  if (machine.throttled()) { result.emplace_back("throttled"); }
  if (machine.unstable()) { result.emplace_back("unstable"); }
  if (seconds() * samples.runs_per_sample < resolved_intervals * empty_interval) {
    result.emplace_back("unresolved");
  }
  return result;
}

json to_json(const record& r, const gpu::device_facts& device) {
  const variant_info& info = r.variant_->info;
  const json pitch = r.variant_->access_ != access::indirect
                         ? json(to_string(pitch_of(r.implementation_->layout_, r.rows)))
                         : json(nullptr);
  json j{{"name", r.name()},
         {"status", to_string(r.status_)},
         {"reason", r.reason.empty() ? json(nullptr) : json(r.reason)},
         {"variant", r.variant_->name()},
         {"chain", info.chain},
         {"access", to_string(r.variant_->access_)},
         {"ordering", to_string(r.implementation_->ordering_)},
         {"vertices", to_string(r.vertices)},
         {"row_pitch", pitch},
         {"schedule", info.schedule},
         {"fusion", info.fusion},
         {"feature", info.feature},
         {"description", info.description},
         {"backend", r.implementation_->backend},
         {"precision", to_string(r.implementation_->precision_)},
         {"layout", to_string(r.implementation_->layout_)},
         {"grid", r.grid},
         {"levels", r.levels},
         {"halo", r.halo}};
  j["launches"] = json::array();
  for (const launch& l : r.launches) { j["launches"].push_back(to_string(l)); }
  j["kernels"] = json::array();
  for (const auto& k : r.kernels) { j["kernels"].push_back(to_json(k, device)); }
  j["traffic"] = {{"fused_bytes", r.traffic_.fused_bytes},
                  {"fused_written_bytes", r.traffic_.fused_written_bytes},
                  {"separate_bytes", r.traffic_.separate_bytes},
                  {"flops", r.traffic_.flops}};
  if (r.verified.tolerance > 0) { j["verification"] = to_json(r.verified); }
  if (r.samples.seconds.empty()) { return j; }
  j["seconds"] = statistics(r.samples.seconds);
  j["stopped_by"] = r.samples.stopped_by;
  j["runs_per_sample"] = r.samples.runs_per_sample;
  j["bytes_per_second"] = r.bytes_per_second();
  j["copy_bytes_per_second"] = r.copy;
  j["small_copy_bytes_per_second"] = r.small_copy;
  j["share_of_copy"] = r.share_of_copy();
  j["fused_floor_seconds"] = double(r.traffic_.fused_bytes) / r.copy;
  j["separate_floor_seconds"] = double(r.traffic_.separate_bytes) / r.copy;
  const floor_of_run floor = r.floor();
  j["ceiling"] = {{"binding", floor.binding()},
                  {"share", r.share_of_ceiling()},
                  {"memory_seconds", floor.memory_seconds},
                  {"arithmetic_seconds", floor.arithmetic_seconds},
                  {"launch_seconds", floor.launch_seconds}};
  j["marks"] = r.marks();
  j["machine"] = r.machine.to_json();
  j["samples"] = r.samples.seconds;
  return j;
}

namespace {

std::string marks_text(const record& r) {
  std::string text;
  for (const std::string& mark : r.marks()) { text += (text.empty() ? "  (" : ", ") + mark; }
  return text.empty() ? text : text + ")";
}

}  // namespace

std::string summary(const record& r) {
  std::string text = r.name() + ": ";
  char numbers[96];
  std::string how;
  if (std::any_of(r.kernels.begin(), r.kernels.end(),
                  [](const auto& k) { return k.compiled_at_run_time; })) {
    how = ", compiled at run time";
  }
  if (r.status_ != status::ok) {
    return text + std::string(to_string(r.status_)) + (r.reason.empty() ? "" : ", " + r.reason) +
           how;
  }
  std::snprintf(numbers, sizeof numbers, "%.1f us, %.1f %% of copy, %.1f %% of what ",
                1e6 * r.seconds(), 100 * r.share_of_copy(), 100 * r.share_of_ceiling());
  return text + numbers + std::string(r.floor().binding()) + " allows" + how + marks_text(r);
}

std::string format_table(std::vector<const record*> ranked) {
  std::stable_sort(ranked.begin(), ranked.end(), [](const record* a, const record* b) {
    const auto key = [](const record* r) { return r->seconds() > 0 ? r->seconds() : 1e300; };
    return key(a) < key(b);
  });
  std::ostringstream out;
  char line[512];
  std::snprintf(line, sizeof line, "%10s %9s %7s %8s %21s %9s %5s %5s  %s\n", "time/us", "+-",
                "GB/s", "of copy", "of ceiling", "x floor", "regs", "local", "variant");
  out << line;
  for (const record* r : ranked) {
    if (r->status_ != status::ok) {
      out << summary(*r) << "\n";
      continue;
    }
    const interval i = median_interval(r->samples.seconds);
    int registers = 0;
    std::size_t local = 0;
    for (const auto& k : r->kernels) {
      registers = std::max(registers, k.registers);
      local = std::max(local, k.local_bytes);
    }
    std::snprintf(
        line, sizeof line, "%10.1f %8.1f%% %7.0f %7.1f%% %9.1f%% %-10s %9.2f %5d %5zu  %s%s\n",
        1e6 * r->seconds(), 50 * (i.high - i.low) / r->seconds(), 1e-9 * r->bytes_per_second(),
        100 * r->share_of_copy(), 100 * r->share_of_ceiling(),
        std::string(r->floor().binding()).c_str(), 1 / r->share_of_copy(), registers, local,
        r->name().c_str(), marks_text(*r).c_str());
    out << line;
  }
  return out.str();
}

}  // namespace icobench
