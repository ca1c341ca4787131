"""Pictures of a torus from the JSON of `icobench_grid tables`.

A vertex (i, j) lies at x = j + i/2, y = i sqrt(3)/2. The torus is drawn as one period; what belongs
to the next period is drawn where it continues, dotted.
"""
import numpy
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from icobench.command import BadInput

NEEDED = ["name", "torus", "vertices", "edges", "cells", "chain", "e2v", "c2v", "v2e", "v2e2c2v",
          "c2v2e", "c2v2e2c2v", "computed", "edge_number"]
TABLES = [key for key in NEEDED if "2" in key]
MOST_NUMBERED, MOST_VERTICES = 150, 10000
ORIENTATIONS = [("#0072b2", "edge to (i, j+1)"), ("#d55e00", "edge to (i+1, j)"),
                ("#009e73", "edge to (i+1, j-1)")]
GREY, MARK, FILL = "#bbbbbb", "#cc79a7", "#f6dfea"


def check(tables, name):
    missing = [key for key in NEEDED if not isinstance(tables, dict) or key not in tables]
    if missing:
        raise BadInput(f"{name}: not the tables of a grid: {missing[0]} is missing")
    if not tables["torus"]:
        raise BadInput(f"{name}: only a torus can be drawn flat")
    if any(type(tables[key]) is not int for key in ("vertices", "edges", "cells")):
        raise BadInput(f"{name}: vertices, edges and cells have to be numbers")
    if tables["vertices"] > MOST_VERTICES:
        raise BadInput(f"{name}: more than {MOST_VERTICES} vertices; draw a smaller torus")
    torus = tables["torus"]
    if (not isinstance(torus, list) or [type(n) for n in torus] != [int, int]
            or min(torus) < 3 or torus[0] * torus[1] != tables["vertices"]):
        raise BadInput(f"{name}: torus does not fit the number of vertices")
    for key in TABLES:
        check_ids(tables, key, name)
    return tables


def check_ids(tables, key, name):
    """A row for each entity that the name begins with, of ids of those that it ends with."""
    counts = {"v": tables["vertices"], "e": tables["edges"], "c": tables["cells"]}
    try:
        ids = numpy.array(tables[key])
    except ValueError:
        ids = numpy.array(None)
    if ids.ndim != 2 or ids.dtype.kind != "i" or len(ids) != counts[key[0]]:
        raise BadInput(f"{name}: {key} is no table of {counts[key[0]]} rows")
    if ids.min() < -1 or ids.max() >= counts[key[-1]]:
        raise BadInput(f"{name}: {key} has ids beyond {counts[key[-1]] - 1}")


class Lattice:
    def __init__(self, tables):
        nx, ny = tables["torus"]
        i, j = numpy.meshgrid(range(nx), range(ny))  # id = j nx + i
        self.points = numpy.stack([(j + i / 2).ravel(), i.ravel() * 3 ** 0.5 / 2], axis=1)
        self.periods = numpy.array([[a * ny, b * nx * 3 ** 0.5 / 2]
                                    for a in (-2, -1, 0, 1, 2) for b in (-1, 0, 1)])

    def near(self, vertex, place):
        """The image of a vertex that is next to a place."""
        images = self.points[vertex] + self.periods
        return images[numpy.argmin(((images - place) ** 2).sum(axis=1))]

    def shape(self, vertices, place=None):
        """Corners of an edge or a cell, in one piece, near a place or beginning in the period."""
        first = self.points[vertices[0]] if place is None else self.near(vertices[0], place)
        return numpy.array([first] + [self.near(v, first) for v in vertices[1:]])

    def leaves(self, vertices):
        return not numpy.allclose(self.shape(vertices), self.points[vertices])


def draw_edges(axes, lattice, edges, **style):
    for outside in (False, True):
        lines = [lattice.shape(e) for e in edges if lattice.leaves(e) == outside]
        axes.add_collection(LineCollection(lines, linestyle=":" if outside else "-", **style))


def write(axes, place, text, colour="white", size=5.5, **more):
    axes.text(*place, text, color=colour, fontsize=size, ha="center", va="center", **more)


def finish(axes, title, handles=()):
    axes.set_title(title, fontsize=9, loc="left")
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.axis("off")
    if handles:
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3,
                    frameon=False, fontsize=7)


def draw_numbers(axes, tables, lattice, ordering):
    numbered = tables["vertices"] <= MOST_NUMBERED
    numbers = tables["edge_number"][ordering]
    patch = {"boxstyle": "round,pad=0.08", "fc": "white", "ec": "none", "alpha": 0.9}
    for orientation, (colour, _) in enumerate(ORIENTATIONS):
        ids = range(orientation, tables["edges"], 3)
        edges = [tables["e2v"][e] for e in ids]
        draw_edges(axes, lattice, edges, color=colour, linewidth=1)
        for e, ends in zip(ids, edges) if numbered else ():
            write(axes, lattice.shape(ends).mean(axis=0), numbers[e], colour, bbox=patch)
    axes.plot(*lattice.points.T, "o", color="black", markersize=9 if numbered else 2)
    if numbered:
        for v, place in enumerate(lattice.points):
            write(axes, place, v)
        for c, corners in enumerate(tables["c2v"]):
            write(axes, lattice.shape(corners).mean(axis=0), c, "#888888")
    handles = [Line2D([], [], color=colour, label=label) for colour, label in ORIENTATIONS]
    finish(axes, f"edges numbered {ordering}; vertices black, cells grey", handles)


