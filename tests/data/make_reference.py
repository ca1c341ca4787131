#!/usr/bin/python3
"""Writes the reference dumps of this folder (schema: src/problem/reference_file.hpp).

An implementation of its own, in NumPy, so that a mistake in the C++ code is not repeated here: the
tables of a torus come from the lattice and are compared with what the geometry says, those of the
other grids from their cells alone.

    make_reference.py [FOLDER]      needs python3-numpy and python3-h5py (HDF5 1.10 or later)

The random numbers are the same in every run. Inputs are multiples of 2^-14: they are exact in
float too, and the files stay small.
"""

import itertools
import pathlib
import sys
from dataclasses import dataclass

import h5py
import numpy as np

MISSING = -1
STAGES = {"nabla4": ("edge", "edges"), "interpolate": ("vertex", "vertices"),
          "verts2cells": ("cell", "cells"), "gradient": ("edge", "edges"),
          "divergence": ("cell", "cells")}

# name: (where, slots, depends on the level, description, units)
FIELDS = {
    "u_vert": ("vertex", 1, True, "first component of the velocity at vertices", "m s-1"),
    "v_vert": ("vertex", 1, True, "second component of the velocity at vertices", "m s-1"),
    "primal_normal_vert_v1": ("edge", 4, "vertical", "first component of the edge normal at the "
                              "vertices of its diamond", "1"),
    "primal_normal_vert_v2": ("edge", 4, "vertical", "second component of the edge normal at the "
                              "vertices of its diamond", "1"),
    "inv_vert_vert_length": ("edge", 1, "vertical", "inverse distance of the tips of the adjacent "
                             "cells", "m-1"),
    "inv_primal_edge_length": ("edge", 1, "vertical", "inverse length of the edge", "m-1"),
    "z_nabla2_e": ("edge", 1, True, "Laplacian of the normal velocity", "m-1 s-1"),
    "z_nabla4_e2": ("edge", 1, True, "Laplacian of the Laplacian of the normal velocity (nabla4)",
                    "m-3 s-1"),
    "ptr_coeff_1": ("vertex", 6, False, "coefficients of the first component, one for each edge of "
                    "v2e", "1"),
    "ptr_coeff_2": ("vertex", 6, False, "coefficients of the second component, one for each edge "
                    "of v2e", "1"),
    "p_u": ("vertex", 1, True, "first component of the vector reconstructed at vertices",
            "m-3 s-1"),
    "p_v": ("vertex", 1, True, "second component of the vector reconstructed at vertices",
            "m-3 s-1"),
    "cell_coeff_1": ("cell", 3, False, "coefficients of the first component, one for each corner "
                     "of c2v", "1"),
    "cell_coeff_2": ("cell", 3, False, "coefficients of the second component, one for each corner "
                     "of c2v", "1"),
    "p_cell": ("cell", 1, True, "value at cells", "m-3 s-1"),
    "psi_c": ("cell", 1, True, "scalar at cells", "1"),
    "inv_dual_edge_length": ("edge", 1, False, "inverse distance of the centres of the adjacent "
                             "cells", "m-1"),
    "vec_e": ("edge", 1, True, "component of a vector normal to the edge", "m-1"),
    "geofac_div": ("cell", 3, False, "factors of the divergence, one for each edge of c2e", "m-1"),
    "div_vec_c": ("cell", 1, True, "divergence at cells", "m-2"),
}
INPUTS = {
    "nabla4": ["u_vert", "v_vert", "primal_normal_vert_v1", "primal_normal_vert_v2",
               "inv_vert_vert_length", "inv_primal_edge_length", "z_nabla2_e"],
    "interpolate": ["z_nabla4_e2", "ptr_coeff_1", "ptr_coeff_2"],
    "verts2cells": ["p_u", "p_v", "cell_coeff_1", "cell_coeff_2"],
    "gradient": ["psi_c", "inv_dual_edge_length"],
    "divergence": ["vec_e", "geofac_div"],
}
OUTPUTS = {"nabla4": ["z_nabla4_e2"], "interpolate": ["p_u", "p_v"], "verts2cells": ["p_cell"],
           "gradient": ["vec_e"], "divergence": ["div_vec_c"]}
