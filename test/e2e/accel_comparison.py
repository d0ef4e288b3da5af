# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plug-in of pytest: each launch on an accelerator's simulator is compared with the same launch on the CPU.

    TILEBRIDGE_TARGET=accel:mtia-2i-like pytest -p accel_comparison test/e2e/test_shapes.py

A launch runs on the CPU first, then twice on the simulator, with transfers that land at random times and as late as they
may: both must leave the same bytes, and those of the CPU. Where a kernel has sums, products of blocks, quotients or functions,
whose order or formula is each target's own (accel_order.py), the results are within TOLERANCE of each other. What the test
checks then, against its reference in higher precision, is what the simulator left. Launches on more memory than can be kept
three times run on the simulator alone. With TILEBRIDGE_ACCEL_CPP=1 the launch runs once more, as the C++ that is emitted for
it, on the reference implementation of its interface. The environment has the plug-in too: PYTEST_ADDOPTS="-p accel_comparison".

TILEBRIDGE_ACCEL_SHARED is a folder for the CPU's code, which processes for several targets share.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import struct
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import torch
import triton  # before the backend, which it loads itself
from accel_cpp_support import COMPILERS, Emitted
from accel_order import reasons
from tilebridge import _native, accel
from tilebridge.triton_backend import checked, compiler, simulated

assert triton.__version__
SEED = int(os.environ.get("TILEBRIDGE_TEST_SEED", "20261121"))
MOST_BYTES = 1 << 30
# Two results are sums of the same values in another order.
TOLERANCE = {
    torch.float64: 1e-12,
    torch.float32: 2e-5,
    torch.float16: 4e-3,
    torch.bfloat16: 3e-2,
    torch.float8_e5m2: 0.3,
    torch.float8_e4m3fn: 0.15,
}


# Each result of these is compared with one in float64, which their module states a tolerance for. Two results that are both
# within it may be further from each other than TOLERANCE: one after the other, 447 times 1 are lost beside 2e7 in float32, and a
# float64 that is stored may have been a sum in float32.
REFERENCED = ("test_examples.py", "test_reductions.py")


@dataclass
class Results:
    """What was compared, for the end of the session."""

    kernels: set[str] = field(default_factory=set)
    launches: int = 0
    identical: int = 0
    as_cpp: int = 0
    # Of the test that runs: launches by the comparison that held.
    held: Counter[str] = field(default_factory=Counter)
    test: str = ""


results = Results()


cpp_folder = tempfile.TemporaryDirectory() if os.environ.get("TILEBRIDGE_ACCEL_CPP") else None


def run_as_cpp(text: str, grid, slots, memory, folder: Path) -> None:
    name = re.search(r"accel_kernel_(\w+)", text).group(1)
    folder = folder / hashlib.sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(exist_ok=True)
    error = Emitted(text, name, folder, COMPILERS[0]).run_slots(grid, slots, memory)
    assert error == "", error + text


def read(memory: list[tuple[int, int]]) -> list[bytes]:
    # string_at takes sizes of 31 bits.
    return [bytes((ctypes.c_char * size).from_address(begin)) for begin, size in memory]


def write(memory: list[tuple[int, int]], contents: list[bytes]) -> None:
    for (begin, _), data in zip(memory, contents, strict=True):
        ctypes.memmove(begin, data, len(data))


def tensors_of(arguments) -> list[torch.Tensor]:
    found = []
    for value in arguments:
        if isinstance(value, (tuple, list)):
            found += tensors_of(value)
        elif isinstance(value, torch.Tensor):
            found.append(value)
        elif hasattr(value, "base") and isinstance(value.base, torch.Tensor):
            found.append(value.base)
    return found


def largest_of(memory: list[tuple[int, int]], arguments, contents: list[bytes]) -> float:
    """The largest finite float of the tensors."""
    largest = 0.0
    for (begin, _), data in zip(memory, contents, strict=True):
        for tensor in tensors_of(arguments):
            if tensor.untyped_storage().data_ptr() == begin and tensor.dtype in TOLERANCE:
                usable = len(data) // tensor.element_size() * tensor.element_size()
                x = torch.frombuffer(bytearray(data[:usable] or bytes(8)), dtype=tensor.dtype)
                x = torch.nan_to_num(x.double().abs(), nan=0, posinf=0)
                largest = max(largest, float(x.max()))
    return largest


