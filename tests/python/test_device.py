"""Dumps of bench_device: schema, pictures, table; and the roofline of stencils."""
import copy

import support
import synthetic
from icobench import command
from icobench import dump as dumps

SAMPLES = [2e-3, 2.01e-3, 2.02e-3]
PIECES = [{"stream": n, "step": step, "start": 1e-4 * (n + m), "end": 1e-4 * (n + m + 1)}
          for n in range(3) for m, step in enumerate(("to_device", "add", "to_host"))]


def dump():
    return synthetic.device_dump([
        synthetic.device_record("ceilings/runtime_copy", SAMPLES),
        synthetic.device_record("ceilings/multiply_add/double", SAMPLES, total=0, flops=6e10),
        synthetic.device_record("transposes/4096x4096/tile16/float", SAMPLES,
                                share={"of": "ceilings/runtime_copy", "value": 0.785}),
        synthetic.device_record("ceilings/launch/interval", [2e-6], total=0, clock="host",
                                machine=None),
        synthetic.device_record("additions/streams3/1000", SAMPLES, timeline=PIECES,
                                serial_seconds=9e-4, overlap=0.42),
        synthetic.device_record("reductions/sum/tree/two_passes/double")])


class Device(support.ScriptTest):
    def check(self, content):
        """What is wrong with a dump, "" if nothing is."""
        try:
            dumps.read_device(self.write("device.json", content))
        except command.BadInput as error:
            return str(error)
        return ""

    def test_schema(self):
        self.assertEqual(self.check(dump()), "")
        def broken(change):
            content = copy.deepcopy(dump())
            change(content)
            return self.check(content)
        self.assertIn("timeline", broken(lambda d: d["records"][4].pop("overlap") and None))
        self.assertIn("samples", broken(lambda d: d["records"][0].pop("samples") and None))
        self.assertIn("unknown", broken(lambda d: d["records"][0].update(unknown=1)))
        self.assertIn("reason", broken(lambda d: d["records"][5].update(reason=None)))
        self.assertIn("statistics", broken(lambda d: d["records"][0]["samples"].append(1.0)))

    def test_rates(self):
        out = self.folder / "rates.svg"
        self.run_script("plot", "rates", self.write("d.json", dump()), "--output", out)
        svg = out.read_text()
        for word in ("runtime_copy", "Tflop/s", "4096x4096/tile16/float", "GB/s"):
            self.assertIn(word, svg)

    def test_timeline(self):
        out = self.folder / "timeline.svg"
        self.run_script("plot", "timeline", self.write("d.json", dump()), "--output", out)
        svg = out.read_text()
        for word in ("42 % of what could be hidden", "stream 2", "to the device"):
            self.assertIn(word, svg)
        without = dump()
        without["records"] = without["records"][:4]
        message = self.run_script("plot", "timeline", self.write("e.json", without), "--output",
                                  out, status=2)
        self.assertIn("no timeline", message)

    def test_table(self):
        table = self.run_script("table", "--device", self.write("d.json", dump()))
        self.assertIn("| ceilings/runtime_copy | 2010.0 | 3980 GB/s | – |", table)
        self.assertIn("| ceilings/multiply_add/double | 2010.0 | 29.9 Tflop/s | – |", table)
        self.assertIn("78.5 %", table)
        self.assertNotIn("two_passes", table)

    def test_kinds_are_not_mixed_up(self):
        device, stencils = self.write("d.json", dump()), self.write("s.json", synthetic.typical())
        out = self.folder / "x.svg"
        for kind, path in (("rates", stencils), ("share", device)):
            self.assertIn("not a dump of schema", self.run_script("plot", kind, path, "--output",
                                                                  out, status=2))
        self.assertIn("schema", self.run_script("compare", device, status=2))


class Roofline(support.ScriptTest):
    def stencils(self, ceilings):
        content = synthetic.typical()
        content["context"]["devices"]["cuda"] = synthetic.DEVICE | {"ceilings": ceilings}
        for r in content["records"]:
            r["ceiling"] = {"binding": "memory", "share": 0.5, "memory_seconds": 1e-4,
                            "arithmetic_seconds": 1e-5, "launch_seconds": 2e-6}
        return content

    def test_plot(self):
        out = self.folder / "roofline.svg"
        path = self.write("s.json", self.stencils(synthetic.CEILINGS))
        self.run_script("plot", "roofline", path, "--output", out)
        svg = out.read_text()
        for word in ("read 4.40 TB/s", "double 33.0 Tflop/s", "nabla4_interpolate, double"):
            self.assertIn(word, svg)

    def test_cpu_knows_only_a_copy(self):
        ceilings = dict.fromkeys(synthetic.CEILINGS) | {"copy_bytes_per_second": 2e10, "ways": {}}
        path = self.write("s.json", self.stencils(ceilings))
        self.run_script("plot", "roofline", path, "--output", self.folder / "roofline.svg")
        path = self.write("t.json", synthetic.typical())
        self.assertIn("measured ceilings",
                      self.run_script("plot", "roofline", path, "--output",
                                      self.folder / "roofline.svg", status=2))

    def test_compare_says_what_binds(self):
        path = self.write("s.json", self.stencils(synthetic.CEILINGS))
        text = self.run_script("compare", path)
        self.assertIn("bound by", text)
        self.assertRegex(text, r"50 %\s+memory")
        self.assertIn("ceilings of Example GPU: read 4.40, triad 4.20, copy 4.00, write 3.90 TB/s; "
                      "double 33.0, float 66.0 Tflop/s; 2.0 µs a launch", text)
        old = self.write("old.json", synthetic.typical())
        self.assertNotIn("ceilings of", self.run_script("compare", old))
        self.assertRegex(self.run_script("compare", old, path), r"50 %\s+memory\s+nabla4")
        self.assertRegex(self.run_script("compare", path, old), r"–\s+–\s+nabla4")

    def test_report_draws_it(self):
        out = self.folder / "report.html"
        for path, count in ((self.write("s.json", self.stencils(synthetic.CEILINGS)), 1),
                            (self.write("old.json", synthetic.typical()), 0)):
            self.run_script("report", path, "--output", out)
            self.assertEqual(out.read_text().count('aria-label="Roofline'), count)
