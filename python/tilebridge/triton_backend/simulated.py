# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""TILEBRIDGE_TARGET=accel:NAME: kernels run on the simulator of a DMA accelerator."""

from __future__ import annotations

import ctypes
import os
import sys

from tilebridge import accel
from tilebridge.triton_backend import checked

MARK = b"tilebridge TTIR for "  # What an artefact begins with, before the target and a line's end.

_RANDOM_LANDING = 1
_TRACE = 2
_LOWERED = 4
_COMPILE_ONLY = 8
_CPP = 16
_ESTIMATE = 64
_AUTOTILE = 128
_EXHAUSTIVE = 256

_COMPILE_REMARKS = 2

_OUTPUT = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t
)
_LOG = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t)


class _CompileOptions(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("flags", ctypes.c_uint32),
        ("source_name", ctypes.c_char_p),
        ("target", ctypes.c_char_p),
        ("stage", ctypes.c_char_p),
        ("print_after", ctypes.c_char_p),
        ("log", _LOG),
        ("log_state", ctypes.c_void_p),
    ]


class _Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("flags", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("memory", ctypes.POINTER(checked._Memory)),
        ("memory_count", ctypes.c_size_t),
        ("output", _OUTPUT),
        ("output_state", ctypes.c_void_p),
        ("print", checked._PRINT),
        ("print_state", ctypes.c_void_p),
    ]


def is_asked_for(target: str) -> bool:
    return target.startswith("accel:")


def artefact_of(ttir: str, target: str) -> bytes:
    return MARK + target.encode() + b"\n" + ttir.encode()


def _tell(_, text, size) -> None:
    print(ctypes.string_at(text, size).decode(), end="", file=sys.stderr)


class SimulatedKernel(checked.CheckedKernel):
    """A kernel as TTIR, for the simulator."""

    def __init__(self, artefact: bytes):
        target, ttir = artefact.removeprefix(MARK).split(b"\n", 1)
        self.target = target
        super().__init__(ttir)

    def _load(self, ttir: bytes) -> int:
        load = self.library.tilebridge_load_accel
        load.argtypes = [
            ctypes.c_char_p,
            ctypes.c_size_t,
            ctypes.POINTER(_CompileOptions),
            ctypes.POINTER(ctypes.c_void_p),
        ]
        self.library.tilebridge_simulate.argtypes = [
            ctypes.c_void_p,
            *([ctypes.c_int64] * 3),
            ctypes.POINTER(checked._Argument),
            ctypes.c_size_t,
            ctypes.POINTER(_Options),
        ]
        options = _CompileOptions(
            struct_size=ctypes.sizeof(_CompileOptions), target=self.target, source_name=b"<ttir>"
        )
        if os.environ.get("TILEBRIDGE_REMARKS") == "1":
            options.flags = _COMPILE_REMARKS
            options.log = _LOG(_tell)
        return load(ttir, len(ttir), options, self.handle)

    def _launch(self, grid: tuple[int, ...], arguments, memory) -> None:
        outputs: dict[str, bytes] = {}

        def take(_, what, data, size):
            if what == b"remarks":
                _tell(None, data, size)
            else:
                outputs[what.decode()] = ctypes.string_at(data, size)

        settings = accel.settings()
        options = _Options(
            struct_size=ctypes.sizeof(_Options),
            output=_OUTPUT(take),
            print=checked._PRINT(checked._print),
        )
        if settings.seed is not None:
            options.flags |= _RANDOM_LANDING
            options.seed = settings.seed
        options.flags |= (_TRACE if settings.trace else 0) | (_LOWERED if settings.lowered else 0)
        options.flags |= _AUTOTILE if settings.autotile else 0
        options.flags |= _EXHAUSTIVE if settings.autotile == "exhaustive" else 0
        options.flags |= _ESTIMATE | _COMPILE_ONLY if settings.estimate else 0
        options.flags |= _CPP if settings.cpp else 0
        checked._set_memory(options, memory)
        code = self.library.tilebridge_simulate(
            self.handle, *grid, arguments, len(arguments), options
        )
        accel._take(outputs)
        checked._check(self.library, code)
