#!/usr/bin/env python3
"""What Nsight Compute counts in a run of a variant, a row a kernel, in Markdown.

    counters.py DUMP.json ncu-*.csv

The files are what `bench.py --counters` leaves: named after the variant, whose compulsory bytes
(of the fused chain) are in the dump. Bytes are relative to those.
"""
import csv
import pathlib
import sys

import problem  # knows where icobench is
from icobench import strict_json

SIZES = ("dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum", "l1tex__t_bytes.sum")
LAUNCH = ("launch__block_dim_x", "launch__block_dim_y", "launch__registers_per_thread")
REST = ("gpu__time_duration.sum", "smsp__inst_executed.sum", "lts__t_sector_hit_rate.pct",
        "l1tex__t_sector_hit_rate.pct", "sm__warps_active.avg.pct_of_peak_sustained_active")
METRICS = SIZES + LAUNCH + REST
HEADER = ("variant", "kernel", "block", "registers", "µs", "DRAM read / compulsory", "written /",
          "L2 /", "L1 /", "L2 hit", "L1 hit", "occupancy", "instructions")


def file_name(variant):
    return "ncu-" + variant.replace("/", "-") + ".csv"


def read(path):
    """ncu's raw page in base units; what it says itself comes before the table."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        return []
    _, *rows = csv.DictReader(lines[start:])
    return [{m: float(row[m].replace(",", "")) for m in METRICS} for row in rows]


def rows_of(record, kernels):
    for n, k in enumerate(kernels, 1):
        compulsory = record["traffic"]["fused_bytes"]
        yield [record["variant"], str(n), f"{k[LAUNCH[0]]:.0f}x{k[LAUNCH[1]]:.0f}",
               f"{k[LAUNCH[2]]:.0f}", f"{1e-3 * k[REST[0]]:.1f}",
               *(f"{k[m] / compulsory:.2f}" for m in SIZES), *(f"{k[m]:.0f} %" for m in REST[2:]),
               f"{1e-6 * k[REST[1]]:.1f} M"]


def main():
    dump, *files = map(pathlib.Path, sys.argv[1:])
    print("| " + " | ".join(HEADER) + " |\n|---" + "|--:" * (len(HEADER) - 1) + "|")
    for record in strict_json.read(dump)["records"]:
        for file in files:
            if file.name == file_name(record["variant"]):
                for row in rows_of(record, read(file)):
                    print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
