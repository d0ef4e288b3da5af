# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks in the opposite order."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output

TYPES = dtypes(
    torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
)  # fmt: skip


def numbers(rng, shape, dtype):
    if dtype.is_floating_point:
        return torch.randn(shape, generator=rng).to(dtype)
    return torch.randint(-99, 99, shape, generator=rng).to(dtype)


@triton.jit
def flip_1d(x, out, lo, n, OTHER: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    mask = (at >= lo) & (at < n)
    value = tl.load(x + at, mask=mask, other=OTHER)
    tl.store(out + at, tl.flip(value, 0))


@pytest.mark.parametrize("block", [2, 4, 64, 4096])
@pytest.mark.parametrize("dtype", TYPES)
def test_one_dimension(dtype, block, rng):
    programs = 3
    x = numbers(rng, [programs * block], dtype)
    for lo, n in [
        (0, x.numel()),
        (0, x.numel() - block // 3),
        (block // 5, 2 * block + 1),
        (7, 3),
        (0, 0),
    ]:
        out = output([x.numel()], dtype)
        flip_1d[(programs,)](x, out, lo, n, OTHER=1, B=block)
        at = torch.arange(x.numel())
        wanted = torch.where((at >= lo) & (at < n), x, torch.ones([], dtype=dtype))
        check_equal(out, wanted.view(programs, block).flip(1).flatten())


@triton.jit
def flip_3d(
    x,
    out,
    m,
    A: tl.constexpr,
    B: tl.constexpr,
    C: tl.constexpr,
    DIM: tl.constexpr,
    WHICH: tl.constexpr,
):
    i = tl.arange(0, A)[:, None, None]
    j = tl.arange(0, B)[None, :, None]
    k = tl.arange(0, C)[None, None, :]
    at = (i * B + j) * C + k
    mask = i + j + k >= 0
    if WHICH == 0:
        mask = i < m
    elif WHICH == 1:
        mask = j < m
    elif WHICH == 2:
        mask = (k < m) & (i > 0)
    else:
        mask = (i + j + k) % 3 != 0
    value = tl.load(x + at, mask=mask, other=0)
    tl.store(out + at, tl.flip(value, DIM))


@pytest.mark.parametrize("dtype", dtypes(torch.int8, torch.bfloat16, torch.float32, torch.int64))
@pytest.mark.parametrize("which", [0, 1, 2, 3])
@pytest.mark.parametrize("dim", [0, 1, 2, -2])
def test_any_dimension(dim, which, dtype, rng):
    for shape in [(4, 8, 32), (16, 1, 2), (2, 2, 2), (8, 2, 4)]:
        x = numbers(rng, shape, dtype)
        i, j, k = (
            torch.arange(s).view([-1 if d == e else 1 for e in range(3)])
            for d, s in enumerate(shape)
        )
        m = 3
        mask = [i < m, j < m, (k < m) & (i > 0), (i + j + k) % 3 != 0][which]
        out = output(shape, dtype)
        flip_3d[(1,)](x, out, m, *shape, DIM=dim, WHICH=which)
        check_equal(out, torch.where(mask, x, torch.zeros([], dtype=dtype)).flip(dim))


@triton.jit
def flip_and(x, y, out, n, s, HOW: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    if HOW == "in place":
        tl.store(x + at, tl.flip(tl.load(x + at), 1))
    elif HOW == "rows in place":
        tl.store(
            x + at, tl.flip(tl.load(x + at, mask=i[:, None] < n, other=7.0), 0), mask=i[None, :] < n
        )
    elif HOW == "both":
        tl.store(out + at, tl.flip(tl.flip(tl.load(x + at, mask=i[:, None] < n, other=2.0), 1), 0))
    elif HOW == "twice":
        tl.store(out + at, tl.flip(tl.flip(tl.load(x + at), 1), 1))
    elif HOW == "computed":
        tl.store(out + at, tl.flip(tl.exp(tl.load(x + at)) + i[None, :], 1) + tl.load(y + at))
    elif HOW == "masked":
        inside = (i >= 3) & (i < n)
        value = tl.load(x + at, mask=inside[None, :], other=3.0) * 2 + i[:, None]
        tl.store(out + at, tl.flip(value, 1), mask=i[None, :] > 1)
    elif HOW == "masked rows":
        inside = (i >= 3) & (i < n)
        value = tl.load(x + at, mask=inside[:, None], other=3.0) * 2 + i[:, None]
        tl.store(out + i, tl.sum(tl.flip(value, 0) * i[:, None], axis=0))
    elif HOW == "sum":
        tl.store(out + i, tl.sum(tl.flip(tl.load(x + at), 0) * i[:, None], axis=0))
    elif HOW == "scan":
        tl.store(out + at, tl.flip(tl.cumsum(tl.flip(tl.load(x + at), 1), axis=1), 1))
    elif HOW == "dot":
        a = tl.flip(tl.load(x + at), 1)
        b = tl.flip(tl.load(y + at, mask=i[:, None] < n, other=0.0), 1)
        tl.store(out + at, tl.dot(a, tl.trans(b), input_precision="ieee"))
    elif HOW == "transposed":
        tl.store(out + at, tl.flip(tl.load(x + i[None, :] * B + i[:, None]), 1))
    elif HOW == "strided":
        tl.store(out + at, tl.flip(tl.load(x + i[:, None] * B + i[None, :] * s), 1))
    elif HOW == "backwards":
        tl.store(out + at, tl.flip(tl.load(x + i[:, None] * B + (B - 1 - i)[None, :]), 1))
    elif HOW == "gathered":
        rows = (i * 5 + 3) % B
        tl.store(out + at, tl.flip(tl.flip(tl.load(x + rows[:, None] * B + i[None, :]), 1), 0))
    elif HOW == "elements":
        tl.store(out + at, tl.flip(tl.load(x + (at * at) % (B * B)), 1))
    elif HOW == "changed":
        value = tl.flip(tl.load(x + at), 1)
        tl.store(x + at, tl.load(x + at) * 2)
        tl.store(out + at, value)
    elif HOW == "reshaped":
        value = tl.reshape(tl.load(x + at), [B * B // 4, 4])
        tl.store(out + tl.arange(0, B * B), tl.reshape(tl.flip(value, 0), [B * B]))
    elif HOW == "other block":
        value = tl.load(x + at, mask=i[None, :] < n, other=tl.load(y + at))
        tl.store(out + at, tl.flip(value, 1))
    elif HOW == "sorted":
        tl.store(out + at, tl.flip(tl.sort(tl.load(x + at)), 1))
    else:
        acc = tl.zeros([B, B], tl.float32)
        for k in range(n):
            acc = tl.flip(acc, 0) + tl.flip(tl.load(x + at), 1) * k
            acc += tl.flip(tl.load(y + at, mask=i[None, :] < k, other=1.0), 1)
        tl.store(out + at, acc)


def wanted_of(how, x, y, n):
    b = x.shape[0]
    i = torch.arange(b)
    at = i[:, None] * b + i[None, :]
    if how == "rows in place":
        kept = torch.where(i[:, None] < n, x, torch.full([], 7.0, dtype=x.dtype)).flip(0)
        return torch.where(i[None, :] < n, kept, x)
    if how == "loop":
        acc = torch.zeros_like(x)
        for k in range(n):
            acc = acc.flip(0) + x.flip(1) * k
            acc = acc + torch.where(i[None, :] < k, y, torch.ones_like(y)).flip(1)
        return acc
    inside = (i >= 3) & (i < n)
    three = torch.full_like(x, 3)
    masked = torch.where(inside, x, three) * 2 + i[:, None]
    return {
        "masked": lambda: torch.where(i > 1, masked.flip(1), torch.zeros_like(x)),
        "masked rows": lambda: (
            (torch.where(inside[:, None], x, three) * 2 + i[:, None]).flip(0) * i[:, None]
        ).sum(0),
        "in place": lambda: x.flip(1),
        "both": lambda: torch.where(i[:, None] < n, x, torch.full_like(x, 2)).flip(0, 1),
        "twice": lambda: x,
        "computed": lambda: (x.exp() + i).flip(1) + y,
        "sum": lambda: (x.flip(0) * i[:, None]).sum(0),
        "scan": lambda: x.flip(1).cumsum(1).flip(1),
        "dot": lambda: x.flip(1) @ torch.where(i[:, None] < n, y, torch.zeros_like(y)).flip(1).t(),
        "transposed": lambda: x.t().flip(1),
        "strided": lambda: x.flip(1),
        "backwards": lambda: x,
        "gathered": lambda: x[(i * 5 + 3) % b].flip(0, 1),
        "elements": lambda: x.flatten()[(at * at) % (b * b)].flip(1),
        "changed": lambda: x.flip(1),
        "reshaped": lambda: x.reshape(-1, 4).flip(0).view(b, b),
        "other block": lambda: torch.where(i[None, :] < n, x, y).flip(1),
        "sorted": lambda: x.sort(dim=1).values.flip(1),
    }[how]()


HOWS = [
    "masked", "masked rows", "in place", "rows in place",
    "both", "twice", "computed", "sum", "scan", "dot", "transposed", "strided",
    "backwards", "gathered", "elements", "changed", "reshaped", "other block", "sorted", "loop",
]  # fmt: skip


@pytest.mark.parametrize("block", [16, 64])
@pytest.mark.parametrize("how", HOWS)
def test_with_others(how, block, rng):
    x, y = normal(rng, (block, block)), normal(rng, (block, block))
    n = block - 5
    wanted = wanted_of(how, x.double(), y.double(), n)
    out = output(wanted.shape, torch.float32)
    if how == "masked":
        out.zero_()
    flip_and[(1,)](x, y, out, n, 1, HOW=how, B=block)
    check_equal(x if "place" in how else out, wanted, terms=block * block)
    if how == "strided":
        flip_and[(1,)](x.flatten()[block - 1 :], y, out, n, -1, HOW=how, B=block)
        check_equal(out, x)


@triton.jit
def flip_integers(x, out, A: tl.constexpr, B: tl.constexpr):
    """Without a cast, reshapes before and behind the flip meet its own."""
    at = tl.arange(0, A * B)
    value = tl.reshape(tl.load(x + at), [A, B])
    value = tl.reshape(tl.flip(value, 1), [A * B])
    tl.store(out + at, tl.reshape(tl.flip(tl.reshape(value, [B, A]), 0), [A * B]))


@pytest.mark.parametrize("shape", [(4, 16), (2, 2), (64, 2), (2, 64), (1, 8), (16, 1)])
def test_reshapes_around_it(shape, rng):
    a, b = shape
    x = numbers(rng, [a * b], torch.int32)
    out = output([a * b], torch.int32)
    flip_integers[(1,)](x, out, a, b)
    check_equal(out, x.view(a, b).flip(1).reshape(b, a).flip(0).flatten())
