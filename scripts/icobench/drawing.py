"""Pictures of dumps. Each function returns a matplotlib figure with a panel for each chain."""
import io
import pathlib

import matplotlib
import numpy
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import LogFormatter

from icobench import comparison, dump
from icobench.command import BadInput, printable

FORMATS = ("svg", "png", "pdf")
# Told apart by the colour-blind too (Okabe and Ito), best contrast first.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"]
MARKERS = "os^DvPX"  # one less than colours: pairs repeat late
FLOORS = {"fused_floor_seconds": ("fused floor", "--", "#009e73"),
          "separate_floor_seconds": ("separate floor", "-.", "#d55e00")}
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "icobench", "font.size": 9,
                            "axes.spines.top": False, "axes.spines.right": False,
                            "axes.titlesize": 10, "axes.titleweight": "bold",
                            "axes.titlelocation": "left",
                            "text.parse_math": False})  # a $ in a name is one


def picture_format(path):
    form = pathlib.Path(path).suffix.removeprefix(".")
    if form not in FORMATS:
        raise BadInput(f"{path}: the name of a picture ends with .{', .'.join(FORMATS)}")
    return form


def encode(figure, form):
    """The figure as a file's bytes; without a date, so that the same dump gives the same file."""
    out = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    figure.savefig(out, format=form, dpi=120, bbox_inches="tight", metadata=undated.get(form))
    return out.getvalue()


def panels(heights, columns=1, width=9.0):
    """A figure with rows of these heights, and its axes."""
    heights = [0.3 * h + 0.9 for h in heights]
    figure = Figure(figsize=(width, sum(heights)), layout="constrained")
    axes = figure.subplots(len(heights), columns, squeeze=False,
                           gridspec_kw={"height_ratios": heights})
    return figure, axes


def timed_groups(dumps):
    """(title, records fastest first) for each dump and chain."""
    result = []
    for d, label in zip(dumps, dump.labels(dumps) if len(dumps) > 1 else [""]):
        for key, records in dump.groups(dump.timed(d.records)).items():
            title = ", ".join(key) + (f" ({label})" if label else "")
            result.append((title, sorted(records, key=lambda r: r["seconds"]["median"])))
    if not result:
        raise BadInput(f"{dumps[0].path}: nothing was timed, or nothing matches --variant")
    return result


def variant_key(record):
    """What stays the same from machine to machine and from size to size: not the launch."""
    name = "/".join(record[k] for k in ("access", "schedule", "fusion", "feature") if record[k])
    return name + ("/per_vertex" if record["ordering"] == "per_vertex" else "")


def row_names(records):
    """The launches only where they are needed to tell rows apart."""
    keys = [variant_key(r) for r in records]
    return [key + ("\n" + "+".join(r["launches"]) if keys.count(key) > 1 else "")
            + (f"\n({', '.join(r['marks'])})" if r["marks"] else "") for key, r in zip(keys, records)]


def logarithmic(axes, which):
    """Numbers like 200: matplotlib's are formulas, and no text is a formula here."""
    for name in which:
        getattr(axes, f"set_{name}scale")("log")
        axis = getattr(axes, f"{name}axis")
        axis.set_major_formatter(LogFormatter())
        axis.set_minor_formatter(LogFormatter(labelOnlyBase=False))


def name_rows(axes, names):
    # A longer one would leave no room for the picture.
    axes.set_yticks(range(len(names)), [printable(name, 120) for name in names], fontsize=8)
    axes.set_ylim(len(names) - 0.4, -0.6)


