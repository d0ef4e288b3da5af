# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches what record.py compiled, through the runtime's C interface alone.

It needs PyTorch for the arrays, and no Triton: where that is missing, or is another version, the
modules of the kernels are imported for their problems only.
"""

from __future__ import annotations

import ctypes
import json
import sys
import types
from pathlib import Path

MANIFEST = "manifest.json"
RUNTIME = "libtilebridge_runtime.so"
VERSION = 2


class _Anything(types.ModuleType):
    """Stands for Triton where it is not installed: what it decorates is no kernel, and is not launched."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_, **__):
        return self

    def __getitem__(self, _):
        return self


def stand_in_for_triton() -> bool:
    """Whether Triton is missing, and a stand-in in its place."""
    try:
        import triton  # noqa: F401
    except ImportError:
        pass
    else:
        return False
    for name in ("triton", "triton.language", "triton.tools", "triton.tools.tensor_descriptor"):
        sys.modules[name] = _Anything(name)
    stand_in = sys.modules["triton"]
    stand_in.__version__ = "3.9.0"
    stand_in.language = sys.modules["triton.language"]
    stand_in.cdiv = lambda a, b: -(-a // b)
    stand_in.next_power_of_2 = lambda n: 1 << max(0, (n - 1).bit_length())
    return True


class Replay:
    """The kernels of a folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.manifest = json.loads((folder / MANIFEST).read_text())
        if self.manifest["version"] != VERSION:
            sys.exit(f"{folder} was recorded by another version of these benchmarks")
        self.library = ctypes.CDLL(str(folder / RUNTIME))
        self.library.tilebridge_last_error.restype = ctypes.c_char_p
        self.library.tilebridge_load_file.argtypes = [
            ctypes.c_char_p,
            ctypes.POINTER(ctypes.c_void_p),
        ]
        self.library.tilebridge_launch.argtypes = [
            ctypes.c_void_p,
            *[ctypes.c_int64] * 3,
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_void_p,
        ]
        self.kernels: dict[str, ctypes.c_void_p] = {}
        self.problems = {
            (entry["name"], entry["size"], entry["variant"], entry["block"]): entry["launches"]
            for entry in self.manifest["problems"]
        }

    def check(self, code: int) -> None:
        if code:
            raise RuntimeError(self.library.tilebridge_last_error().decode(errors="replace"))

    def kernel(self, file: str) -> ctypes.c_void_p:
        if file not in self.kernels:
            handle = ctypes.c_void_p()
            self.check(self.library.tilebridge_load_file(str(self.folder / file).encode(), handle))
            self.kernels[file] = handle
        return self.kernels[file]

    def has(self, bench, variant: str, block: str = "") -> bool:
        return (bench.name, bench.size, variant, block) in self.problems

    def runner(self, bench, variant: str, tensors, block: str = ""):
        """A callable that does the launches of a problem on these tensors."""
        calls = []
        for step in self.problems[bench.name, bench.size, variant, block]:
            slots = [
                tensors[slot[0]].data_ptr() + slot[1] if isinstance(slot, list) else slot
                for slot in step["slots"]
            ]
            array = (ctypes.c_uint64 * len(slots))(*slots)
            calls.append((self.kernel(step["file"]), *step["grid"], array, len(slots), None))
        launch = self.library.tilebridge_launch
        if len(calls) == 1:
            (only,) = calls

            def run_one():
                if launch(*only):
                    self.check(1)

            return run_one

        def run_all():
            for call in calls:
                if launch(*call):
                    self.check(1)

        return run_all

    def describe_threads(self) -> str:
        self.library.tilebridge_describe_threads.restype = ctypes.c_char_p
        return self.library.tilebridge_describe_threads().decode()
