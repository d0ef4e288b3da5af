# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of rank 1 to 3 for kernels that go along one of their axes: shapes, loads, stores."""

import pytest
import triton
import triton.language as tl


@triton.jit
def load_block(x, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """A block of rank 1 to 3; B or C is 0 where the rank is less."""
    if C > 0:
        i = tl.arange(0, A)[:, None, None]
        j = tl.arange(0, B)[None, :, None]
        value = tl.load(x + (i * B + j) * C + tl.arange(0, C)[None, None, :])
    elif B > 0:
        value = tl.load(x + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    else:
        value = tl.load(x + tl.arange(0, A))
    return value


@triton.jit
def store_flat(out, value):
    if len(value.shape) == 0:
        tl.store(out, value.to(out.dtype.element_ty))
    else:
        flat = tl.reshape(value, [value.numel])
        tl.store(out + tl.arange(0, value.numel), flat.to(out.dtype.element_ty))


SHAPES = [(1,), (64,), (1, 1), (8, 16), (1, 32), (32, 1), (4, 8, 16), (2, 1, 4)]


def padded(shape):
    return (*shape, 0, 0)[:3]


def axes(shapes, with_all=True):
    for shape in shapes:
        for axis in [*range(len(shape))] + ([None] if with_all else []):
            yield pytest.param(shape, axis, id=f"{'x'.join(map(str, shape))}-{axis}")
