"""Timing as the suite does it (src/measure/measure.cpp), on a GPU through cupy and on the CPU."""
import functools
import math
import os
import pathlib
import platform
import statistics
import threading
import time

import numpy as np

SHORTEST_SAMPLE = 50e-6  # of warm runs: several shorter ones make a sample
BATCH = 10
WARM_UP = 5
RESOLVED = 10  # times the empty interval; what is shorter is not resolved by the timer


def median_interval(samples):
    """95 % interval of the median (src/measure/statistics.cpp)."""
    ordered, n = sorted(samples), len(samples)
    if n < 6:
        return ordered[0], ordered[-1]
    cut = int(max(math.floor((n - 1) / 2 - 0.98 * math.sqrt(n)), 0))
    return ordered[cut], ordered[-1 - cut]


def summary(samples):
    low, high = median_interval(samples)
    return {"median": statistics.median(samples), "low": low, "high": high, "min": min(samples),
            "max": max(samples), "count": len(samples)}


def sample(device, work, cache, budget=0.5, least=21, most=401, precision=0.01):
    """Samples [s] of one run until their median is known well, why no more, runs a sample."""
    start, samples = time.perf_counter(), []
    first = device.time(WARM_UP, lambda: None, work)
    runs = 1
    if cache == "warm":
        runs = min(100, max(1, math.ceil(SHORTEST_SAMPLE / max(min(first), 1e-7))))

    def several():
        for _ in range(runs):
            work()

    before = device.evict if cache == "cold" else lambda: None
    while True:
        left = budget - (time.perf_counter() - start)
        affordable = left / (runs * statistics.median(samples)) if samples else 3
        # The queue of launches must not fill up, or the host waits in it.
        count = int(min(BATCH, max(1, affordable), max(1, 200 // runs), most - len(samples)))
        samples += [s / runs for s in device.time(count, before, several)]
        low, high = median_interval(samples)
        if len(samples) >= least and high - low <= 2 * precision * statistics.median(samples):
            return samples, "precision", runs
        if len(samples) >= most:
            return samples, "max_samples", runs
        if time.perf_counter() - start > budget:
            return samples, "budget", runs


class Device:
    """What both kinds share: bandwidths, and facts of the dump."""

    def copy_bandwidth(self, bytes_moved, cache):
        size = max(bytes_moved // 16, 512)
        source, target = self.xp.full(size, 0.0005), self.xp.full(size, 0.0005)
        samples, _, _ = sample(self, lambda: self.xp.copyto(target, source), cache, budget=1,
                               least=11)
        return 16 * size / statistics.median(samples)

    def measure(self):
        nothing = self.time(21, lambda: None, lambda: None)
        self.empty_interval = statistics.median(nothing)
        self.copy = self.copy_bandwidth(self.copy_bytes, "warm")

    def describe(self):
        return self.facts() | {
            "copy_bytes_per_second": self.copy, "copy_bytes": self.copy_bytes,
            "empty_interval_seconds": self.empty_interval}


class Gpu(Device):
    backend = "cuda"

    def __init__(self):
        import cupy

        self.xp = cupy
        self.properties = p = cupy.cuda.runtime.getDeviceProperties(0)
        self.copy_bytes = min(8 << 30, p["totalGlobalMem"] // 8)
        # Keeps the device busy while the host enqueues a batch, so that no sample waits for Python.
        self.hold = cupy.RawKernel(r"""
            extern "C" __global__ void hold(unsigned long long nanoseconds) {
              unsigned long long start, now;
              asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
              do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
              while (now - start < nanoseconds);
            }""", "hold")
        self.host_seconds = 50e-6  # of one run, what the host needs to enqueue it

    @functools.cached_property
    def swept(self):
        return self.xp.zeros(max(8 * self.properties["l2CacheSize"], 256 << 20) // 8)

    def evict(self):
        self.swept.fill(1.0)

    def synchronize(self):
        self.xp.cuda.Device().synchronize()

    def time(self, count, before, work):
        events = [(self.xp.cuda.Event(), self.xp.cuda.Event()) for _ in range(count)]
        held = min(0.2, (2 * count + 2) * self.host_seconds + 1e-4)
        self.hold((1,), (1,), (np.uint64(1e9 * held),))
        start = time.perf_counter()
        for begin, end in events:
            before()
            begin.record()
            work()
            end.record()
        self.host_seconds = (time.perf_counter() - start) / count
        end.synchronize()
        get = self.xp.cuda.get_elapsed_time
        return [max(1e-3 * get(begin, end), 1e-9) for begin, end in events]

    def host_share(self, work, runs=20):
        """Seconds that a call keeps the host: Python and the launch, and waiting if it waits."""
        times = []
        for _ in range(5):
            self.synchronize()
            start = time.perf_counter()
            for _ in range(runs):
                work()
            times.append((time.perf_counter() - start) / runs)
        self.synchronize()
        return statistics.median(times)

    def facts(self):
        p, runtime = self.properties, self.xp.cuda.runtime
        return {
            "name": p["name"].decode(), "architecture": f"sm_{p['major']}{p['minor']}",
            "runtime": f"CUDA {version(runtime.runtimeGetVersion())}",
            "driver": f"CUDA {version(runtime.driverGetVersion())}",
            "multiprocessors": p["multiProcessorCount"], "warp_size": p["warpSize"],
            "memory_bytes": p["totalGlobalMem"], "cache_bytes": p["l2CacheSize"],
            "l2_bytes": p["l2CacheSize"], "shared_bytes_per_block": p["sharedMemPerBlock"],
            "max_threads_per_multiprocessor": p["maxThreadsPerMultiProcessor"],
            "machine_state": "NVML", "lock_clocks_hint": None}


class Cpu(Device):
    backend = "cpu"
    xp = np

    def __init__(self):
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        cache = last_level_cache()
        self.cache_bytes, self.memory_bytes = cache, pages
        self.copy_bytes = min(max(8 * cache, 256 << 20), 1 << 30, pages // 8)
        self.swept = np.zeros(2 * cache // 8)

    def evict(self):
        self.swept += 1.0

    def time(self, count, before, work):
        seconds = []
        for _ in range(count):
            before()
            start = time.perf_counter()
            work()
            seconds.append(max(time.perf_counter() - start, 1e-9))
        return seconds

    def facts(self):
        return {
            "name": cpu_name(), "architecture": platform.machine(), "runtime": "none",
            "driver": "none", "multiprocessors": len(os.sched_getaffinity(0)), "warp_size": 1,
            "memory_bytes": self.memory_bytes, "cache_bytes": self.cache_bytes,
            "shared_bytes_per_block": 0, "machine_state": "not read on CPUs",
            "lock_clocks_hint": None}


def version(number):
    return f"{number // 1000}.{number % 1000 // 10}"


def last_level_cache():
    try:
        sizes = [int(path.read_text().strip().removesuffix("K")) for path in
                 pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
        return 1024 * max(sizes)
    except (OSError, ValueError):
        return 32 << 20


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            return next(line.split(":", 1)[1].strip() for line in info if "model name" in line)
    except (OSError, StopIteration):
        return platform.processor() or "CPU"


class Monitor:
    """Clocks, temperature and power of a GPU, read by NVML every few milliseconds."""

    KEYS = ("clock_mhz", "memory_clock_mhz", "temperature_c", "power_w")
    # Bits of NVML's reasons that lower clocks for power or heat, by the suite's names.
    REASONS = {0x04: "sw_power_cap", 0x08: "hw_slowdown", 0x20: "sw_thermal_slowdown",
               0x40: "hw_thermal_slowdown", 0x80: "hw_power_brake_slowdown"}

    def __init__(self):
        self.samples, self.running, self.state = [], True, "NVML"
        try:
            import pynvml

            pynvml.nvmlInit()
            self.nvml, self.device = pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
            self.read()
        except Exception as error:  # without the package, the library or the right
            self.state = f"NVML cannot be read: {type(error).__name__}"
            return
        threading.Thread(target=self.watch, daemon=True).start()

    def read(self):
        n, d = self.nvml, self.device
        reasons = getattr(n, "nvmlDeviceGetCurrentClocksEventReasons",
                          n.nvmlDeviceGetCurrentClocksThrottleReasons)
        self.samples.append(((n.nvmlDeviceGetClockInfo(d, n.NVML_CLOCK_SM),
                              n.nvmlDeviceGetClockInfo(d, n.NVML_CLOCK_MEM),
                              n.nvmlDeviceGetTemperature(d, n.NVML_TEMPERATURE_GPU),
                              1e-3 * n.nvmlDeviceGetPowerUsage(d)), reasons(d)))

    def watch(self):
        while self.running:
            try:
                self.read()
            except self.nvml.NVMLError:
                return
            time.sleep(0.01)

    def stop(self):
        self.running = False

    def mark(self):
        return len(self.samples)

    def since(self, mark, seconds_per_run):
        """The dump's machine object; None where nothing was read."""
        found = self.samples[mark:]
        if not found:
            return None
        columns = list(zip(*(numbers for numbers, _ in found)))
        machine = {key: [min(c), statistics.median(c), max(c)]
                   for key, c in zip(self.KEYS, columns)}
        bits = {bit for _, reasons in found for bit in self.REASONS if reasons & bit}
        return machine | {"throttle_reasons": sorted(self.REASONS[bit] for bit in bits),
                          "joules_per_run": machine["power_w"][1] * seconds_per_run}
