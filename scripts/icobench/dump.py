"""Dumps of the benchmark programs: reading, checking, grouping, matching.

Records are the dictionaries of the file, whose fields src/bench/dump.schema.json describes, and
src/device/device_dump.schema.json for those of bench_device.
`python3 scripts/icobench/dump.py DUMP...` checks dumps and ends with status 2 at the first bad one.
"""
import fnmatch
import functools
import json
import pathlib
import sys
from dataclasses import dataclass

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
    from icobench import command
    command.require("jsonschema")

import jsonschema

from icobench import strict_json
from icobench.command import BadInput, printable

SOURCE = pathlib.Path(__file__).parents[2] / "src"
VERSION = "icobench-dump-2"
DEVICE_VERSION = "icobench-device-dump-1"
SCHEMAS = {VERSION: SOURCE / "bench" / "dump.schema.json",
           DEVICE_VERSION: SOURCE / "device" / "device_dump.schema.json"}


@dataclass
class Dump:
    path: str
    complete: bool
    context: dict
    records: list

    def devices(self):
        return {record["backend"]: self.context["devices"].get(record["backend"], {})
                for record in self.records}

    def peer(self):
        """Whose variants these are, "GT4Py 1.2.3"; "" for the suite's own."""
        about = self.context.get("peer")
        return f"{about['name']} {about['version']}" if about else ""


def timed(records):
    """Those with samples; a run that was stopped may have measured a record in part."""
    return [r for r in records if r["status"] in ("ok", "stopped") and "samples" in r]


