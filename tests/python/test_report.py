import html.parser
import pathlib
import shutil
import subprocess

import support
import synthetic

VOID = {"meta", "link", "br", "wbr", "img", "input", "hr"}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class Page(html.parser.HTMLParser):
    """Checks nesting and collects what the tests ask for."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.outside, self.tables = [], [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        for key, value in attributes:
            if key == "id":
                self.ids.append(value)
            if key in ("src", "href", "srcset", "data") and not value.startswith(("#", "data:")):
                self.outside.append(value)
        if tag == "table":
            self.tables.append({"caption": "", "rows": 0})
        if tag == "tr" and "tbody" in self.open:
            self.tables[-1]["rows"] += 1

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes another element"

    def handle_data(self, data):
        if self.open and self.open[-1] == "caption":
            self.tables[-1]["caption"] += data

    def rows_of(self, caption):
        return [t["rows"] for t in self.tables if t["caption"].startswith(caption)]


class Report(support.ScriptTest):
    def make(self, *dumps):
        out = self.folder / "report.html"
        self.run_script("report", *dumps, "--output", out)
        return out

    def typical(self):
        content = synthetic.typical()
        content["records"].append(synthetic.record(
            "nabla4/strided/<b>/separate", None, status="wrong", reason="2 wrong values",
            verification={"ok": False, "max_error": None, "tolerance": 1e-13, "wrong": 2, "first": [
                {"field": "z_nabla4_e2", "entity": 3, "level": 0, "expected": 1.0, "got": None},
                {"field": "z_nabla4_e2", "entity": 4, "level": 0, "expected": 1.0, "got": 2.0}]}))
        content["records"][0]["marks"] = ["throttled"]
        return content

    def check(self, text, throttled=True):
        page = Page(text)
        self.assertEqual((page.open, page.outside), ([], []))
        self.assertEqual(len(page.ids), len(set(page.ids)))
        self.assertNotIn("@import", text)
        self.assertNotIn("http", text)
        self.assertIn("nabla4/strided/&lt;b&gt;/separate", text)
        self.assertIn("1 of 6 timed variants ran throttled", text)
        self.assertEqual(page.rows_of("nabla4, cuda, double"), [4])
        self.assertEqual(page.rows_of("nabla4_interpolate, cuda, double"), [2])
        self.assertEqual(page.rows_of("Verification"), [7])
        self.assertEqual(page.rows_of("First wrong values"), [2])
        self.assertEqual(page.rows_of("Machine state"), [6])
        return page

    def test_page(self):
        self.check(self.make(self.write("a.json", self.typical())).read_text())

    def test_several_dumps(self):
        others = [self.write("b.json", synthetic.typical(1, 1.05)),
                  self.write("c.json", synthetic.typical(1, grid=(74, 64)))]
        text = self.make(self.write("a.json", synthetic.typical()), *others).read_text()
        page = Page(text)
        self.assertEqual(page.rows_of(f"{others[0]} against"), [6])
        self.assertIn("cannot be compared", text)
        self.assertEqual(len(page.ids), len(set(page.ids)))

    def test_nothing_timed(self):
        untimed = synthetic.record("nabla4/strided/naive/separate", None, status="verified")
        text = self.make(self.write("a.json", synthetic.dump([untimed]))).read_text()
        self.assertEqual(Page(text).rows_of("Verification"), [1])

    def test_in_a_browser(self):
        browser = next(filter(None, map(shutil.which, BROWSERS)), None)
        if not browser:
            self.skipTest("no chromium here")
        page = self.make(self.write("a.json", self.typical()))
        picture = self.folder / "page.png"
        line = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
                f"--user-data-dir={self.folder / 'profile'}", "--window-size=1300,2000",
                "--host-resolver-rules=MAP * ~NOTFOUND"]
        shown = subprocess.run(line + ["--dump-dom", page.as_uri()], capture_output=True, text=True,
                               timeout=120, check=True)
        self.assertNotIn("CONSOLE", shown.stderr)
        self.check(shown.stdout)
        subprocess.run(line + [f"--screenshot={picture}", page.as_uri()], capture_output=True,
                       timeout=120, check=True)
        from matplotlib import image
        pixels = image.imread(pathlib.Path(picture))
        self.assertEqual(pixels.shape[:2], (2000, 1300))
        self.assertGreater((pixels[:, :, :3].min(axis=2) < 0.5).mean(), 0.01)  # there is text
