"""Tests of the Python scripts: `python3 tests/python [options of unittest]`."""
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "scripts")]
from icobench import command

command.require("numpy", "matplotlib", "jsonschema")
unittest.main(module=None, argv=["tests/python", "discover", "-s", str(HERE)] + sys.argv[1:])
