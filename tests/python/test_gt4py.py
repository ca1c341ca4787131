"""peers/gt4py: its problem is the suite's, its programs compute it, its dumps are dumps.

Needs Python 3.12 or later and packages from PyPI; skipped with a line where they cannot be had.
Programs are compiled once in the build folder.
"""
import json
import os
import shutil
import subprocess
import sys
import unittest

import support
import synthetic
from icobench import dump

PEER = support.ROOT / "peers" / "gt4py"
VENV = support.BUILD / "gt4py-venv"
TORUS = support.ROOT / "tests/data/torus_10x8_halo2_k5_nabla4_interpolate_verts2cells.h5"
SPHERE = support.ROOT / "tests/data/sphere_halo0_k3_nabla4_interpolate_verts2cells.h5"
CHAINS = ("nabla4", "interpolate", "verts2cells", "nabla4_interpolate",
          "nabla4_interpolate_verts2cells")

SAME_PROBLEM = """
import sys, numpy as np, problem
for chain in sys.argv[2:]:
    for halo in (None, 0):
        path = f"{sys.argv[1]}/{chain}-{halo}.h5"
        (read, outputs), made = problem.read(path), problem.make(chain, "torus:16x15", 4, halo)
        for name in problem.ENDS:
            assert np.array_equal(read.grid.tables[name], made.grid.tables[name]), name
        for stage in made.stages:
            assert np.array_equal(read.domain[stage], made.domain[stage]), (chain, halo, stage)
        levels = slice(0, 4)
        for field in problem.chain_inputs(chain):
            values = made.values(field, np.arange(made.shape(field)[0]), levels)
            assert np.array_equal(read.stored[field][:, :, :values.shape[2]], values), field
        for field, values in made.expected(levels).items():
            stage = next(s for s in made.stages if field in problem.OUTPUTS[s])
            want = outputs[field][made.domain[stage]]
            assert abs(values - want).max() <= 1e-14 * abs(want).max(), field
        print(chain, halo, "same")
"""


