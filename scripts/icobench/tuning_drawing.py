"""Heat maps of a search: a panel for each problem, a row of panels for each variant."""
import math

import numpy
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from icobench import drawing, dump, journal
from icobench.command import BadInput

WORST = 2.0  # ratios beyond this, and beneath its inverse, have the darkest colours
COLOURS = "RdBu"  # red: better than the default, white: the same, blue: worse


def seconds(trial):
    return float(numpy.median(trial["seconds"])) if trial["status"] == "ok" else math.inf


def times(trials):
    """{launches: trial}, the thorough ones where there are both."""
    by_stage = sorted(trials, key=lambda t: t["stage"] == "thorough")
    return {t["launches"]: t for t in by_stage}


def of_default(trials):
    """The default's time in each stage."""
    return {t["stage"]: seconds(t) for t in trials if t["launches"] == t["defaults"]}


def cells(trials, x, y):
    """{(value of x, value of y): (ratio to the default, trial) of the fastest; infinite where all
    were skipped}. Quick times are compared with the default's quick time, thorough ones with its
    thorough one."""
    reference = of_default(trials)
    result = {}
    for trial in times(trials).values():
        values = journal.choices(trial["launches"])
        place = (values[x], values[y])
        ratio = seconds(trial) / reference.get(trial["stage"], 1)
        if place not in result or ratio < result[place][0]:
            result[place] = (ratio, trial)
    return result


def sorted_values(trials, axis):
    return sorted({journal.choices(t["launches"])[axis] for t in trials}, key=journal.order)


def draw_panel(ax, trials, x, y, columns, rows):
    shown = cells(trials, x, y)
    norm, colours = LogNorm(1 / WORST, WORST, clip=True), drawing.matplotlib.colormaps[COLOURS]
    home = journal.choices(trials[0]["defaults"])
    best = min(shown, key=lambda place: shown[place][0])
    for place, (ratio, trial) in shown.items():
        corner = (columns.index(place[0]) - 0.5, rows.index(place[1]) - 0.5)
        if math.isinf(ratio):
            ax.add_patch(Rectangle(corner, 1, 1, facecolor="white", edgecolor="#999999",
                                   hatch="////", linewidth=0))
            continue
        ax.add_patch(Rectangle(corner, 1, 1, facecolor=colours(norm(ratio)), linewidth=0))
        dark = abs(math.log(ratio)) > 0.7 * math.log(WORST)
        ax.text(corner[0] + 0.5, corner[1] + 0.5, f"{ratio:.2f}" + "*" * bool(trial["local_bytes"]),
                ha="center", va="center", fontsize=6, color="white" if dark else "black",
                weight="bold" if place == best else "normal")
    for place, style in (((home[x], home[y]), ":"), (best, "-")):
        if place in shown:
            ax.add_patch(Rectangle((columns.index(place[0]) - 0.5, rows.index(place[1]) - 0.5), 1, 1,
                                   fill=False, linestyle=style, linewidth=1.5, zorder=3))
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(-0.5, len(rows) - 0.5)
    ax.set_xticks(range(len(columns)), columns, rotation=90, fontsize=7)
    ax.set_yticks(range(len(rows)), ["all" if y == "levels" and r == "0" else r for r in rows],
                  fontsize=7)
    ax.set_xlabel(x)
    return shown[best]


def draw(trials, x, y, part):
    """The time over the default's for each value of two axes, the fastest of all others."""
    trials = [t for t in trials if dump.has_words(t["variant"], part)]
    if not trials:
        raise BadInput(f"no variant's name has the words '{part}'")
    if x == y:
        raise BadInput(f"--x {x} --y {y}: take two different axes")
    by_target = {}
    for trial in trials:
        by_target.setdefault(journal.target(trial), {}).setdefault(journal.problem(trial),
                                                                   []).append(trial)
    # A variant whose default has no time has nothing to compare with.
    by_target = {name: problems for name, problems in by_target.items()
                 if all(math.isfinite(min(of_default(p).values(), default=math.inf))
                        for p in problems.values())}
    if not by_target:
        raise BadInput("the default launch was not timed on every problem: nothing to compare with")
    most = max(map(len, by_target.values()))
    extents = [(sorted_values([t for p in problems.values() for t in p], x),
                sorted_values([t for p in problems.values() for t in p], y))
               for problems in by_target.values()]
    width = max(len(columns) for columns, _ in extents)
    heights = [0.22 * len(rows) + 1.3 for _, rows in extents]
    figure = Figure(figsize=(most * (0.28 * width + 0.8) + 1, sum(heights) + 0.6),
                    layout="constrained")
    axes = figure.subplots(len(by_target), most, squeeze=False,
                           gridspec_kw={"height_ratios": heights})
    for row, (name, problems), (columns, rows) in zip(axes, by_target.items(), extents):
        for ax in row[len(problems):]:
            ax.set_axis_off()
        for ax, (problem, measured) in zip(row, problems.items()):
            ratio, best = draw_panel(ax, measured, x, y, columns, rows)
            ax.set_title(f"{name}\n{problem}: {ratio:.2f} with {best['launches']}", fontsize=8)
        row[0].set_ylabel(y)
    bar = figure.colorbar(ScalarMappable(LogNorm(1 / WORST, WORST), COLOURS), ax=axes, shrink=0.6,
                          extend="both", label="time over that of the default launch")
    ticks = [0.5, 0.7, 1, 1.4, 2]
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.minorticks_off()
    figure.suptitle("hatched: skipped    framed: best    dotted frame: the default's    *: spills",
                    fontsize=8)
    return figure
