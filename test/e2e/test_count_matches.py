# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often numbers are in a block, counted by comparisons with all of them."""

import pytest
import torch
import triton
import triton.language as tl
from support import dtypes


@triton.jit
def count_kernel(x, out, n, first, FORM: tl.constexpr, NB: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    bins = tl.arange(0, NB)
    if FORM == "columns":
        c = tl.sum(((v[:, None] == bins[None, :]) & (i < n)[:, None]).to(tl.int32), 0)
    elif FORM == "rows":
        c = tl.sum(((i < n)[None, :] & (bins[:, None] == v[None, :])).to(tl.int64), 1).to(tl.int32)
    elif FORM == "where":
        c = tl.sum(tl.where((v[:, None] == bins[None, :]) & (i < n)[:, None], 1, 0), 0)
    elif FORM == "floats":
        c = tl.sum(((v[:, None] == bins[None, :]) & (i < n)[:, None]).to(tl.float32), 0).to(
            tl.int32
        )
    elif FORM == "begins":
        c = tl.sum(((v[:, None] == (bins + 3)[None, :]) & (i < n)[:, None]).to(tl.int32), 0)
    elif FORM == "begins anywhere":
        c = tl.sum(((v[:, None] == (first + bins)[None, :]) & (i < n)[:, None]).to(tl.int32), 0)
    elif FORM == "below":
        c = tl.sum(((v[:, None] < bins[None, :]) & (i < n)[:, None]).to(tl.int32), 0)
    elif FORM == "every other":
        c = tl.sum(((v[:, None] == (bins * 2)[None, :]) & (i < n)[:, None]).to(tl.int32), 0)
    elif FORM == "mask of numbers":
        c = tl.sum(
            ((v[:, None] == bins[None, :]) & (bins < 7)[None, :] & (i < n)[:, None]).to(tl.int32), 0
        )
    elif FORM == "twos":
        c = tl.sum(tl.where((v[:, None] == bins[None, :]) & (i < n)[:, None], 2, 0), 0)
    else:
        c = tl.sum(tl.where((v[:, None] == bins[None, :]) & (i < n)[:, None], 1, 3), 0)
    tl.atomic_add(out + bins, c)


def wanted(form, x, first, bins, block):
    i = torch.arange(bins)
    x = x.long()
    if form == "below":
        return (x[:, None] < i).sum(0)
    if form == "every other":
        return (x[:, None] == i * 2).sum(0)
    begin = {"begins": 3, "begins anywhere": first}.get(form, 0)
    counts = (x[:, None] == i + begin).sum(0)
    if form == "mask of numbers":
        counts[7:] = 0
    if form == "twos":
        counts *= 2
    if form == "threes":
        counts = counts + 3 * (triton.cdiv(x.numel(), block) * block - counts)
    return counts


FORMS = [
    "columns",
    "rows",
    "where",
    "floats",
    "begins",
    "begins anywhere",
    "below",
    "every other",
    "mask of numbers",
    "twos",
    "threes",
]


@pytest.mark.parametrize("n", [1, 129, 1000])
@pytest.mark.parametrize("bins", [8, 16, 64, 128])
@pytest.mark.parametrize("form", FORMS)
def test_counts(form, bins, n, rng):
    # Some are no number of a bin.
    x = torch.randint(-3, bins + 5, [n], generator=rng, dtype=torch.int32)
    out = torch.zeros(bins, dtype=torch.int32)
    count_kernel[(triton.cdiv(n, 128),)](x, out, n, -2, FORM=form, NB=bins, B=128)
    assert torch.equal(out.long(), wanted(form, x, -2, bins, 128))


@pytest.mark.parametrize("form", ["columns", "rows", "begins anywhere"])
@pytest.mark.parametrize("dtype", dtypes(torch.int8, torch.uint8, torch.int16, torch.int64))
def test_types_of_numbers(dtype, form, rng):
    n, bins, first = 777, 64, 5
    x = torch.randint(0, 100, [n], generator=rng)
    if dtype != torch.uint8:
        x -= 20
    x = x.to(dtype)
    out = torch.zeros(bins, dtype=torch.int32)
    count_kernel[(triton.cdiv(n, 256),)](x, out, n, first, FORM=form, NB=bins, B=256)
    assert torch.equal(out.long(), wanted(form, x, first, bins, 256))


@triton.jit
def byte_kernel(x, out, B: tl.constexpr, NB: tl.constexpr):
    """Numbers of 8 bits come again from 256 on."""
    v = tl.load(x + tl.arange(0, B))
    bins = tl.arange(0, NB).to(tl.int8)
    tl.store(out + tl.arange(0, NB), tl.sum((v[:, None] == bins[None, :]).to(tl.int32), 0))


@pytest.mark.parametrize("bins", [256, 512])
def test_bytes(bins, rng):
    x = torch.randint(-128, 128, [1024], generator=rng).to(torch.int8)
    out = torch.empty(bins, dtype=torch.int32)
    byte_kernel[(1,)](x, out, B=1024, NB=bins)
    counts = torch.bincount(x.long() & 255, minlength=256).int()
    assert torch.equal(out, counts.repeat(bins // 256))


@triton.jit
def loop_kernel(x, out, n, NB: tl.constexpr, B: tl.constexpr):
    bins = tl.arange(0, NB)
    counts = tl.zeros([NB], tl.int32)
    for k in range(0, n, B):
        i = k + tl.arange(0, B)
        v = tl.load(x + i, mask=i < n, other=-1)
        counts += tl.sum((v[:, None] == bins[None, :]).to(tl.int32), 0)
    tl.store(out + bins, counts)


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("n", [0, 1, 5000])
def test_in_a_loop(n, same, rng):
    x = torch.full([n], 77) if same else torch.randint(0, 256, [n], generator=rng)
    out = torch.empty(256, dtype=torch.int32)
    loop_kernel[(1,)](x.int(), out, n, NB=256, B=128)
    assert torch.equal(out.long(), torch.bincount(x, minlength=256))
