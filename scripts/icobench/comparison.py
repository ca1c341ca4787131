"""Variants of one dump ranked; the same variants of two dumps compared; both as tables."""
import csv
import io
import json
from collections import Counter
from dataclasses import dataclass, field

from icobench import statistics
from icobench.command import BadInput
from icobench.dump import differences, groups, has_words, match, short_name, timed

THRESHOLD = 0.02  # smaller differences do not matter
BROKEN = ("wrong", "failed")  # a variant that was timed before and now is this
LOST = ("skipped", "lost")  # or this: it cannot run any more, or is not there


@dataclass
class Column:
    key: str
    head: str
    text: callable = str


@dataclass
class Table:
    title: str
    columns: list
    rows: list  # of dictionaries, with more keys than columns
    notes: list = field(default_factory=list)

    def cells(self, row):
        return ["–" if row[c.key] is None else c.text(row[c.key]) for c in self.columns]


def microseconds(seconds):
    return f"{1e6 * seconds:.2f}" if seconds < 1e-4 else f"{1e6 * seconds:.1f}"


def percent(share):
    return f"{100 * share:.0f} %"


def interval(ends):
    return f"{ends[0]:.3f} – {ends[1]:.3f}"


def most(record, key):
    """The largest of its kernels, None if no kernel tells."""
    return max((k[key] for k in record["kernels"] if key in k), default=None)


RANKING = [
    Column("rank", "rank"), Column("variant", "variant"),
    Column("seconds", "µs", microseconds),
    Column("uncertainty", "±", lambda u: f"{100 * u:.1f} %"),
    Column("speedup", "speed-up", lambda s: f"{s:.3f}"),
    Column("speedup_interval", "95 % interval", interval), Column("verdict", "verdict"),
    Column("share_of_copy", "of copy", percent),
    Column("share_of_ceiling", "of ceiling", percent), Column("binding", "bound by"),
    Column("times_floor", "x floor", lambda x: f"{x:.2f}"), Column("registers", "registers"),
    Column("local_bytes", "local bytes"), Column("marks", "marks", ", ".join)]

COMPARISON = [
    Column("verdict", "verdict"), Column("ratio", "time", lambda r: f"{100 * (r - 1):+.1f} %"),
    Column("ratio_interval", "95 % interval of the ratio", interval),
    Column("reference_seconds", "reference µs", microseconds),
    Column("seconds", "µs", microseconds),
    Column("share_of_ceiling", "of ceiling", percent), Column("binding", "bound by"),
    Column("variant", "variant"), Column("marks", "marks", ", ".join)]


def near_ceiling(record):
    """Which ceiling binds, and how close the record comes; older dumps do not know."""
    ceiling = record.get("ceiling", {})
    return {"share_of_ceiling": ceiling.get("share"), "binding": ceiling.get("binding")}


def judge(reference, record, threshold):
    result = statistics.compare(reference["samples"], record["samples"], threshold)
    if "unresolved" in reference["marks"] + record["marks"]:
        result.verdict = "can't tell"
    return result


def rivals(records):
    """Those that compute the chain; a roofline only reads and writes what the chain has to."""
    return [r for r in records if "roofline" not in r["marks"]]


def find_baseline(records, part):
    """One whose name has the words of `part`, else the plainest way of writing the chain."""
    # The same in every dump, and no roofline unless there is nothing else.
    by_name = sorted(records, key=lambda r: ("roofline" in r["marks"], r["name"]))
    plain = {"access": "strided", "schedule": "naive", "fusion": "separate", "feature": ""}
    tests = [lambda r: part and has_words(r["name"], part)]
    for keys in (plain, ("access", "fusion"), ("fusion",), ()):
        tests.append(lambda r, keys=keys: all(r[k] == plain[k] for k in keys))
    return next(record for test in tests for record in by_name if test(record))


def ranked_row(rank, record, baseline, threshold):
    seconds, against = record["seconds"], judge(baseline, record, threshold)
    return {
        "chain": record["chain"], "backend": record["backend"], "precision": record["precision"],
        "rank": rank, "variant": short_name(record), "seconds": seconds["median"],
        "uncertainty": (seconds["high"] - seconds["low"]) / 2 / seconds["median"],
        "samples": seconds["count"], "speedup": 1 / against.ratio,
        "speedup_interval": [1 / against.high, 1 / against.low],
        "verdict": "baseline" if record is baseline else against.verdict,
        "share_of_copy": record["share_of_copy"],
        **near_ceiling(record),
        "times_floor": seconds["median"] / record["fused_floor_seconds"],
        "times_separate_floor": seconds["median"] / record["separate_floor_seconds"],
        "registers": most(record, "registers"), "local_bytes": most(record, "local_bytes"),
        "marks": record["marks"]}


