import csv
import io
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import unittest

import support
import synthetic
from icobench import dump

SAMPLES = [1e-4 * (1 + 1e-4 * n) for n in range(12)]
NAIVE = "nabla4/strided/naive/separate"


class Compare(support.ScriptTest):
    def pair(self, **changes):
        return (self.write("a.json", synthetic.typical(1)),
                self.write("b.json", synthetic.typical(2, **changes)))

    def rows(self, *arguments, status=0):
        out = json.loads(self.run_script("compare", *arguments, "--format", "json", status=status))
        return [row for table in out["tables"] for row in table["rows"]], out["advice"]

    def test_ranks_one_dump(self):
        rows, advice = self.rows(self.pair()[0])
        nabla4 = [row for row in rows if row["chain"] == "nabla4"]
        self.assertEqual([row["variant"] for row in nabla4], [
            "strided/kloop/separate/128", "indirect/kloop/separate/128",
            "strided/naive/separate/128", "indirect/naive/separate/128"])
        self.assertEqual([row["verdict"] for row in nabla4],
                         ["faster", "faster", "baseline", "slower"])
        self.assertAlmostEqual(nabla4[0]["speedup"], 165 / 145, delta=0.02)
        self.assertAlmostEqual(nabla4[0]["times_floor"], 1.45, delta=0.02)
        self.assertIn("no variant was throttled", advice[0])

    def test_rooflines_are_no_rivals(self):
        fast = [0.5 * s for s in SAMPLES]
        path = self.write("a.json", synthetic.dump([
            synthetic.record("nabla4/strided/kloop/roofline", fast, marks=["roofline"]),
            synthetic.record("nabla4/strided/kloop/separate", SAMPLES),
            synthetic.record(NAIVE, [2 * s for s in SAMPLES])]))
        rows, advice = self.rows(path)
        self.assertEqual([row["rank"] for row in rows], [None, 1, 2])
        self.assertEqual([row["verdict"] for row in rows], ["faster", "faster", "baseline"])
        self.assertTrue(any("1 roofline" in line for line in advice))
        self.assertIn("fastest: strided/kloop/separate/128; the next, strided/naive/separate/128",
                      self.run_script("compare", path))

    def test_chosen_baseline(self):
        rows, _ = self.rows(self.pair()[0], "--baseline", "indirect/naive")
        self.assertEqual([row["variant"] for row in rows if row["verdict"] == "baseline"],
                         ["indirect/naive/separate/128", "strided/naive/separate/128"])
        self.assertIn("'odd'", self.run_script("compare", self.folder / "a.json", "--baseline",
                                               "odd", status=2))

    def test_two_runs_and_itself_are_the_same(self):
        first, second = self.pair()
        for other in (first, second):
            rows, _ = self.rows(first, other)
            self.assertEqual({row["verdict"] for row in rows}, {"same"})

    def test_slower_fails(self):
        first, second = self.pair(factor=1.05)
        rows, _ = self.rows(first, second, status=1)
        self.assertEqual({row["verdict"] for row in rows}, {"slower"})
        self.run_script("compare", first, second, "--fail-on", "nothing")
        self.assertIn("6 faster", self.run_script("compare", second, first))
        rows, _ = self.rows(first, second, "--threshold", "10")
        self.assertEqual({row["verdict"] for row in rows}, {"same"})

    def test_refuses_what_is_not_comparable(self):
        first, second = self.pair(grid=(74, 64), levels=65, cache="warm")
        message = self.run_script("compare", first, second, status=2)
        for word in ("grid (torus:298x257, torus:74x64)", "levels (80, 65)", "cache (cold, warm)"):
            self.assertIn(word, message)
        self.run_script("compare", first, second, "--across")
        other = self.write("other.json", synthetic.dump(
            [synthetic.record("interpolate/strided/naive/separate", SAMPLES, precision="float")]))
        message = self.run_script("compare", first, other, status=2)
        self.assertIn("chain (nabla4, nabla4_interpolate; interpolate)", message)
        self.assertIn("precision (double; float)", message)
        halo = self.write("halo.json", synthetic.dump([synthetic.record(NAIVE, SAMPLES, halo=1)]))
        self.assertIn("halo (2, 1)", self.run_script("compare", first, halo, status=2))

    def test_broken_variants_fail_and_missing_ones_are_named(self):
        good = self.write("good.json", synthetic.dump(
            [synthetic.record(NAIVE, SAMPLES), synthetic.record(NAIVE, SAMPLES, "64")]))
        bad = self.write("bad.json", synthetic.dump(
            [synthetic.record(NAIVE, SAMPLES),
             synthetic.record(NAIVE, None, "64", status="wrong")]))
        self.assertIn("1 wrong", self.run_script("compare", good, bad, status=1))
        less = self.write("less.json", synthetic.dump([synthetic.record(NAIVE, SAMPLES)]))
        for dump, word in ((less, "1 lost"), (self.write("skipped.json", synthetic.dump(
                [synthetic.record(NAIVE, SAMPLES),
                 synthetic.record(NAIVE, None, "64", status="skipped")])), "1 skipped")):
            self.assertIn(word, self.run_script("compare", good, dump, status=1))
            for allowed in (["--allow-lost"], ["--fail-on", "nothing"]):
                self.run_script("compare", good, dump, *allowed)
        self.run_script("compare", less, good)  # more than before

    def test_incomplete_dumps(self):
        first, second = self.pair()
        part = self.write("part.json", synthetic.typical(3) | {"complete": False})
        self.run_script("compare", first, part, status=3)
        self.run_script("compare", part, second, status=3)
        slower = self.write("slower.json", synthetic.typical(3, factor=1.05) | {"complete": False})
        self.run_script("compare", first, slower, status=1)

    def test_other_devices_and_drivers(self):
        def run_with(**changes):
            devices = {"cuda": synthetic.DEVICE | changes}
            return self.write("other.json", synthetic.typical(2, devices=devices))
        first, path = self.pair()[0], run_with(driver="13010")
        self.assertIn("another driver of cuda: 13000, now 13010",
                      self.run_script("compare", first, path, said=True))
        path = run_with(name="Other GPU")
        self.assertIn("device (Example GPU, Other GPU)",
                      self.run_script("compare", first, path, status=2))
        self.run_script("compare", first, path, "--across")

    def test_advice(self):
        throttled = synthetic.MACHINE | {"throttle_reasons": ["sw_power_cap"]}
        records = [synthetic.record(NAIVE, SAMPLES[:8], machine=throttled, marks=["throttled"]),
                   synthetic.record(NAIVE, SAMPLES, "64", marks=["suspect", "unresolved"])]
        _, advice = self.rows(self.write("odd.json", synthetic.dump(records, complete=False)))
        for word in ("sw_power_cap", "lock-gpu-clocks", "suspect", "unresolved", "stopped",
                     "take more"):
            self.assertIn(word, " ".join(advice))

    def test_formats(self):
        first, second = self.pair()
        for dumps in ([first], [first, second]):
            rows = list(csv.DictReader(io.StringIO(
                self.run_script("compare", *dumps, "--format", "csv"))))
            self.assertEqual(len(rows), 6)
            self.assertGreater(float(rows[0]["seconds"]), 1e-4)
            text = self.run_script("compare", *dumps, "--format", "markdown")
            self.assertEqual(len({line.count("|") for line in text.splitlines() if "|" in line}), 1)
        out = self.folder / "out.md"
        self.run_script("compare", first, "--format", "markdown", "--output", out)
        self.assertIn("### nabla4, cuda, double", out.read_text())


