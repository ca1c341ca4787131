"""JSON that others may have written: nothing in it crashes, hangs or steers what reads or shows it."""
import json
import math
import re

from icobench import command

MOST_DEPTH = 64
MOST_TEXT = 1000  # characters of a string
TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


def reject(number):
    raise ValueError(f"{number} is no number of JSON")


def distinct(pairs):
    known = set()
    for key, _ in pairs:
        if key in known:
            raise ValueError(f"'{key}' occurs twice in an object")
        known.add(key)
    return dict(pairs)


def finite(text):
    value = float(text)
    return value if math.isfinite(value) else reject(text)


def check_depth(text):
    depth = 0
    for token in TOKENS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > MOST_DEPTH:
            raise ValueError("is nested too deep")


def clean(value):
    """Its texts without control characters, and cut."""
    if isinstance(value, str):
        return command.printable(value, MOST_TEXT)
    if isinstance(value, list):
        return [clean(each) if isinstance(each, (str, list, dict)) else each for each in value]
    if isinstance(value, dict):
        return {clean(key): clean(each) for key, each in value.items()}
    return value


def parse(text, where):
    """Strict, as other languages' parsers are: no NaN, no repeated keys."""
    try:
        check_depth(text)
        content = json.loads(text, parse_constant=reject, parse_float=finite,
                             object_pairs_hook=distinct)
        json.dumps(content, ensure_ascii=False).encode()  # halves of characters are none
        return clean(content)
    except ValueError as error:
        raise command.BadInput(f"{where}: not valid JSON: {error}") from error


def read(path):
    return parse(command.read_text(path), path)
