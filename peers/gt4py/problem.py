"""The suite's problem: chains, grid, numbering, input fields and the result to expect.

A problem is read from a reference file (src/problem/reference_file.hpp) or made as
src/problem/problem.cpp makes it: bit for bit the same. Fields are numbered as grids/numbering.cpp
numbers them for tables: computed entities first, so that each stencil runs over one range.
"""
import dataclasses
import functools
import pathlib
import sys

import numpy as np

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from icobench.command import BadInput

MISSING = -1
STENCILS = ("nabla4", "interpolate", "verts2cells")
# Where a stencil's results lie, the table that it reads through, and what it reads and writes.
LOCATION = {"nabla4": "edge", "interpolate": "vertex", "verts2cells": "cell"}
TABLE = {"nabla4": "e2c2v", "interpolate": "v2e", "verts2cells": "c2v"}
INPUTS = {
    "nabla4": ("u_vert", "v_vert", "primal_normal_vert_v1", "primal_normal_vert_v2",
               "inv_vert_vert_length", "inv_primal_edge_length", "z_nabla2_e"),
    "interpolate": ("z_nabla4_e2", "ptr_coeff_1", "ptr_coeff_2"),
    "verts2cells": ("p_u", "p_v", "cell_coeff_1", "cell_coeff_2")}
OUTPUTS = {"nabla4": ("z_nabla4_e2",), "interpolate": ("p_u", "p_v"), "verts2cells": ("p_cell",)}
FLOPS = {"nabla4": 21, "interpolate": 22, "verts2cells": 12}  # for each point and level
CHAINS = {"nabla4": STENCILS[:1], "interpolate": STENCILS[1:2], "verts2cells": STENCILS[2:],
          "nabla4_interpolate": STENCILS[:2], "nabla4_interpolate_verts2cells": STENCILS}
HALO = {"nabla4": 2, "interpolate": 1, "verts2cells": 4, "nabla4_interpolate": 2,
        "nabla4_interpolate_verts2cells": 2}
# Source and target of each table.
ENDS = {"e2v": ("edge", "vertex"), "e2c2v": ("edge", "vertex"), "v2e": ("vertex", "edge"),
        "c2v": ("cell", "vertex")}
# (location, slots, depends on the level); the order is that of the suite's enum and makes the seed.
FIELDS = {
    "u_vert": ("vertex", 1, True), "v_vert": ("vertex", 1, True),
    "primal_normal_vert_v1": ("edge", 4, False), "primal_normal_vert_v2": ("edge", 4, False),
    "inv_vert_vert_length": ("edge", 1, False), "inv_primal_edge_length": ("edge", 1, False),
    "z_nabla2_e": ("edge", 1, True), "z_nabla4_e2": ("edge", 1, True),
    "ptr_coeff_1": ("vertex", 6, False), "ptr_coeff_2": ("vertex", 6, False),
    "p_u": ("vertex", 1, True), "p_v": ("vertex", 1, True),
    "cell_coeff_1": ("cell", 3, False), "cell_coeff_2": ("cell", 3, False),
    "p_cell": ("cell", 1, True)}

# Neighbours on the torus as offsets (di, dj) of the owner, or (colour, di, dj) of an edge.
DIAMOND = (((0, 0), (0, 1), (-1, 1), (1, 0)), ((0, 0), (1, 0), (0, 1), (1, -1)),
           ((0, 0), (1, -1), (1, 0), (0, -1)))
EDGES_OF_VERTEX = ((1, -1, 0), (1, 0, 0), (0, 0, -1), (0, 0, 0), (2, 0, 0), (2, -1, 1))
CORNERS = (((0, 0), (0, 1), (1, 0)), ((1, 0), (0, 1), (1, 1)))


def chain_inputs(chain):
    stages = CHAINS[chain]
    written = {f for s in stages for f in OUTPUTS[s]}
    return [f for f in FIELDS if f not in written and any(f in INPUTS[s] for s in stages)]