class Plot(support.ScriptTest):
    def test_every_kind_and_format(self):
        dumps = [self.write(f"{n}.json", synthetic.typical(n, grid=(20 * n, 10))) for n in (1, 2)]
        starts = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}
        for kind, form in (("samples", "svg"), ("share", "png"), ("bars", "pdf"),
                           ("scaling", "svg")):
            out = self.folder / f"{kind}.{form}"
            self.run_script("plot", kind, *dumps, "--output", out)
            self.assertTrue(out.read_bytes().startswith(starts[form]))
            if form == "svg":
                self.assertIn("strided/kloop/separate", out.read_text())

    def test_bad_input(self):
        good = self.write("good.json", synthetic.typical())
        self.assertIn("svg", self.run_script("plot", "share", good, "--output", "a.gif", status=2))
        out = self.folder / "out.svg"
        self.run_script("plot", "share", good, "--variant", "odd", "--output", out, status=2)
        self.run_script("plot", "share", good, "--output", self.folder / "absent/a.svg", status=2)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["good.json"])

    def test_grid(self):
        tool, out = self.program("icobench_grid"), self.folder / "grid.svg"
        self.run_script("plot", "grid", "torus:10x8", "--tool", tool, "--output", out)
        text = out.read_text()
        for word in ("per_vertex", "per_orientation", "nabla4: 72 edges", "interpolate: 8 vertices",
                     "verts2cells: 6 cells", "v2e2c2v of vertex 45", "c2v2e2c2v of cell 90"):
            self.assertIn(word, text)
        self.run_script("plot", "grid", "torus:12x9", "--chain", "nabla4", "--halo", 1, "--tool",
                        tool, "--panel", "domain", "--output", out)
        self.assertIn("nabla4: 210 edges", out.read_text())
        self.assertIn("even", self.run_script("plot", "grid", "torus:7x9", "--tool", tool,
                                              "--output", out, status=2))

    def test_grid_tables_in_a_file(self):
        tables = self.write("tables.json", subprocess.run(
            [self.program("icobench_grid"), "tables", "torus:10x8"], capture_output=True, text=True,
            check=True).stdout)
        line = ["plot", "grid", tables, "--panel", "v2e2c2v", "--output", self.folder / "grid.png"]
        self.run_script(*line, "--vertex", 0)  # at the seam
        self.assertIn("no number 80", self.run_script(*line, "--vertex", 80, status=2))
        pathlib.Path(tables).write_text('{"name": ""}')
        self.assertIn("torus is missing", self.run_script(*line, status=2))


