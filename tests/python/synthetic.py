"""Dumps made up for tests."""
import numpy

DEVICE = {"name": "Example GPU", "architecture": "sm_90", "runtime": "13000", "driver": "13000",
          "multiprocessors": 132, "warp_size": 32, "memory_bytes": 10 ** 11,
          "cache_bytes": 6 * 10 ** 7, "shared_bytes_per_block": 232448,
          "copy_bytes_per_second": 4.0e12, "copy_bytes": 2 ** 33, "empty_interval_seconds": 2e-6, "machine_state": "NVML 13.0",
          "lock_clocks_hint": "nvidia-smi --lock-gpu-clocks=1500"}
MACHINE = {"clock_mhz": [1900, 1980, 1980], "memory_clock_mhz": None, "temperature_c": [40, 41, 45],
           "power_w": [300.0, 310.5, 330.0], "throttle_reasons": [], "joules_per_run": 0.05}


def noise(random, count=30, spread=0.003, burst=10):
    """Relative times as a GPU gives them: bursts whose first sample is slow, drift between them."""
    values = numpy.exp(spread * random.standard_normal(count))
    for start in range(0, count, burst):
        values[start:start + burst] *= 1 + 0.003 * random.standard_normal()
        values[start] *= 1.04
    return values


def record(name, samples, launch="128", backend="cuda", precision="double", status="ok", **changes):
    """`name`: chain/access/schedule/fusion[/feature]; without samples it was not timed."""
    chain, access, schedule, fusion, feature = (name.split("/") + [""])[:5]
    traffic = {"fused_bytes": 400000000, "separate_bytes": 700000000, "flops": 10 ** 9}
    result = {"name": f"{name}/{launch}", "status": status, "reason": None, "variant": name,
              "chain": chain, "access": access, "ordering": "per_orientation", "schedule": schedule,
              "fusion": fusion, "feature": feature, "description": "made up", "backend": backend,
              "precision": precision, "layout": "ifirst", "grid": "torus:298x257", "levels": 80,
              "halo": 2, "launches": [launch],
              "kernels": [{"grid": [100, 1, 1], "block": [128, 1, 1], "shared_bytes": 0,
                           "registers": 56, "local_bytes": 0, "blocks_per_multiprocessor": 8,
                           "occupancy": 0.5}],
              "traffic": traffic}
    if status != "skipped":
        result["verification"] = {"ok": True, "max_error": 1e-16, "tolerance": 1e-13, "wrong": 0}
    if samples is not None:
        ordered, copy = sorted(samples), DEVICE["copy_bytes_per_second"]
        median = float(numpy.median(samples))
        result |= {
            "seconds": {"median": median, "low": ordered[len(ordered) // 3],
                        "high": ordered[2 * len(ordered) // 3], "min": ordered[0],
                        "max": ordered[-1], "count": len(samples)},
            "stopped_by": "precision", "runs_per_sample": 1,
            "bytes_per_second": traffic["fused_bytes"] / median, "copy_bytes_per_second": copy,
            "small_copy_bytes_per_second": 0.9 * copy,
            "share_of_copy": traffic["fused_bytes"] / median / copy,
            "fused_floor_seconds": traffic["fused_bytes"] / copy,
            "separate_floor_seconds": traffic["separate_bytes"] / copy,
            "marks": [], "machine": MACHINE, "samples": samples}
    return result | changes


CEILINGS = {"read_bytes_per_second": 4.4e12, "triad_bytes_per_second": 4.2e12,
            "copy_bytes_per_second": 4.0e12, "write_bytes_per_second": 3.9e12,
            "double_flops_per_second": 3.3e13, "float_flops_per_second": 6.6e13,
            "launch_seconds": 2e-6, "ways": {"read": "ceilings/read/double/8_blocks_4_loads"}}


def device_record(name, samples=None, status="ok", total=8e9, flops=0, **changes):
    """A record of bench_device; without samples it was not timed."""
    result = {"name": name, "status": status if samples else "verified",
              "reason": None if samples else "not timed", "parameters": {"elements": 1000},
              "bytes": total, "flops": flops}
    if samples:
        ordered, median = sorted(samples), float(numpy.median(samples))
        result |= {"seconds": {"median": median, "low": ordered[0], "high": ordered[-1],
                               "min": ordered[0], "max": ordered[-1], "count": len(samples)},
                   "clock": "events", "runs_per_sample": 1, "marks": [], "machine": MACHINE,
                   "samples": samples}
        if total:
            result["bytes_per_second"] = total / median
        if flops:
            result["flops_per_second"] = flops / median
    return result | changes


def device_dump(records):
    device = {"index": 0, "name": "Example GPU", "architecture": "sm_90", "uuid": "GPU-0",
              "pci_bus_id": "0000:65:00.0", "multiprocessors": 132}
    return {"schema": "icobench-device-dump-1", "complete": True,
            "context": {"date": "2026-09-01T12:00:00Z", "arguments": ["bench_device", "all"],
                        "icobench": {"version": "0.1.0", "git_revision": "abc"},
                        "backend": "cuda", "timed": True, "device": device,
                        "empty_interval_seconds": 2e-6, "machine_state": "NVML 13.0"},
            "records": records}


def dump(records, complete=True, grid=(298, 257), **context):
    nx, ny = grid
    mesh = {"name": f"torus:{nx}x{ny}", "uuid": "", "vertices": nx * ny, "edges": 3 * nx * ny,
            "cells": 2 * nx * ny, "torus": [nx, ny]}
    build = {"version": "0.1.0", "git_revision": "abc", "compiler": "GNU 12", "gpu_compiler": None}
    return {"schema": "icobench-dump-2", "complete": complete,
            "context": {"date": "2026-09-01T12:00:00Z", "arguments": ["bench_all"],
                        "icobench": build, "grid": mesh, "levels": 80, "cache": "cold",
                        "devices": {"cuda": DEVICE}} | context,
            "records": records}


MEDIANS = {"nabla4/strided/kloop/separate": 145e-6, "nabla4/strided/naive/separate": 165e-6,
           "nabla4/indirect/naive/separate": 208e-6, "nabla4/indirect/kloop/separate": 161e-6,
           "nabla4_interpolate/strided/naive/separate": 243e-6,
           "nabla4_interpolate/strided/kloop/separate": 212e-6}


def typical(seed=0, factor=1.0, count=30, **context):
    """A dump of several variants and chains, all slower by a factor."""
    random = numpy.random.default_rng(seed)
    return dump([record(name, list(factor * median * noise(random, count)))
                 for name, median in MEDIANS.items()], **context)
