"""Pictures of dumps of bench_device. Each function returns a matplotlib figure."""
from matplotlib.patches import Patch

from icobench.command import BadInput
from icobench.drawing import COLOURS, name_rows, panels
from icobench.dump import timed

STEPS = {"to_device": ("to the device", COLOURS[5]), "add": ("added", COLOURS[1]),
         "to_host": ("to the host", COLOURS[2])}


def rates(dump):
    """What each measurement reached, in panels by group."""
    groups = {}
    for r in timed(dump.records):
        for key, unit, scale in (("bytes_per_second", "GB/s", 1e-9),
                                 ("flops_per_second", "Tflop/s", 1e-12)):
            if key in r:
                group, _, name = r["name"].partition("/")
                groups.setdefault((group, unit), []).append((name, scale * r[key]))
    if not groups:
        raise BadInput(f"{dump.path}: nothing was timed that moves bytes or computes")
    figure, axes = panels([0.7 * len(rows) for rows in groups.values()])
    for ((group, unit), rows), (ax,) in zip(groups.items(), axes):
        bars = ax.barh(range(len(rows)), [rate for _, rate in rows], color=COLOURS[5])
        ax.bar_label(bars, [f"{rate:.4g}" for _, rate in rows], padding=3, fontsize=7)
        ax.set(title=group, xlabel=unit)
        name_rows(ax, [name for name, _ in rows])
    return figure


def timeline(dump):
    """When each piece of a split addition was copied, added and copied back."""
    records = [r for r in dump.records if "timeline" in r]
    if not records:
        raise BadInput(f"{dump.path}: has no timeline; bench_device additions measures some")
    figure, axes = panels([1 + max(p["stream"] for p in r["timeline"]) for r in records])
    for record, (ax,) in zip(records, axes):
        for piece in record["timeline"]:
            ax.barh(piece["stream"], 1e6 * (piece["end"] - piece["start"]), 0.7,
                    left=1e6 * piece["start"], color=STEPS[piece["step"]][1])
        ax.axvline(1e6 * record["serial_seconds"], color="#777777", linestyle="--")
        ax.set(title=f"{record['name']}: {100 * record['overlap']:.0f} % of what could be hidden "
               "was", xlabel="time [µs]; dashed: in one stream")
        name_rows(ax, [f"stream {n}" for n in range(1 + max(p["stream"]
                                                           for p in record["timeline"]))])
    axes[0][0].legend(handles=[Patch(color=colour, label=label) for label, colour in STEPS.values()],
                      loc="lower right", bbox_to_anchor=(1, 1), ncols=3, frameon=False, fontsize=7)
    return figure