class Names(support.ScriptTest):
    """A dump may have any texts."""

    def hostile(self, text):
        content = synthetic.typical()
        for record in content["records"]:
            record["feature"] = text + record["feature"]
            record["name"] = f"{record['chain']}/{text}/{record['name']}"
        content["context"]["grid"]["name"] = content["context"]["arguments"][0] = text
        return self.write("hostile.json", content)

    def shown(self, path):
        """What every script makes of the dump."""
        texts = [self.run_script("compare", path), self.run_script("compare", path, path),
                 self.run_script("table", path)]
        for name, *kind in ("report",), ("plot", "bars"), ("plot", "samples"), ("plot", "share"):
            out = self.folder / "out.svg"
            self.run_script(name, *kind, path, "--output", out)
            texts.append(out.read_text())
        return texts

    def test_control_characters_reach_nothing(self):
        for text in self.shown(self.hostile("a\x1b[31mb\0c\x9bd\u202ee\x7f")):
            self.assertIn("a\ufffd[31mb\ufffdc\ufffdd\ufffde\ufffd", text)
            self.assertNotRegex(text, "[\0-\x08\x0b-\x1f\x7f-\x9f\u202e]")
        refused = self.run_script("compare", self.folder / "\x1b[31m.json", status=2)
        self.assertIn("/\ufffd[31m.json: No such file", refused)

    def test_dollars_are_no_formulas(self):
        for text in self.shown(self.hostile("a$\\q$b")):
            self.assertIn("a$\\q$b", text)

    def test_long_texts_are_cut(self):
        for text in self.shown(self.hostile("x" * 100000)):
            self.assertIn("x" * 50, text)
            self.assertNotIn("x" * 1100, text)

    def test_terminals_that_show_less(self):
        path = self.write("a.json", synthetic.typical())
        for encoding in "ascii", "latin-1":
            environment = os.environ | {"PYTHONIOENCODING": encoding}
            for line in ("compare", path), ("table", "--best", path):
                result = subprocess.run([sys.executable, support.ROOT / "scripts" / line[0],
                                         *line[1:]], capture_output=True, env=environment,
                                        check=True)
                self.assertIn("?", result.stdout.decode(encoding))

    def test_words(self):
        for name, part, found in (
                ("nabla4/strided/march/separate/32x1", "strided/march", True),
                ("nabla4/strided/march/separate/32x1", "march/separate/32x*", True),
                ("nabla4/strided/march/separate/32x1", "/nabla4/", True),
                ("nabla4/strided/march/separate/32x1", "", True),
                ("nabla4/strided/march/separate/32x1", "nabla4/march", False),
                ("nabla4/strided/march/separate/32x1", "nabla4/*/march", True),
                ("nabla4/strided/march/separate/32x1", "nabla*/*march", False),
                ("nabla4_interpolate/strided/march/inlined", "interpolate/", False),
                ("nabla4_interpolate/strided/march/inlined", "*interpolate/", True),
                ("a/b", "a/b/c", False)):
            self.assertEqual(dump.has_words(name, part), found, (name, part))


