# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks without a sign, as those of blocks that begin before their array: below 0 is above all others, until it is 0."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal, output


@triton.jit(do_not_specialize=["first", "width"])
def rows_kernel(
    x, out, n, N, S, first, width,
    WHERE: tl.constexpr, OP: tl.constexpr, TYPE: tl.constexpr, B: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * B + tl.arange(0, B)
    row, column = i // N, i % N
    at = column + first if WHERE == "column" else i + first
    end = width.to(TYPE)
    at = at.to(TYPE)
    if OP == "<":
        inside = at < end
    elif OP == "<=":
        inside = at <= end
    elif OP == ">=":
        inside = at >= end
    else:
        inside = end > at
    value = tl.load(x + row * S + column, mask=inside & (i < n), other=-1)
    tl.store(out + i, value, mask=i < n)


@pytest.mark.parametrize("type", [tl.uint32, tl.uint64])
@pytest.mark.parametrize("op", ["<", "<=", ">=", ">"])
@pytest.mark.parametrize("where", ["column", "index"])
@pytest.mark.parametrize(("N", "S"), [(7, 9), (40, 41), (300, 1000), (2000, 2001)])
def test_rows(N, S, where, op, type, rng):
    n = 2900
    x, i = normal(rng, [(n // N + 1) * S]), torch.arange(n)
    for first in (0, -1, -3, -N // 2, -1000, 5):
        for width in (0, 1, N - 2, N, 1500, 2**31 - 1):
            out = output([n], torch.float32)
            rows_kernel[(triton.cdiv(n, 1024),)](
                x, out, n, N, S, first, width, where, op, type, B=1024
            )
            at = (i % N if where == "column" else i) + first
            at = torch.where(at < 0, at + 2**40, at)
            inside = {"<": at < width, "<=": at <= width, ">=": at >= width, ">": at < width}[op]
            wanted = torch.where(inside, x[i // N * S + i % N], -1.0)
            check_equal(out, wanted)


OPERATIONS = {"add": np.add, "min": np.minimum, "max": np.maximum, "xor": np.bitwise_xor}


@triton.jit
def reduce_kernel(
    x, out, rows, columns, row, column, KIND: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):
    value = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    to = tl.make_tensor_descriptor(out, [rows, columns], [128, 1], [M, N])
    if KIND == "add":
        to.atomic_add([row, column], value)
    elif KIND == "min":
        to.atomic_min([row, column], value)
    elif KIND == "max":
        to.atomic_max([row, column], value)
    else:
        to.atomic_xor([row, column], value)


@pytest.mark.parametrize(
    ("dtype", "kind"), [(torch.float32, "add"), *((torch.int32, kind) for kind in OPERATIONS)]
)
@pytest.mark.parametrize(("M", "N"), [(1, 8), (1, 64), (4, 16), (2, 32)])
def test_descriptors(M, N, dtype, kind, rng):
    """Blocks that begin before the array, or end behind it."""
    for columns in (1, 5, 16, 100):
        for row in (0, -1, 1 - M, 2):
            for column in (1 - N, -5, -1, 0, 2, 97):
                x = torch.randint(-50, 50, [M, N], generator=rng).to(dtype)
                out = torch.randint(-50, 50, [3, 128], generator=rng).to(dtype)
                wanted = out.clone().numpy()
                for i, j in np.ndindex(M, N):
                    r, c = row + i, column + j
                    if 0 <= r < 3 and 0 <= c < columns:
                        wanted[r, c] = OPERATIONS[kind](wanted[r, c], x[i, j].numpy())
                reduce_kernel[(1,)](x, out, 3, columns, row, column, kind, M, N)
                assert np.array_equal(out.numpy(), wanted)