def is_close(dtype: torch.dtype, expected: bytes, actual: bytes, largest: float) -> bool:
    if dtype not in TOLERANCE:
        return False
    size = torch.empty((), dtype=dtype).element_size()
    usable = len(expected) // size * size
    x, y = (
        torch.frombuffer(bytearray(data[:usable]), dtype=dtype).double()
        for data in (expected, actual)
    )
    both = torch.isfinite(x) & torch.isfinite(y)
    # Within one result, errors are relative to its largest element: sums cancel. On the CPU those of narrow floats are
    # rounded on the way, here at the end.
    scale = x[both].abs().max() if bool(both.any()) else 0
    share = 0.25 if dtype in (torch.float16, torch.bfloat16) else 0.05
    near = ((x - y).abs() <= TOLERANCE[dtype] * (x.abs() + share * scale)) | (x == y)
    # A difference of values that are nearly the same keeps their rounding.
    near |= (x - y).abs() <= torch.finfo(dtype).eps * largest
    return bool((near | (x.isnan() & y.isnan())).all())


def types_at(arguments, begin: int) -> set[torch.dtype]:
    """The types of the arguments whose memory begins here."""
    return {
        tensor.dtype
        for tensor in tensors_of(arguments)
        if tensor.untyped_storage().data_ptr() == begin
    }


def differing(arguments, memory, before, expected, actual) -> list[int]:
    """Sizes of the arrays that are not within TOLERANCE of each other."""
    if expected == actual:
        return []
    largest = largest_of(memory, arguments, before)
    sizes = []
    for (begin, size), wanted, got in zip(memory, expected, actual, strict=True):
        if wanted == got:
            continue
        types = types_at(arguments, begin)
        if not any(is_close(dtype, wanted, got, largest) for dtype in types):
            sizes.append(size)
    return sizes


def is_same(kernel, arguments, memory, expected: list[bytes], actual: list[bytes]) -> bool:
    """The same bytes, but for what no operation promises: the payload of a NaN, and which of two zeros the larger one is."""
    for (begin, _), wanted, got in zip(memory, expected, actual, strict=True):
        if wanted == got:
            continue
        types = types_at(arguments, begin) & TOLERANCE.keys()
        if not any(is_same_array(dtype, wanted, got, kernel.has_extremes) for dtype in types):
            return False
    return True


def is_same_array(dtype: torch.dtype, expected: bytes, actual: bytes, zeros: bool) -> bool:
    size = torch.empty((), dtype=dtype).element_size()
    usable = len(expected) // size * size
    x, y = (torch.frombuffer(bytearray(data[:usable]), dtype=dtype) for data in (expected, actual))
    integer = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size]
    same = x.view(integer) == y.view(integer)
    x, y = x.double(), y.double()
    same |= x.isnan() & y.isnan()
    if zeros:
        same |= (x == 0) & (y == 0)
    return bool(same.all()) and expected[usable:] == actual[usable:]


def check_same(kernel, arguments, memory, before, expected, actual, what: str) -> None:
    for size in differing(arguments, memory, before, expected, actual):
        raise AssertionError(f"{kernel.name}: {what} differ in an array of {size} bytes")


def compare_with_cpu(kernel, arguments, memory, before, expected, actual) -> str:
    """The comparison that holds: bits, tolerance, or the test's own with its reference."""
    if is_same(kernel, arguments, memory, expected, actual):
        return "bits"
    assert kernel.reasons, f"{kernel.name}: not the CPU's bits, and there is nothing to round"
    sizes = differing(arguments, memory, before, expected, actual)
    if sizes and Path(results.test.partition("::")[0]).name in REFERENCED:
        return "reference"
    assert not sizes, f"{kernel.name}: CPU and simulator differ in an array of {sizes[0]} bytes"
    return "tolerance"


def code_for_cpu(ttir: bytes, name: str) -> bytes:
    # Products of blocks are fused everywhere; a product and a sum of elements only on the CPU, where the launch allows it.
    flags = 0 if b"tt.dot" in ttir else compiler.COMPILE_NO_CONTRACTION
    folder = os.environ.get("TILEBRIDGE_ACCEL_SHARED")
    file = Path(folder) / f"{compiler._identity()[:16]}-{name}.cpu" if folder else None
    if file and file.exists():
        return file.read_bytes()
    code, _ = _native.launcher().compile(ttir, "cpu", flags=flags)
    if file:
        own = file.with_suffix(f".{os.getpid()}")
        own.write_bytes(code)
        own.replace(file)
    return code


class Kernel(simulated.SimulatedKernel):
    """Knows the CPU's code as well."""

    def __init__(self, artefact: bytes):
        self.ttir = artefact.split(b"\n", 1)[1]
        # Triton's cache holds it for all targets.
        target = compiler.compile_target()
        super().__init__(simulated.artefact_of(self.ttir.decode(), target))
        self.name = hashlib.sha256(self.ttir).hexdigest()[:16]
        self.reasons = reasons(self.ttir.decode())
        self.has_extremes = re.search(rb"arith\.(max|min)(num|imum)f", self.ttir) is not None
        self.native = _native.launcher().load(code_for_cpu(self.ttir, self.name))