TABLES = {  # name: (rows, values, description)
    "e2v": ("edge", "vertex", "ends of an edge (ICON edge_vertices)"),
    "e2c": ("edge", "cell", "cells adjacent to an edge (ICON adjacent_cell_of_edge)"),
    "c2v": ("cell", "vertex", "corners of a cell (ICON vertex_of_cell)"),
    "v2e": ("vertex", "edge", "edges of a vertex (ICON edges_of_vertex), missing ones last"),
    "e2c2v": ("edge", "vertex", "diamond of an edge: both ends, then the tips of its cells "
              "e2c[0] and e2c[1]"),
}


@dataclass
class Mesh:
    name: str
    e2v: np.ndarray
    e2c: np.ndarray
    c2v: np.ndarray
    v2e: np.ndarray
    e2c2v: np.ndarray
    shape: tuple = None

    def c2e(self):
        """Sides of each cell: between its corners 0 and 1, 1 and 2, 2 and 0."""
        of_ends = [{frozenset(self.e2v[e]): e for e in np.flatnonzero((self.e2c == c).any(axis=1))}
                   for c in range(len(self.c2v))]
        return np.array([[of_ends[c][frozenset(side)] for side in ((a, b), (b, d), (d, a))]
                         for c, (a, b, d) in enumerate(self.c2v)])

    def count(self, where):
        return len({"vertex": self.v2e, "edge": self.e2v, "cell": self.c2v}[where])


# ---- grids


def tip(corners, ends):
    """The corner of a cell that is not an end of its side."""
    (other,) = set(corners) - set(ends)
    return other