def thinned(values):
    """At most 200 points: a page with all points of long runs would be too large to open."""
    return values[::-(-len(values) // 200)]


def draw_times(axes, records, baseline_part):
    baseline = comparison.find_baseline(records, baseline_part)["seconds"]["median"]
    medians = numpy.array([1e6 * r["seconds"]["median"] for r in records])
    axes.plot(medians, range(len(records)), "|", color="#d00000", markersize=14, markeredgewidth=2)
    for n, record in enumerate(records):
        points = 1e6 * numpy.array(thinned(record["samples"]))
        axes.plot(points, numpy.full(len(points), n), ".", color=COLOURS[0], alpha=0.3,
                  markersize=4, zorder=1)
        axes.annotate(f"{medians[n]:.4g}", (medians[n], n), (0, 8), textcoords="offset points",
                      ha="center", fontsize=7)
    axes.axvline(1e6 * baseline, color="#555555", linestyle=":", label="baseline")
    for key, (label, style, colour) in FLOORS.items():
        axes.axvline(1e6 * records[0][key], color=colour, linestyle=style, label=label)
    if medians.max() > 10 * 1e6 * records[0]["fused_floor_seconds"]:
        logarithmic(axes, "x")
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel("time [µs]")
    name_rows(axes, row_names(records))


def draw_spread(axes, records):
    """Each variant's samples relative to their median: shapes that a common axis would hide."""
    deviations = [100 * (numpy.array(r["samples"]) / r["seconds"]["median"] - 1) for r in records]
    for part in axes.violinplot(deviations, range(len(records)), vert=False, widths=0.8,
                                showextrema=False)["bodies"]:
        part.set_facecolor(COLOURS[5])
    for n, (record, values) in enumerate(zip(records, deviations)):
        points = thinned(values)
        heights = n + 0.25 * numpy.linspace(-1, 1, len(points))  # in the order of measurement
        axes.plot(points, heights, ".", color=COLOURS[0], alpha=0.5, markersize=3)
        ends = [100 * (record["seconds"][end] / record["seconds"]["median"] - 1)
                for end in ("low", "high")]
        axes.plot(ends, [n, n], "-|", color="#d00000", linewidth=2)
    # Rare outliers would squeeze everything else.
    widest = max(numpy.percentile(abs(v), 90) for v in deviations)
    axes.set_xlim(-1.5 * widest - 0.1, 1.5 * widest + 0.1)
    axes.set_xlabel("deviation from the median [%]")
    name_rows(axes, [""] * len(records))


def samples(dumps, baseline_part=None):
    """Times with baseline and floors, and how the samples of each variant are distributed."""
    groups = timed_groups(dumps)
    figure, axes = panels([1 + len(records) for _, records in groups], columns=2, width=11)
    for (title, records), (times, spread) in zip(groups, axes):
        times.set_title(title)
        draw_times(times, records, baseline_part)
        draw_spread(spread, records)
        spread.legend(*times.get_legend_handles_labels(), loc="lower right", bbox_to_anchor=(1, 1),
                      ncols=3, frameon=False, fontsize=7)
    return figure


def share(dumps):
    """The share of the copy bandwidth that each variant of a chain reaches."""
    groups = timed_groups(dumps)
    figure, axes = panels([len(records) for _, records in groups])
    for (title, records), (ax,) in zip(groups, axes):
        shares = [100 * r["share_of_copy"] for r in records]
        bars = ax.barh(range(len(records)), shares, color=COLOURS[5])
        ax.bar_label(bars, [f"{s:.0f} %" for s in shares], padding=3, fontsize=7)
        ax.axvline(100, color=FLOORS["fused_floor_seconds"][2], linestyle="--", label="fused floor")
        separate = records[0]["fused_floor_seconds"] / records[0]["separate_floor_seconds"]
        if separate < 1:
            ax.axvline(100 * separate, color=FLOORS["separate_floor_seconds"][2], linestyle="-.",
                       label="separate floor")
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, fontsize=7)
        ax.set_title(title)
        ax.set_xlim(0, max(110, 1.1 * max(shares)))
        name_rows(ax, row_names(records))
    axes[-1][0].set_xlabel("share of the copy bandwidth [%]")
    return figure


def draw_ceilings(axes, c, intensities):
    """The roof: flat where arithmetic binds, rising with the bytes' bandwidth where memory does."""
    flops = {"double": c["double_flops_per_second"], "float": c["float_flops_per_second"]}
    x = numpy.geomspace(min(intensities) / 3, max(max(intensities) * 3, 30), 200)
    for key, style in (("read", "-"), ("copy", "--"), ("write", ":")):
        bandwidth = c[f"{key}_bytes_per_second"]
        if bandwidth:
            y = numpy.minimum(bandwidth * x, max(filter(None, flops.values()), default=numpy.inf))
            axes.plot(x, 1e-9 * y, style, color="#777777", linewidth=1,
                      label=f"{key} {1e-12 * bandwidth:.2f} TB/s")
    for number, (precision, rate) in enumerate(flops.items()):
        if rate:
            axes.axhline(1e-9 * rate, color=COLOURS[6], linestyle=("-", "--")[number], linewidth=1,
                         label=f"{precision} {1e-12 * rate:.1f} Tflop/s")


def under_ceilings(d):
    """(device, its timed records) where ceilings were measured."""
    for backend, device in d.devices().items():
        records = [r for r in dump.timed(d.records) if r["backend"] == backend]
        if records and device.get("ceilings"):
            yield device, records


def has_roofline(d):
    return any(under_ceilings(d))


def roofline(dumps):
    """Arithmetic over time against flops a byte, under the ceilings measured in the same run."""
    panels_of = [(f"{device['name']}, {label}", device["ceilings"], records)
                 for d, label in zip(dumps, dump.labels(dumps))
                 for device, records in under_ceilings(d)]
    if not panels_of:
        raise BadInput(f"{dumps[0].path}: has no timed record on a device with measured ceilings")
    figure, axes = panels([14] * len(panels_of))
    for (title, ceilings, records), (ax,) in zip(panels_of, axes):
        chains = {}
        for r in records:
            chains.setdefault((r["chain"], r["precision"]), []).append(r)
        intensity = {key: rs[0]["traffic"]["flops"] / rs[0]["traffic"]["fused_bytes"]
                     for key, rs in chains.items()}
        draw_ceilings(ax, ceilings, list(intensity.values()))
        for number, (key, rs) in enumerate(chains.items()):
            rates = [1e-9 * r["traffic"]["flops"] / r["seconds"]["median"] for r in rs]
            ax.plot([intensity[key]] * len(rs), rates, MARKERS[number % len(MARKERS)],
                    color=COLOURS[number % len(COLOURS)], markersize=4, alpha=0.6,
                    label=", ".join(key))
        logarithmic(ax, "xy")
        ax.set(title=title, ylabel="Gflop/s",
               xlabel="flops of the separate stencils over compulsory bytes of the fused chain")
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8)
    return figure


