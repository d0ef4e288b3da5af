# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stores that fill one another's gaps, and blocks of which elements take turns, are stored as whole vectors."""

import itertools

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, FP8, INTEGERS, NAMES, normal, output

TYPES = [*FLOATS, *INTEGERS, *FP8]


def same(got, wanted):
    """Bit by bit, also what was not to be written."""
    assert torch.equal(got.contiguous().view(torch.uint8), wanted.contiguous().view(torch.uint8))


def by_type(values):
    return pytest.mark.parametrize("dtype", values, ids=[NAMES[d] for d in values])


@triton.jit
def stores_kernel(x, out, n, PARTS: tl.constexpr, BACKWARDS: tl.constexpr, BLOCK: tl.constexpr):
    """Part p of x is at x + p * n; out has element i of part p at i * PARTS + p."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    for p in tl.static_range(PARTS):
        if BACKWARDS:
            value = tl.load(x + (PARTS - 1 - p) * n + i, mask=i < n)
            tl.store(out + i * PARTS + (PARTS - 1 - p), value, mask=i < n)
        else:
            value = tl.load(x + p * n + i, mask=i < n)
            tl.store(out + i * PARTS + p, value, mask=i < n)


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("parts", [2, 3, 4, 5])
@pytest.mark.parametrize(("n", "block"), [(1000, 256), (64, 64), (1, 16), (129, 128), (0, 32)])
@by_type(TYPES)
def test_stores_that_follow(dtype, n, block, parts, backwards, rng):
    x = normal(rng, (parts, n), dtype)
    out = output((n * parts,), dtype)
    stores_kernel[(triton.cdiv(n, block) + 1,)](x, out, n, parts, backwards, block)
    same(out, x.t().reshape(-1))


@triton.jit
def interleave_kernel(x, y, out, n, PLACES: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    if PLACES == 4:
        block = tl.interleave(tl.interleave(a, a + a), tl.interleave(b, a + b))
    else:
        block = tl.interleave(a, b)
    at = tl.program_id(0) * PLACES * BLOCK + tl.arange(0, PLACES * BLOCK)
    tl.store(out + at, block.to(out.dtype.element_ty), mask=at < PLACES * n)


@pytest.mark.parametrize("places", [2, 4])
@pytest.mark.parametrize(("n", "block"), [(1000, 256), (64, 64), (3, 16), (257, 128)])
@pytest.mark.parametrize("kept", [torch.float32, torch.float16, torch.bfloat16])
@by_type([torch.float32, torch.float16, torch.bfloat16])
def test_interleave(dtype, kept, n, block, places, rng):
    x, y = normal(rng, (n,), dtype), normal(rng, (n,), dtype)
    out = output((n * places,), kept)
    interleave_kernel[(triton.cdiv(n, block),)](x, y, out, n, places, block)
    # interleave(interleave(a, c), interleave(b, d)) is a b c d.
    columns = [x, y] if places == 2 else [x, y, x + x, x + y]
    same(out, torch.stack(columns, 1).reshape(-1).to(kept))


@triton.jit
def odd_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """The end is anywhere, also within a pair; and a scale, a shift and a choice behind the join."""
    i = tl.arange(0, BLOCK)
    pairs = tl.interleave(tl.load(x + i), tl.load(y + i))
    at = tl.arange(0, 2 * BLOCK)
    pairs = tl.where(pairs > 0.5, pairs * 2.0 + 1.0, -pairs)
    tl.store(out + at, pairs, mask=at < n)


@pytest.mark.parametrize("n", [0, 1, 2, 31, 63, 64, 97, 127, 128])
def test_ends_within_pairs(n, rng):
    x, y = normal(rng, (64,), torch.float32), normal(rng, (64,), torch.float32)
    out = output((n,), torch.float32)
    odd_kernel[(1,)](x, y, out, n, 64)
    pairs = torch.stack((x, y), 1).reshape(-1)
    same(out, torch.where(pairs > 0.5, pairs * 2 + 1, -pairs)[:n])


@triton.jit
def planes_kernel(x, y, out, rows, row, pair, last, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    inside = (r < rows)[:, None]
    a = tl.load(x + r[:, None] * N + c[None, :], mask=inside)
    b = tl.load(y + r[:, None] * N + c[None, :], mask=inside)
    at = r[:, None, None] * row + c[None, :, None] * pair + tl.arange(0, 2)[None, None, :] * last
    tl.store(out + at, tl.join(a, b), mask=(r < rows)[:, None, None])


@pytest.mark.parametrize("rows", [1, 5, 8])
@pytest.mark.parametrize("how", ["pairs", "planes", "transposed", "padded"])
@by_type(TYPES)
def test_join(dtype, how, rows, rng):
    x, y = normal(rng, (8, 32), dtype), normal(rng, (8, 32), dtype)
    # Strides of rows, columns and parts, and the shape that has them.
    strides, shape, axes = {
        "pairs": ((64, 2, 1), (8, 32, 2), (0, 1, 2)),
        "planes": ((32, 1, 256), (2, 8, 32), (1, 2, 0)),
        "transposed": ((2, 16, 1), (32, 8, 2), (1, 0, 2)),
        "padded": ((70, 2, 1), (8, 35, 2), (0, 1, 2)),
    }[how]
    out = output(shape, dtype)
    before = out.clone()
    planes_kernel[(1,)](x, y, out, rows, *strides, 8, 32)
    wanted = before.clone()
    wanted.permute(axes)[:rows, :32] = torch.stack((x[:rows], y[:rows]), -1)
    same(out, wanted)


@triton.jit
def turn_kernel(x, by, out, rows, BLOCK: tl.constexpr):
    """Complex numbers times complex numbers, as rotary embeddings of pairs are."""
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    c, s = tl.load(by + 2 * i), tl.load(by + 2 * i + 1)
    a = tl.load(x + row * 2 * BLOCK + 2 * i).to(tl.float32)
    b = tl.load(x + row * 2 * BLOCK + 2 * i + 1).to(tl.float32)
    tl.store(out + row * 2 * BLOCK + 2 * i, (a * c - b * s).to(out.dtype.element_ty))
    tl.store(out + row * 2 * BLOCK + 2 * i + 1, (a * s + b * c).to(out.dtype.element_ty))


@pytest.mark.parametrize("shift", [None, 0, 1, 2, 3, 64, 128])
@by_type([torch.float32, torch.bfloat16, torch.float16])
def test_in_place(dtype, shift, rng):
    """The output is elsewhere, or the input itself, or begins so many elements behind it: all is read first."""
    block, rows = 64, 5 if shift in (None, 0) else 1
    memory = normal(rng, (rows * 128 + 256,), dtype)
    x = memory[: rows * 128]
    by = normal(rng, (128,), torch.float32)
    turned = torch.view_as_complex(x.float().view(rows, 64, 2)) * torch.view_as_complex(
        by.view(64, 2)
    )
    wanted = torch.view_as_real(turned).reshape(-1).to(dtype)
    out = torch.empty_like(x) if shift is None else memory[shift : shift + rows * 128]
    turn_kernel[(rows,)](x, by, out, rows, block)
    # PyTorch's product may round once less.
    torch.testing.assert_close(
        out.float(), wanted.float(), rtol=1e-5 if dtype == torch.float32 else 2**-7, atol=1e-5
    )


@triton.jit
def swap_kernel(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + 2 * i, mask=i < n)
    b = tl.load(x + 2 * i + 1, mask=i < n)
    tl.store(x + 2 * i, b, mask=i < n)
    tl.store(x + 2 * i + 1, a, mask=i < n)


@by_type(TYPES)
def test_neighbours_change_places(dtype, rng):
    out = normal(rng, (2 * 333,), dtype)
    bits = out.clone().view(torch.uint8).view(333, 2, -1)
    wanted = bits.flip(1).reshape(-1).view(dtype)
    swap_kernel[(3,)](out, 333, 128)
    same(out, wanted)


@triton.jit
def rows_kernel(
    x, out, rows, first, stride, KNOWN: tl.constexpr, APART: tl.constexpr, BEHIND: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """Two blocks change places, in rows that are as far apart as the launch says; all is read first."""
    r = tl.arange(0, M)[:, None]
    at = first + r * (KNOWN if KNOWN else stride) + tl.arange(0, N)[None, :] * APART
    inside = r < rows
    a = tl.load(x + at, mask=inside)
    b = tl.load(x + at + BEHIND, mask=inside)
    tl.store(out + at, b, mask=inside)
    tl.store(out + at + BEHIND, a, mask=inside)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("apart", "behind", "strides"),
    # Where rows are an odd number of elements apart, what both blocks write is the second's.
    [
        (2, 1, (64, 66, 67, 1, 3, 31, 63, -64, -31, -66)),
        (3, 1, (96, 99, 97, 1, -96, -2)),
        (3, -2, (96, 99, 97, 2, -96, -1)),
        (4, 2, (128, 130, 129, 2, -128, -130)),
        (64, 1, (1, 2, 3, 2048, -1)),
    ],
)
@by_type([torch.float32, torch.bfloat16, torch.int8])
def test_rows_that_only_the_launch_knows(dtype, apart, behind, strides, known, rng):
    n, first = 32, 1100
    cases = itertools.product((2, 5, 8), [s for s in strides if not known or s > 1])
    for left, stride in cases:
        at = (torch.arange(left) * stride)[:, None] + torch.arange(n)[None, :] * apart + first
        # A block that writes an element twice does so in no particular order.
        if at.unique().numel() != at.numel():
            continue
        for shift in [None, 0, 1, 2, 65]:
            memory = normal(rng, (18000,), dtype)
            wanted = memory.clone()
            out = memory if shift is not None else memory.clone()
            out = out[shift or 0 :]
            wanted = out.clone()
            wanted[at] = memory[at + behind]
            wanted[at + behind] = memory[at]
            rows_kernel[(1,)](
                memory, out, left, first, stride, stride if known else 0, apart, behind, 8, n
            )
            same(out, wanted)


@triton.jit
def others_kernel(x, out, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    """Two stores that do not fill one another's gaps, though they look alike."""
    i = tl.arange(0, BLOCK)
    a = tl.load(x + i)
    if KIND == "same places":
        tl.store(out + 2 * i, a)
        tl.store(out + 2 * i, a + a)
    elif KIND == "two behind":
        tl.store(out + 2 * i, a)
        tl.store(out + 2 * i + 2, a + a)
    elif KIND == "another mask":
        tl.store(out + 2 * i, a)
        tl.store(out + 2 * i + 1, a + a, mask=i < n)
    elif KIND == "chosen lanes":
        tl.store(out + 2 * i, a, mask=i % 3 == 0)
        tl.store(out + 2 * i + 1, a + a, mask=i % 3 == 0)
    elif KIND == "another stride":
        tl.store(out + 2 * i, a)
        tl.store(out + 4 * i + 1, a + a)
    elif KIND == "one between":
        tl.store(out + 2 * i, a)
        tl.store(out + i, -a)
        tl.store(out + 2 * i + 1, a + a)


def others(x, out, n, kind):
    i = torch.arange(x.numel())
    if kind == "same places":
        out[2 * i] = x + x
    elif kind == "two behind":
        out[2 * i] = x
        out[2 * i + 2] = x + x
    elif kind == "another mask":
        out[2 * i] = x
        out[2 * i[:n] + 1] = (x + x)[:n]
    elif kind == "chosen lanes":
        out[2 * i[::3]] = x[::3]
        out[2 * i[::3] + 1] = (x + x)[::3]
    elif kind == "another stride":
        out[2 * i] = x
        out[4 * i + 1] = x + x
    elif kind == "one between":
        out[2 * i] = x
        out[i] = -x
        out[2 * i + 1] = x + x
    return out


@pytest.mark.parametrize(
    "kind",
    ["same places", "two behind", "another mask", "chosen lanes", "another stride", "one between"],
)
@by_type([torch.float32, torch.float16, torch.int8, torch.int64])
def test_others(dtype, kind, rng):
    x = normal(rng, (64,), dtype)
    out = output((4 * 64 + 2,), dtype)
    wanted = others(x, out.clone(), 37, kind)
    others_kernel[(1,)](x, out, 37, kind, 64)
    same(out, wanted)
