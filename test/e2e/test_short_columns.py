# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows that are combined one above the other, and end before their block."""

import math

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


@triton.jit
def product_of(a, b):
    return a * b


@triton.jit
def columns_kernel(
    x, out, first, end, n, OTHER: tl.constexpr, WHAT: tl.constexpr, R: tl.constexpr, N: tl.constexpr
):
    i = tl.arange(0, R)[:, None]
    j = tl.program_id(0) * N + tl.arange(0, N)
    mask = (i >= first) & (i < end) & (j < n)[None, :]
    value = tl.load(x + i * n + j[None, :], mask=mask, other=OTHER)
    if WHAT == "sum":
        result = tl.sum(value, 0)
    elif WHAT == "squares":
        result = tl.sum(value * value, 0)
    elif WHAT == "one more":
        result = tl.sum(value + 1, 0)
    elif WHAT == "max":
        result = tl.max(value, 0)
    elif WHAT == "min":
        result = tl.min(value, 0)
    elif WHAT == "product":
        result = tl.reduce(value, 0, product_of)
    elif WHAT == "argmax":
        result = tl.argmax(value, 0).to(value.dtype)
    elif WHAT == "weights":
        result = tl.sum(tl.exp(value - tl.max(value, 0)[None, :]), 0)
    else:
        result = tl.zeros([N], value.dtype) + tl.sum(value)
    tl.store(out + j, result, mask=j < n)


REFERENCES = {
    "sum": lambda a: a.sum(0),
    "squares": lambda a: (a * a).sum(0),
    "one more": lambda a: (a + 1).sum(0),
    "max": lambda a: torch.where(
        a.isnan().all(0), math.nan, a.nan_to_num(-math.inf, math.inf, -math.inf).amax(0)
    ),
    "min": lambda a: torch.where(
        a.isnan().all(0), math.nan, a.nan_to_num(math.inf, math.inf, -math.inf).amin(0)
    ),
    "product": lambda a: a.prod(0),
    "argmax": lambda a: a.argmax(0).double(),
    "weights": lambda a: (a - a.amax(0)).exp().sum(0),
    "all": lambda a: a.sum().expand(a.shape[1]),
}


def run(x, what, other, first, end, rows, columns):
    n = x.shape[1]
    out = output([n], x.dtype)
    columns_kernel[(triton.cdiv(n, columns),)](
        x, out, first, end, n, OTHER=other, WHAT=what, R=rows, N=columns
    )
    a = torch.full([rows, n], other).double()
    a[first:end] = x[first:end].double()
    return out, a


@pytest.mark.parametrize("end", [0, 1, 2, 5, 63, 64])
@pytest.mark.parametrize("first", [0, 3])
@pytest.mark.parametrize("n", [77])
@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("sum", 0.0), ("sum", 1.0), ("squares", 0.0), ("one more", 0.0), ("max", -math.inf), ("max", 0.0),
        ("min", math.inf), ("min", 0.0), ("product", 1.0), ("product", 0.0), ("argmax", -math.inf),
        ("argmax", 0.5), ("weights", -math.inf), ("weights", 0.0), ("all", 0.0), ("all", 1.0),
    ],
)  # fmt: skip
def test_columns_shorter_than_their_block(what, other, n, first, end, rng):
    x = normal(rng, [64, n], torch.float32)
    columns = 128 if what == "all" else 32
    if what in ("max", "min", "sum"):
        x[1, 3] = math.nan
        x[:, 5] = math.nan
    out, a = run(x, what, other, first, end, 64, columns)
    if what == "weights" and (end <= first and other == -math.inf):
        assert out.isnan().all()
        return
    expected = REFERENCES[what](a)
    if what == "all" and other != 0:
        # Columns that are not there give `other`, too.
        expected = expected + 64 * (columns - n) * other
    check_equal(out, expected, tolerance=(1e-5, 1e-4))


