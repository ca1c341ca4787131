"""Backends of GT4Py with their options, fields in its memory, and calls of a chain."""
import dataclasses
import functools
import os

BACKENDS = ("gtfn_cpu", "gtfn_gpu", "dace_cpu", "dace_gpu")
FUSIONS = ("separate", "program", "composed")
# Of DaCe's optimizer (gt_auto_optimize); gtfn has none that matter here.
OPTIONS = {
    "": {},
    "block_256x1": {"gpu_block_size_2d": (256, 1)},
    "kblock_10": {"blocking_size": 10, "blocking_only_if_independent_nodes": False,
                  "promote_independent_memlets_for_blocking": True,
                  "gpu_block_size_2d": (128, 1)}}


@dataclasses.dataclass(frozen=True)
class Variant:
    chain: str
    backend: str
    fusion: str
    option: str = ""

    @property
    def schedule(self):
        return self.backend.split("_")[0]

    @property
    def name(self):
        parts = (self.chain, "indirect", self.schedule, self.fusion, self.option)
        return "/".join(filter(None, parts))


def configure(gpu, cache_folder):
    """To be called before GT4Py is imported, which reads the environment then."""
    os.makedirs(cache_folder, exist_ok=True)
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # others run beside
    for name, value in {"BUILD_CACHE_LIFETIME": "persistent", "BUILD_CACHE_DIR": cache_folder,
                        "BUILD_JOBS": "0",  # compiled by this process, at once
                        "UNSTRUCTURED_HORIZONTAL_HAS_UNIT_STRIDE": str(int(gpu)),
                        "CMAKE_BUILD_TYPE": "release", "SKIP_DACE_WARNINGS": "1"}.items():
        os.environ.setdefault(f"GT4PY_{name}", value)


@functools.cache
def toolchain(backend, option):
    schedule, device = backend.split("_")
    gpu = device == "gpu"
    if schedule == "gtfn":
        from gt4py.next.program_processors.runners import gtfn

        return gtfn.make_gtfn_toolchain(gtfn.GTFNConfig(gpu=gpu))
    from gt4py.next.program_processors.runners.dace.workflow import backend as dace, factory
    import stencils

    arguments = dict(OPTIONS[option])
    if "blocking_size" in arguments:
        arguments["blocking_dims"] = [stencils.K]
    return dace.make_dace_toolchain(
        factory.DaCeConfig(gpu=gpu, auto_optimize=True),
        translation=functools.partial(factory.make_dace_translator, auto_optimize_args=arguments))


class Memory:
    """A problem's tables and fields where a backend wants them."""

    def __init__(self, problem, numbering, backend, xp):
        import gt4py.next as gtx
        import problem as suite
        import stencils

        self.problem, self.numbering, self.xp = problem, numbering, xp
        dimension, local = dimensions()
        allocator = toolchain(backend, "")
        self.tables = make_tables(problem, numbering, backend, xp)
        self.fields = {}
        for stage in problem.stages:
            for field in (*suite.INPUTS[stage], *suite.OUTPUTS[stage]):
                location, slots, by_level = suite.FIELDS[field]
                domain = {dimension[location]: problem.grid.counts[location]}
                if slots > 1:
                    domain[local[suite.TABLE[stage]]] = slots
                if by_level:
                    domain[stencils.K] = problem.levels
                if field not in self.fields:
                    self.fields[field] = gtx.zeros(domain, dtype=gtx.float64, allocator=allocator)
        for field in suite.chain_inputs(problem.chain):
            self.fill(field)

    def fill(self, field, levels_at_once=8):
        import problem as suite

        ids = self.xp.asarray(self.numbering.at[suite.FIELDS[field][0]])
        array = self.fields[field].ndarray
        _, slots, levels = self.problem.shape(field)
        for first in range(0, levels, levels_at_once):  # little memory
            part = slice(first, min(first + levels_at_once, levels))
            values = self.problem.values(field, ids, part, self.xp)
            if levels > 1:
                array[:, part] = values[:, 0]
            else:
                array[...] = values[:, :, 0] if slots > 1 else values[:, 0, 0]

    def spoil(self):
        """Nothing of an earlier run may pass for a result."""
        import problem as suite

        for stage in self.problem.stages:
            for field in suite.OUTPUTS[stage]:
                self.fields[field].ndarray[...] = self.xp.nan


