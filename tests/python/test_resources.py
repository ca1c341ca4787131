"""scripts/resources on kernels that real compilers made.

    python3 -m unittest discover tests/python
"""
import csv
import functools
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]

# 60 doubles a thread that are live at once, or 100 in shared memory, or next to nothing.
KERNELS = """
#pragma once
#include <icobench/kernel.hpp>
namespace icobench::kernels {
template <int count, bool unused = false>
struct tiny_many {
  template <class Mesh, class T>
  struct kernel {
    T* x;
    int n;
    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      T v[count];
#pragma unroll
      for (int i = 0; i < count; ++i) { v[i] = x[t.thread().x + 256 * i]; }
      for (int k = 0; k < n; ++k) {
#pragma unroll
        for (int i = 0; i < count; ++i) { v[i] = v[i] * v[(i + 7) % count] + x[k]; }
      }
#pragma unroll
      for (int i = 0; i < count; ++i) { x[t.thread().x + 256 * i] = v[i]; }
    }
  };
};
struct tiny_shared {
  template <class Mesh, class T>
  struct kernel {
    T* x;
    template <class Thread>
    ICOBENCH_DEVICE void operator()(Thread& t) const {
      __shared__ T s[100];
      s[t.thread().x] = x[t.thread().x];
      t.sync();
      x[t.thread().x] = s[99 - t.thread().x];
    }
  };
};
}  // namespace icobench::kernels
"""

# The same 60 doubles, of a kernel that is no variant's.
DEVICE_KERNELS = """
#pragma once
namespace icobench::device_kernels {
enum class width { narrow, wide };
template <width how, class T, unsigned count>
struct walk {
  typename kernels::tiny_many<int(count)>::template kernel<void, T> same;
  template <class Thread>
  ICOBENCH_DEVICE void operator()(Thread& t) const { same(t); }
};
}  // namespace icobench::device_kernels
"""

INSTANCES = """
#include <icobench/gpu/native.hpp>
#include <tiny/tiny.hpp>
#include <kernels.hpp>
using namespace icobench;
template <class Kernel>
using ordered = detail::in_order<Kernel, compiled_for<>>;
template <template <class, class> class kernel>
using strided = ordered<kernel<strided_mesh<ordering::per_orientation>, double>>;
using many = strided<kernels::tiny_many<60>::kernel>;
using shared = ordered<kernels::tiny_shared::kernel<indirect_mesh<layout::ifirst>, float>>;
using device = device_kernels::walk<device_kernels::width::wide, double, 60>;
void* instances[] = {
    reinterpret_cast<void*>(&gpu::entry<compiled_for<8>, many>),
    reinterpret_cast<void*>(&gpu::entry<compiled_for<1>, many>),
    reinterpret_cast<void*>(&gpu::entry<compiled_in<float, compiled_for<1>>, shared>),
    reinterpret_cast<void*>(&gpu::entry<compiled_for<8>, device>),
    reinterpret_cast<void*>(&gpu::entry<compiled_for<1>, gpu::native::cache_reader>)};
"""


