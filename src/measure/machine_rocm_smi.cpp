// AMD's management library. Functions, values and units: rocm_smi/rocm_smi.h of ROCm 5 to 7.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "src/measure/machine_library.hpp"

namespace icobench::detail {
namespace {

constexpr int system_clock = 0, memory_clock = 4;  // rsmi_clk_type_t
constexpr std::uint32_t edge = 0, junction = 1;    // rsmi_temperature_type_t
constexpr int current_temperature = 0;             // rsmi_temperature_metric_t

// A structure of the library whose layout depends on its version: room for all of them.
struct raw_structure {
  std::array<std::uint64_t, 4096> words{};

  template <class Value>
  Value at(std::size_t offset) const {
    Value value;
    std::memcpy(&value, reinterpret_cast<const char*>(words.data()) + offset, sizeof value);
    return value;
  }
};

// rsmi_frequencies_t
struct frequencies {
  std::vector<double> mhz;
  std::size_t current = 0;
};

// From ROCm 6 on a flag comes before the number of frequencies. Only one of the two layouts makes
// sense of the bytes: with the other the index of the current frequency is past the last.
std::optional<frequencies> read_frequencies(const raw_structure& s) {
  for (const auto& [number, list] : {std::pair<std::size_t, std::size_t>{0, 8}, {4, 16}}) {
    const auto count = s.at<std::uint32_t>(number), current = s.at<std::uint32_t>(number + 4);
    if (count > 33 || current >= count) { continue; }
    frequencies f{{}, current};
    for (std::size_t n = 0; n < count; ++n) {
      f.mhz.push_back(1e-6 * double(s.at<std::uint64_t>(list + 8 * n)));
    }
    return f;
  }
  return std::nullopt;
}

// rsmi_gpu_metrics_t says why clocks are low, in bits that mean the same on all devices, from its
// version 1.3 on (MI200) and no longer in 1.4 (MI300). The bits are SMU_THROTTLER_*_BIT in
// amdgpu_smu.h of the Linux kernel.
constexpr std::uint64_t untouched = ~std::uint64_t{0};  // an older library leaves the word alone

std::optional<std::vector<clock_reason>> read_reasons(const raw_structure& s) {
  const auto format = s.at<std::uint8_t>(2), content = s.at<std::uint8_t>(3);
  const auto bits = s.at<std::uint64_t>(112);
  if (format != 1 || content != 3 || bits == untouched) { return std::nullopt; }
  return reasons_in(bits, {{0x00000000000000ff, "power_limit", true},
                           {0x0000000000ff0000, "current_limit", true},
                           {0x00003fff00000000, "temperature_limit", true},
                           {0x0000c00000000000, "processor_hot", true},
                           {0x0300000000000000, "reliability_limit", true}});
}

class rocm_smi_monitor final : public machine_monitor {
 public:
  using device = std::uint32_t;

  rocm_smi_monitor(library l, device d) : library_(std::move(l)), device_(d) {}
  ~rocm_smi_monitor() override {
    if (auto* shutdown = library_.find<int()>("rsmi_shut_down")) { shutdown(); }
  }

  machine_sample read() const override {
    machine_sample s;
    s.clock_mhz = current_mhz(system_clock);
    s.memory_clock_mhz = current_mhz(memory_clock);
    s.temperature_c = temperature();
    s.power_w = power();
    s.joules = joules();
    raw_structure metrics;
    metrics.words.fill(untouched);
    if (metrics_ && metrics_(device_, &metrics) == 0) {
      s.throttle_reasons = read_reasons(metrics);
    }
    return s;
  }

  std::string lock_clocks_hint() const override {
    const auto f = clock_frequencies(system_clock);
    const std::string mhz =
        f ? std::to_string(std::lround(*std::max_element(f->mhz.begin(), f->mhz.end()))) : "MHZ";
    return "sudo rocm-smi -d " + std::to_string(device_) + " --setperfdeterminism " + mhz;
  }

 private:
  std::optional<frequencies> clock_frequencies(int clock) const {
    const auto s = ask<raw_structure>(frequencies_, device_, clock);
    return s ? read_frequencies(*s) : std::nullopt;
  }
  std::optional<double> current_mhz(int clock) const {
    const auto f = clock_frequencies(clock);
    return f ? std::optional(f->mhz[f->current]) : std::nullopt;
  }
  std::optional<double> temperature() const {
    auto found = ask<std::int64_t>(temperature_, device_, junction, current_temperature);
    if (!found) { found = ask<std::int64_t>(temperature_, device_, edge, current_temperature); }
    return scaled(found, 1e-3);
  }
  std::optional<double> power() const {
    std::uint64_t microwatts = 0;
    int kind = 0;
    if (power_ && power_(device_, &microwatts, &kind) == 0) { return 1e-6 * double(microwatts); }
    return scaled(ask<std::uint64_t>(average_power_, device_, std::uint32_t{0}), 1e-6);
  }
  std::optional<double> joules() const {
    std::uint64_t count = 0, time = 0;
    float microjoules = 0;  // of one count
    if (!energy_ || energy_(device_, &count, &microjoules, &time) != 0) { return std::nullopt; }
    return 1e-6 * double(microjoules) * double(count);
  }

