/* A library with NVML's names, for tests. FAKE_NVML in the environment chooses how it behaves:
 * "no_driver": it cannot start; "denied": only clocks may be read; "older": events are not known.
 */
#include <stdlib.h>
#include <string.h>

enum { invalid_argument = 2, not_supported = 3, no_permission = 4, not_found = 6, no_driver = 9 };

static int started = 0;
static int the_device;

static int is(const char* mode) {
  const char* chosen = getenv("FAKE_NVML");
  return chosen && strcmp(chosen, mode) == 0;
}

static int answer(void* device, unsigned* to, unsigned value) {
  if (device != &the_device) { return invalid_argument; }
  if (is("denied")) { return no_permission; }
  *to = value;
  return 0;
}

int fake_nvml_started(void) {
  return started;
}

int nvmlInit_v2(void) {
  if (is("no_driver")) { return no_driver; }
  ++started;
  return 0;
}
int nvmlShutdown(void) {
  --started;
  return 0;
}
const char* nvmlErrorString(int status) {
  return status == no_driver ? "Driver Not Loaded" : status == not_found ? "Not Found" : "Error";
}
int nvmlSystemGetNVMLVersion(char* to, unsigned size) {
  strncpy(to, "13.580.65", size);
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  if (strcmp(id, "0000:65:00.0") != 0) { return not_found; }
  *device = &the_device;
  return 0;
}
int nvmlDeviceGetIndex(void* device, unsigned* to) {
  return answer(device, to, 3);
}
int nvmlDeviceGetClockInfo(void* device, int type, unsigned* to) {
  if (device != &the_device) { return invalid_argument; }
  *to = type == 1 ? 1755 : type == 2 ? 3201 : 1;
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void* device, int type, unsigned* to) {
  return answer(device, to, type == 0 ? 1980 : 1);
}
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* to) {
  return answer(device, to, sensor == 0 ? 61 : 1);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* to) {
  return answer(device, to, 512500);
}
int nvmlDeviceGetTotalEnergyConsumption(void* device, unsigned long long* to) {
  static unsigned long long millijoules = 1000000;
  unsigned ignored;
  const int status = answer(device, &ignored, 0);
  if (status == 0) { *to = millijoules += 1500; }
  return status;
}
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* to) {
  unsigned ignored;
  *to = 0x5; /* idle, software power cap */
  return is("older") ? not_supported : answer(device, &ignored, 0);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* to) {
  unsigned ignored;
  *to = 0x40; /* hardware, thermal */
  return answer(device, &ignored, 0);
}