@functools.cache
def validator(version):
    schema = json.loads(SCHEMAS[version].read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def version_of(content):
    return content.get("schema") if isinstance(content, dict) else None


def check(path, content, wanted):
    version = version_of(content)
    if version != wanted:
        raise BadInput(f"{path}: not a dump of schema {wanted}" +
                       (f" but of {version}" if version else ""))
    error = jsonschema.exceptions.best_match(validator(wanted).iter_errors(content))
    if error:
        where = "/".join(map(str, error.absolute_path)) or "top level"
        raise BadInput(f"{path}: {where}: {error.message[:200]}")
    if not content["records"]:
        raise BadInput(f"{path}: has no records")
    for record in timed(content["records"]):
        check_statistics(path, record)
    return Dump(printable(str(path)), content["complete"], content["context"], content["records"])


def check_statistics(path, record):
    seconds, samples = record["seconds"], record["samples"]
    ascending = [seconds[key] for key in ("min", "low", "median", "high", "max")]
    if seconds["count"] != len(samples) or ascending != sorted(ascending):
        raise BadInput(f"{path}: {record['name']}: its statistics do not fit its samples")
    traffic = record.get("traffic", {})
    if 0 in [traffic.get(key) for key in ("fused_bytes", "separate_bytes", "flops")]:
        raise BadInput(f"{path}: {record['name']}: was timed and has no traffic")


def read(path):
    return check(path, strict_json.read(path), VERSION)


def read_all(paths):
    """Dumps; those of peers are part of the first of ours that asks the same question.

    That is the same grid, levels, cache mode and device. A peer's dump stays one of its own if it
    has variants of ours, which are matched by name.
    """
    every = [read(path) for path in paths]
    ours = [one for one in every if not one.peer()]
    result = list(ours)
    for one in every:
        if not one.peer():
            continue
        host = next((d for d in ours if may_join(d, one)), None)
        if host:
            host.records = host.records + one.records
        else:
            result.append(one)
    return sorted(result, key=every.index)


def may_join(ours, peer):
    def names(dump):
        return {backend: device.get("name") for backend, device in dump.devices().items()}
    return (not problem_differences(ours.context, peer.context)
            and names(peer).items() <= names(ours).items()
            and not {r["variant"] for r in ours.records} & {r["variant"] for r in peer.records})


def read_device(path):
    """A dump of bench_device."""
    return check(path, strict_json.read(path), DEVICE_VERSION)


def groups(records):
    """Lists of records that answer one question, by (chain, backend, precision)."""
    result = {}
    for record in records:
        key = (record["chain"], record["backend"], record["precision"])
        result.setdefault(key, []).append(record)
    return result


def has_words(name, part):
    """Whether the name has these words between slashes, one after another; * for any part of one."""
    words, wanted = ([w for w in text.split("/") if w] for text in (name, part))
    return any(all(map(fnmatch.fnmatchcase, words[n:], wanted))
               for n in range(len(words) - len(wanted) + 1))


def short_name(record):
    return record["name"].removeprefix(record["chain"] + "/")


def labels(dumps):
    """A short text for each dump: those of its facts in which the dumps differ."""
    def facts(dump):
        context, build = dump.context, dump.context["icobench"]
        devices = " + ".join(sorted({d.get("name", "") for d in dump.devices().values()}))
        return [dump.peer(), devices, context["grid"]["name"], f"{context['levels']} levels",
                context["cache"],
                build["git_revision"], build.get("compiler"), build.get("gpu_compiler"),
                build.get("flags"), context["date"]]
    rows = [[fact or "" for fact in facts(dump)] for dump in dumps]
    differing = [column for column in zip(*rows) if len(set(column)) > 1]
    texts = [", ".join(column[n] for column in differing[:3]) for n in range(len(dumps))]
    if len(set(texts)) == len(dumps):
        return texts
    return [f"{n + 1}: {pathlib.Path(dump.path).name}" for n, dump in enumerate(dumps)]


def problem_differences(a, b):
    """In what the problems of two contexts differ, as texts."""
    def grid(context):
        g = context["grid"]
        return (g["torus"] or g["uuid"] or g["name"], g["vertices"], g["edges"], g["cells"])
    result = []
    if grid(a) != grid(b):
        result.append(f"grid ({a['grid']['name']}, {b['grid']['name']})")
    for key in ("levels", "cache"):
        if a[key] != b[key]:
            result.append(f"{key} ({a[key]}, {b[key]})")
    return result


def differences(first, second):
    """What makes two dumps incomparable, as texts; empty if nothing does."""
    result = problem_differences(first.context, second.context)
    for backend, device in first.devices().items():
        other = second.devices().get(backend)
        if other and device.get("name") != other.get("name"):
            result.append(f"device ({device.get('name')}, {other.get('name')})")
    for key in ("chain", "precision", "ordering"):
        here, there = ({r[key] for r in timed(d.records)} for d in (first, second))
        if not here & there:
            result.append(f"{key} ({', '.join(sorted(here))}; {', '.join(sorted(there))})")
    return result


# How alike the records of two dumps must be to be the same benchmark: first as alike as can be,
# then another distance of rows, another backend, another launch too (a new tuning of the same
# variant).
USUAL = {"vertices": "row", "row_pitch": "grid"}  # of dumps that do not say
ALIKE = [("name", "vertices", "backend", "row_pitch"), ("name", "vertices", "backend"),
         ("name", "vertices"), ("variant", "vertices", "ordering", "precision", "backend"),
         ("variant", "vertices", "ordering", "precision")]
# With --across also another order of vertices, another precision, then another chain.
ALIKE_ACROSS = ALIKE + [("variant", "ordering", "precision"), ("variant", "ordering"),
                        ("access", "schedule", "fusion", "feature", "ordering")]


def match(first, second, across=False):
    """Pairs of timed records of two dumps, and what is left over of each."""
    here, there, pairs = timed(first.records), timed(second.records), []
    for keys in ALIKE_ACROSS if across else ALIKE:
        def key(record):
            return tuple(record.get(k, USUAL.get(k)) for k in keys)
        for record in list(here):
            same_here = [r for r in here if key(r) == key(record)]
            same_there = [r for r in there if key(r) == key(record)]
            if len(same_here) == len(same_there) == 1:
                pairs.append((record, same_there[0]))
                here.remove(record)
                there.remove(same_there[0])
    order = {id(record): n for n, record in enumerate(first.records)}
    return sorted(pairs, key=lambda pair: order[id(pair[0])]), here, there


def main():
    for path in sys.argv[1:]:
        content = strict_json.read(path)
        kind = DEVICE_VERSION if version_of(content) == DEVICE_VERSION else VERSION
        print(f"{path}: valid, {len(check(path, content, kind).records)} records")
    return 0 if len(sys.argv) > 1 else command.complain("give at least one DUMP")


if __name__ == "__main__":
    command.run(main)