def draw_domain(axes, tables, lattice):
    computed, handles = tables["computed"], []
    draw_edges(axes, lattice, tables["e2v"], color=GREY, linewidth=0.6)
    axes.plot(*lattice.points.T, "o", color=GREY, markersize=3)
    def legend(stage, location, **style):
        handles.append(Line2D([], [], label=f"{stage}: {len(computed[stage])} {location}", **style))
    if "verts2cells" in computed:
        corners = [lattice.shape(tables["c2v"][c]) for c in computed["verts2cells"]]
        axes.add_collection(PolyCollection(corners, fc="#f8e3b5", ec="none", zorder=0))
        legend("verts2cells", "cells", marker="s", color="#f8e3b5", linestyle="")
    if "nabla4" in computed:
        draw_edges(axes, lattice, [tables["e2v"][e] for e in computed["nabla4"]], color="#0072b2",
                   linewidth=1.4)
        legend("nabla4", "edges", color="#0072b2")
    if "interpolate" in computed:
        places = lattice.points[computed["interpolate"]]
        axes.plot(*places.T, "o", color="#d55e00", markersize=5)
        legend("interpolate", "vertices", marker="o", color="#d55e00", linestyle="")
    finish(axes, f"computed by {tables['chain']}; grey: halo, only read", handles)


def draw_neighbours(axes, lattice, tables, centre, edges, members, title):
    """Edges in colour, member vertices with their slots, near the centre."""
    draw_edges(axes, lattice, tables["e2v"], color=GREY, linewidth=0.6)
    axes.plot(*lattice.points.T, "o", color=GREY, markersize=3)
    lines = [lattice.shape(tables["e2v"][e], centre) for e in edges if e >= 0]
    axes.add_collection(LineCollection(lines, color="#0072b2", linewidth=2))
    for slot, vertex in enumerate(members):
        if vertex >= 0:
            place = lattice.near(vertex, centre)
            axes.plot(*place, "o", color="#0072b2", markersize=13)
            write(axes, place, slot, size=8)
            axes.annotate(vertex, place, (8, 6), textcoords="offset points", fontsize=6)
    finish(axes, title)
    axes.set_xlim(centre[0] - 2.8, centre[0] + 2.8)
    axes.set_ylim(centre[1] - 2.4, centre[1] + 2.4)


def draw_v2e2c2v(axes, tables, lattice, vertex):
    centre = lattice.points[vertex]
    axes.plot(*centre, "o", color=MARK, markersize=20)
    draw_neighbours(axes, lattice, tables, centre, tables["v2e"][vertex],
                    tables["v2e2c2v"][vertex], f"v2e2c2v of vertex {vertex}: its edges, the "
                    "vertices\nof their diamonds by slot, ids beside")


def draw_c2v2e2c2v(axes, tables, lattice, cell):
    corners = lattice.shape(tables["c2v"][cell])
    axes.add_collection(PolyCollection([corners], fc=FILL, ec=MARK, linewidth=4))
    draw_neighbours(axes, lattice, tables, corners.mean(axis=0), tables["c2v2e"][cell],
                    tables["c2v2e2c2v"][cell],
                    f"c2v2e2c2v of cell {cell}: the edges of its corners,\nthe vertices of their "
                    "diamonds by slot, ids beside")


PANELS = ("per_vertex", "per_orientation", "domain", "v2e2c2v", "c2v2e2c2v")


def chosen(number, what, default, tables):
    number = default if number is None else number
    if not 0 <= number < tables[what]:
        raise BadInput(f"{tables['name']}: has no number {number} among its {tables[what]} {what}")
    return number


def draw(tables, panels=None, vertex=None, cell=None):
    """The chosen panels, all by default, side by side in two columns."""
    nx, ny = tables["torus"]
    middle = (ny // 2) * nx + nx // 2
    vertex = chosen(vertex, "vertices", middle, tables)
    cell = chosen(cell, "cells", 2 * middle, tables)
    lattice = Lattice(tables)
    functions = {
        "per_vertex": lambda ax: draw_numbers(ax, tables, lattice, "per_vertex"),
        "per_orientation": lambda ax: draw_numbers(ax, tables, lattice, "per_orientation"),
        "domain": lambda ax: draw_domain(ax, tables, lattice),
        "v2e2c2v": lambda ax: draw_v2e2c2v(ax, tables, lattice, vertex),
        "c2v2e2c2v": lambda ax: draw_c2v2e2c2v(ax, tables, lattice, cell)}
    panels = panels or PANELS
    columns = min(2, len(panels))
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(7 * columns, 5 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, panel in zip(axes, panels):
        functions[panel](ax)
    for ax in axes[len(panels):]:
        ax.axis("off")
    return figure
