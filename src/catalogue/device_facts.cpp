#include "src/catalogue/device_facts.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>

#include <icobench/errors.hpp>

#include "src/catalogue/registry.hpp"

namespace icobench {
namespace {

std::string lower(std::string text) {
  for (char& c : text) { c = char(std::tolower(static_cast<unsigned char>(c))); }
  return text;
}

bool means(const std::string& choice, const gpu::device_facts& d) {
  if (choice.find_first_not_of("0123456789") == choice.npos) {
    return choice == std::to_string(d.index);
  }
  const std::string wanted = lower(choice);
  const auto digits = [](const std::string& uuid) {
    return uuid.starts_with("gpu-") || uuid.starts_with("mig-") ? uuid.substr(4) : uuid;
  };
  return lower(d.name).find(wanted) != wanted.npos ||
         (!d.uuid.empty() && digits(lower(d.uuid)).starts_with(digits(wanted)));
}

std::string describe(const gpu::device_facts& d) {
  return std::to_string(d.index) + " " + d.name + (d.uuid.empty() ? "" : " (" + d.uuid + ")");
}

std::string in_unit(double value, double unit, const char* name) {
  char text[48];
  std::snprintf(text, sizeof text, "%.6g %s", value / unit, name);
  return text;
}

}  // namespace

nlohmann::ordered_json to_json(const gpu::device_facts& f) {
  return {{"index", f.index},
          {"name", f.name},
          {"architecture", f.architecture},
          {"runtime", f.runtime},
          {"driver", f.driver},
          {"pci_bus_id", f.pci_bus_id},
          {"uuid", f.uuid},
          {"multiprocessors", f.multiprocessors},
          {"clock_hz", f.clock_hz},
          {"warp_size", f.warp_size},
          {"max_threads_per_block", f.max_threads_per_block},
          {"max_threads_per_multiprocessor", f.max_threads_per_multiprocessor},
          {"registers_per_multiprocessor", f.registers_per_multiprocessor},
          {"memory_bytes", f.memory_bytes},
          {"memory_clock_hz", f.memory_clock_hz},
          {"memory_bus_bits", f.memory_bus_bits},
          {"l2_bytes", f.l2_bytes},
          {"cache_bytes", f.cache_bytes},
          {"shared_bytes_per_block", f.shared_bytes_per_block},
          {"shared_bytes_per_multiprocessor", f.shared_bytes_per_multiprocessor},
          {"unified_addressing", f.unified_addressing},
          {"managed_memory", f.managed_memory},
          {"concurrent_managed", f.concurrent_managed},
          {"concurrent_kernels", f.concurrent_kernels},
          {"copy_engines", f.copy_engines},
          {"peers", f.peers}};
}

std::string format_facts(const gpu::device_facts& f) {
  std::ostringstream out;
  const auto line = [&](const char* name, const std::string& value) {
    char text[256];
    std::snprintf(text, sizeof text, "  %-35s %s\n", name, value.c_str());
    out << text;
  };
  const auto text_line = [&](const char* name, const std::string& value) {
    if (!value.empty()) { line(name, value); }
  };
  const auto number = [&](const char* name, auto value, double unit, const char* unit_name) {
    if (value > 0) { line(name, in_unit(double(value), unit, unit_name)); }
  };
  const auto count = [&](const char* name, int value) {
    if (value > 0) { line(name, std::to_string(value)); }
  };
  const auto yes = [&](const char* name, bool value) { line(name, value ? "yes" : "no"); };
  constexpr double kib = 1024, gib = 1024 * 1024 * 1024;
  out << describe(f) << "\n";
  line("architecture", f.architecture);
  text_line("runtime", f.runtime);
  text_line("driver", f.driver);
  text_line("PCI bus id", f.pci_bus_id);
  count("multiprocessors", f.multiprocessors);
  number("highest clock", f.clock_hz, 1e6, "MHz");
  number("warp", f.warp_size, 1, "threads");
  count("threads of a block", f.max_threads_per_block);
  count("threads of a multiprocessor", f.max_threads_per_multiprocessor);
  count("registers of a multiprocessor", f.registers_per_multiprocessor);
  number("memory", f.memory_bytes, gib, "GiB");
  number("memory clock", f.memory_clock_hz, 1e6, "MHz");
  number("memory bus", f.memory_bus_bits, 1, "bits");
  number("L2 cache", f.l2_bytes, kib, "KiB");
  number("last-level cache", f.cache_bytes, kib, "KiB");
  number("shared memory of a block", f.shared_bytes_per_block, kib, "KiB");
  number("shared memory of a multiprocessor", f.shared_bytes_per_multiprocessor, kib, "KiB");
  yes("unified addressing", f.unified_addressing);
  yes("managed memory", f.managed_memory);
  yes("managed memory used by both at once", f.concurrent_managed);
  yes("kernels run beside each other", f.concurrent_kernels);
  line("copies beside kernels", std::to_string(f.copy_engines));
  std::string peers;
  for (const int p : f.peers) { peers += (peers.empty() ? "" : ", ") + std::to_string(p); }
  line("peer access to", peers.empty() ? "none" : peers);
  return out.str();
}

int choose_among(const std::vector<gpu::device_facts>& devices, const std::string& choice) {
  if (choice.empty()) { return 0; }
  std::vector<int> fitting;
  std::string known;
  for (const gpu::device_facts& d : devices) {
    if (means(choice, d)) { fitting.push_back(d.index); }
    known += (known.empty() ? "" : ", ") + describe(d);
  }
  if (fitting.size() == 1) { return fitting.front(); }
  throw input_error("--device " + choice + ": " +
                    (fitting.empty() ? "no such device" : "fits several devices") +
                    "; there are: " + known);
}

int choose_device(const std::string& backend, const std::string& choice) {
  if (choice.empty()) { return 0; }
  return choose_among(registry::instance().backends().at(backend).list(), choice);
}

}  // namespace icobench
