# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface of libtilebridge_runtime.so: compile, launch, evaluate in this process."""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    POINTER,
    Structure,
    Union,
    byref,
    c_char_p,
    c_double,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NO_CACHE = 1


class CompileOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("source_name", c_char_p),
        ("target", c_char_p),
        ("stage", c_char_p),
        ("print_after", c_char_p),
        ("log", c_void_p),
        ("log_state", c_void_p),
    ]


class _Value(Union):
    _fields_ = [("pointer", c_void_p), ("integer", c_int64), ("real", c_double)]


class Argument(Structure):
    _fields_ = [("type", c_char_p), ("value", _Value)]


class LaunchOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("max_threads", c_uint32),
        ("print", c_void_p),
        ("print_state", c_void_p),
    ]


class Memory(Structure):
    _fields_ = [("begin", c_void_p), ("size", c_uint64)]


class EvaluateOptions(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("flags", c_uint32),
        ("program", c_uint32 * 3),
        ("seed", c_uint64),
        ("memory", POINTER(Memory)),
        ("memory_count", c_size_t),
        ("probe_folder", c_char_p),
        ("probe_op", c_char_p),
        ("watch", c_void_p),
        ("note", c_void_p),
        ("note_state", c_void_p),
        ("print", c_void_p),
        ("print_state", c_void_p),
    ]


class RuntimeFailure(Exception):
    """A call that gave an error: its text."""


def library_folder() -> Path:
    return Path(os.environ.get("TILEBRIDGE_LIB_DIR") or ROOT / "build" / "lib")


class Runtime:
    """The loaded library."""

    def __init__(self):
        self.library = ctypes.CDLL(str(library_folder() / "libtilebridge_runtime.so"))
        self.library.tilebridge_last_error.restype = c_char_p
        for name in ("tilebridge_launch_typed", "tilebridge_evaluate"):
            getattr(self.library, name).argtypes = [
                c_void_p, c_int64, c_int64, c_int64, POINTER(Argument), c_size_t, c_void_p,
            ]  # fmt: skip
        self.library.tilebridge_kernel_release.argtypes = [c_void_p]

    def _check(self, code: int) -> None:
        if code:
            raise RuntimeFailure(self.library.tilebridge_last_error().decode())

    def _load(self, function, ttir: bytes) -> c_void_p:
        options = CompileOptions(ctypes.sizeof(CompileOptions), NO_CACHE, b"random.ttir")
        kernel = c_void_p()
        self._check(function(ttir, c_size_t(len(ttir)), byref(options), byref(kernel)))
        return kernel

    @staticmethod
    def _arguments(arguments):
        array = (Argument * len(arguments))()
        for slot, (kind, value) in zip(array, arguments, strict=True):
            slot.type = kind.encode()
            if kind.startswith("*"):
                slot.value.pointer = value
            else:
                slot.value.integer = value
        return array

    def run(self, ttir: bytes, grid: int, arguments) -> None:
        """Compiles for this machine and launches."""
        kernel = self._load(self.library.tilebridge_load_ttir, ttir)
        try:
            array = self._arguments(arguments)
            launch = LaunchOptions(ctypes.sizeof(LaunchOptions))
            code = self.library.tilebridge_launch_typed(
                kernel, grid, 1, 1, array, len(array), ctypes.cast(byref(launch), c_void_p)
            )
            self._check(code)
        finally:
            self.library.tilebridge_kernel_release(kernel)

    def evaluate(self, ttir: bytes, grid: int, arguments, memory) -> None:
        """Runs in the reference evaluator; `memory` are pairs of an address and a size."""
        kernel = self._load(self.library.tilebridge_load_reference, ttir)
        try:
            array = self._arguments(arguments)
            ranges = (Memory * len(memory))(*[Memory(*pair) for pair in memory])
            options = EvaluateOptions(ctypes.sizeof(EvaluateOptions))
            options.memory, options.memory_count = ranges, len(memory)
            code = self.library.tilebridge_evaluate(
                kernel, grid, 1, 1, array, len(array), ctypes.cast(byref(options), c_void_p)
            )
            self._check(code)
        finally:
            self.library.tilebridge_kernel_release(kernel)
