# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks that are reshaped and taken apart by `tl.split` are read part by part."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, INTEGERS, NAMES, normal, output

TYPES = [*FLOATS, *INTEGERS]


def same(got, wanted):
    """Bit by bit, also what was not to be written."""
    assert torch.equal(got.contiguous().view(torch.uint8), wanted.contiguous().view(torch.uint8))


def by_type(values):
    return pytest.mark.parametrize("dtype", values, ids=[NAMES[d] for d in values])


@triton.jit
def parts_kernel(
    x, out, rows, width, columns, HOW: tl.constexpr, BR: tl.constexpr, D: tl.constexpr
):
    """The first and the second part of each row, one behind the other; elements from `columns` on are 1."""
    r = tl.program_id(0) * BR + tl.arange(0, BR)
    d = tl.arange(0, D)
    inside = (r < rows)[:, None] & (d < columns)[None, :]
    block = tl.load(x + r[:, None] * width + d[None, :], mask=inside, other=1)
    if HOW == "pairs":
        a, b = tl.split(tl.reshape(block, (BR, D // 2, 2)))
    else:
        a, b = tl.split(tl.permute(tl.reshape(block, (BR, 2, D // 2)), (0, 2, 1)))
    i = tl.arange(0, D // 2)
    at = r[:, None] * D + i[None, :]
    tl.store(out + at, a, mask=(r < rows)[:, None])
    tl.store(out + at + D // 2, b, mask=(r < rows)[:, None])


@pytest.mark.parametrize("how", ["pairs", "halves"])
@pytest.mark.parametrize(
    ("rows", "block", "width", "columns"),
    [(5, 1, 64, 64), (7, 4, 67, 64), (3, 8, 64, 31), (4, 2, 64, 32), (2, 2, 64, 0), (1, 1, 64, 63)],
)
@by_type(TYPES)
def test_parts_of_rows(dtype, rows, block, width, columns, how, rng):
    x = normal(rng, (rows, width), dtype)
    out = output((rows, 64), dtype)
    parts_kernel[(triton.cdiv(rows, block),)](x, out, rows, width, columns, how, block, 64)
    whole = x[:, :64].clone()
    whole[:, columns:] = torch.ones((), dtype=torch.float32).to(dtype)
    if how == "pairs":
        whole = torch.cat([whole[:, 0::2], whole[:, 1::2]], 1)
    same(out, whole)


@triton.jit
def turn_kernel(x, cos, sin, out, tokens, heads, scale, D: tl.constexpr, BT: tl.constexpr):
    """Rotary embedding of neighbours, of rows that are scaled before."""
    t, h = tl.program_id(0) * BT + tl.arange(0, BT), tl.program_id(1)
    i = tl.arange(0, D // 2)
    inside = (t < tokens)[:, None]
    at = (t[:, None] * heads + h) * D + tl.arange(0, D)[None, :]
    c = tl.load(cos + t[:, None] * (D // 2) + i[None, :], mask=inside, other=0.0)
    s = tl.load(sin + t[:, None] * (D // 2) + i[None, :], mask=inside, other=0.0)
    block = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    block *= tl.load(scale + t, mask=t < tokens, other=0.0)[:, None]
    a, b = tl.split(tl.reshape(block, (BT, D // 2, 2)))
    turned = tl.reshape(tl.join(a * c - b * s, b * c + a * s), (BT, D))
    tl.store(out + at, turned.to(out.dtype.element_ty), mask=inside)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("tokens", "block"), [(5, 1), (13, 8), (16, 16)])
@by_type([torch.float32, torch.bfloat16, torch.float16])
def test_turned(dtype, tokens, block, in_place, rng):
    heads, d = 3, 64
    x = normal(rng, (tokens, heads, d), dtype)
    angles = torch.rand(tokens, d // 2, generator=rng) * 6
    scale = torch.rand(tokens, generator=rng) + 0.5
    pairs = torch.view_as_complex(
        x.double().view(tokens, heads, d // 2, 2) * scale.double()[:, None, None, None]
    )
    turns = torch.polar(torch.ones_like(angles).double(), angles.double())
    wanted = torch.view_as_real(pairs * turns[:, None]).view_as(x)
    out = x if in_place else output(x.shape, dtype)
    turn_kernel[(triton.cdiv(tokens, block), heads)](
        x, angles.cos(), angles.sin(), out, tokens, heads, scale, d, block
    )
    tolerance = 1e-5 if dtype == torch.float32 else 2**-7
    torch.testing.assert_close(out.double(), wanted, rtol=tolerance, atol=1e-5)


@triton.jit
def others_kernel(x, y, out, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    d = tl.arange(0, BLOCK)
    if KIND == "parts of parts":
        even, odd = tl.split(tl.reshape(tl.load(x + d), (BLOCK // 4, 2, 2)))
        a, c = tl.split(even)
        b, e = tl.split(odd)
        i = tl.arange(0, BLOCK // 4)
        tl.store(out + i, a)
        tl.store(out + BLOCK // 4 + i, b)
        tl.store(out + BLOCK // 2 + i, c)
        tl.store(out + 3 * (BLOCK // 4) + i, e)
    else:
        i = tl.arange(0, BLOCK // 2)
        if KIND == "begins later":
            block = tl.load(x + d, mask=d >= n, other=5.0)
        elif KIND == "another block outside":
            block = tl.load(x + d, mask=d < n, other=tl.load(y + d))
        elif KIND == "by index":
            block = tl.where(d < n, tl.load(x + d), d * 2.0)
        elif KIND == "sums":
            block = tl.load(x + d)
            block = tl.exp(block) / tl.sum(tl.exp(block), 0)
        elif KIND == "backwards":
            block = tl.load(x + BLOCK - 1 - d)
        elif KIND == "gathered":
            block = tl.load(x + (d * 7) % BLOCK)
        else:  # stored between
            block = tl.load(x + d)
            tl.store(x + d, block + 1.0)
        a, b = tl.split(tl.reshape(block, (BLOCK // 2, 2)))
        tl.store(out + i, a)
        tl.store(out + BLOCK // 2 + i, b)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 100, 128])
@pytest.mark.parametrize(
    "kind",
    [
        "parts of parts",
        "begins later",
        "another block outside",
        "by index",
        "sums",
        "backwards",
        "gathered",
        "stored between",
    ],
)
def test_others(kind, n, rng):
    block = 128
    x, y = normal(rng, (block,), torch.float32), normal(rng, (block,), torch.float32)
    d = torch.arange(block)
    whole = {
        "parts of parts": x,
        "begins later": torch.where(d >= n, x, 5.0),
        "another block outside": torch.where(d < n, x, y),
        "by index": torch.where(d < n, x, d * 2.0),
        "sums": torch.softmax(x, 0),
        "backwards": x.flip(0),
        "gathered": x[(d * 7) % block],
        "stored between": x.clone(),
    }[kind]
    step = 4 if kind == "parts of parts" else 2
    out = output((block,), torch.float32)
    others_kernel[(1,)](x, y, out, n, kind, block)
    wanted = torch.cat([whole[i::step] for i in range(step)])
    if kind == "sums":
        torch.testing.assert_close(out, wanted)
    else:
        same(out, wanted)