class Outputs(support.ScriptTest):
    def test_nothing_else_is_touched(self):
        path = self.write("a.json", synthetic.typical())
        precious = self.folder / "precious"
        precious.write_text("precious")
        out, link = self.folder / "out.md", self.folder / "link.md"
        (self.folder / "out.md.part").symlink_to("precious")
        out.write_text("old")
        out.chmod(0o640)
        link.symlink_to("out.md")
        self.run_script("compare", path, "--output", link)
        self.assertEqual(precious.read_text(), "precious")
        self.assertTrue(link.is_symlink() and (self.folder / "out.md.part").is_symlink())
        self.assertIn("nabla4", out.read_text())
        self.assertEqual(out.stat().st_mode & 0o777, 0o640)
        os.mkfifo(self.folder / "pipe")
        for kept in self.folder / "pipe", "/dev/null", self.folder:
            self.assertIn("no regular file",
                          self.run_script("report", path, "--output", kept, status=2))
        self.assertIn("there is no folder", self.run_script(
            "report", path, "--output", self.folder / "no/a.html", status=2))
        self.assertIn("an input, too", self.run_script("compare", path, "--output", path, status=2))
        self.assertEqual(len(list(self.folder.iterdir())), 6)

    def test_ended_while_writing(self):
        out = self.folder / "out"
        out.write_text("old")
        code = ("import os, sys; sys.path.insert(0, sys.argv[1])\n"
                "from icobench import command\n"
                "def main():\n"
                "    with command.replacement(sys.argv[2]) as file:\n"
                "        file.write(b'half')\n"
                "        os.kill(os.getpid(), int(sys.argv[3]))\n"
                "command.run(main)")
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            line = [sys.executable, "-c", code, support.ROOT / "scripts", out, str(int(number))]
            result = subprocess.run(line, capture_output=True, text=True, check=False)
            self.assertEqual((result.returncode, result.stderr), (128 + number, ""))
            self.assertEqual(out.read_text(), "old")
            self.assertEqual([path.name for path in self.folder.iterdir()], ["out"])


