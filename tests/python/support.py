"""Runs scripts on dumps in a temporary folder."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
TESTED = ROOT / "build" / ("test-cuda" if shutil.which("nvcc") else "test")  # by scripts/test
BUILD = pathlib.Path(os.environ.get("ICOBENCH_BUILD", TESTED))


class ScriptTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        """Content is text or what becomes JSON; gives the path as text."""
        path = self.folder / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    def run_script(self, name, *arguments, status=0, said=False, **options):
        result = subprocess.run([sys.executable, ROOT / "scripts" / name, *map(str, arguments)],
                                capture_output=True, text=True, check=False, **options)
        self.assertEqual(result.returncode, status, result.stderr + result.stdout)
        if status == 2:
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertTrue(result.stderr.startswith(f"scripts/{name}: "), result.stderr)
        return result.stderr if said or status == 2 else result.stdout

    def program(self, name):
        if not (BUILD / name).exists():
            self.skipTest(f"{BUILD / name} is not built")
        return str(BUILD / name)
