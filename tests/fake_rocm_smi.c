/* A library with ROCm SMI's names and two devices, for tests. FAKE_ROCM_SMI in the environment
 * chooses how it behaves: "5": as in ROCm 5, "denied": it answers nothing about devices, "no_init":
 * it cannot start; else as in ROCm 6 and 7. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { not_supported = 2, permission = 4, init_error = 8 };

static int started = 0;

static int is(const char* mode) {
  const char* chosen = getenv("FAKE_ROCM_SMI");
  return chosen && strcmp(chosen, mode) == 0;
}

int fake_rocm_smi_started(void) {
  return started;
}

int rsmi_init(uint64_t flags) {
  (void)flags;
  if (is("no_init")) { return init_error; }
  ++started;
  return 0;
}
int rsmi_shut_down(void) {
  --started;
  return 0;
}
int rsmi_status_string(int status, const char** to) {
  *to = status == init_error ? "an error occurred when initializing" : "error";
  return 0;
}
struct version {
  uint32_t major, minor, patch;
  const char* build;
};
int rsmi_version_get(struct version* to) {
  const struct version value = {7, 6, 0, ""};
  *to = value;
  return 0;
}
int rsmi_num_monitor_devices(uint32_t* to) {
  *to = 2;
  return 0;
}
int rsmi_dev_pci_id_get(uint32_t device, uint64_t* to) {
  /* 0000:03:00.0, and partition 2 of 0001:c1:0f.1 */
  *to = device == 0 ? 0x300 : 0x100000000 | 0x20000000 | 0xc100 | 0xf << 3 | 1;
  return 0;
}

struct frequencies_5 {
  uint32_t count, current;
  uint64_t frequency[32];
};
struct frequencies_6 {
  _Bool has_deep_sleep;
  uint32_t count, current;
  uint64_t frequency[33];
};
int rsmi_dev_gpu_clk_freq_get(uint32_t device, int clock, void* to) {
  const struct frequencies_5 before = {3, 1, {500000000, 800000000, 1700000000}};
  const struct frequencies_6 system = {1, 3, 2, {0, 132000000, 2100000000}};
  const struct frequencies_6 memory = {0, 1, 0, {1300000000}};
  if (device != 1 || is("denied")) { return permission; }
  if (is("5")) {
    memcpy(to, &before, sizeof before);
  } else {
    struct frequencies_6* f = to; /* leaves the bytes between the members alone, as the library */
    const struct frequencies_6* from = clock == 0 ? &system : &memory;
    f->has_deep_sleep = from->has_deep_sleep;
    f->count = from->count;
    f->current = from->current;
    memcpy(f->frequency, from->frequency, sizeof f->frequency);
  }
  return 0;
}
int rsmi_dev_temp_metric_get(uint32_t device, uint32_t sensor, int metric, int64_t* to) {
  if (device != 1 || metric != 0 || is("denied")) { return permission; }
  if (is("5") && sensor == 1) { return not_supported; }
  *to = sensor == 1 ? 71000 : 55000;
  return 0;
}
int rsmi_dev_power_get(uint32_t device, uint64_t* to, int* type) {
  if (device != 1 || is("5") || is("denied")) { return not_supported; }
  *to = 550000000;
  *type = 1;
  return 0;
}
int rsmi_dev_power_ave_get(uint32_t device, uint32_t sensor, uint64_t* to) {
  if (device != 1 || sensor != 0 || is("denied")) { return not_supported; }
  *to = 300000000;
  return 0;
}
int rsmi_dev_energy_count_get(uint32_t device, uint64_t* to, float* resolution, uint64_t* time) {
  if (device != 1 || is("denied")) { return not_supported; }
  *to = 4000000;
  *resolution = 15.25f;
  *time = 1;
  return 0;
}

/* The front of rsmi_gpu_metrics_t, version 1.3; what ROCm 5 knows ends before the last two rows. */
struct metrics {
  uint16_t size;
  uint8_t format, content;
  uint16_t temperatures[6], activities[3], power;
  uint64_t energy, clock_counter;
  uint16_t average_clocks[7], current_clocks[7];
  uint32_t throttle_status;
  uint16_t fan, link_width, link_speed;
  uint32_t activity[2];
  uint16_t temperature_hbm[4];
  uint64_t firmware_timestamp;
  uint16_t voltages[3];
  uint64_t indep_throttle_status;
};
int rsmi_dev_gpu_metrics_info_get(uint32_t device, void* to) {
  struct metrics m;
  if (device != 1 || is("denied")) { return not_supported; }
  memset(&m, 0, sizeof m);
  m.size = sizeof m;
  m.format = 1;
  m.content = 3;
  m.throttle_status = 0xffff;
  m.indep_throttle_status = UINT64_C(1) << 36 | 1; /* hot spot, package power */
  memcpy(to, &m, is("5") ? 96 : sizeof m);
  return 0;
}