class Gt4py(support.ScriptTest):
    @classmethod
    def setUpClass(cls):
        if not (PEER / "run").exists():
            raise unittest.SkipTest("no peers/gt4py")
        cls.environment = os.environ | {
            "ICOBENCH_GT4PY_VENV": str(VENV), "OMP_NUM_THREADS": "2",
            "GT4PY_CMAKE_BUILD_TYPE": "debug"}  # faster to compile
        # Where there is a GPU its packages are not needed here.
        made = subprocess.run([PEER / "run", "--help"], capture_output=True, text=True,
                              env=cls.environment, check=False)
        if made.returncode == 77:
            raise unittest.SkipTest(made.stderr.strip().splitlines()[-1])
        if made.returncode:
            raise AssertionError(made.stderr)

    def bench(self, *arguments, status=0):
        line = [PEER / "run", "--backends", "gtfn_cpu,dace_cpu", "--output", self.folder,
                "--cache-folder", support.BUILD / "gt4py-cache", "--budget", "0.02", *arguments]
        result = subprocess.run([str(word) for word in line], capture_output=True, text=True,
                                env=self.environment, check=False)
        log = self.folder / "gt4py.log"
        said = result.stdout + result.stderr + (log.read_text()[-4000:] if log.exists() else "")
        self.assertEqual(result.returncode, status, said)
        return result

    def python(self, code, *arguments):
        return subprocess.run([VENV / "bin/python", "-c", code, *map(str, arguments)], text=True,
                              capture_output=True, check=True, cwd=PEER).stdout

    def test_the_problem_is_the_suites(self):
        """Made from the seed, tables, domain and inputs are a reference file's, bit for bit."""
        for chain in CHAINS:
            for halo in (None, 0):
                subprocess.run([self.program("icobench_reference"), "write", chain, "torus:16x15",
                                self.folder / f"{chain}-{halo}.h5", "--levels", "4",
                                *(("--halo", str(halo)) if halo is not None else ())], check=True)
        self.assertEqual(self.python(SAME_PROBLEM, self.folder, *CHAINS).count("same"), 10)

    def test_the_traffic_is_the_suites(self):
        out = self.folder / "ours.json"
        subprocess.run([self.program("bench_all"), "--backend", "cpu", "--grid", "torus:12x11",
                        "--levels", "3", "--verify-only", "--dump", out], check=True,
                       capture_output=True)
        ours = {r["chain"]: r["traffic"] for r in dump.read(out).records if r["chain"] in CHAINS}
        code = ("import json, problem, sys; print(json.dumps({chain: problem.make(chain, "
                "'torus:12x11', 3).traffic() for chain in sys.argv[1:]}))")
        self.assertTrue(ours)
        self.assertEqual(json.loads(self.python(code, *ours)), ours)

    def test_values_and_dumps(self):
        self.bench("--grid", TORUS, "--fusions", "separate,composed", "--options", "default")
        self.bench("--grid", SPHERE, "--fusions", "composed", "--options", "default")
        for cache in ("cold", "warm"):
            torus = dump.read(self.folder / f"gt4py-{TORUS.stem}-{cache}.json")
            sphere = dump.read(self.folder / f"gt4py-{SPHERE.stem}-{cache}.json")
            self.assertEqual({r["variant"].split("/", 1)[1] for r in torus.records},
                             {f"indirect/{schedule}/{fusion}" for schedule in ("gtfn", "dace")
                              for fusion in ("separate", "composed")})
            self.assertEqual(len(sphere.records), 2)
            for one in torus, sphere:
                self.assertRegex(one.peer(), r"^GT4Py 1\.2\.3$")
                self.assertEqual(one.context["cache"], cache)
                for record in one.records:
                    self.assertEqual((record["status"], record["backend"]), ("ok", "cpu"))
                    self.assertLess(record["verification"]["max_error"], 1e-14)
        self.assertIn("indirect/dace/composed", self.run_script(
            "compare", self.folder / f"gt4py-{TORUS.stem}-warm.json"))

    def test_wrong_values_are_found(self):
        path = self.folder / "wrong.h5"
        shutil.copy(TORUS, path)
        self.python("import h5py, sys\nwith h5py.File(sys.argv[1], 'a') as f:\n"
                    "    f['outputs/p_cell'][f['domain/cells'][3], 2] += 1e-6", path)
        self.bench("--grid", path, "--backends", "gtfn_cpu", "--fusions", "composed", status=1)
        record, = dump.read(self.folder / "gt4py-wrong-cold.json").records
        self.assertEqual((record["status"], record["verification"]["wrong"]), ("wrong", 1))
        self.assertEqual(record["verification"]["worst"]["level"], 2)
        self.assertNotIn("samples", record)

    def test_bad_input(self):
        for arguments, word in ((("--grid", "torus:5x4"), "even"), (("--grid", "no.h5"), "no.h5"),
                                (("--grid", "torus:4x3"), "halo"), (("--chains", "x"), "nabla4"),
                                (("--backends", "gtfn_cpu,dace_gpu"), "either")):
            with self.subTest(arguments=arguments):
                self.assertIn(word, self.bench(*arguments, status=2).stderr.splitlines()[-1])


class Counters(support.ScriptTest):
    def test_table(self):
        """ncu's raw page in base units, after what it says of itself."""
        name = "nabla4/indirect/dace/separate/kblock_10"
        content = self.write("d.json", synthetic.dump([synthetic.record(name, [1e-4] * 9)]))
        values = {"launch__block_dim_x": "128", "launch__block_dim_y": "1", "other": "7",
                  "launch__registers_per_thread": "54", "gpu__time_duration.sum": "98,765",
                  "dram__bytes_read.sum": "300,000,000", "dram__bytes_write.sum": "100,000,000",
                  "lts__t_bytes.sum": "800,000,000", "l1tex__t_bytes.sum": "1,200,000,000",
                  "smsp__inst_executed.sum": "2,500,000", "lts__t_sector_hit_rate.pct": "54.4",
                  "l1tex__t_sector_hit_rate.pct": "40",
                  "sm__warps_active.avg.pct_of_peak_sustained_active": "49.6"}
        def line(words):
            return ",".join(f'"{word}"' for word in words)
        text = "\n".join(["==PROF== Connected", line(["ID", *values]), line(["", *values]),
                          line(["0", *values.values()])])
        table = self.write("ncu-nabla4-indirect-dace-separate-kblock_10.csv", text + "\n")
        empty = self.write("ncu-other.csv", "==ERROR== no permission\n")
        out = subprocess.run([sys.executable, PEER / "counters.py", content, table, empty],
                             capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual(out[2:], [f"| {name} | 1 | 128x1 | 54 | 98.8 | 0.75 | 0.25 | 2.00 | 3.00 "
                                   "| 54 % | 40 % | 50 % | 2.5 M |"])