def run(*arguments):
    command = [sys.executable, SOURCE / "scripts/resources", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def cuda_command(_):
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    return nvcc and [nvcc, "-arch=sm_90", "-x", "cu"]


def hip_command(folder, architecture, clang):
    """Debian's clang is told where the device libraries are; ROCm's finds them."""
    target = [f"--offload-arch={architecture}", "-x", "hip"]
    if hipcc := shutil.which("hipcc", path="/opt/rocm/bin"):
        return [hipcc, *target]
    libraries = next(pathlib.Path("/usr/lib").glob("*/amdgcn/bitcode"), None)
    if not shutil.which(clang) or not libraries:
        return None
    bitcode = folder / "bitcode"
    bitcode.mkdir()
    for library in libraries.glob("*.bc"):
        (bitcode / library.name).symlink_to(library)
    if not (bitcode / "oclc_isa_version_942.bc").exists():  # 940 is its twin
        (bitcode / "oclc_isa_version_942.bc").symlink_to(libraries / "oclc_isa_version_940.bc")
    return [clang, *target, "--rocm-path=/usr", f"--rocm-device-lib-path={bitcode}"]


class Compiled:
    """What holds for every compiler. Classes say `architecture`, `command(folder)`."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name)
        command = cls.command(cls.root)
        if not command:
            raise unittest.SkipTest(f"no compiler for {cls.architecture}")
        (cls.root / "include").symlink_to(SOURCE / "include")
        (cls.root / "kernels/tiny").mkdir(parents=True)
        cls.header = cls.root / "kernels/tiny/tiny.hpp"
        cls.header.write_text(KERNELS)
        (cls.root / "src/operations").mkdir(parents=True)
        cls.device_header = cls.root / "src/operations/kernels.hpp"
        cls.device_header.write_text(DEVICE_KERNELS)
        source = cls.root / "instances.cu"
        source.write_text(INSTANCES)
        cls.compiler = [*command, "-std=c++20", "-O3", f"-I{cls.root}/include",
                        f"-I{cls.root}/kernels", f"-I{cls.root}/src/operations", "-c", source, "-o"]
        cls.object = cls.root / ("instances.cu.o" if cls.is_cuda() else "instances.hip.o")
        subprocess.run([*cls.compiler, cls.object], check=True)

    def setUp(self):
        self.header.write_text(KERNELS)
        self.device_header.write_text(DEVICE_KERNELS)

    @classmethod
    def is_cuda(cls):
        return cls.architecture.startswith("sm_")

    def resources(self, *arguments):
        return run("--root", self.root, *arguments)

    @functools.cached_property
    def rows(self):
        result = self.resources(self.object, "--format", "json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)["kernels"]

    def test_names_become_columns(self):
        columns = ("kernel", "access", "ordering", "precision", "min_blocks")
        many = "tiny_many<count=60, unused=false>"
        self.assertEqual([tuple(row[c] for c in columns) for row in self.rows],
                         [(many, "strided", "per_orientation", "double", 1),
                          (many, "strided", "per_orientation", "double", 8),
                          ("tiny_shared", "indirect", "any", "float", 1),
                          ("walk<how=wide, count=60>", "any", "any", "double", 8)])
        self.assertEqual([row["file"] for row in self.rows],
                         3 * ["kernels/tiny/tiny.hpp"] + ["src/operations/kernels.hpp"])
        for row in self.rows:
            self.assertEqual(row["architecture"], self.architecture)
            self.assertEqual(row["block_threads"], 256)

    def test_registers_and_spills(self):
        free, capped, shared, device = self.rows
        # The cap of eight blocks of 256 threads: 64 Ki registers / 2048, or 512 / 8 waves.
        cap = 32 if self.is_cuda() else 64
        self.assertGreater(free["vector"], 120)
        self.assertEqual(capped["vector"] + (capped["accumulation"] or 0), cap)
        self.assertGreater(capped["local_bytes"], 100)
        self.assertGreater(capped["spill_instructions" if self.is_cuda() else "spilled_vector"], 25)
        for column in ("vector", "local_bytes", "spill_instructions", "spilled_vector"):
            self.assertEqual(device[column], capped[column])
        self.assertEqual(capped["occupancy"], 1)
        self.assertLessEqual(free["occupancy"], 0.25 if self.is_cuda() else 0.5)
        for row in (free, shared):
            self.assertEqual(row["local_bytes"], 0)
            self.assertFalse(row["spilled_vector"] or row["spill_instructions"])

    def test_shared_bytes(self):
        self.assertEqual([row["shared_bytes"] for row in self.rows], [0, 0, 400, 0])

    def test_block_threads(self):
        result = self.resources(self.object, "--format", "json", "--block-threads", "1024")
        shared = json.loads(result.stdout)["kernels"][2]
        self.assertEqual((shared["block_threads"], shared["occupancy"]), (1024, 1))

    def test_check_names_what_spills(self):
        result = self.resources(self.object, "--check")
        self.assertEqual(result.returncode, 1)
        files = ("kernels/tiny/tiny.hpp", "src/operations/kernels.hpp")
        for complaint, file in zip(result.stderr.splitlines(), files, strict=True):
            self.assertIn(f"min_blocks=8, {self.architecture}: spills", complaint)
            self.assertIn(file + " does not say", complaint)

    def test_check_believes_the_file(self):
        for said, status in (("// may spill: a test", 0),
                             ("// may spill (min_blocks=8): a test", 0),
                             (f"// may spill (min_blocks=8, architecture={self.architecture}, "
                              "architecture=sm_1): a test", 0),
                             ("// may spill (min_blocks=8, architecture=sm_1): a test", 1),
                             ("// may spill (min_blocks=3): a test", 1),
                             ("// may spill:", 1),
                             ("// may spill (moon=full): a test", 2)):
            with self.subTest(said):
                self.header.write_text(said + "\n" + KERNELS)
                self.device_header.write_text(said + "\n" + DEVICE_KERNELS)
                self.assertEqual(self.resources(self.object, "--check").returncode, status)

    def test_formats(self):
        output = self.root / "table"
        result = self.resources(self.root, "--format", "csv", "--output", output)
        self.assertEqual(result.stdout, "")
        rows = list(csv.DictReader(io.StringIO(output.read_text())))
        self.assertEqual([int(row["vector"]) for row in rows], [r["vector"] for r in self.rows])
        lines = self.resources(self.object).stdout.splitlines()
        self.assertEqual(len({line.count("|") for line in lines[:5]}), 1)
        self.assertIn(f"| {self.architecture} registers |", lines[0])

    def test_damaged_files_are_refused(self):
        data = self.object.read_bytes()
        device = data.find(b"\x7fELF", 1)
        damaged = self.root / "damaged.o"
        for at in (1, 40, device - 40, device + 10, device + 200, len(data) - 100):
            with self.subTest(cut=at):
                damaged.write_bytes(data[:at])
                self.refuses(damaged, "damaged.o")
        for at in range(device, min(device + 4096, len(data)), 397):
            damaged.write_bytes(data[:at] + b"\xff" * 8 + data[at + 8:])
            self.assertNotIn("Traceback", self.resources(damaged).stderr)

    def refuses(self, path, words):
        result = self.resources(path)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn(words, result.stderr)
        self.assertNotIn("Traceback", result.stderr)


class Cuda(Compiled, unittest.TestCase):
    architecture = "sm_90"
    command = staticmethod(cuda_command)

    def test_compressed_code_is_refused_with_the_remedy(self):
        source, compressed = self.root / "one.cu", self.root / "compressed.o"
        source.write_text("__global__ void one() {}")
        subprocess.run([*self.command(self.root), "-Xfatbin=-compress-all", "-c", source, "-o",
                        compressed], check=True)
        data = compressed.read_bytes()
        if data.find(b"\x7fELF", 1) >= 0:
            self.skipTest("this nvcc does not compress")
        self.refuses(compressed, "-Xfatbin=-no-compress")


class Mi200(Compiled, unittest.TestCase):
    architecture = "gfx90a"
    command = staticmethod(lambda folder: hip_command(folder, "gfx90a", "clang++-15"))


class Mi300(Compiled, unittest.TestCase):
    architecture = "gfx942"
    command = staticmethod(lambda folder: hip_command(folder, "gfx942", "clang++-19"))


class Input(unittest.TestCase):
    def test_bad_input(self):
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder, "text")
            text.write_text("no object")
            for path in (folder, pathlib.Path(folder, "absent"), text, sys.executable):
                with self.subTest(path):
                    result = run(path)
                    self.assertEqual((result.returncode, result.stdout), (2, ""))
                    self.assertTrue(result.stderr.startswith("scripts/resources: "), result.stderr)


if __name__ == "__main__":
    unittest.main()
