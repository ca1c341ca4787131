"""What child processes of bench.py do: compile one program, or run variants of one grid.

Lines of JSON on standard output are the journal: what was begun, then what was found.
"""
import json
import sys
import tempfile
import time
import traceback

import measure
import problem as suite
import programs

TOLERANCE = 1e-13  # relative to the largest value, as in src/problem/resident.cpp
REPORTED = 5
LEVELS_AT_ONCE = 8


def emit(line):
    print(json.dumps(line), flush=True)


def run(options):
    return {"compile": compile_program, "time": time_variants, "kernels": find_kernels,
            "profile": profile}[options.worker](options, *json.loads(options.only))


def make_device(options):
    return measure.Gpu() if options.backends[0].endswith("gpu") else measure.Cpu()


def compile_program(options, spec, variant, program):
    """Fills the cache of compiled programs. GT4Py wants the tables: a temporary's extent is the
    range of the ids in them."""
    import bench

    variant = programs.Variant(*variant)
    problem, _ = bench.load(spec, variant.chain, options)
    numbering = suite.Numbering(problem, options.ordering)
    tables = programs.make_tables(problem, numbering, variant.backend, make_device(options).xp)
    programs.compiled(variant, program, dict(programs.programs_of(variant))[program], problem,
                      tables)
    return 0


class Bench:
    """The problems of one grid in a backend's memory, with what is to come out."""

    def __init__(self, options, spec):
        self.options, self.spec = options, spec
        self.device = make_device(options)
        self.chains = {}

    def chain(self, name, backend):
        import bench

        if name not in self.chains:
            problem, outputs = bench.load(self.spec, name, self.options)
            numbering = suite.Numbering(problem, self.options.ordering)
            memory = programs.Memory(problem, numbering, backend, self.device.xp)
            self.chains[name] = problem, memory, Expected(memory, outputs), problem.traffic()
        return self.chains[name]


class Expected:
    """The last stage's outputs in memory's places, from a file or computed here."""

    def __init__(self, memory, outputs):
        p, xp = memory.problem, memory.xp
        stage = p.stages[-1]
        ids = p.domain[stage]
        at = memory.numbering.at[suite.LOCATION[stage]][:len(ids)]
        order = xp.asarray(xp.searchsorted(xp.asarray(ids), xp.asarray(at)))
        self.ids = at
        self.values = {}
        for field in suite.OUTPUTS[stage]:
            if outputs is not None:
                self.values[field] = xp.asarray(outputs[field])[xp.asarray(at)]
            else:
                self.values[field] = xp.empty((len(ids), p.levels))
        for first in range(0, p.levels if outputs is None else 0, LEVELS_AT_ONCE):
            part = slice(first, min(first + LEVELS_AT_ONCE, p.levels))
            results = p.expected(part, xp)
            for field, values in self.values.items():
                values[:, part] = results[field][order]

    def check(self, memory):
        """The dump's verification of what the outputs hold now."""
        xp, wrong, points = memory.xp, 0, []
        worst, sums, largest_error = None, [0.0] * 4, 0.0
        for field, want in self.values.items():
            whole = memory.fields[field].ndarray
            got, outside = whole[:len(want)], whole[len(want):]
            wrong += int(xp.count_nonzero(~xp.isnan(outside)))
            largest = float(xp.abs(want).max())
            difference = xp.abs(got - want) / largest
            bad = ~(difference <= TOLERANCE)  # NaN is wrong, too
            count = int(xp.count_nonzero(bad))
            wrong += count
            error = float(xp.where(xp.isnan(difference), xp.inf, difference).max())
            place = divmod(int(xp.argmax(xp.where(xp.isnan(difference), xp.inf, difference))),
                           want.shape[1])
            if worst is None or error > largest_error:
                largest_error, worst = error, self.point(field, place, want, got)
            if count:
                for place in zip(*(w[:REPORTED].tolist() for w in xp.nonzero(bad))):
                    points.append(self.point(field, place, want, got))
            sums = [s + float(x) for s, x in zip(sums, (
                (difference * largest).sum(), xp.abs(want).sum(),
                ((difference * largest) ** 2).sum(), (want ** 2).sum()))]
        result = {"ok": wrong == 0, "max_error": finite(largest_error),
                  "l1_error": finite(sums[0] / sums[1]),
                  "l2_error": finite((sums[2] / sums[3]) ** 0.5), "tolerance": TOLERANCE,
                  "wrong": wrong, "worst": worst}
        return result | ({"first": points[:REPORTED]} if points else {})

    def point(self, field, place, want, got):
        entity, level = place
        return {"field": field, "entity": int(self.ids[entity]), "level": level,
                "expected": finite(float(want[entity, level])),
                "got": finite(float(got[entity, level]))}


def finite(value):
    return value if abs(value) < float("inf") else None  # false for NaN


def time_variants(options, spec, variants, refused):
    """`refused`: variants that cannot be run, each with the status and the reason of its record."""
    bench = Bench(options, spec)
    device = bench.device
    device.measure()
    monitor = measure.Monitor() if device.backend == "cuda" else None
    state = {"machine_state": monitor.state} if monitor else {}
    emit({"device": device.describe() | state, "versions": programs.versions()})
    for variant, status, reason in refused:
        record = describe(bench, programs.Variant(*variant))
        emit({"variant": variant, "timed": {},
              "record": record | {"status": status, "reason": reason}})
    try:
        for variant in variants:
            emit({"variant": variant, "begun": True})
            emit({"variant": variant} | one_variant(bench, programs.Variant(*variant), monitor))
    finally:
        if monitor:
            monitor.stop()
    return 0