def dimensions():
    """GT4Py's dimensions by location, and the local ones by table."""
    import stencils

    return ({"vertex": stencils.Vertex, "edge": stencils.Edge, "cell": stencils.Cell},
            {"e2c2v": stencils.E2C2VDim, "v2e": stencils.V2EDim, "c2v": stencils.C2VDim})


def connectivity(name, rows, backend):
    import gt4py.next as gtx
    import problem as suite

    (source, target), (dimension, local) = suite.ENDS[name], dimensions()
    return gtx.as_connectivity(
        {dimension[source]: rows.shape[0], local[name]: rows.shape[1]}, dimension[target], rows,
        allocator=toolchain(backend, ""), skip_value=None)


def make_tables(problem, numbering, backend, xp):
    """By the names of GT4Py's offsets."""
    import problem as suite

    return {name.upper(): connectivity(name, xp.asarray(numbering.table(problem, name)), backend)
            for name in (suite.TABLE[s] for s in problem.stages)}


def versions():
    """What a dump says of its program."""
    import importlib.metadata
    import platform

    found = {"python": platform.python_version()}
    for package in ("gt4py", "dace", "gridtools_cpp", "numpy", "cupy-cuda13x", "cupy-cuda12x"):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def programs_of(variant):
    """Names of the programs that a run calls: one, or one for each stencil."""
    import problem as suite

    if variant.fusion == "separate":
        return [(f"{stage}_separate", (stage,)) for stage in suite.CHAINS[variant.chain]]
    return [(f"{variant.chain}_{variant.fusion}", suite.CHAINS[variant.chain])]


def arguments_of(fusion, stages):
    """The fields of a program, and which stencil's number of points each of its sizes is."""
    import problem as suite

    sizes = {"nabla4": "edges", "interpolate": "vertices", "verts2cells": "cells"}
    made = [f for s in stages for f in suite.OUTPUTS[s]]
    read = [f for s in stages for f in suite.INPUTS[s] if f not in made]
    if fusion == "composed":  # what lies between the stencils is GT4Py's
        return read + list(suite.OUTPUTS[stages[-1]]), {sizes[stages[-1]]: stages[-1]}
    return read + made, {sizes[s]: s for s in stages}


def compiled(variant, program, stages, problem, tables):
    """The program with its sizes compiled in, as ICON's users have it, and those sizes."""
    import problem as suite
    import stencils

    _, sizes = arguments_of(variant.fusion, stages)
    numbers = {name: len(problem.domain[stage]) for name, stage in sizes.items()}
    numbers["levels"] = problem.levels
    numbers = {name: stencils.int32(n) for name, n in numbers.items()}
    offsets = {suite.TABLE[s].upper(): tables[suite.TABLE[s].upper()] for s in stages}
    ready = (getattr(stencils, program).with_backend(toolchain(variant.backend, variant.option))
             .with_compilation_options(enable_jit=False))
    ready.compile(offset_provider=offsets, **{name: [n] for name, n in numbers.items()})
    return ready, numbers, offsets


def make_call(variant, problem, memory):
    """A function that runs the chain once; it compiles what the cache does not have."""
    calls = []
    for program, stages in programs_of(variant):
        ready, numbers, offsets = compiled(variant, program, stages, problem, memory.tables)
        fields, _ = arguments_of(variant.fusion, stages)
        calls.append(functools.partial(ready, **{f: memory.fields[f] for f in fields}, **numbers,
                                       offset_provider=offsets))
    if len(calls) == 1:
        return calls[0]

    def run():
        for call in calls:
            call()
    return run
