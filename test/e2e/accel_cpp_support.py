# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emitted C++: compiles it, runs it on the reference implementation of its interface, and on the simulator."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
ABI = ROOT / "accel-backend" / "abi"
LIBRARIES = Path(os.environ.get("TILEBRIDGE_LIB_DIR", ROOT / "build" / "lib"))
TOOL = LIBRARIES.parent / "bin" / "tilebridge"
COMPILERS = [name for name in ("g++", "clang++", "clang++-22") if shutil.which(name)]


class Argument(ctypes.Union):
    _fields_ = [
        ("pointer", ctypes.c_void_p),
        ("integer", ctypes.c_int64),
        ("f32", ctypes.c_float),
        ("f64", ctypes.c_double),
    ]


class Array(ctypes.Structure):
    _fields_ = [("begin", ctypes.c_void_p), ("bytes", ctypes.c_uint64)]


PRINT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class Launch(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("rows", ctypes.c_uint32),
        ("columns", ctypes.c_uint32),
        ("grid", ctypes.c_uint32 * 3),
        ("argument_count", ctypes.c_uint32),
        ("arguments", ctypes.POINTER(Argument)),
        ("arrays", ctypes.POINTER(Array)),
        ("array_count", ctypes.c_size_t),
        ("seed", ctypes.c_uint64),
        ("print", PRINT),
        ("print_state", ctypes.c_void_p),
    ]


def run_tool(*words) -> str:
    done = subprocess.run(
        [TOOL, *map(str, words)], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def launch_options(target, grid, arguments):
    options = [f"--target=accel:{target}", "--grid", ",".join(map(str, grid))]
    for value in arguments:
        options += ["--arg", value]
    return options


class Emitted:
    """A kernel whose C++ was compiled by `compiler` without a warning."""

    def __init__(self, text: str, name: str, folder: Path, compiler: str):
        source, library = folder / f"{name}.cpp", folder / f"{name}-{compiler}.so"
        source.write_text(text)
        command = [compiler, "-std=c++17", "-O1", "-Wall", "-Werror", "-fPIC", "-shared"]
        command += ["-fno-strict-aliasing", "-ffp-contract=off", f"-I{ABI}"]
        command += [source, "-o", library, "-Wl,--whole-archive"]
        command += [LIBRARIES / "libaccel_reference.a", "-Wl,--no-whole-archive", "-lpthread"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr + text
        self.library = ctypes.CDLL(str(library))
        self.kernel = ctypes.c_char.in_dll(self.library, f"accel_kernel_{name}")
        self.printed: list[str] = []

    def run(self, grid, values, seed=0, pes=(0, 0)) -> str:
        """Runs a launch; the error, or an empty string."""
        arguments = (Argument * max(len(values), 1))()
        memory = []
        for argument, value in zip(arguments, values, strict=False):
            if isinstance(value, np.ndarray):
                argument.pointer = value.ctypes.data
                memory.append((value.ctypes.data, value.nbytes))
            elif isinstance(value, float):
                argument.f32 = value
            else:
                argument.integer = value
        return self._launch(grid, arguments, len(values), memory, seed, pes)

    def run_slots(self, grid, slots, memory, seed=0) -> str:
        """The same with arguments as 64 bits each, and arrays as address and size."""
        arguments = (Argument * max(len(slots), 1))()
        for argument, slot in zip(arguments, slots, strict=False):
            argument.integer = slot - (slot >> 63 << 64)
        return self._launch(grid, arguments, len(slots), memory, seed, (0, 0))

    def _launch(self, grid, arguments, count, memory, seed, pes) -> str:
        arrays = [Array(begin, size) for begin, size in memory]
        listener = PRINT(lambda _, line: self.printed.append(line.decode()))
        launch = Launch(
            ctypes.sizeof(Launch),
            *pes,
            (ctypes.c_uint32 * 3)(*grid, *[1] * (3 - len(grid))),
            count,
            arguments,
            (Array * max(len(arrays), 1))(*arrays),
            len(arrays),
            seed,
            listener,
            None,
        )
        error = ctypes.create_string_buffer(4096)
        run = self.library.accel_reference_run
        code = run(ctypes.byref(self.kernel), ctypes.byref(launch), error, ctypes.c_size_t(4096))
        assert (code == 0) == (error.value == b"")
        return error.value.decode()


def simulate(source: Path, target: str, grid, values, folder: Path, landing="late"):
    """What the simulator makes of the arrays, and what it prints."""
    options = launch_options(target, grid, [])
    files = []
    for number, value in enumerate(values):
        if isinstance(value, np.ndarray):
            path = folder / f"array-{number}.npy"
            np.save(path, value)
            files.append(path)
            options += ["--out", path]
        else:
            files.append(None)
            options += ["--arg", value]
    printed = run_tool("run", source, *options, f"--landing={landing}")
    return [np.load(path) if path else None for path in files], printed


def emit(source: Path, target: str, grid, values, folder: Path) -> str:
    options = launch_options(target, grid, [])
    for number, value in enumerate(values):
        if isinstance(value, np.ndarray):
            path = folder / f"input-{number}.npy"
            np.save(path, value)
            value = path
        options += ["--arg", value]
    return run_tool("compile", source, *options, "--emit=cpp")


def compare(text, name, target, grid, values, folder, seeds=(0, 3), compilers=None):
    """Runs a kernel both ways; arrays end the same, to the bit."""
    source = folder / f"{name}.mlir"
    source.write_text(text)
    cpp = emit(source, target, grid, values, folder)
    expected, _ = simulate(source, target, grid, values, folder)
    for compiler in compilers or COMPILERS:
        kernel = Emitted(cpp, name, folder, compiler)
        for seed in seeds:
            copies = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
            assert kernel.run(grid, copies, seed) == ""
            for want, got in zip(expected, copies, strict=True):
                if want is not None:
                    same = want.view(np.uint8) == got.view(np.uint8)
                    both_nan = np.isnan(want) & np.isnan(got) if want.dtype.kind == "f" else False
                    assert np.all(same.reshape(*want.shape, -1).all(-1) | both_nan), cpp
    return cpp, expected


NAMES = {"f16": "fp16", "f32": "fp32", "f64": "fp64", "bf16": "bf16"}
TAIL = "%px: i32, %py: i32, %pz: i32, %nx: i32, %ny: i32, %nz: i32"


def kernel(name, arguments, body):
    """A kernel of pointers to these types."""
    parameters = "".join(
        f"%a{i}: memref<?x{t}, strided<[1], offset: ?>>, " for i, t in enumerate(arguments)
    )
    signature = ", ".join(f'"*{NAMES.get(t, t)}"' for t in arguments)
    return f"""func.func @{name}({parameters}{TAIL})
    attributes {{accel.kernel, tilebridge.signature = [{signature}]}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %row = accel.pe_id 0 : index
  %column = accel.pe_id 1 : index
  %pe = arith.addi %row, %column : index
  %first = arith.cmpi eq, %pe, %c0 : index
{body}
  return
}}
"""
