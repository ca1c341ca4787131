"""Journals of bench_tune: reading, checking, and what their launches consist of.

Trials are the dictionaries of the file's lines, whose fields src/tune/journal.schema.json describes.
"""
import functools
import json
import pathlib

import jsonschema

from icobench import command, strict_json
from icobench.command import BadInput

SCHEMA = pathlib.Path(__file__).parents[2] / "src" / "tune" / "journal.schema.json"
VERSION = "icobench-tuning-journal-1"
# The choices of a launch and their defaults (include/icobench/launch_text.hpp).
DEFAULTS = dict(block="", levels="1", min_blocks="1", order="by_size", tables="slots",
                constants="none", stages="0", cluster="0", copy_bytes="0")
AXES = tuple(DEFAULTS)


@functools.cache
def validator():
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def read(path):
    """The trials; of those with the same configuration, problem and stage the last."""
    # Without the part of a line that a killed program left.
    lines = command.read_text(path).split("\n")[:-1]
    trials = {}
    for number, line in enumerate(lines, 1):
        content = strict_json.parse(line, f"{path}: line {number}")
        version = content.get("schema") if isinstance(content, dict) else None
        if number == 1 and version != VERSION:
            raise BadInput(f"{path}: not a journal of schema {VERSION}" +
                           (f" but of {version}" if version else ""))
        error = jsonschema.exceptions.best_match(validator().iter_errors(content))
        if error:
            where = "/".join(map(str, error.absolute_path)) or "it"
            raise BadInput(f"{path}: line {number}: {where}: {error.message[:200]}")
        if number > 1:
            trials[(target(content), problem(content), content["launches"],
                    content["stage"])] = content
    if not trials:
        raise BadInput(f"{path}: has no measurements")
    return list(trials.values())


def target(trial):
    """What was tuned."""
    name = trial["variant"]
    for key, usual in (("ordering", "per_orientation"), ("precision", "double")):
        name += "" if trial[key] == usual else "/" + trial[key]
    return name


def problem(trial):
    return f"{trial['grid']}, {trial['levels']} levels"


def one_launch(text):
    result = dict(DEFAULTS)
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if part == "adjacent" or equals and key not in DEFAULTS:
            raise BadInput(f"launch {text}: '{part}' is no choice of launches (any more): the "
                           "journal is of another version, search again")
        result[key if equals else "block"] = value if equals else part
    return result


def choices(launches):
    """The value of each axis; of several kernels those that differ joined with '+'."""
    parts = [one_launch(text) for text in launches.split("+")]
    result = {}
    for axis in AXES:
        values = [part[axis] for part in parts]
        result[axis] = values[0] if len(set(values)) == 1 else "+".join(values)
    return result


def order(value):
    """Sorts values of an axis: numbers by size, 0 levels (the whole column) last."""
    numbers = [int(n) if n.isdigit() else 0 for n in value.replace("+", "x").split("x")]
    return ("+" in value, value == "0", numbers, value)