def by_variant(dumps):
    """{(chain, precision): {variant: {number of the dump: its fastest record}}}"""
    result = {}
    for n, d in enumerate(dumps):
        for record in dump.timed(d.records):
            chain = result.setdefault((record["chain"], record["precision"]), {})
            best = chain.setdefault(variant_key(record), {})
            if n not in best or record["seconds"]["median"] < best[n]["seconds"]["median"]:
                best[n] = record
    if not result:
        raise BadInput(f"{dumps[0].path}: nothing was timed, or nothing matches --variant")
    return result


def bars(dumps):
    """The time of each variant in each dump."""
    chains = by_variant(dumps)
    thickness = 0.8 / len(dumps)
    figure, axes = panels([len(v) * max(1, 0.5 * len(dumps)) for v in chains.values()])
    for (key, variants), (ax,) in zip(chains.items(), axes):
        for row, records in enumerate(variants.values()):
            for n, record in records.items():
                s = {k: 1e6 * v for k, v in record["seconds"].items()}
                ax.barh(row - 0.4 + (n + 0.5) * thickness, s["median"], thickness,
                        color=COLOURS[n % len(COLOURS)], ecolor="#333333",
                        xerr=[[s["median"] - s["low"]], [s["high"] - s["median"]]])
        ax.set_title(", ".join(key))
        name_rows(ax, list(variants))
    axes[-1][0].set_xlabel("time [µs], with the 95 % interval of the median")
    axes[0][0].legend(handles=[Patch(color=COLOURS[n % len(COLOURS)], label=label)
                               for n, label in enumerate(dump.labels(dumps))],
                      loc="lower right", bbox_to_anchor=(1, 1), frameon=False)
    return figure


def choose_size(dumps):
    """What the dumps differ in: (name, size of each dump)."""
    vertices = [d.context["grid"]["vertices"] for d in dumps]
    levels = [d.context["levels"] for d in dumps]
    if len(set(vertices)) > 1 and len(set(levels)) > 1:
        raise BadInput(f"{dumps[-1].path}: grid size and levels both differ; give dumps with one "
                       "of them the same")
    return ("levels", levels) if len(set(levels)) > 1 else ("vertices", vertices)


def scaling(dumps):
    """Compulsory bytes over time, over the size of the problem: flat where a variant scales."""
    axis, sizes = choose_size(dumps)
    chains = by_variant(dumps)
    figure, axes = panels([9] * len(chains))
    for (key, variants), (ax,) in zip(chains.items(), axes):
        copies = {}
        for number, (name, records) in enumerate(variants.items()):
            order = sorted(records, key=lambda n: sizes[n])
            rates = [1e-9 * records[n]["bytes_per_second"] for n in order]
            ax.plot([sizes[n] for n in order], rates, marker=MARKERS[number % len(MARKERS)],
                    color=COLOURS[number % len(COLOURS)], label=name)
            copies.update({sizes[n]: 1e-9 * (records[n]["small_copy_bytes_per_second"] or numpy.nan)
                           for n in order})
        ax.plot(sorted(copies), [copies[s] for s in sorted(copies)], "--", color="#777777",
                label="copy of as many bytes")
        ax.set(title=", ".join(key), xlabel=axis, ylabel="compulsory bytes over time [GB/s]")
        logarithmic(ax, "x")
        ax.set_xticks(sorted(set(sizes)), [f"{size}" for size in sorted(set(sizes))])
        ax.set_xticks([], minor=True)
        ax.set_ylim(bottom=0)
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8)
    return figure