class AllScripts(support.ScriptTest):
    def test_what_is_no_file(self):
        os.mkfifo(self.folder / "pipe")
        for path in self.folder / "pipe", "/dev/zero":
            for line in (("compare",), ("table", "--best"), ("plot", "tuning", "--output", "a.svg"),
                         ("plot", "rates", "--output", "a.svg"), ("report", "--output", "a.html")):
                self.assertIn(f"{path}: is no regular file",
                              self.run_script(*line, path, status=2, timeout=60))

    def test_bad_dumps_leave_no_output(self):
        cut = self.write("cut.json", json.dumps(synthetic.typical())[:1000])
        out = self.folder / "out.svg"
        for path in (cut, self.folder / "absent.json"):
            for name, *arguments in (("compare", "--output", out), ("report", "--output", out),
                                     ("plot", "share", "--output", out), ("table",)):
                message = self.run_script(name, *arguments, path, status=2)
                self.assertIn(f"{path}: ", message)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["cut.json"])

    def test_missing_module(self):
        (self.folder / "jsonschema.py").write_text("raise ImportError")
        environment = os.environ | {"PYTHONPATH": str(self.folder)}
        for name in ("compare", "plot", "report", "table"):
            self.assertIn("python3-jsonschema", self.run_script(name, "x", env=environment, status=2))
        (self.folder / "elftools.py").write_text("raise ImportError")
        self.assertIn("python3-pyelftools", self.run_script("resources", "x", env=environment, status=2))

    def peer(self, medians, **context):
        """A peer's dump: name of a variant: microseconds."""
        records = [synthetic.record(name, [1e-6 * us] * 9) for name, us in medians.items()]
        about = {"name": "Other", "version": "1.2"}
        return self.write("peer.json", synthetic.dump(records, peer=about, **context))

    def test_table(self):
        first = self.write("a.json", synthetic.typical())
        peer = self.peer({NAIVE: 330.0, "nabla4/indirect/dace/separate": 310.0}, cache="warm")
        lines = self.run_script("table", "--resources", first, peer).splitlines()
        self.assertEqual(len(lines), 2 + len(synthetic.MEDIANS) + 1)
        row = next(line for line in lines if "nabla4/strided/naive" in line)
        self.assertRegex(row, r"\| 16\d\.\d \| 330\.0 \| (1\.9|2\.0)\d \| 6\d % \| 56 \| 0 \|")
        self.assertRegex(lines[-1], r"^\| nabla4/indirect/dace \| 310\.0 \| – \| – \| 32 %")
        alone = self.run_script("table", peer).splitlines()
        self.assertEqual(len(alone), 4)
        self.assertIn("peer", self.run_script("table", first, self.peer({NAIVE: 1.0}, grid=(4, 3)),
                                              status=2))
        self.assertIn("same variants", self.run_script("table", first, peer, peer, status=2))

    def test_table_of_peers(self):
        first = self.write("a.json", synthetic.typical())
        peer = self.peer({"nabla4/indirect/gtfn/separate": 600.0,
                          "nabla4/indirect/dace/separate": 310.0,
                          "nabla4/indirect/dace/separate/kblock_10": 290.0})
        head, _, row, *more = self.run_script("table", "--peers", first, peer).splitlines()
        self.assertEqual(more, [])
        self.assertIn("| gtfn | dace | dace kblock_10 | ours on tables | ours strided |", head)
        self.assertRegex(row, r"^\| nabla4 \| 298x257 \| 600\.0 \| 310\.0 \| 290\.0 \| 1[56]\d\.\d "
                              r"\| 14\d\.\d \| 1\.8\d \| (1\.9|2\.0)\d \| [67]\d % \| 34 % \|$")
        self.assertIn("of peers", self.run_script("table", "--peers", first, status=2))

    def test_peers_are_ranked_with_ours(self):
        first = self.write("a.json", synthetic.typical())
        others = {"nabla4/indirect/dace/separate": 300.0}
        text = self.run_script("compare", first, self.peer(others))
        self.assertRegex(text, r"\n +5  indirect/dace/separate/128 +300\.0 ")
        self.assertIn("fastest: strided/kloop/separate/128", text)
        # Another cache mode is another question; a variant of ours is matched by name.
        self.run_script("compare", first, self.peer(others, cache="warm"), status=2)
        text = self.run_script("compare", self.peer({NAIVE: 330.0}), first)
        self.assertIn("1 faster", text)
        self.run_script("plot", "share", first, self.peer(others),
                        "--output", self.folder / "both.svg")
        self.assertIn("indirect/dace", (self.folder / "both.svg").read_text())

    def test_table_marks_what_was_throttled(self):
        content = synthetic.typical()
        naive = next(r for r in content["records"] if r["variant"] == NAIVE)
        naive |= {"marks": ["throttled"], "machine": synthetic.MACHINE | {
            "throttle_reasons": ["sw_power_cap"], "clock_mhz": [1200.0, 1500.0, 1980.0]}}
        text = self.run_script("table", self.write("a.json", content))
        self.assertEqual([line.count("*") for line in text.splitlines()
                          if "strided/naive" in line], [1, 0])
        self.assertEqual(text.count("*"), 2)
        self.assertIn(f"\\* 298x257: 1 of {len(synthetic.MEDIANS)} timed variants ran throttled or with "
                      "unstable clocks (sw_power_cap, down to 1200 MHz).", text)

    def test_table_of_the_best(self):
        content = synthetic.typical()
        records = [r for r in content["records"] if r["status"] == "ok"]
        fastest, second = sorted(records, key=lambda r: r["seconds"]["median"])[:2]
        fastest["marks"] = ["roofline"]  # no rival, but a bound
        peer = self.peer({NAIVE: 330.0, "nabla4/indirect/y/z": 310.0,
                          "nabla4_vertical/indirect/y/z": 1.0})
        line = self.run_script("table", "--best", self.write("a.json", content),
                               peer).splitlines()[2]
        times = [1e6 * second["seconds"]["median"], 310, 1e6 * fastest["seconds"]["median"],
                 1e6 * second["fused_floor_seconds"]]
        self.assertIn(" | ".join(f"{time:.1f}" for time in times), line)

    def test_dump_of_the_program(self):
        out = self.folder / "dump.json"
        subprocess.run([self.program("bench_nabla4"), "--backend", "cpu", "--grid", "torus:12x9",
                        "--levels", "3", "--min-samples", "9", "--budget", "0.01", "--dump", out],
                       check=True, capture_output=True)
        self.assertIn("speed-up over", self.run_script("compare", out))
        self.assertIn("0 slower", self.run_script("compare", out, out))
        self.run_script("report", out, "--output", self.folder / "report.html")