  library library_;
  device device_;
  // The void pointers are to rsmi_frequencies_t and rsmi_gpu_metrics_t.
  int (*frequencies_)(device, int,
                      void*) = library_.find<int(device, int, void*)>("rsmi_dev_gpu_clk_freq_get");
  int (*metrics_)(device,
                  void*) = library_.find<int(device, void*)>("rsmi_dev_gpu_metrics_info_get");
  int (*temperature_)(device, std::uint32_t, int, std::int64_t*) =
      library_.find<int(device, std::uint32_t, int, std::int64_t*)>("rsmi_dev_temp_metric_get");
  int (*power_)(device, std::uint64_t*, int*) =  // not in ROCm 5
      library_.find<int(device, std::uint64_t*, int*)>("rsmi_dev_power_get");
  int (*average_power_)(device, std::uint32_t, std::uint64_t*) =
      library_.find<int(device, std::uint32_t, std::uint64_t*)>("rsmi_dev_power_ave_get");
  int (*energy_)(device, std::uint64_t*, float*, std::uint64_t*) =
      library_.find<int(device, std::uint64_t*, float*, std::uint64_t*)>(
          "rsmi_dev_energy_count_get");
};

// As rsmi_dev_pci_id_get() writes it; absent if the text is no such id.
std::optional<std::uint64_t> parse_pci_bus_id(const std::string& text) {
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  if (std::sscanf(text.c_str(), "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) {
    return std::nullopt;
  }
  return std::uint64_t{domain} << 32 | bus << 8 | slot << 3 | function;
}

// The library's number of the device.
std::optional<std::uint32_t> find_device(const library& smi, const std::string& pci_bus_id) {
  const auto wanted = parse_pci_bus_id(pci_bus_id);
  auto* count_devices = smi.find<int(std::uint32_t*)>("rsmi_num_monitor_devices");
  auto* pci_id = smi.find<int(std::uint32_t, std::uint64_t*)>("rsmi_dev_pci_id_get");
  const std::uint32_t count = ask<std::uint32_t>(count_devices).value_or(0);
  constexpr std::uint64_t partition = 0xf0000000;  // of a device: later libraries number it here
  for (std::uint32_t n = 0; wanted && n < count; ++n) {
    const auto id = ask<std::uint64_t>(pci_id, n);
    if (id && (*id & ~partition) == *wanted) { return n; }
  }
  return std::nullopt;
}

std::string version(const library& smi) {
  struct {  // rsmi_version_t
    std::uint32_t major = 0, minor = 0, patch = 0;
    const char* build = nullptr;
  } v;
  auto* get = smi.find<int(void*)>("rsmi_version_get");
  if (!get || get(&v) != 0) { return "of unknown version"; }
  return std::to_string(v.major) + "." + std::to_string(v.minor) + "." + std::to_string(v.patch);
}

}  // namespace

std::unique_ptr<machine_monitor> open_rocm_smi(const std::string& pci_bus_id,
                                               std::string& description) {
  library smi({"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
               "librocm_smi64.so.1", "librocm_smi64.so"});
  if (!smi.loaded()) {
    description = "no ROCm SMI: " + smi.complaint();
    return nullptr;
  }
  auto* start = smi.find<int(std::uint64_t)>("rsmi_init");
  auto* explain = smi.find<int(int, const char**)>("rsmi_status_string");
  if (!start || !explain) {
    description = "no ROCm SMI: the library lacks rsmi_init";
    return nullptr;
  }
  if (const int status = start(0); status != 0) {
    const char* words = nullptr;
    explain(status, &words);
    description = "no ROCm SMI: rsmi_init: " + std::string(words ? words : "unknown error");
    return nullptr;
  }
  const auto device = find_device(smi, pci_bus_id);
  description = device ? "ROCm SMI " + version(smi)
                       : "no ROCm SMI for device " + pci_bus_id + ": not among its devices";
  auto monitor = std::make_unique<rocm_smi_monitor>(std::move(smi), device.value_or(0));
  if (!device) { return nullptr; }  // the destructor ends what start() began
  return monitor;
}

}  // namespace icobench::detail
