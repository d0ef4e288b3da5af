# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests share: types, data, comparison."""

from __future__ import annotations

import ctypes
import mmap
import os

import pytest
import torch
import triton
import triton.language as tl
from harness import compare, output, tolerance_of

__all__ = [
    "FLOATS",
    "HAS_BLOCK_POINTERS",
    "INTEGERS",
    "INTERPRETED",
    "NAMES",
    "SIGNED",
    "TL",
    "at_end_of_memory",
    "check_equal",
    "normal",
    "output",
    "ramp",
    "special_values",
    "whole_range",
]

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
HAS_BLOCK_POINTERS = tuple(int(v) for v in triton.__version__.split(".")[:2]) < (3, 8)

SIGNED = [torch.int8, torch.int16, torch.int32, torch.int64]
UNSIGNED = [torch.uint8, torch.uint16, torch.uint32, torch.uint64]
INTEGERS = SIGNED + UNSIGNED
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
FP8 = [torch.float8_e5m2, torch.float8_e4m3fn]

TL = {
    torch.bool: tl.int1,
    torch.int8: tl.int8,
    torch.int16: tl.int16,
    torch.int32: tl.int32,
    torch.int64: tl.int64,
    torch.uint8: tl.uint8,
    torch.uint16: tl.uint16,
    torch.uint32: tl.uint32,
    torch.uint64: tl.uint64,
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
    torch.float64: tl.float64,
    torch.float8_e5m2: tl.float8e5,
    torch.float8_e4m3fn: tl.float8e4nv,
}
NAMES = {dtype: str(dtype).removeprefix("torch.") for dtype in TL}


def dtypes(*values):
    """Parameters for pytest with readable names; bf16 is left to the compiler.

    Triton's interpreter computes with the bits of bf16 as if they were integers.
    """
    flat = [d for value in values for d in (value if isinstance(value, list) else [value])]
    marks = pytest.mark.compiled("bf16 arithmetic is wrong in the interpreter")
    return [
        pytest.param(d, id=NAMES[d], marks=[marks] if d == torch.bfloat16 else []) for d in flat
    ]


def normal(rng, shape, dtype=torch.float32) -> torch.Tensor:
    """Normal floats, integers over their whole range, random booleans."""
    if dtype.is_floating_point:
        return torch.randn(shape, generator=rng, dtype=torch.float32).to(dtype)
    return whole_range(rng, shape, dtype)


def whole_range(rng, shape, dtype) -> torch.Tensor:
    """Integers with all bits random."""
    if dtype == torch.bool:
        return torch.randint(0, 2, shape, generator=rng).bool()
    bits = torch.iinfo(dtype).bits
    count = 1
    for size in shape:
        count *= size
    noise = torch.randint(0, 256, (count * bits // 8,), generator=rng, dtype=torch.uint8)
    return noise.view(dtype).reshape(shape)


def small_numbers(rng, shape, dtype) -> torch.Tensor:
    """Normal floats; integers of which sums of products stay in 32 bits."""
    if dtype.is_floating_point:
        return normal(rng, shape, dtype)
    return torch.randint(-30, 30, shape, generator=rng).to(dtype)


def ramp(n, dtype=torch.float32) -> torch.Tensor:
    return torch.arange(n).to(dtype)


def special_values(dtype) -> torch.Tensor:
    """Zeros, infinities, NaN, the ends of the range, subnormals and some plain values."""
    info = torch.finfo(dtype)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.75, 100.0, -100.0]
    values += [float("inf"), -float("inf"), float("nan")]
    values += [info.max, info.min, info.tiny, -info.tiny, info.tiny / 4, info.eps, 1 + info.eps]
    return torch.tensor(values, dtype=torch.float64).to(dtype)


def check_equal(got, wanted, dtype=None, terms=1, tolerance=None, context=""):
    """Compares with a reference: exactly for integers, within the type's error for floats.

    `dtype` is the type whose rounding the result carries; by default its own.
    """
    if tolerance is None:
        tolerance = tolerance_of(dtype or got.dtype, terms)
    result = compare(got, torch.as_tensor(wanted), tolerance)
    assert result.ok, f"{context} {result.detail}".strip()


def at_end_of_memory(tensor):
    """A copy behind which nothing may be read."""
    page, size = mmap.PAGESIZE, tensor.numel() * tensor.element_size()
    whole = -(-size // page) * page
    region = mmap.mmap(-1, whole + page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(region))
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address + whole), page, 0) == 0
    copy = torch.frombuffer(
        region, dtype=tensor.dtype, count=tensor.numel(), offset=whole - size
    ).view(tensor.shape)
    return copy.copy_(tensor)
