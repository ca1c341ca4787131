#!/usr/bin/env python3
"""Times GT4Py on the suite's chains and writes dumps of the suite's schema.

    peers/gt4py/run [--grid torus:298x257,FILE.h5] [--backends gtfn_cpu,dace_cpu] ...

A grid is torus:NXxNY, whose problem is made here, or a reference file of `icobench_reference
write`, of any grid; the file's chain alone is run then. Dumps are called
gt4py-GRID-CACHE.json, one for each grid and cache mode, since a dump has one of each. Every program
is compiled first, side by side; then one process for each grid verifies and times all of them, the
most important first. --seconds bounds it all: what there is no time for is left out, and said.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import counters
import dump
import problem as suite
import programs
from icobench import strict_json

HERE = pathlib.Path(__file__).resolve().parent
# Until when each phase may last, as shares of --seconds.
COMPILE_UNTIL, TIME_UNTIL, KERNELS_UNTIL = 0.55, 0.82, 0.9


def names(known):
    def split(text):
        words = [w for w in text.split(",") if w or "" in known]
        for word in words:
            if word not in known:
                raise argparse.ArgumentTypeError(
                    f"'{word}' is not one of {', '.join(filter(None, known))}")
        return words
    return split


def specs(text):
    """Absolute paths, since children run elsewhere: DaCe writes where they run."""
    return [s if s.startswith("torus:") else str(pathlib.Path(s).resolve())
            for s in text.split(",")]


def option_names(text):
    return names([*programs.OPTIONS, "default"])(text)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grid", type=specs, default="torus:298x257,torus:594x514",
                        metavar="GRID,...")
    parser.add_argument("--levels", type=int, help="(default: 80, or the file's)")
    parser.add_argument("--halo", type=int, help="of a torus (default: by chain)")
    parser.add_argument("--chains", type=names(suite.CHAINS), default=list(suite.CHAINS))
    parser.add_argument("--backends", type=names(programs.BACKENDS), metavar="BACKEND,...",
                        default=[f"{b}_{'gpu' if shutil.which('nvidia-smi') else 'cpu'}"
                                 for b in ("gtfn", "dace")], help=", ".join(programs.BACKENDS))
    parser.add_argument("--fusions", type=names(programs.FUSIONS), default=list(programs.FUSIONS))
    parser.add_argument("--options", type=option_names, metavar="OPTION,...",
                        default=["default", *filter(None, programs.OPTIONS)],
                        help="of DaCe: default, " + ", ".join(filter(None, programs.OPTIONS)))
    parser.add_argument("--ordering", choices=["per_orientation", "per_vertex"],
                        default="per_orientation", help="of a torus' edges")
    parser.add_argument("--cache", type=names(["cold", "warm"]), default=["cold", "warm"])
    parser.add_argument("--seconds", type=float, default=3600, help="for everything")
    parser.add_argument("--budget", type=float, default=0.5,
                        help="seconds of samples for each variant and cache mode")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--kernels", action="store_true",
                        help="registers and blocks, by torch's profiler")
    parser.add_argument("--counters", action="store_true",
                        help="what ncu counts in the last chain's best variants, on the first grid")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("."), metavar="FOLDER")
    parser.add_argument("--cache-folder", type=pathlib.Path, metavar="FOLDER",
                        default=pathlib.Path.home() / ".cache" / "icobench" / "gt4py",
                        help="of compiled programs (default: %(default)s)")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def load(spec, chain, options, fields=True):
    """The problem and the outputs that a file has; of a file, `chain` is the file's own."""
    if spec.startswith("torus:"):
        return suite.make(chain, spec, options.levels or 80, options.halo), None
    return suite.read(spec, options.levels, fields)


def chains_of(spec, options):
    if spec.startswith("torus:"):
        suite.parse_torus(spec)
        return options.chains
    chain = suite.read(spec, fields=False)[0].chain
    return [chain] if chain in options.chains else []


def variants_of(chain, options):
    """The most important first: the best known, then what ICON's users get, then the rest."""
    alone = len(suite.CHAINS[chain]) == 1
    wanted = []
    for backend in options.backends:
        for fusion in ("separate",) if alone else options.fusions:
            for option in ("default", "kblock_10", "block_256x1"):
                if option not in options.options:
                    continue
                if backend.startswith("gtfn") and option != "default":
                    continue
                if option == "block_256x1" and fusion == "program":
                    continue  # kernels are those of the separate programs
                importance = (option == "block_256x1", fusion == "program",
                              fusion == "separate" and not alone, option == "default")
                wanted.append((importance, programs.Variant(
                    chain, backend, fusion, option.replace("default", ""))))
    return [variant for _, variant in sorted(wanted, key=lambda w: w[0])]


