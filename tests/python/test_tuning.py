import json
import re

import support
from icobench import tuning_drawing

DEFAULT = "64x1x2,levels=20"
CONTEXT = {"date": "2026-05-01T12:00:00Z", "backend": "cuda", "device": "A GPU", "cache": "warm"}


def trial(launches, microseconds=None, grid="torus:298x257", **changes):
    usual = {"variant": "nabla4/strided/kloop/separate", "backend": "cuda", "precision": "double",
             "ordering": "per_orientation", "grid": grid, "levels": 80, "halo": 2,
             "launches": launches, "defaults": DEFAULT, "stage": "quick", "status": "ok",
             "reason": None, "registers": 64, "local_bytes": 0,
             "seconds": [1e-6 * microseconds] * 3 if microseconds else []}
    return usual | changes


def search(grid="torus:298x257", factor=1):
    skipped = dict(status="skipped", reason="too many threads", registers=None, local_bytes=None)
    return [trial(DEFAULT, 100 * factor, grid), trial("64x1x2,levels=10", 80 * factor, grid),
            trial("64x1x2,levels=10,order=points_first", 90 * factor, grid),
            trial("32,levels=20", 130 * factor, grid, local_bytes=8),
            trial("256x1x4,levels=20", None, grid, **skipped)]


class Tuning(support.ScriptTest):
    def journal(self, trials, end=""):
        lines = [{"schema": "icobench-tuning-journal-1", "context": CONTEXT}] + trials
        return self.write("j.jsonl", "".join(json.dumps(line) + "\n" for line in lines) + end)

    def draw(self, trials, *options):
        out = self.folder / "map.svg"
        self.run_script("plot", "tuning", self.journal(trials), "--output", out, *options)
        return re.findall(r"<text[^>]*>([^<]*)</text>", out.read_text()), out.read_text()

    def test_cells(self):
        texts, picture = self.draw(search())
        # The fastest of the two with these levels; spilling ones are marked.
        for shown in ("0.80", "1.00", "1.30*", "32", "64x1x2", "256x1x4", "10", "20"):
            self.assertIn(shown, texts)
        self.assertNotIn("0.90", texts)
        self.assertIn("torus:298x257, 80 levels: 0.80 with 64x1x2,levels=10", texts)
        self.assertEqual(picture.count("<pattern"), 1)  # hatched: skipped

    def test_colours(self):
        panel = tuning_drawing.draw(search(), "block", "levels", "").axes[0]
        found = {}
        for patch in panel.patches:
            centre = (patch.get_x() + 0.5, patch.get_y() + 0.5)
            found.setdefault(centre, patch.get_facecolor() + (patch.get_hatch(),))
        shown = {text.get_text(): found[text.get_position()] for text in panel.texts}
        self.assertGreater(shown["0.80"][0], shown["0.80"][2])  # better: red
        self.assertLess(shown["1.30*"][0], shown["1.30*"][2])  # worse: blue
        self.assertGreater(min(shown["1.00"][:3]), 0.95)  # white
        self.assertEqual([colour[4] for colour in found.values()].count("////"), 1)

    def test_other_axes_problems_and_thorough_times(self):
        both = search() + search("torus:594x514", 4)
        texts, _ = self.draw(both, "--x", "order", "--y", "levels")
        self.assertIn("0.90", texts)
        self.assertEqual(sum(text.endswith("0.80 with 64x1x2,levels=10") for text in texts), 2)
        finals = [trial(DEFAULT, 100, stage="thorough"),
                  trial("64x1x2,levels=10", 85, stage="thorough")]
        texts, _ = self.draw(search() + finals)
        self.assertIn("0.85", texts)
        self.assertNotIn("0.80", texts)

    def test_several_kernels(self):
        both = [trial("32+64", 10, defaults="64+64"), trial("64+64", 20, defaults="64+64")]
        texts, _ = self.draw(both)
        self.assertIn("32+64", texts)
        self.assertIn("0.50", texts)

    def test_bad_input(self):
        out = self.folder / "map.svg"

        def refused(path, *options):
            self.assertFalse(out.exists())
            return self.run_script("plot", "tuning", path, "--output", out, *options, status=2)

        good = self.journal(search())
        self.assertIn("'odd'", refused(good, "--variant", "odd"))
        self.assertIn("'abla4'", refused(good, "--variant", "abla4"))
        self.assertIn("different axes", refused(good, "--x", "levels"))
        self.assertIn("no measurements", refused(self.journal([])))
        self.assertIn("schema", refused(self.write("d.json", "{}\n")))
        self.assertIn("line 2: status", refused(self.journal([trial("32", 1, status="odd")])))
        self.assertIn("line 7: not valid JSON", refused(self.journal(search(), "{\n")))
        self.assertIn("default", refused(self.journal([trial("32", 1)])))
        deep = json.loads("[" * 100 + "]" * 100)
        self.assertIn("line 2: not valid JSON: is nested too deep",
                      refused(self.journal([trial(DEFAULT, 1, odd=deep)])))
        self.assertIn("No such file", refused("absent.jsonl"))
        former = self.journal(search() + [trial("32,adjacent", 1), trial("32,stores=cached", 1)])
        self.assertIn("'adjacent' is no choice", refused(former))
        # What a killed program left of its last line does not matter.
        self.run_script("plot", "tuning", self.journal(search(), '{"variant": "nab'),
                        "--output", out)