def torus(nx, ny):
    """Vertex (i, j) has id j*nx + i and lies at x = j + i/2, y = i sqrt(3)/2 (edge length 1)."""

    def vertex(i, j):
        around, i = divmod(i, nx)  # nx rows are shifted by nx/2 columns
        return (j + around * (nx // 2)) % ny * nx + i

    north, east, southeast = range(3)
    diamond = [[(0, 0), (0, 1), (-1, 1), (1, 0)], [(0, 0), (1, 0), (0, 1), (1, -1)],
               [(0, 0), (1, -1), (1, 0), (0, -1)]]
    edges = [(east, -1, 0), (east, 0, 0), (north, 0, -1), (north, 0, 0), (southeast, 0, 0),
             (southeast, -1, 1)]
    corners = [[(0, 0), (0, 1), (1, 0)], [(1, 0), (0, 1), (1, 1)]]

    points = [(i, j) for j in range(ny) for i in range(nx)]
    e2c2v = np.array([[vertex(i + a, j + b) for a, b in diamond[c]]
                      for i, j in points for c in range(3)])
    v2e = np.array([[3 * vertex(i + a, j + b) + c for c, a, b in edges] for i, j in points])
    c2v = np.array([[vertex(i + a, j + b) for a, b in corners[half]]
                    for i, j in points for half in range(2)])
    # The first cell of an edge is the one whose tip the diamond names first.
    cells = {frozenset(c): n for n, c in enumerate(c2v)}
    e2c = np.array([[cells[frozenset([a, b, t])] for t in tips] for a, b, *tips in e2c2v])
    mesh = Mesh(f"torus:{nx}x{ny}", e2c2v[:, :2], e2c, c2v, v2e, e2c2v, (nx, ny))
    check_geometry(mesh)
    return mesh


def check_geometry(mesh):
    """Asserts that edges are the pairs at distance 1 on the periodic plane, cells the triples."""
    nx, ny = mesh.shape
    i, j = np.tile(np.arange(nx), ny), np.repeat(np.arange(ny), nx)
    position = np.stack([j + i / 2, i * np.sqrt(3) / 2], axis=1)
    images = np.array([[a * ny + b * nx / 2 - b * (nx // 2), b * nx * np.sqrt(3) / 2]
                       for a, b in itertools.product((-2, -1, 0, 1, 2), (-1, 0, 1))])
    gaps = position[:, None, None, :] - position[None, :, None, :] + images
    near = np.abs(np.hypot(gaps[..., 0], gaps[..., 1]) - 1).min(axis=2) < 1e-9
    assert (near.sum(axis=1) == 6).all()
    edges = {frozenset(e) for e in np.argwhere(near)}
    assert edges == {frozenset(e) for e in mesh.e2v} and len(edges) == len(mesh.e2v) == 3 * nx * ny
    for v, of_vertex in enumerate(mesh.v2e):
        assert set(of_vertex) == set(np.flatnonzero((mesh.e2v == v).any(axis=1)))
    for c in mesh.c2v:
        assert all(frozenset(side) in edges for side in itertools.combinations(c, 2))
    for ends, cells, tips in zip(mesh.e2v, mesh.e2c, mesh.e2c2v[:, 2:]):
        assert [tip(mesh.c2v[c], ends) for c in cells] == list(tips)
        assert set(tips) <= set(np.flatnonzero(near[ends[0]] & near[ends[1]]))


def from_cells(name, cells, rng):
    """The grid with these triangles. Ids are shuffled: nothing may depend on their order."""
    vertices = sorted({v for c in cells for v in c})
    rename = dict(zip(vertices, rng.permutation(len(vertices))))
    cells = [[rename[v] for v in cells[n]] for n in rng.permutation(len(cells))]
    sides = {}  # ends -> cells, in order of first occurrence
    for n, c in enumerate(cells):
        for a, b in ((c[0], c[1]), (c[1], c[2]), (c[2], c[0])):
            sides.setdefault((min(a, b), max(a, b)), []).append(n)
    sides = list(sides.items())
    sides = [sides[n] for n in rng.permutation(len(sides))]

    def padded(rows, width):
        return np.array([list(r) + [MISSING] * (width - len(r)) for r in rows])

    e2v = np.array([ends for ends, _ in sides])
    e2c2v = padded([[*ends, *(tip(cells[c], ends) for c in of_edge)] for ends, of_edge in sides], 4)
    v2e = padded([np.flatnonzero((e2v == v).any(axis=1)) for v in range(len(vertices))], 6)
    e2c = padded([of_edge for _, of_edge in sides], 2)
    return Mesh(name, e2v, e2c, np.array(cells), v2e, e2c2v)


def sphere(rng):
    """The icosahedron with each face divided into four: 42 vertices, 12 of them with five edges."""
    golden = (1 + np.sqrt(5)) / 2
    points = [np.roll([0, a, b * golden], r) for r in range(3) for a in (-1, 1) for b in (-1, 1)]
    near = [[abs(np.linalg.norm(p - q) - 2) < 1e-9 for q in points] for p in points]
    faces = [f for f in itertools.combinations(range(12), 3)
             if all(near[a][b] for a, b in itertools.combinations(f, 2))]
    assert len(faces) == 20
    cells = []
    for a, b, c in faces:  # a vertex is a pair of the old ones; a corner is paired with itself
        ab, bc, ca = (tuple(sorted(side)) for side in ((a, b), (b, c), (c, a)))
        cells += [[(a, a), ab, ca], [(b, b), bc, ab], [(c, c), ca, bc], [ab, bc, ca]]
    mesh = from_cells("sphere: icosahedron, each face divided into four", cells, rng)
    assert (mesh.count("vertex"), mesh.count("edge"), mesh.count("cell")) == (42, 120, 80)
    assert (mesh.v2e[:, 5] == MISSING).sum() == 12 and (mesh.v2e[:, 4] != MISSING).all()
    return mesh


def hexagon(radius, rng):
    """The vertices of a triangular lattice at most `radius` steps from one in the middle."""
    inside = {(i, j) for i, j in itertools.product(range(-radius, radius + 1), repeat=2)
              if abs(i + j) <= radius}
    cells = [c for i, j in itertools.product(range(-radius - 1, radius + 1), repeat=2)
             for c in ([(i, j), (i, j + 1), (i + 1, j)], [(i + 1, j), (i, j + 1), (i + 1, j + 1)])
             if inside.issuperset(c)]
    mesh = from_cells(f"hexagon of radius {radius}, limited area", cells, rng)
    assert mesh.count("vertex") - mesh.count("edge") + mesh.count("cell") == 1
    assert mesh.count("cell") == 6 * radius**2
    return mesh


# ---- where and what the stages compute


def rectangle(mesh, first, last, per_vertex):
    """Entities of the vertices (i, j) from `first` up to `last` before the end."""
    nx, ny = mesh.shape
    return np.array(sorted(per_vertex * (j * nx + i) + c for i in range(first, nx - last)
                           for j in range(first, ny - last) for c in range(per_vertex)))


def torus_domain(mesh, stages, halo):
    if stages in (["verts2cells"], ["divergence"]):
        return {stages[0]: rectangle(mesh, halo - 1, halo, 2)}
    if stages == ["interpolate"]:
        return {"interpolate": rectangle(mesh, halo, halo, 1)}
    everywhere = {"nabla4": rectangle(mesh, halo, halo, 3),
                  "interpolate": rectangle(mesh, halo + 1, halo + 1, 1),
                  "verts2cells": rectangle(mesh, halo + 1, halo + 2, 2),
                  "gradient": rectangle(mesh, halo, halo, 3),
                  "divergence": rectangle(mesh, halo, halo + 1, 2)}
    return {s: everywhere[s] for s in stages}


def whole_domain(mesh, stages):
    """Everything whose neighbours exist and, if an earlier stage computes them, are computed."""
    complete = (mesh.e2c != MISSING).all(axis=1)
    domain = {"nabla4": np.flatnonzero(complete)}
    domain["interpolate"] = np.array(
        [v for v, edges in enumerate(mesh.v2e) if complete[edges[edges != MISSING]].all()])
    corners = np.isin(mesh.c2v, domain["interpolate"])
    domain["verts2cells"] = np.flatnonzero(corners.all(axis=1) | ("interpolate" not in stages))
    domain["gradient"] = domain["nabla4"]
    domain["divergence"] = np.flatnonzero(complete[mesh.c2e()].all(axis=1) |
                                          ("gradient" not in stages))
    return {s: domain[s] for s in stages}


def make_inputs(mesh, stages, vertical, levels, rng):
    written = [f for s in stages for f in OUTPUTS[s]]
    values = {}
    for name in (f for f in FIELDS for s in stages if f in INPUTS[s] and f not in written):
        where, slots, by_level, *_ = FIELDS[name]
        extents = [mesh.count(where), slots, levels if has_levels(by_level, vertical) else 1]
        values[name] = rng.integers(1 - 10 * 2**14, 10 * 2**14, extents) / 2**14
        if name.startswith("ptr_coeff"):
            values[name][mesh.v2e == MISSING] = 0
    return values


def has_levels(by_level, vertical):
    return vertical if by_level == "vertical" else by_level


def nabla4(mesh, f):
    u, v = f["u_vert"][mesh.e2c2v, 0], f["v_vert"][mesh.e2c2v, 0]  # edge, diamond slot, level
    along = u * f["primal_normal_vert_v1"] + v * f["primal_normal_vert_v2"]
    z = f["z_nabla2_e"][:, 0]
    across_length, edge_length = f["inv_vert_vert_length"][:, 0], f["inv_primal_edge_length"][:, 0]
    tangential, normal = along[:, :2].sum(axis=1), along[:, 2:].sum(axis=1)
    return [4 * ((normal - 2 * z) * across_length**2 + (tangential - 2 * z) * edge_length**2)]


def interpolate(mesh, f):
    p_e = f["z_nabla4_e2"][mesh.v2e, 0]  # vertex, slot, level
    p_e[mesh.v2e == MISSING] = 0
    return [(p_e * f[c]).sum(axis=1) for c in ("ptr_coeff_1", "ptr_coeff_2")]


def verts2cells(mesh, f):
    p_u, p_v = f["p_u"][mesh.c2v, 0], f["p_v"][mesh.c2v, 0]  # cell, corner, level
    return [(p_u * f["cell_coeff_1"] + p_v * f["cell_coeff_2"]).sum(axis=1) / 2]


def gradient(mesh, f):
    psi = f["psi_c"][mesh.e2c, 0]  # edge, cell, level
    return [(psi[:, 1] - psi[:, 0]) * f["inv_dual_edge_length"][:, 0]]


def divergence(mesh, f):
    return [(f["vec_e"][mesh.c2e(), 0] * f["geofac_div"]).sum(axis=1)]


def compute(mesh, stages, domain, inputs):
    fields = dict(inputs)
    for stage in stages:
        for name, values in zip(OUTPUTS[stage], globals()[stage](mesh, fields)):
            fields[name] = np.full_like(values, np.nan)[:, None]
            fields[name][domain[stage], 0] = values[domain[stage]]
            assert np.isfinite(fields[name][domain[stage]]).all()
    return {f: fields[f] for s in stages for f in OUTPUTS[s]}


# ---- files


def create(path):
    """An HDF5 file in the format of 1.10, whose metadata has checksums, and without times."""
    access = h5py.h5p.create(h5py.h5p.FILE_ACCESS)
    properties = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    access.set_libver_bounds(h5py.h5f.LIBVER_LATEST, h5py.h5f.LIBVER_LATEST)
    properties.set_obj_track_times(False)
    file = h5py.File(h5py.h5f.create(bytes(path), h5py.h5f.ACC_TRUNC, properties, access))
    without_times = h5py.h5p.create(h5py.h5p.GROUP_CREATE)
    without_times.set_obj_track_times(False)
    for group in (b"tables", b"domain", b"inputs", b"outputs"):
        h5py.h5g.create(file.id, group, gcpl=without_times)
    return file


def write_dataset(file, name, values, description, axes, units):
    data = file.create_dataset(name, data=values, chunks=values.shape, shuffle=True,
                               compression="gzip", compression_opts=9, fletcher32=True,
                               track_times=False)
    # Strings of fixed length: the checksum of the object covers them.
    for key, text in (("description", description), ("axes", axes), ("units", units)):
        data.attrs[key] = np.bytes_(text)


def write_fields(file, group, fields, vertical):
    for name, values in fields.items():
        where, slots, by_level, description, units = FIELDS[name]
        leveled = has_levels(by_level, vertical)
        axes = where + (" slot" if slots > 1 else "") + (" level" if leveled else "")
        keep = values.shape[:1] + (values.shape[1:2] if slots > 1 else ())
        values = values.reshape(keep + (values.shape[2:] if leveled else ()))
        write_dataset(file, f"{group}/{name}", values, description, axes, units)


def write(path, mesh, chain, levels, halo, rng):
    vertical = "vertical" in chain
    stages = [s for s in STAGES if s in chain.split("_")]
    domain = torus_domain(mesh, stages, halo) if halo else whole_domain(mesh, stages)
    inputs = make_inputs(mesh, stages, vertical, levels, rng)
    outputs = compute(mesh, stages, domain, inputs)
    with create(path) as file:
        for key, text in (("schema", "icobench-reference-1"), ("generator", "make_reference.py"),
                          ("chain", chain), ("grid", mesh.name), ("precision", "double")):
            file.attrs[key] = np.bytes_(text)
        file.attrs["levels"], file.attrs["halo"] = np.int32(levels), np.int32(halo)
        if mesh.shape:
            file.attrs["shape"] = np.array(mesh.shape, np.int32)
        for name, (rows, ids, description) in TABLES.items():
            write_dataset(file, f"tables/{name}", getattr(mesh, name).astype(np.int32), description,
                          f"{rows} slot", f"id of {ids}, -1 if missing")
        for stage in stages:
            where, plural = STAGES[stage]
            write_dataset(file, f"domain/{plural}", domain[stage].astype(np.int32),
                          f"where {stage} is computed", "position", f"id of {where}")
        write_fields(file, "inputs", inputs, vertical)
        write_fields(file, "outputs", outputs, vertical)


def main(folder):
    whole = "nabla4_interpolate_verts2cells"
    shuffle = np.random.default_rng(1)
    dumps = [  # grid, chain, levels, halo
        ("torus_10x8", torus(10, 8), "nabla4", 4, 2),
        ("torus_8x7", torus(8, 7), "interpolate", 4, 1),
        ("torus_12x11", torus(12, 11), "verts2cells", 2, 4),
        ("torus_12x9", torus(12, 9), "nabla4_vertical_interpolate", 3, 2),
        ("torus_10x8", torus(10, 8), whole, 5, 2),
        ("torus_6x5", torus(6, 5), whole, 3, 0),
        ("sphere", sphere(shuffle), whole, 3, 0),
        ("limited_area", hexagon(3, shuffle), whole, 3, 0),
        ("torus_10x8", torus(10, 8), "gradient", 3, 1),
        ("torus_8x7", torus(8, 7), "divergence", 3, 1),
        ("torus_10x8", torus(10, 8), "gradient_divergence", 4, 2),
        ("small_limited_area", hexagon(2, shuffle), "gradient_divergence", 3, 0),
    ]
    for n, (name, mesh, chain, levels, halo) in enumerate(dumps):
        path = folder / f"{name}_halo{halo}_k{levels}_{chain}.h5"
        write(path, mesh, chain, levels, halo, np.random.default_rng(42 + n))
        print(f"{path}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    given = sys.argv[1:2]
    main(pathlib.Path(given[0]) if given else pathlib.Path(__file__).resolve().parent)