def runner_up(first, second, threshold):
    more = judge(first, second, threshold)
    return (f"fastest: {short_name(first)}; the next, {short_name(second)}, takes "
            f"{100 * (more.ratio - 1):.1f} % more ({100 * (more.low - 1):.1f} to "
            f"{100 * (more.high - 1):.1f} %): {more.verdict}")


def rank(dump, baseline_part, threshold):
    """A table for each group of records, fastest first."""
    if baseline_part and not any(has_words(r["name"], baseline_part) for r in timed(dump.records)):
        raise BadInput(f"{dump.path}: no timed variant's name has the words '{baseline_part}'")
    tables = []
    for key, records in groups(dump.records).items():
        ranked = sorted(timed(records), key=lambda r: r["seconds"]["median"])
        table = Table(", ".join(key), RANKING, [])
        if ranked:
            baseline = find_baseline(timed(records), baseline_part)
            table.title += f"; speed-up over {short_name(baseline)}"
            ranks = {id(r): n for n, r in enumerate(rivals(ranked), 1)}
            table.rows = [ranked_row(ranks.get(id(r)), r, baseline, threshold) for r in ranked]
        if len(rivals(ranked)) > 1:
            table.notes.append(runner_up(*rivals(ranked)[:2], threshold))
        table.notes += [", ".join(filter(None, [f"{short_name(r)}: {r['status']}", r["reason"]]))
                        for r in records if r["status"] != "ok"]
        tables.append(table)
    return tables


def require_comparable(first, second, pairs):
    reasons = differences(first, second)
    halos = {(a["halo"], b["halo"]) for a, b in pairs if a["halo"] != b["halo"]}
    reasons += [f"halo ({a}, {b})" for a, b in sorted(halos)]
    if reasons:
        raise BadInput(f"{second.path}: cannot be compared with {first.path}: different "
                       + ", ".join(reasons) + "; --across compares all the same")


def drivers(first, second):
    """What to say of devices whose drivers differ."""
    return [f"{second.path}: another driver of {backend}: {device.get('driver')}, now "
            f"{other.get('driver')}" for backend, device in first.devices().items()
            if (other := second.devices().get(backend)) and
            device.get("driver") != other.get("driver")]


def compared_row(reference, record, threshold):
    result = judge(reference, record, threshold)
    name = record["name"]
    if reference["name"] != name:
        name = f"{reference['name']} -> {name}"
    return {"chain": record["chain"], "backend": record["backend"],
            "precision": record["precision"], "variant": name, "verdict": result.verdict,
            "ratio": result.ratio, "ratio_interval": [result.low, result.high],
            "reference_seconds": reference["seconds"]["median"],
            "seconds": record["seconds"]["median"], **near_ceiling(record),
            "marks": sorted(set(reference["marks"] + record["marks"]))}


def compare(first, second, threshold, across=False):
    """The table of what both dumps measured; its notes say what only one did."""
    pairs, here, there = match(first, second, across)
    if not across:
        require_comparable(first, second, pairs)
    table = Table(f"{second.path} against {first.path}", COMPARISON,
                  [compared_row(*pair, threshold) for pair in pairs])
    now = {(r["name"], r["backend"]): r for r in second.records}
    for record in here:
        other = now.get((record["name"], record["backend"]))
        status = other["status"] if other else "lost"
        if status not in BROKEN + LOST:  # the run ended before
            table.notes.append(f"only in {first.path}: {record['name']}")
            continue
        row = dict.fromkeys(("ratio", "ratio_interval", "seconds", *near_ceiling({})))
        table.rows.append(row | {k: record[k] for k in ("chain", "backend", "precision")} | {
            "variant": record["name"], "verdict": status, "marks": [],
            "reference_seconds": record["seconds"]["median"]})
    table.notes += [f"only in {second.path}: {record['name']}" for record in there]
    if not pairs and not any(row["verdict"] in BROKEN for row in table.rows):
        raise BadInput(f"{second.path}: has no variant in common with {first.path}")
    counts = Counter(row["verdict"] for row in table.rows)
    shown = ("slower", "faster", "same", "can't tell") + tuple(
        b for b in BROKEN + LOST if counts[b])
    table.notes.insert(0, f"{len(table.rows)} compared: "
                       + ", ".join(f"{counts[verdict]} {verdict}" for verdict in shown))
    return table


def unsteady(record):
    return bool({"throttled", "unstable"} & set(record["marks"]))