def everything(options):
    """(spec, variant) in the order of importance, chains and grids alternating."""
    chains = {spec: chains_of(spec, options) for spec in options.grid}
    lists = [[(spec, v) for v in variants_of(chain, options)]
             for chain in suite.CHAINS for spec in options.grid if chain in chains[spec]]
    most = max(map(len, lists), default=0)
    return [one[n] for n in range(most) for one in lists if n < len(one)]


class Run:
    """Child processes under one budget; their output goes to a log."""

    def __init__(self, options, arguments):
        self.options, self.arguments, self.problems = options, arguments, {}
        self.refused = {}  # (spec, variant): status and reason
        self.start = time.monotonic()
        options.output.mkdir(parents=True, exist_ok=True)
        self.log = options.output / "gt4py.log"
        self.log.write_text("")

    def elapsed(self):
        return time.monotonic() - self.start

    def left(self, share):
        return share * self.options.seconds - self.elapsed()

    def say(self, *words):
        print(f"{self.elapsed():4.0f} s:", *words, flush=True)

    def child(self, worker, only, seconds, journal=None, prefix=()):
        """The exit status, or "timeout"."""
        cache = str(self.options.cache_folder.resolve())
        line = [*prefix, sys.executable, str(HERE / "bench.py"), *self.arguments,
                "--cache-folder", cache, "--worker", worker, "--only", json.dumps(only)]
        began = time.monotonic()
        with open(journal or os.devnull, "ab") as out, open(self.log, "ab") as log:
            process = subprocess.Popen(line, stdout=out, stderr=subprocess.PIPE, cwd=cache,
                                       start_new_session=True)
            try:
                _, said = process.communicate(timeout=max(1, seconds))
                status = process.returncode
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                _, said = process.communicate()
                status = "timeout"
            log.write(f"##### {worker} {json.dumps(only)[:300]}: {status}, "
                      f"{time.monotonic() - began:.0f} s\n".encode() + said[-8000:])
        return status

    def compile(self, work):
        """Programs that several variants share once; notes what cannot be run."""
        jobs = {}
        for spec, v in work:
            for program, stages in programs.programs_of(v):
                sizes = (tuple(sorted(self.sizes(spec, v.chain, stages).items())))
                jobs.setdefault((program, v.backend, v.option, sizes), []).append((spec, v))
        done = {}

        def job(key):
            spec, v = jobs[key][0]
            left = self.left(COMPILE_UNTIL)
            if left < 5:
                return key, "no time", 0
            began = time.monotonic()
            status = self.child("compile", [spec, as_list(v), key[0]], left)
            return key, status, time.monotonic() - began

        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for key, status, seconds in pool.map(job, jobs):
                done[key] = status == 0
                label = " ".join(filter(None, key[:3])) + " " + jobs[key][0][0]
                if status == 0:
                    continue
                self.say("compile", label, f"FAILED ({status}) after {seconds:.0f} s")
                timely = isinstance(status, int)
                for item in jobs[key]:
                    self.refused[item] = ("failed" if timely else "skipped",
                                          f"{key[0]}: " + ("does not compile" if timely else
                                                           "no time to compile it"))
        self.say(f"{sum(done.values())} of {len(done)} programs compiled")

    def count(self, spec, variants):
        """Leaves what ncu finds in files of the variants' names (counters.py shows them)."""
        if not shutil.which("ncu"):
            self.say("no counters: ncu is not in PATH")
            return
        for v in variants:
            path = self.options.output / counters.file_name(v.name)
            prefix = ["ncu", "--profile-from-start", "off", "--clock-control", "none", "--csv",
                      "--page", "raw", "--print-units", "base", "--metrics",
                      ",".join(counters.METRICS), "--log-file", str(path.resolve())]
            if self.left(1.0) > 10:
                status = self.child("profile", [spec, as_list(v)], self.left(1.0),
                                    prefix=prefix)
                found = counters.read(path) if path.exists() else []
                self.say(f"ncu {v.name}: {status}, {len(found)} kernels")

    def sizes(self, spec, chain, stages):
        if (spec, chain) not in self.problems:
            self.problems[spec, chain], _ = load(spec, chain, self.options, fields=False)
        problem = self.problems[spec, chain]
        return {s: len(problem.domain[s]) for s in stages} | {"levels": problem.levels}

    def measure(self, spec, work, worker, until):
        """Journal lines of a worker that does all of `work`; begun again after a crash."""
        journal = self.options.output / f"{worker}-{label_of(spec)}.jsonl"
        journal.unlink(missing_ok=True)
        refused = [[as_list(v), *self.refused[spec, v]] for s, v in work
                   if (s, v) in self.refused]
        todo = [as_list(v) for s, v in work if (s, v) not in self.refused]
        while (todo or refused) and self.left(until) > 5:
            status = self.child(worker, [spec, todo, refused], self.left(until), journal)
            begun = [line["variant"] for line in read_lines(journal) if "begun" in line]
            if status in (0, "timeout") or not begun or begun[-1] not in todo:
                break  # a timeout is ours
            self.say(worker, spec, f"ended with {status} in", "/".join(begun[-1]))
            refused = [[begun[-1], "failed", f"the process ended with {status}"]]
            todo = [v for v in todo if v not in begun]
        return read_lines(journal)


