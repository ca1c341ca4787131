#!/usr/bin/env python3
"""Writes verdicts.json: samples of two measurements, and whether the second is faster by more than 2 %.

    make_verdicts.py [FILE]

What the rule has to say is known from how the samples are made, which is far from its threshold. The
random numbers are the same in every run.
"""
import json
import pathlib
import random
import sys

THRESHOLD = 0.02


def noise(rng, median, spread, count):
    return [median * (1 + spread * rng.gauss(0, 1)) for _ in range(count)]


def bursts(rng, low, high, count, length=5):
    """Two modes, in runs of samples."""
    return [(low if n // length % 2 == 0 else high) * (1 + 1e-3 * rng.random())
            for n in range(count)]


def cases():
    rng = random.Random(1)
    yield "one measurement twice", [1.0] * 21, [1.0] * 21, False
    yield "constant and 10 % less", [1.0] * 9, [0.9] * 9, True
    yield "too few samples", [1.0] * 21, [0.5] * 8, False
    for count in (9, 21, 50, 101):
        yield f"{count}, the same", noise(rng, 1, 0.01, count), noise(rng, 1, 0.01, count), False
        yield f"{count}, 10 % faster", noise(rng, 1, 0.01, count), noise(rng, 0.9, 0.01, count), True
        yield f"{count}, 10 % slower", noise(rng, 1, 0.01, count), noise(rng, 1.1, 0.01, count), False
        yield (f"{count}, 1 % faster, below the threshold", noise(rng, 1, 1e-3, count),
               noise(rng, 0.99, 1e-3, count), False)
        yield (f"{count}, spread wide", noise(rng, 1, 0.4, count), noise(rng, 0.95, 0.4, count),
               False)
    yield "bursts as long as the difference", bursts(rng, 1, 0.5, 40), bursts(rng, 0.5, 1, 40), False
    # Interval and ranks disagree: two of five batches are as slow as the reference.
    yield ("a median that is faster, batches that are not", [1.0] * 50,
           [0.9] * 30 + [1.2] * 20, False)
    # Quiet within batches; their medians differ, as those of two runs under different load do.
    for what, slow, faster in (("batches that differ by more than the runs", 1.4, False),
                               ("batches that differ by less than the runs", 1.004, True)):
        yield what, [1.0] * 30 + [slow] * 20, [0.93] * 50, faster
    yield "drift", [1 + 0.002 * n for n in range(50)], [1.1 - 0.002 * n for n in range(50)], False


def main(path):
    content = {"threshold": THRESHOLD,
               "cases": [{"what": what, "reference": a, "other": b, "faster": faster}
                         for what, a, b, faster in cases()]}
    path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    given = sys.argv[1:2]
    main(pathlib.Path(given[0] if given else pathlib.Path(__file__).with_name("verdicts.json")))