@dataclasses.dataclass
class Grid:
    name: str
    shape: tuple | None  # nx, ny of a torus
    counts: dict  # by location
    tables: dict  # ids from 0, MISSING for none


def parse_torus(text):
    try:
        nx, ny = map(int, text.removeprefix("torus:").split("x"))
    except ValueError:
        raise BadInput(f"'{text}' is not a torus: expected torus:NXxNY with two integers") from None
    if nx < 4 or nx % 2 or ny < 3:
        raise BadInput(f"{text}: nx must be even and at least 4, ny at least 3")
    return nx, ny


@functools.cache
def make_torus(text):
    nx, ny = parse_torus(text)
    j, i = np.divmod(np.arange(nx * ny), nx)

    def wrap(di, dj):
        turns = (i + di) // nx  # nx rows are shifted by nx / 2 columns
        return (j + dj + turns * (nx // 2)) % ny * nx + (i + di - turns * nx)

    e2c2v = np.empty((nx * ny, 3, 4), np.int32)
    v2e = np.empty((nx * ny, 6), np.int32)
    c2v = np.empty((nx * ny, 2, 3), np.int32)
    for colour in range(3):
        for slot, offset in enumerate(DIAMOND[colour]):
            e2c2v[:, colour, slot] = wrap(*offset)
    for slot, (colour, *offset) in enumerate(EDGES_OF_VERTEX):
        v2e[:, slot] = 3 * wrap(*offset) + colour
    for half in range(2):
        for slot, offset in enumerate(CORNERS[half]):
            c2v[:, half, slot] = wrap(*offset)
    e2c2v = e2c2v.reshape(-1, 4)
    return Grid(f"torus:{nx}x{ny}", (nx, ny),
                {"vertex": nx * ny, "edge": 3 * nx * ny, "cell": 2 * nx * ny},
                {"e2v": e2c2v[:, :2], "e2c2v": e2c2v, "v2e": v2e, "c2v": c2v.reshape(-1, 3)})


def torus_domain(shape, chain, halo):
    """Ids that each stencil computes on a torus, the margins of grids/domain.cpp."""
    (nx, ny), alone = shape, len(CHAINS[chain]) == 1
    margins = {"nabla4": (halo, halo),
               "interpolate": (halo, halo) if alone else (halo + 1, halo + 1),
               "verts2cells": (halo - 1, halo) if alone else (halo + 1, halo + 2)}
    owned = {"nabla4": 3, "interpolate": 1, "verts2cells": 2}
    result = {}
    for s in CHAINS[chain]:
        first, last = margins[s] if halo > 0 else (0, 0)
        if min(nx, ny) - first - last < 1:
            raise BadInput(f"torus:{nx}x{ny}: a halo of {halo} leaves nothing for {s} to compute")
        owners = np.arange(nx * ny).reshape(ny, nx)[first:ny - last, first:nx - last].ravel()
        result[s] = (owned[s] * owners[:, None] + np.arange(owned[s])).ravel()
    return result


def uniform(field, places, xp=np):
    """Values in (-10, 10) of splitmix64, as problem.cpp has them; `places` are positions."""
    seed = (list(FIELDS).index(field) + 1 << 48) + 0x9e3779b97f4a7c15
    x = places.astype(xp.uint64) + xp.uint64(seed % 2**64)
    x = (x ^ (x >> xp.uint64(30))) * xp.uint64(0xbf58476d1ce4e5b9)
    x = (x ^ (x >> xp.uint64(27))) * xp.uint64(0x94d049bb133111eb)
    x ^= x >> xp.uint64(31)
    return ((x >> xp.uint64(11)).astype(xp.float64) * 2.0**-53 - 0.5) * 20.0


class Problem:
    """A chain on a grid. Arrays of fields are (entity, slot, level) in the grid's own numbering."""

    def __init__(self, chain, grid, levels, halo, domain, stored=None):
        self.chain, self.grid, self.levels, self.halo = chain, grid, levels, halo
        self.stages, self.domain, self.stored = CHAINS[chain], domain, stored or {}

    def shape(self, field):
        location, slots, by_level = FIELDS[field]
        return self.grid.counts[location], slots, self.levels if by_level else 1

    def values(self, field, ids, levels, xp=np):
        """An input's values at entities `ids` and the slice `levels`, as xp's array."""
        _, slots, count = self.shape(field)
        levels = levels if count > 1 else slice(0, 1)
        if field in self.stored:
            return xp.asarray(self.stored[field][:, :, levels])[ids]
        places = (ids[:, None] * slots + xp.arange(slots))[:, :, None] * count
        result = uniform(field, places + xp.arange(count)[levels], xp)
        if field in ("ptr_coeff_1", "ptr_coeff_2"):  # a pentagon's missing edge does not count
            result *= (xp.asarray(self.grid.tables["v2e"])[ids] != MISSING)[:, :, None]
        return result

    def expected(self, levels, xp=np):
        """Outputs of all stages, (computed entity, level), from the grid's tables by SPEC 4."""
        tables = {name: xp.asarray(self.grid.tables[name]) for name in ("e2c2v", "v2e", "c2v")}
        results = {}

        @functools.cache
        def whole(name):
            """A field over all entities; NaN where nothing is computed."""
            if name not in results:
                return self.values(name, xp.arange(self.shape(name)[0]), levels, xp)[:, 0]
            stage = next(s for s in self.stages if name in OUTPUTS[s])
            result = xp.full((self.shape(name)[0], results[name].shape[1]), xp.nan)
            result[xp.asarray(self.domain[stage])] = results[name]
            return result

        for s in self.stages:
            ids = xp.asarray(self.domain[s])
            rows = tables[TABLE[s]][ids]

            def own(name, ids=ids):
                return self.values(name, ids, levels, xp)

            def sums(name, coefficients, slots, rows=rows):
                total = 0
                for slot in slots:  # a missing neighbour's coefficient is 0
                    term = whole(name)[xp.maximum(rows[:, slot], 0)] * coefficients[:, slot]
                    total = total + xp.where(rows[:, slot, None] == MISSING, 0, term)
                return total

            if s == "nabla4":
                n1, n2 = own("primal_normal_vert_v1"), own("primal_normal_vert_v2")
                z = own("z_nabla2_e")[:, 0]
                tangential, normal = (sums("u_vert", n1, slots) + sums("v_vert", n2, slots)
                                      for slots in ((0, 1), (2, 3)))
                results["z_nabla4_e2"] = 4 * (
                    (normal - 2 * z) * own("inv_vert_vert_length")[:, 0] ** 2 +
                    (tangential - 2 * z) * own("inv_primal_edge_length")[:, 0] ** 2)
            elif s == "interpolate":
                for out, coefficients in (("p_u", "ptr_coeff_1"), ("p_v", "ptr_coeff_2")):
                    results[out] = sums("z_nabla4_e2", own(coefficients), range(6))
            else:
                results["p_cell"] = (sums("p_u", own("cell_coeff_1"), range(3)) +
                                     sums("p_v", own("cell_coeff_2"), range(3))) / 2
        return results

    def traffic(self):
        """Bytes and flops by the suite's model (src/problem/traffic.cpp), doubles."""
        def size(field, entities):
            _, slots, levels = self.shape(field)
            return 8 * entities * slots * levels

        def touched(stage, ids):
            marked = np.zeros(self.grid.counts[ENDS[TABLE[stage]][1]] + 1, bool)
            marked[self.grid.tables[TABLE[stage]][ids]] = True  # MISSING marks the last
            return np.flatnonzero(marked[:-1])

        fused = written = separate = flops = 0
        made = {f for s in self.stages for f in OUTPUTS[s]}
        needed = self.domain[self.stages[-1]]
        for s in reversed(self.stages):
            computed, needed_rows = self.domain[s], touched(s, needed)
            for f in INPUTS[s]:
                at_point = FIELDS[f][0] == LOCATION[s]
                separate += size(f, len(computed) if at_point else len(touched(s, computed)))
                if f not in made:
                    fused += size(f, len(needed) if at_point else len(needed_rows))
            for f in OUTPUTS[s]:
                separate += size(f, len(computed))
                written += size(f, len(computed)) if s == self.stages[-1] else 0
            flops += len(computed) * self.levels * FLOPS[s]
            needed = needed_rows
        return {"fused_bytes": fused + written, "fused_written_bytes": written,
                "separate_bytes": separate, "flops": flops}


def make(chain, torus, levels, halo=None):
    grid = make_torus(torus)
    halo = HALO[chain] if halo is None else halo
    return Problem(chain, grid, levels, halo, torus_domain(grid.shape, chain, halo))


def read(path, levels=None, fields=True):
    """The problem of a reference file, and its outputs by field; None without `fields`.

    With `levels` that are not the file's, grid and domain are the file's, inputs are made anew, and
    there are no outputs.
    """
    import h5py

    if not pathlib.Path(path).is_file():  # a pipe would wait
        raise BadInput(f"{path}: is no regular file")
    try:
        with h5py.File(path) as file:
            attributes = dict(file.attrs)
            text = {k: v.decode() if isinstance(v, bytes) else v for k, v in attributes.items()}
            if text.get("schema") != "icobench-reference-1" or text["precision"] != "double":
                raise BadInput(f"{path}: is no reference file of schema icobench-reference-1 in "
                               "double (icobench_reference write)")
            if text["chain"] not in CHAINS:
                raise BadInput(f"{path}: chain {text['chain']}: "
                               f"expected one of {', '.join(CHAINS)}")
            tables = {name: file[f"tables/{name}"][:] for name in ENDS}
            domain = {s: file["domain/" + {"edge": "edges", "vertex": "vertices",
                                           "cell": "cells"}[LOCATION[s]]][:].astype(np.int64)
                      for s in CHAINS[text["chain"]]}
            shape = tuple(map(int, text["shape"])) if "shape" in text else None
            counts = {"vertex": len(tables["v2e"]), "edge": len(tables["e2v"]),
                      "cell": len(tables["c2v"])}
            problem = Problem(text["chain"], Grid(text["grid"], shape, counts, tables),
                              int(levels or text["levels"]), int(text["halo"]), domain)
            if not fields or problem.levels != int(text["levels"]):
                return problem, None
            for f in chain_inputs(problem.chain):
                problem.stored[f] = file[f"inputs/{f}"][:].reshape(problem.shape(f))
            outputs = {f: file[f"outputs/{f}"][:].reshape(problem.shape(f))[:, 0]
                       for s in problem.stages for f in OUTPUTS[s]}
            return problem, outputs
    except (OSError, KeyError) as error:
        raise BadInput(f"{path}: cannot be read as a reference file: {error}") from error


class Numbering:
    """Places of entities in memory: those that the chain computes first, the others after them."""

    def __init__(self, problem, ordering):
        grid, self.at = problem.grid, {}  # location: the grid's id at each place
        for stage, location in LOCATION.items():
            at = np.arange(grid.counts[location])
            if location == "edge" and ordering == "per_orientation" and grid.shape:
                at = at.reshape(-1, 3).T.ravel()
            if stage in problem.domain:
                computed = np.zeros(len(at), bool)
                computed[problem.domain[stage]] = True
                at = np.concatenate([at[computed[at]], at[~computed[at]]])
            self.at[location] = at
        self.place = {location: np.argsort(at) for location, at in self.at.items()}

    def table(self, problem, name):
        """The table in places; some valid neighbour stands for a missing one."""
        source, target = ENDS[name]
        rows = problem.grid.tables[name][self.at[source]]
        filled = np.where(rows == MISSING, np.maximum(rows[:, :1], 0), rows)
        return np.ascontiguousarray(self.place[target][filled].astype(np.int32))