def count_unsteady(dump):
    """How many variants ran with clocks that were not steady, why and how low; "" for none."""
    records = timed(dump.records)
    marked = [r for r in records if unsteady(r)]
    if not marked:
        return ""
    known = [r["machine"] for r in marked if r["machine"]]
    because = sorted({reason for m in known for reason in m["throttle_reasons"] or []})
    clocks = [m["clock_mhz"][0] for m in known if m["clock_mhz"]]
    if clocks:
        because.append(f"down to {min(clocks):.0f} MHz")
    return (f"{len(marked)} of {len(records)} timed variants ran throttled or with unstable clocks"
            + (f" ({', '.join(because)})" if because else ""))


def machine_advice(dump):
    result = []
    records = timed(dump.records)
    marked = count_unsteady(dump)
    if marked:
        hints = sorted({d["lock_clocks_hint"] for d in dump.devices().values()
                        if d.get("lock_clocks_hint")})
        result.append(f"{marked}; let the device cool down" +
                      "".join(f", lock its clocks: {hint}" for hint in hints))
    elif any(r["machine"] and r["machine"]["clock_mhz"] for r in records):
        result.append("clocks were steady: no variant was throttled")
    else:
        states = sorted({d["machine_state"] for d in dump.devices().values() if d})
        result.append("whether clocks were steady is unknown: " + "; ".join(states))
    return result


def ceilings_advice(dump):
    """What each device can do at most, where more than a copy was measured."""
    result = []
    for device in dump.devices().values():
        c = (device or {}).get("ceilings") or {}
        keys = [f"{key}_bytes_per_second" for key in ("read", "triad", "copy", "write")]
        if not all(c.get(key) for key in keys):
            continue
        unit, name, digits = (1e12, "TB/s", 2) if c[keys[0]] > 1e12 else (1e9, "GB/s", 0)
        rates = ", ".join(f"{key.split('_')[0]} {c[key] / unit:.{digits}f}" for key in keys)
        text = f"ceilings of {device['name']}: {rates} {name}"
        if c["launch_seconds"]:  # not on a CPU
            flops = ", ".join(f"{key} {1e-12 * c[key + '_flops_per_second']:.1f}"
                              for key in ("double", "float"))
            text += f"; {flops} Tflop/s; {1e6 * c['launch_seconds']:.1f} µs a launch"
        result.append(text)
    return result


ON_MARKS = {
    "suspect": "faster than the device allows for its reads and writes: data came from a cache "
               "(try a larger grid, --cache cold)",
    "roofline": "reads and writes what the chain has to and computes sums only: a bound, no rival",
    "unresolved": "too short for the timer (try a larger grid or more levels)"}


def advice(dump, tables=()):
    """What a reader should know before believing the numbers, and what would make them better."""
    result = ceilings_advice(dump) + machine_advice(dump)
    if not dump.complete:
        result.append("the run had not ended or was stopped: this is what it had measured by then")
    for mark, text in ON_MARKS.items():
        count = sum(mark in record["marks"] for record in timed(dump.records))
        if count:
            result.append(f"{count} {mark}: {text}")
    if any(row["verdict"] == "can't tell" for table in tables for row in table.rows):
        result.append("can't tell: the samples do not decide whether there is a difference; take "
                      "more (--min-samples 101 --budget 10) on an idle machine with locked clocks")
    return result


def in_columns(table):
    rows = [[c.head for c in table.columns]] + [table.cells(row) for row in table.rows]
    widths = [max(map(len, column)) for column in zip(*rows)]
    def line(row):
        return "  ".join(cell.ljust(w) if c.key == "variant" else cell.rjust(w)
                         for c, cell, w in zip(table.columns, row, widths)).rstrip()
    return "\n".join([table.title] + (list(map(line, rows)) if table.rows else []) + table.notes)


def in_markdown(table):
    def line(cells):
        return "| " + " | ".join(cells) + " |"
    lines = [line(c.head for c in table.columns),
             line("---" if c.key == "variant" else "--:" for c in table.columns)]
    lines += [line(table.cells(row)) for row in table.rows]
    return "\n".join([f"### {table.title}", ""] + (lines + [""] if table.rows else []) +
                     [f"- {note}" for note in table.notes])


def in_csv(tables):
    out = io.StringIO()
    rows = [dict(table=table.title) | row for table in tables for row in table.rows]
    writer = csv.DictWriter(out, list(rows[0]) if rows else ["table"], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: " ".join(map(str, v)) if isinstance(v, list) else v
                         for k, v in row.items()})
    return out.getvalue()


def render(tables, notes, form):
    if form == "csv":
        return in_csv(tables)
    if form == "json":
        content = {"tables": [{"title": t.title, "rows": t.rows, "notes": t.notes} for t in tables],
                   "advice": notes}
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    show = in_markdown if form == "markdown" else in_columns
    ends = [f"- {note}" for note in notes] if form == "markdown" else notes
    return "\n\n".join([show(table) for table in tables] + ["\n".join(ends)]).strip() + "\n"
