#include "src/bench/record.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "src/bench/build_info.hpp"
#include "src/bench/statistics.hpp"

namespace icobench {
namespace {

json to_json(const gpu::kernel_facts& k, const gpu::device_facts& device) {
  const auto extent = [](const gpu::extent3& e) { return json{e.x, e.y, e.z}; };
  json j{{"grid", extent(k.grid)}, {"block", extent(k.block)}, {"shared_bytes", k.shared_bytes}};
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
  json j{{"ok", v.ok}, {"max_error", v.max_error}, {"tolerance", v.tolerance}, {"wrong", v.wrong}};
  for (const wrong_point& w : v.first) {
    j["first"].push_back({{"field", info(w.f).name},
                          {"entity", w.entity},
                          {"level", w.level},
                          {"expected", w.expected},  // NaN becomes null
                          {"got", w.got}});
  }
  return j;
}

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

std::string now() {
  const std::time_t t = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::ostringstream out;
  out << std::put_time(std::gmtime(&t), "%Y-%m-%dT%H:%M:%SZ");
  return out.str();
}

}  // namespace

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
    default:
      return "failed";
  }
}

std::string record::name() const {
  std::string text = variant_->name();
  if (implementation_->ordering_ != ordering::per_orientation) {
    text += "/" + std::string(to_string(implementation_->ordering_));
  }
  if (implementation_->precision_ != precision::float64) {
    text += "/" + std::string(to_string(implementation_->precision_));
  }
  for (const launch& l : launches) {
    text += (&l == &launches.front() ? "/" : "+") + icobench::to_string(l);
  }
  return text;
}

double record::seconds() const {
  return median(samples.seconds);
}

double record::bytes_per_second() const {
  return seconds() > 0 ? double(traffic_.fused_bytes) / seconds() : 0;
}

double record::share_of_copy() const {
  return bandwidth_.copy > 0 ? bytes_per_second() / bandwidth_.copy : 0;
}

json to_json(const gpu::device_facts& f) {
  return {{"name", f.name},
          {"architecture", f.architecture},
          {"runtime", f.runtime},
          {"driver", f.driver},
          {"multiprocessors", f.multiprocessors},
          {"warp_size", f.warp_size},
          {"memory_bytes", f.memory_bytes},
          {"cache_bytes", f.cache_bytes},
          {"shared_bytes_per_block", f.shared_bytes_per_block}};
}

json to_json(const record& r, const gpu::device_facts& device) {
  const variant_info& info = r.variant_->info;
  json j{{"name", r.name()},
         {"status", to_string(r.status_)},
         {"reason", r.reason.empty() ? json(nullptr) : json(r.reason)},
         {"variant", r.variant_->name()},
         {"chain", info.chain},
         {"access", to_string(r.variant_->access_)},
         {"ordering", to_string(r.implementation_->ordering_)},
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
  for (const launch& l : r.launches) { j["launches"].push_back(to_string(l)); }
  j["kernels"] = json::array();
  for (const auto& k : r.kernels) { j["kernels"].push_back(to_json(k, device)); }
  j["traffic"] = {{"fused_bytes", r.traffic_.fused_bytes},
                  {"separate_bytes", r.traffic_.separate_bytes},
                  {"flops", r.traffic_.flops}};
  if (r.status_ == status::skipped || r.status_ == status::failed) { return j; }
  j["verification"] = to_json(r.verified);
  if (r.status_ != status::ok) { return j; }
  j["seconds"] = statistics(r.samples.seconds);
  j["stopped_by"] = r.samples.stopped_by;
  j["bytes_per_second"] = r.bytes_per_second();
  j["copy_bytes_per_second"] = r.bandwidth_.copy;
  j["small_copy_bytes_per_second"] = r.small_copy;
  j["share_of_copy"] = r.share_of_copy();
  // Faster than memory allows: the data came from a cache, or a measurement is wrong.
  j["suspect"] = r.share_of_copy() > 1;
  j["fused_floor_seconds"] = double(r.traffic_.fused_bytes) / r.bandwidth_.copy;
  j["separate_floor_seconds"] = double(r.traffic_.separate_bytes) / r.bandwidth_.copy;
  j["samples"] = r.samples.seconds;
  return j;
}

json make_context(const std::vector<std::string>& arguments, const options& o, const json& grid,
                  const json& devices) {
  return {{"date", now()},
          {"arguments", arguments},
          {"icobench", build_info()},
          {"grid", grid},
          {"levels", o.levels},
          {"cache", o.sampling_.cache == cache_mode::cold ? "cold" : "warm"},
          {"devices", devices}};
}

std::string summary(const record& r) {
  std::string text = r.name() + ": ";
  if (r.status_ != status::ok) {
    return text + std::string(to_string(r.status_)) + (r.reason.empty() ? "" : ", " + r.reason);
  }
  char numbers[64];
  std::snprintf(numbers, sizeof numbers, "%.1f us, %.1f %% of copy", 1e6 * r.seconds(),
                100 * r.share_of_copy());
  return text + numbers;
}

std::string format_table(const std::vector<record>& records) {
  std::vector<const record*> ranked;
  for (const record& r : records) { ranked.push_back(&r); }
  std::stable_sort(ranked.begin(), ranked.end(), [](const record* a, const record* b) {
    const auto key = [](const record* r) { return r->seconds() > 0 ? r->seconds() : 1e300; };
    return key(a) < key(b);
  });
  std::ostringstream out;
  char line[512];
  std::snprintf(line, sizeof line, "%10s %9s %7s %8s %9s %5s %5s  %s\n", "time/us", "+-", "GB/s",
                "of copy", "x floor", "regs", "local", "variant");
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
    std::snprintf(line, sizeof line, "%10.1f %8.1f%% %7.0f %7.1f%% %9.2f %5d %5zu  %s%s\n",
                  1e6 * r->seconds(), 50 * (i.high - i.low) / r->seconds(),
                  1e-9 * r->bytes_per_second(), 100 * r->share_of_copy(), 1 / r->share_of_copy(),
                  registers, local, r->name().c_str(),
                  r->share_of_copy() > 1 ? "  (suspect: faster than a copy)" : "");
    out << line;
  }
  return out.str();
}

void check_dump_path(const std::string& path) {
  const std::string temporary = path + ".part";
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw input_error("--dump " + path + ": is a folder");
  }
  if (!std::ofstream(temporary)) {
    throw input_error("--dump " + path + ": cannot be written there: " + std::strerror(errno));
  }
  std::filesystem::remove(temporary, ignored);
}

void write_dump(const std::string& path, const json& context, const json& records) {
  const std::string temporary = path + ".part";
  const json all{{"schema", "icobench-dump-1"}, {"context", context}, {"records", records}};
  {
    std::ofstream file(temporary);
    // A path may hold bytes that are not UTF-8; strict parsers must still read the dump.
    file << all.dump(1, ' ', false, json::error_handler_t::replace) << "\n";
    if (!file.flush()) { throw input_error(path + ": cannot be written"); }
  }
  std::error_code failure;
  std::filesystem::rename(temporary, path, failure);
  if (failure) { throw input_error(path + ": " + failure.message()); }
}

}  // namespace icobench
