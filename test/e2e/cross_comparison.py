# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plug-in of pytest: each launch is compared with the same launch of code for another CPU, under an emulator.

    scripts/cross.sh --cpu neoverse-v2 test/e2e/test_dots.py

A launch runs on this machine first. What the other CPU leaves has to be the same bytes, or, where a kernel's formulas round
(accel_order.py), within the tolerance of accel_comparison.py; and it is what the test checks then. Kernels that make pointers
of numbers run here alone, and so do launches on more memory than MOST_BYTES.

TILEBRIDGE_CROSS is the CPU, TILEBRIDGE_CROSS_RUN a command that runs cross_launch.c, which was built for it, in the emulator.
Where TILEBRIDGE_CROSS_KEEP is a folder instead, launches and what this machine leaves are kept there for cross_replay.py.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import shlex
import struct
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

import triton  # before the backend, which it loads itself
from accel_comparison import compare_with_cpu, read, results, tensors_of, write
from accel_order import reasons
from tilebridge import _native
from tilebridge.triton_backend import checked, compiler, simulated

assert triton.__version__
MOST_BYTES = 1 << 26
CPU = os.environ["TILEBRIDGE_CROSS"]
RUN = shlex.split(os.environ.get("TILEBRIDGE_CROSS_RUN", ""))
KEEP = os.environ.get("TILEBRIDGE_CROSS_KEEP")

held: Counter[str] = Counter()
folder = tempfile.TemporaryDirectory()


class Kernel(simulated.SimulatedKernel):
    """The code for this machine and that for the other one."""

    def __init__(self, artefact: bytes):
        super().__init__(artefact)
        ttir = artefact.split(b"\n", 1)[1]
        text = ttir.decode()
        self.reasons = reasons(text)
        self.has_extremes = "arith.max" in text or "arith.min" in text
        # A product and a sum of elements are one operation on both, or on neither.
        flags = 0 if "tt.dot" in text else compiler.COMPILE_NO_CONTRACTION
        launcher = _native.launcher()
        self.native = launcher.load(launcher.compile(ttir, "cpu", flags=flags)[0])
        self.name = f"{id(self)}"
        self.file = Path(folder.name) / f"{self.name}.so"
        self.file.write_bytes(launcher.compile(ttir, f"cpu:{CPU}", flags=flags)[0])

    @staticmethod
    def header(grid, slots, memory: list[tuple[int, int]]) -> bytes:
        """Of a launch of cross_launch.c."""
        numbers = [*grid, len(slots), *slots, len(memory)]
        for begin, size in memory:
            numbers += [begin, size]
        return struct.pack(f"<{len(numbers)}Q", *numbers)

    def keep(self, header: bytes, memory, before: list[bytes], expected: list[bytes], tensors):
        code = self.file.read_bytes()
        code_file = Path(KEEP) / f"{hashlib.sha256(code).hexdigest()[:24]}.so.xz"
        if not code_file.exists():
            code_file.write_bytes(lzma.compress(code, preset=1))
        launch = header + b"".join(before)
        digest = hashlib.sha256(code + launch).hexdigest()[:24]
        launch_file = Path(KEEP) / f"{digest}.launch.xz"
        launch_file.write_bytes(lzma.compress(launch + b"".join(expected), preset=1))
        about = {"code": code_file.name, "test": results.test, "bytes": len(launch)}
        types = {
            begin: str(tensor.dtype)
            for tensor in tensors
            for begin, size in memory
            if begin <= tensor.data_ptr() <= begin + size
        }
        about |= {"header": len(header), "rounds": bool(self.reasons)}
        about["arrays"] = [[size, types.get(begin, "")] for begin, size in memory]
        (Path(KEEP) / f"{digest}.json").write_text(json.dumps(about))

    def cross(
        self, header: bytes, memory: list[tuple[int, int]], before: list[bytes]
    ) -> list[bytes]:
        file = self.file.with_suffix(".launch")
        file.write_bytes(header + b"".join(before))
        done = subprocess.run([*RUN, self.file, file], capture_output=True, text=True)
        assert done.returncode == 0, f"{CPU}: {done.returncode}\n{done.stdout}{done.stderr}"
        data = file.read_bytes()[len(header) :]
        after = []
        for _, size in memory:
            after.append(data[:size])
            data = data[size:]
        return after


class Launcher(checked.CheckedLauncher):
    def __call__(
        self, x, y, z, stream, kernel, packed, metadata, enter_hook, exit_hook, *arguments
    ):
        memory: list[tuple[int, int]] = []
        checked._memory_of(tensors_of(arguments), memory)
        memory = list(dict.fromkeys(memory))
        slots = self.native.slots(*arguments)
        slots = list(struct.unpack(f"<{len(slots) // 8}Q", slots))
        before = read(memory)
        self.native(x, y, z, stream, kernel.native, packed, metadata, None, None, *arguments)
        if kernel.makes_pointers or sum(size for _, size in memory) > MOST_BYTES:
            held["here alone"] += 1
            return
        expected = read(memory)
        header = kernel.header((x, y, z), slots, memory)
        if KEEP:
            kernel.keep(header, memory, before, expected, tensors_of(arguments))
            held["kept"] += 1
            return
        actual = kernel.cross(header, memory, before)
        write(memory, actual)
        held[compare_with_cpu(kernel, arguments, memory, before, expected, actual)] += 1


def pytest_configure(config):
    # What Triton keeps is TTIR, which is that of any target.
    compiler.CPUBackend.hash = lambda self: f"{compiler._identity()}-cross"
    simulated.SimulatedKernel = Kernel
    checked.CheckedLauncher = Launcher


def pytest_runtest_logstart(nodeid):
    results.test = nodeid


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"{CPU}: launches by what they were compared by: {dict(held)}")
