"""Dumps of the suite's schema (src/bench/dump.schema.json) from a worker's journal."""
import datetime
import json
import pathlib
import shutil
import subprocess

import problem as suite
import programs
from icobench import command, strict_json

ROOT = pathlib.Path(__file__).resolve().parents[2]
STARTED = datetime.datetime.now(datetime.timezone.utc)


def output_of(*line):
    try:
        result = subprocess.run(line, capture_output=True, text=True, check=True, cwd=ROOT)
    except (OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip() or None


def compiler():
    for name, last in (("nvcc", -2), ("c++", 0)):
        said = output_of(name, "--version") if shutil.which(name) else None
        if said:
            yield name, said.splitlines()[last]


def peer(options, versions):
    about = {"name": "GT4Py", "version": versions["gt4py"]} | versions | dict(compiler())
    for option, arguments in programs.OPTIONS.items():
        if option and option in options.options:
            about[option] = ", ".join(f"{k}={v}" for k, v in arguments.items())
    return about


def context(options, arguments, problem, cache, device, versions):
    grid = problem.grid
    return {
        "date": STARTED.strftime("%Y-%m-%dT%H:%M:%SZ"), "arguments": ["bench.py", *arguments],
        "icobench": {"version": None,
                     "git_revision": output_of("git", "describe", "--always", "--dirty")},
        "peer": peer(options, versions),
        "grid": {"name": grid.name, "uuid": None, "vertices": grid.counts["vertex"],
                 "edges": grid.counts["edge"], "cells": grid.counts["cell"],
                 "torus": list(grid.shape) if grid.shape else None},
        "levels": problem.levels, "cache": cache,
        "devices": {"cuda" if options.backends[0].endswith("gpu") else "cpu": device}}


def path_of(options, spec, cache):
    label = pathlib.Path(spec.removeprefix("torus:")).stem
    return options.output / f"gt4py-{label}-{cache}.json"


def write(options, arguments, spec, lines):
    """One dump for each cache mode; nothing if the worker found nothing."""
    import bench

    heads = [line for line in lines if "device" in line]
    found = [line for line in lines if "record" in line]
    if not heads or not found:
        return
    order = list(suite.CHAINS)
    found.sort(key=lambda line: order.index(line["record"]["chain"]))
    problem, _ = bench.load(spec, found[0]["record"]["chain"], options)
    for cache in options.cache:
        content = {
            "schema": "icobench-dump-2", "complete": True,
            "context": context(options, arguments, problem, cache, heads[0]["device"],
                               heads[0]["versions"]),
            "records": [line["record"] | line["timed"].get(cache, {}) for line in found]}
        save(path_of(options, spec, cache), content)


def save(path, content):
    command.write(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def add_kernels(options, spec, lines):
    """Registers and blocks, of another process, into the records of the same variants."""
    kernels = {programs.Variant(*line["variant"]).name: line["kernels"]
               for line in lines if "kernels" in line}
    for cache in options.cache:
        path = path_of(options, spec, cache)
        if not path.exists():
            continue
        content = strict_json.read(path)
        for record in content["records"]:
            found = kernels.get(record["variant"], [])
            record["kernels"] = [{key: k[key] for key in ("grid", "block", "shared_bytes",
                                                          "registers")} for k in found]
            if found:
                record["facts"]["kernel_seconds"] = sum(k["seconds"] for k in found)
        save(path, content)