def one_variant(bench, variant, monitor):
    """Verifies, then times; a record without what depends on the cache, and that for each mode."""
    problem, memory, expected, traffic = bench.chain(variant.chain, variant.backend)
    record = describe(bench, variant)
    try:
        began = time.perf_counter()
        call = programs.make_call(variant, problem, memory)
        record["facts"]["load_seconds"] = time.perf_counter() - began
        memory.spoil()
        call()
        record["verification"] = expected.check(memory)
        if not record["verification"]["ok"]:
            return {"record": record | {"status": "wrong", "reason": "differs from the reference"},
                    "timed": {}}
        timed = {cache: timing(bench, call, cache, traffic, monitor)
                 for cache in bench.options.cache}
        if hasattr(bench.device, "host_share"):
            record["facts"]["host_seconds"] = bench.device.host_share(call)
        return {"record": record, "timed": timed}
    except Exception as error:  # any of GT4Py's; the others go on
        traceback.print_exc()
        reason = f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]
        record.pop("verification", None)
        return {"record": record | {"status": "failed", "reason": reason}, "timed": {}}


def describe(bench, variant):
    problem, _, _, traffic = bench.chain(variant.chain, variant.backend)
    schedules = {"gtfn": "GridTools' functional backend", "dace": "DaCe, auto-optimized"}
    suffix = "" if bench.options.ordering == "per_orientation" else f"/{bench.options.ordering}"
    return {
        "name": variant.name + suffix, "status": "ok", "reason": None, "variant": variant.name,
        "chain": variant.chain, "access": "indirect", "ordering": bench.options.ordering,
        "vertices": "row", "row_pitch": None, "schedule": variant.schedule,
        "fusion": variant.fusion, "feature": variant.option,
        "description": f"GT4Py, {schedules[variant.schedule]}", "backend": bench.device.backend,
        "precision": "double", "layout": "ifirst", "grid": problem.grid.name,
        "levels": problem.levels, "halo": problem.halo, "launches": [], "kernels": [],
        "facts": {}, "traffic": traffic}


def timing(bench, call, cache, traffic, monitor):
    device = bench.device
    small = bench.__dict__.setdefault("small_copies", {})
    key = (traffic["fused_bytes"], cache)
    if key not in small:
        small[key] = device.copy_bandwidth(traffic["fused_bytes"], cache)
    mark = monitor.mark() if monitor else 0
    samples, stopped_by, runs = measure.sample(device, call, cache, bench.options.budget)
    seconds = measure.summary(samples)
    rate = traffic["fused_bytes"] / seconds["median"]
    machine = monitor.since(mark, seconds["median"]) if monitor else None
    marks = []
    if rate > device.copy:
        marks.append("suspect")
    if machine and machine["throttle_reasons"]:
        marks.append("throttled")
    least, middle, most = machine["clock_mhz"] if machine else (0, 0, 0)
    if most - least > 0.05 * middle:
        marks.append("unstable")
    if seconds["median"] * runs < measure.RESOLVED * device.empty_interval:
        marks.append("unresolved")
    return {
        "seconds": seconds, "stopped_by": stopped_by, "runs_per_sample": runs,
        "bytes_per_second": rate, "copy_bytes_per_second": device.copy,
        "small_copy_bytes_per_second": small[key], "share_of_copy": rate / device.copy,
        "fused_floor_seconds": traffic["fused_bytes"] / device.copy,
        "separate_floor_seconds": traffic["separate_bytes"] / device.copy, "marks": marks,
        "machine": machine, "samples": samples}


def find_kernels(options, spec, variants, _):
    """Blocks, registers and time of each kernel of a run, by CUPTI through torch."""
    import torch

    bench = Bench(options, spec)
    torch.cuda.init()
    for variant in variants:
        emit({"variant": variant, "begun": True})
        v = programs.Variant(*variant)
        problem, memory, _, _ = bench.chain(v.chain, v.backend)
        call = programs.make_call(v, problem, memory)
        call()
        bench.device.synchronize()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
            call()
            bench.device.synchronize()
        emit({"variant": variant, "kernels": kernels_of(found)})
    return 0


def kernels_of(profile_):
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profile_.export_chrome_trace(file.name)
        events = json.load(open(file.name, encoding="utf-8"))["traceEvents"]
    events = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
    return [{"seconds": 1e-6 * e["dur"], "name": e["name"],
             "grid": e["args"]["grid"], "block": e["args"]["block"],
             "shared_bytes": int(e["args"].get("shared memory", 0)),
             "registers": int(e["args"].get("registers per thread", 0))} for e in events]


def profile(options, spec, variant):
    """One run between cudaProfilerStart and Stop, for ncu --profile-from-start off."""
    import cupy

    bench, v = Bench(options, spec), programs.Variant(*variant)
    problem, memory, _, _ = bench.chain(v.chain, v.backend)
    call = programs.make_call(v, problem, memory)
    call()
    bench.device.synchronize()
    cupy.cuda.profiler.start()
    call()
    bench.device.synchronize()
    cupy.cuda.profiler.stop()
    return 0
