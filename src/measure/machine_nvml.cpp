// NVIDIA's management library. Functions, values and units: nvml.h of the CUDA toolkit.
#include <array>

#include "src/measure/machine_library.hpp"

namespace icobench::detail {
namespace {

constexpr int graphics_clock = 0, multiprocessor_clock = 1, memory_clock = 2;  // nvmlClockType_t
constexpr int gpu_temperature = 0;  // nvmlTemperatureSensors_t

// nvmlClocksEventReasons, nvmlClocksThrottleReasons before
std::vector<clock_reason> nvml_reasons(unsigned long long bits) {
  return reasons_in(bits, {{0x001, "gpu_idle", false},
                           {0x002, "applications_clocks_setting", false},
                           {0x004, "sw_power_cap", true},
                           {0x008, "hw_slowdown", true},
                           {0x010, "sync_boost", false},
                           {0x020, "sw_thermal_slowdown", true},
                           {0x040, "hw_thermal_slowdown", true},
                           {0x080, "hw_power_brake_slowdown", true},
                           {0x100, "display_clock_setting", false}});
}

class nvml_monitor final : public machine_monitor {
 public:
  using device = void*;  // nvmlDevice_t

  nvml_monitor(library l, device d) : library_(std::move(l)), device_(d) {}
  ~nvml_monitor() override {
    if (auto* shutdown = library_.find<int()>("nvmlShutdown")) { shutdown(); }
  }

  machine_sample read() const override {
    machine_sample s;
    s.clock_mhz = scaled(ask<unsigned>(clock_, device_, int{multiprocessor_clock}), 1);
    s.memory_clock_mhz = scaled(ask<unsigned>(clock_, device_, int{memory_clock}), 1);
    s.temperature_c = scaled(ask<unsigned>(temperature_, device_, int{gpu_temperature}), 1);
    s.power_w = scaled(ask<unsigned>(power_, device_), 1e-3);
    s.joules = scaled(ask<unsigned long long>(energy_, device_), 1e-3);
    auto bits = ask<unsigned long long>(event_reasons_, device_);
    if (!bits) { bits = ask<unsigned long long>(throttle_reasons_, device_); }
    if (bits) { s.throttle_reasons = nvml_reasons(*bits); }
    return s;
  }

  std::string lock_clocks_hint() const override {
    auto* index = library_.find<int(device, unsigned*)>("nvmlDeviceGetIndex");
    auto* most = library_.find<clock_function>("nvmlDeviceGetMaxClockInfo");
    const auto number = ask<unsigned>(index, device_);
    const auto clock = ask<unsigned>(most, device_, int{graphics_clock});
    const std::string mhz = clock ? std::to_string(*clock) : "MHZ";
    return "sudo nvidia-smi -i " + (number ? std::to_string(*number) : "N") +
           " --lock-gpu-clocks=" + mhz + "," + mhz;
  }

 private:
  using clock_function = int(device, int, unsigned*);
  using counter_function = int(device, unsigned long long*);

  library library_;
  device device_;
  clock_function* clock_ = library_.find<clock_function>("nvmlDeviceGetClockInfo");
  clock_function* temperature_ = library_.find<clock_function>("nvmlDeviceGetTemperature");
  int (*power_)(device,
                unsigned*) = library_.find<int(device, unsigned*)>("nvmlDeviceGetPowerUsage");
  counter_function* energy_ =
      library_.find<counter_function>("nvmlDeviceGetTotalEnergyConsumption");
  counter_function* event_reasons_ =
      library_.find<counter_function>("nvmlDeviceGetCurrentClocksEventReasons");
  counter_function* throttle_reasons_ =
      library_.find<counter_function>("nvmlDeviceGetCurrentClocksThrottleReasons");
};

std::string version(const library& nvml) {
  std::array<char, 96> text{};  // longer than NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE
  auto* get = nvml.find<int(char*, unsigned)>("nvmlSystemGetNVMLVersion");
  if (!get || get(text.data(), unsigned(text.size() - 1)) != 0) { return "of unknown version"; }
  return text.data();
}

}  // namespace

std::unique_ptr<machine_monitor> open_nvml(const std::string& pci_bus_id,
                                           std::string& description) {
  library nvml({"libnvidia-ml.so.1", "libnvidia-ml.so"});
  if (!nvml.loaded()) {
    description = "no NVML: " + nvml.complaint();
    return nullptr;
  }
  auto* start = nvml.find<int()>("nvmlInit_v2");
  auto* find = nvml.find<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
  auto* explain = nvml.find<const char*(int)>("nvmlErrorString");
  if (!start || !find || !explain) {
    description = "no NVML: it is older than nvmlInit_v2";
    return nullptr;
  }
  if (const int status = start(); status != 0) {
    description = "no NVML: nvmlInit_v2: " + std::string(explain(status));
    return nullptr;
  }
  void* device = nullptr;
  const int status = find(pci_bus_id.c_str(), &device);
  description = status == 0 ? "NVML " + version(nvml)
                            : "no NVML for device " + pci_bus_id + ": " + explain(status);
  auto monitor =
      std::make_unique<nvml_monitor>(std::move(nvml), device);  // ends what start() began
  if (status != 0) { return nullptr; }
  return monitor;
}

}  // namespace icobench::detail