class Profile(support.ScriptTest):
    def test_missing_programs(self):
        self.assertIn("nosuch: no such program", self.run_script("profile", "nosuch", status=2))
        if not shutil.which("ncu"):
            message = self.run_script("profile", sys.executable, "--grid", "torus:12x9", status=2)
            self.assertIn("ncu (Nsight Compute) is not in PATH", message)

@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "no cmake, no ninja")
class Build(support.ScriptTest):
    """scripts/build on a project with steps that each build runs: a glob and a target without
    output."""

    CMAKE = """
        cmake_minimum_required(VERSION 3.22)
        project(tiny CXX)
        file(GLOB sources CONFIGURE_DEPENDS *.cpp)
        add_custom_target(always COMMAND ${CMAKE_COMMAND} -E true)
        add_executable(tiny ${sources})
        add_dependencies(tiny always)
        """
    PRESETS = {"version": 3, "configurePresets": [
        {"name": "one", "generator": "Ninja", "binaryDir": "${sourceDir}/build/one"}]}

    def build(self):
        return subprocess.run([self.folder / "scripts/build", "one"], capture_output=True,
                              text=True)

    def test_says_what_it_does(self):
        (self.folder / "scripts").mkdir()
        shutil.copy(support.ROOT / "scripts/build", self.folder / "scripts/build")
        (self.folder / "CMakeLists.txt").write_text(self.CMAKE)
        (self.folder / "CMakePresets.json").write_text(json.dumps(self.PRESETS))
        source = self.folder / "main.cpp"
        source.write_text("int main() {}")
        building = "building build/one (log: build/one.log)\n"
        first = self.build()
        self.assertEqual((first.returncode, first.stdout, first.stderr),
                         (0, "configuring build/one\n" + building, ""))
        again = self.build()
        self.assertEqual((again.returncode, again.stdout, again.stderr), (0, "", ""))
        source.write_text("int main() { return nothing; }")
        broken = self.build()
        self.assertEqual((broken.returncode, broken.stdout), (1, building))
        self.assertIn("nothing", broken.stderr)
        self.assertIn("failed: ninja -C build/one", broken.stderr)
        (self.folder / "CMakeLists.txt").write_text("nonsense()")
        unconfigured = self.build()
        self.assertEqual((unconfigured.returncode, unconfigured.stdout), (1, ""))
        self.assertIn("failed: cmake --preset one", unconfigured.stderr)

