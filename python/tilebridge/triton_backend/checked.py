# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""TILEBRIDGE_CHECK=1: kernels run on the reference evaluator, which checks each access against the launch's tensors.

It is slow, and the place for kernels that end the process or write where they must not: the first access outside of
all tensors is an error with the line of the kernel's source.
"""

from __future__ import annotations

import ctypes
import gc
import os
import re
import struct
import sys
from typing import Any

MARK = b"tilebridge TTIR\n"  # What an artefact begins with that is not compiled.
_CODE_SUCCESS = 0
_MAX_RANK = 8


def is_asked_for() -> bool:
    return os.environ.get("TILEBRIDGE_CHECK") == "1"


class _Descriptor(ctypes.Structure):
    _fields_ = [
        ("pointer", ctypes.c_void_p),
        ("rank", ctypes.c_uint32),
        ("pad_with_nan", ctypes.c_uint32),
        ("sizes", ctypes.c_int64 * _MAX_RANK),
        ("strides", ctypes.c_int64 * _MAX_RANK),
    ]


class _Value(ctypes.Union):
    _fields_ = [
        ("pointer", ctypes.c_void_p),
        ("integer", ctypes.c_int64),
        ("real", ctypes.c_double),
        ("descriptor", ctypes.POINTER(_Descriptor)),
    ]


class _Argument(ctypes.Structure):
    _fields_ = [("type", ctypes.c_char_p), ("value", _Value)]


class _Memory(ctypes.Structure):
    _fields_ = [("begin", ctypes.c_void_p), ("size", ctypes.c_uint64)]


_PRINT = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)


class _Options(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_size_t),
        ("flags", ctypes.c_uint32),
        ("program", ctypes.c_uint32 * 3),
        ("seed", ctypes.c_uint64),
        ("memory", ctypes.POINTER(_Memory)),
        ("memory_count", ctypes.c_size_t),
        ("probe_folder", ctypes.c_char_p),
        ("probe_op", ctypes.c_char_p),
        ("watch", ctypes.c_void_p),
        ("note", ctypes.c_void_p),
        ("note_state", ctypes.c_void_p),
        ("print", _PRINT),
        ("print_state", ctypes.c_void_p),
    ]


def _library() -> ctypes.CDLL:
    from tilebridge import _native

    _native.launcher()
    library = ctypes.CDLL(str(_native.library_dir() / _native.RUNTIME))
    library.tilebridge_last_error.restype = ctypes.c_char_p
    library.tilebridge_kernel_argument_type.restype = ctypes.c_char_p
    library.tilebridge_kernel_argument_count.restype = ctypes.c_size_t
    for name in ("argument_type", "argument_count", "release"):
        getattr(library, f"tilebridge_kernel_{name}").argtypes = [ctypes.c_void_p]
    library.tilebridge_kernel_argument_type.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.tilebridge_load_reference.argtypes = [
        ctypes.c_char_p,
        ctypes.c_size_t,
        ctypes.c_void_p,
        ctypes.POINTER(ctypes.c_void_p),
    ]
    library.tilebridge_evaluate.argtypes = [
        ctypes.c_void_p,
        *([ctypes.c_int64] * 3),
        ctypes.POINTER(_Argument),
        ctypes.c_size_t,
        ctypes.POINTER(_Options),
    ]
    return library


def _check(library: ctypes.CDLL, code: int) -> None:
    from tilebridge import errors

    if code != _CODE_SUCCESS:
        text = library.tilebridge_last_error().decode(errors="replace")
        raise errors.BY_CODE.get(code, errors.TilebridgeError)(text)


class CheckedKernel:
    """A kernel as TTIR, for the evaluator."""

    def __init__(self, ttir: bytes):
        self.makes_pointers = b"tt.int_to_ptr" in ttir or b"!tt.ptr<!tt.ptr" in ttir
        self.library = _library()
        self.handle = ctypes.c_void_p()
        _check(self.library, self._load(ttir))
        count = self.library.tilebridge_kernel_argument_count(self.handle)
        self.types = [
            self.library.tilebridge_kernel_argument_type(self.handle, i) for i in range(count)
        ]

    def _load(self, ttir: bytes) -> int:
        return self.library.tilebridge_load_reference(ttir, len(ttir), None, self.handle)

    def __del__(self):
        if getattr(self, "handle", None):
            self.library.tilebridge_kernel_release(self.handle)

    def run(
        self, grid: tuple[int, ...], slots: list[int], memory: list[tuple[int, int]] | None
    ) -> None:
        arguments = (_Argument * len(self.types))()
        keep: list[Any] = []
        reader = iter(slots)
        for argument, kind in zip(arguments, self.types, strict=True):
            argument.type = kind
            _fill(argument.value, kind.decode(), reader, keep)
        self._launch(grid, arguments, memory)

    def _launch(self, grid: tuple[int, ...], arguments, memory) -> None:
        options = _Options(struct_size=ctypes.sizeof(_Options), print=_PRINT(_print))
        _set_memory(options, memory)
        code = self.library.tilebridge_evaluate(
            self.handle, *grid, arguments, len(arguments), options
        )
        _check(self.library, code)


def _set_memory(options, memory: list[tuple[int, int]] | None) -> None:
    if memory is not None:
        options.memory = (_Memory * len(memory))(*memory)
        options.memory_count = len(memory)


def _print(_, text: bytes) -> None:
    print(text.decode(errors="replace"), end="", flush=True)


def _fill(value: _Value, kind: str, slots, keep: list) -> None:
    """One argument from its slots, which hold the bits that a compiled kernel gets."""
    if kind.startswith("tensordesc"):
        descriptor = _Descriptor(rank=len(re.search(r"\[(.*)\]", kind)[1].split(",")))
        descriptor.pointer = next(slots)
        for numbers in (descriptor.sizes, descriptor.strides):
            for i in range(descriptor.rank):
                numbers[i] = ctypes.c_int64(next(slots)).value
        descriptor.pad_with_nan = next(slots)
        keep.append(descriptor)
        value.descriptor = ctypes.pointer(descriptor)
        return
    bits = next(slots)
    if kind.startswith("*"):
        value.pointer = bits
    elif kind[0] in "iu":
        width = int(kind[1:])
        is_negative = kind[0] == "i" and width > 1 and bits >> (width - 1) & 1
        number = bits - (1 << width) if is_negative else bits
        value.integer = ctypes.c_int64(number).value
    elif kind == "bf16":
        value.real = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    else:
        code, integer = {"fp16": ("<e", "<H"), "fp32": ("<f", "<I"), "fp64": ("<d", "<Q")}[kind]
        value.real = struct.unpack(code, struct.pack(integer, bits))[0]


def _memory_of(value, found: list[tuple[int, int]]) -> bool:
    """Adds the memory that an argument gives access to; False where its extent is not known."""
    if isinstance(value, (tuple, list)):
        return all([_memory_of(item, found) for item in value])
    if hasattr(value, "block_shape") and hasattr(value, "base"):
        return _memory_of(value.base, found)
    if not hasattr(value, "data_ptr"):
        return True
    if hasattr(value, "untyped_storage"):
        storage = value.untyped_storage()
        found.append((storage.data_ptr(), storage.nbytes()))
    elif hasattr(value, "nbytes"):
        found.append((value.data_ptr(), value.nbytes))
    else:
        return False
    return True


def _memory_of_tensors(found: list[tuple[int, int]]) -> None:
    """Adds the memory of all tensors that the process has."""
    torch = sys.modules.get("torch")
    if torch is None:
        return
    for thing in gc.get_objects():
        # Not isinstance, which would ask proxies of other modules for their class.
        if issubclass(type(thing), torch.Tensor) and thing.layout == torch.strided:
            try:
                storage = thing.untyped_storage()
                if storage.device.type == "cpu" and storage.nbytes():
                    found.append((storage.data_ptr(), storage.nbytes()))
            except (RuntimeError, NotImplementedError):
                continue  # One without memory, such as a traced tensor.


def memory_of_launch(kernel: CheckedKernel, types, arguments) -> list[tuple[int, int]] | None:
    """The arrays that a launch may touch; None where they are not known.

    They are those of its tensors. A kernel that makes pointers of integers, such as addresses that it reads from memory, may
    touch those of all tensors that the process has.
    """
    found: list[tuple[int, int]] = []
    is_known = True
    for kind, value in zip(types, arguments, strict=True):
        if kind == "constexpr":
            continue
        is_address = isinstance(kind, str) and kind.startswith("*") and isinstance(value, int)
        is_known &= not is_address and _memory_of(value, found)
    if is_known and kernel.makes_pointers:
        _memory_of_tensors(found)
    return list(dict.fromkeys(found)) if is_known else None


class CheckedLauncher:
    """In the place of the native launcher, which converts the arguments here too."""

    def __init__(self, native, types: tuple):
        self.native = native
        self.types = types

    def __call__(
        self, x, y, z, stream, kernel, packed, metadata, enter_hook, exit_hook, *arguments
    ):
        slots = self.native.slots(*arguments)
        memory = memory_of_launch(kernel, self.types, arguments)
        if enter_hook is not None:
            enter_hook(metadata)
        kernel.run(
            (x, y, z),
            list(struct.unpack(f"<{len(slots) // 8}Q", slots)),
            memory,
        )
        if exit_hook is not None:
            exit_hook(metadata)