@pytest.mark.parametrize("what", ["sum", "one more", "max", "min"])
@pytest.mark.parametrize(
    "dtype",
    dtypes(torch.int8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float64),
)
@pytest.mark.parametrize("end", [0, 7, 33])
def test_types_of_columns_shorter_than_their_block(dtype, what, end, rng):
    x = torch.randint(-3, 4, [64, 41], generator=rng).to(dtype)
    out, a = run(x, what, 0, 0, end, 64, 16)
    check_equal(out.double(), REFERENCES[what](a).to(dtype).double(), tolerance=(0, 0))


@triton.jit
def softmax_columns_kernel(
    x, out, rest, end, n, ALL: tl.constexpr, OTHER: tl.constexpr, R: tl.constexpr, N: tl.constexpr
):
    i = tl.arange(0, R)[:, None]
    j = (tl.program_id(0) * N + tl.arange(0, N))[None, :]
    value = tl.load(x + i * n + j, mask=(i < end) & (j < n), other=OTHER)
    weights = tl.exp(value - tl.max(value, 0)[None, :])
    result = weights / tl.sum(weights, 0)[None, :]
    tl.store(out + i * n + j, result, mask=(i < end) & (j < n))
    if ALL:
        tl.store(rest + i * n + j, weights, mask=j < n)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float64, torch.float16))
@pytest.mark.parametrize(
    ("everything", "other"), [(False, -math.inf), (True, -math.inf), (False, 0.5)]
)
@pytest.mark.parametrize("end", [0, 1, 3, 63, 64])
@pytest.mark.parametrize(("n", "columns"), [(77, 32), (4, 2), (3, 4)])
def test_softmax_along_columns_shorter_than_their_block(
    n, columns, end, everything, other, dtype, rng
):
    """Exponentials are kept as far as they are stored, unless all of them are."""
    x = normal(rng, [64, n], torch.float32).to(dtype)
    x[:, 1] = -math.inf
    x[2, 0] = math.nan
    x[1, 2] = -math.inf
    out, rest = output([64, n], dtype), output([64, n], dtype)
    before = out.clone()
    softmax_columns_kernel[(triton.cdiv(n, columns),)](
        x, out, rest, end, n, ALL=everything, OTHER=other, R=64, N=columns
    )
    a = torch.full([64, n], other).double()
    a[:end] = x[:end].double()
    largest = torch.where(
        a.isnan().all(0), math.nan, a.nan_to_num(-math.inf, math.inf, -math.inf).amax(0)
    )
    weights = (a - largest).exp()
    tolerance = (1e-3, 1e-2) if dtype == torch.float16 else (1e-5, 1e-4)
    check_equal(out[:end], (weights / weights.sum(0))[:end], tolerance=tolerance)
    assert torch.equal(out[end:].nan_to_num(7), before[end:].nan_to_num(7))
    if everything:
        check_equal(rest, weights, tolerance=tolerance)


def test_sums_of_negative_zeros(rng):
    """Where the rows end, a zero is added: as in a block of nothing but rows, there is one."""
    x = torch.full([64, 32], -0.0)
    out, _ = run(x, "sum", 0.0, 0, 63, 64, 32)
    assert not torch.signbit(out).any()


@triton.jit
def mean_kernel(x, out, planes, rows, columns, BLOCK: tl.constexpr):
    """A program for each number of the result: those side by side are compiled as one."""
    pid = tl.program_id(0)
    plane, column = pid // columns, pid % columns
    total = 0.0
    for start in range(0, rows, BLOCK):
        i = start + tl.arange(0, BLOCK)
        at = plane * rows * columns + i * columns + column
        total += tl.sum(tl.load(x + at, mask=i < rows, other=0.0).to(tl.float32))
    tl.store(out + pid, total / rows)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
@pytest.mark.parametrize(
    "shape", [(1, 8, 4096), (3, 1, 4100), (2, 130, 1024), (1, 1024, 2048), (5, 3, 7)]
)
def test_means_by_merged_programs(shape, dtype, rng):
    x = normal(rng, list(shape), dtype)
    out = output([shape[0], shape[2]], torch.float32)
    mean_kernel[(shape[0] * shape[2],)](x, out, *shape, BLOCK=1024)
    check_equal(out, x.double().mean(1), tolerance=(1e-5, 1e-5))