class Launcher(checked.CheckedLauncher):
    def __call__(
        self, x, y, z, stream, kernel, packed, metadata, enter_hook, exit_hook, *arguments
    ):
        known = checked.memory_of_launch(kernel, self.types, arguments)
        memory = known
        if memory is None:
            memory = []
            checked._memory_of(tensors_of(arguments), memory)
            memory = list(dict.fromkeys(memory))
        slots = self.native.slots(*arguments)
        slots = list(struct.unpack(f"<{len(slots) // 8}Q", slots))

        if sum(size for _, size in memory) > MOST_BYTES:
            kernel.run((x, y, z), slots, known)
            results.held["alone"] += 1
            return
        before = read(memory)
        self.native(x, y, z, stream, kernel.native, packed, metadata, None, None, *arguments)
        expected = read(memory)
        left = []
        for landing in (f"random:{SEED}", "late"):
            write(memory, before)
            with accel.simulation(landing=landing, cpp=cpp_folder is not None):
                kernel.run((x, y, z), slots, known)
            left.append(read(memory))
        what = "landing late and at random"
        if b"tt.atomic" in kernel.ttir:
            # What PEs do in turn, they do in another order.
            check_same(kernel, arguments, memory, before, left[0], left[1], what)
        assert left[0] == left[1] or b"tt.atomic" in kernel.ttir, f"{kernel.name}: {what} differ"
        results.held[compare_with_cpu(kernel, arguments, memory, before, expected, left[1])] += 1
        if cpp_folder and known is not None and any(one > 0 for one in (x, y, z)):
            write(memory, before)
            run_as_cpp(accel.last_cpp(), (x, y, z), slots, memory, Path(cpp_folder.name))
            check_same(
                kernel, arguments, memory, before, left[1], read(memory), "C++ and simulator"
            )
            results.as_cpp += 1
        results.kernels.add(kernel.name)
        results.launches += 1
        results.identical += expected == left[1]


def write_event(**event) -> None:
    """For accel_sweep.py: what has happened so far, also after a crash."""
    path = os.environ.get("TILEBRIDGE_ACCEL_EVENTS")
    if path:
        with open(path, "a") as file:
            file.write(json.dumps(event) + "\n")


def pytest_collection_modifyitems(config, items):
    """What another process has run, this one does not."""
    # A part of a file: "1/3" is every third test, from the second.
    part = os.environ.get("TILEBRIDGE_ACCEL_PART")
    if part:
        first, step = map(int, part.split("/"))
        items[:] = items[first::step]
    path = os.environ.get("TILEBRIDGE_ACCEL_EVENTS")
    if not path or not os.path.exists(path):
        return
    with open(path) as file:
        known = {json.loads(line).get("test") for line in file}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in known])
    items[:] = [item for item in items if item.nodeid not in known]


def pytest_runtest_logstart(nodeid):
    results.test = nodeid
    results.held = Counter()
    write_event(begins=nodeid)


def pytest_runtest_logreport(report):
    # One result a test: of its call, or of what went wrong before.
    if report.when == "call" or (report.when == "setup" and not report.passed):
        crash = getattr(report.longrepr, "reprcrash", None)
        message = crash.message if crash else str(report.longrepr or "")
        write_event(
            test=report.nodeid,
            outcome=report.outcome,
            message=message[:2000],
            held=dict(results.held),
        )


def pytest_configure(config):
    # What Triton keeps is TTIR, which is that of any target.
    compiler.CPUBackend.hash = lambda self: f"{compiler._identity()}-comparison"
    simulated.SimulatedKernel = Kernel
    checked.CheckedLauncher = Launcher


def pytest_terminal_summary(terminalreporter):
    target = os.environ.get("TILEBRIDGE_TARGET", "")
    terminalreporter.write_line(
        f"{target}: {len(results.kernels)} kernels, {results.launches} launches,"
        f" {results.identical} with the CPU's bits, {results.as_cpp} as C++ too"
    )
    path = os.environ.get("TILEBRIDGE_ACCEL_RESULTS")
    if path:
        with open(path, "a") as file:
            json.dump(
                {
                    "target": target,
                    "kernels": sorted(results.kernels),
                    "launches": results.launches,
                    "identical": results.identical,
                    "as_cpp": results.as_cpp,
                },
                file,
            )
            file.write("\n")