def as_list(variant):
    return list(vars(variant).values())


def best_variants(options, spec):
    """Of the last chain, of each schedule: the fastest, and DaCe's with its defaults."""
    path = dump.path_of(options, spec, options.cache[-1])
    records = strict_json.read(path)["records"] if path.exists() else []
    timed = [r for r in records if r["chain"] == options.chains[-1] and "seconds" in r]
    timed.sort(key=lambda r: r["seconds"]["median"])
    result = {}
    for r in timed:
        result.setdefault((r["schedule"], bool(r["feature"])), r)
    device = options.backends[0].split("_")[1]
    return [programs.Variant(r["chain"], f"{r['schedule']}_{device}", r["fusion"], r["feature"])
            for r in result.values()]


def read_lines(path):
    result = []
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("{"):
            try:
                result.append(json.loads(line))
            except ValueError:
                pass  # of a process that was killed
    return result


def label_of(spec):
    return pathlib.Path(spec.removeprefix("torus:")).stem


def main():
    arguments = sys.argv[1:]
    options = parse(arguments)
    gpu = {b.endswith("gpu") for b in options.backends}
    if len(gpu) != 1:
        raise suite.BadInput("--backends: either of the GPU or of the CPU, since a dump's records "
                             "are compared with each other")
    programs.configure(gpu.pop(), str(options.cache_folder.resolve()))
    if options.worker:
        import worker

        return worker.run(options)
    run = Run(options, arguments)
    work = everything(options)
    if not work:
        raise suite.BadInput("nothing to do: --chains, --fusions and --options leave no variant")
    run.say(f"{len(work)} variants")
    run.compile(work)
    bad = False
    specs = list(dict.fromkeys(spec for spec, _ in work))
    for n, spec in enumerate(specs):  # an equal part of what time is left for each
        until = run.elapsed() / options.seconds
        until += (TIME_UNTIL - until) / (len(specs) - n)
        mine = [item for item in work if item[0] == spec]
        lines = run.measure(spec, mine, "time", until)
        dump.write(options, arguments, spec, lines)
        bad |= report(run, spec, mine, lines)
    if options.kernels:
        for spec in specs:
            mine = [item for item in work if item[0] == spec]
            dump.add_kernels(options, spec, run.measure(spec, mine, "kernels", KERNELS_UNTIL))
    if options.counters:
        run.count(specs[0], best_variants(options, specs[0]))
    run.say("done")
    return 1 if bad else 0


def report(run, spec, work, lines):
    """What was measured, in short; whether something is wrong."""
    bad = False
    print(f"{spec}, edges {run.options.ordering}:")
    ended = {tuple(line["variant"]): line for line in lines if "timed" in line}
    for _, v in work:
        line = ended.get(tuple(as_list(v)))
        if line is None:
            print(f"  {v.name}: not measured")
            continue
        record = line["record"]
        texts = [f"{cache} {1e6 * r['seconds']['median']:.1f} us, "
                 f"{100 * r['share_of_copy']:.0f} % of copy"
                 for cache, r in line["timed"].items()]
        if "host_seconds" in record["facts"]:
            texts.append(f"host {1e6 * record['facts']['host_seconds']:.0f} us")
        bad |= record["status"] in ("wrong", "failed")
        print(f"  {v.name}: {record['status']}", *filter(None, [record["reason"]]), *texts,
              sep=", ", flush=True)
    return bad


if __name__ == "__main__":
    try:
        sys.exit(main())
    except suite.BadInput as error:
        print(f"peers/gt4py: {error}", file=sys.stderr)
        sys.exit(2)
