# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks whose rows and columns wrap around at the end of an array, and those of them that are stored.

What is read for lanes that no store has is never seen: arrays end where memory does, and what lies between rows is NaN.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, small_numbers


@triton.jit
def inside_of(i, n, B: tl.constexpr, HOW: tl.constexpr):
    r = i % n
    if HOW == "where":
        r = tl.where(i < n, i, 0)
    if HOW == "hints":
        r = tl.max_contiguous(tl.multiple_of(i % n, B), B)
    if HOW == "least":
        r = tl.minimum(i, n - 1)
    return r


@triton.jit
def product_kernel(
    a, b, scales, zeros, c, m, n, k, row, words,
    KIND: tl.constexpr, HOW: tl.constexpr, GROUP: tl.constexpr, MASKED: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    down, across = tl.cdiv(m, BM), tl.cdiv(n, BN)
    first = (pid // (GROUP * across)) * GROUP
    size = min(down - first, GROUP)
    pm = first + (pid % (GROUP * across)) % size
    pn = (pid % (GROUP * across)) // size
    rows, cols, depth = pm * BM + tl.arange(0, BM), pn * BN + tl.arange(0, BN), tl.arange(0, BK)
    at_rows, at_cols = inside_of(rows, m, BM, HOW), inside_of(cols, n, BN, HOW)
    pa = a + at_rows[:, None] * k + depth[None, :]
    if KIND == "nibbles":
        pb = b + (depth[:, None] // 8) * row + at_cols[None, :]
    elif KIND == "transposed":
        pb = b + depth[:, None] + at_cols[None, :] * row
    else:
        pb = b + depth[:, None] * row + at_cols[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        x = tl.load(pa, mask=depth[None, :] < k - start, other=0.0)
        y = tl.load(pb, mask=depth[:, None] < k - start, other=0.0)
        if KIND == "nibbles":
            z = tl.load(zeros + (start // BK) * words + at_cols[None, :] // 8)
            s = tl.load(scales + (start // BK) * n + at_cols[None, :])
            y = (y >> ((depth[:, None] % 8) * 4)) & 15
            z = (z >> ((at_cols[None, :] % 8) * 4)) & 15
            y = (y - z) * s
            pb += BK // 8 * row
        elif KIND == "transposed":
            pb += BK
        else:
            pb += BK * row
        acc = tl.dot(x, y.to(x.dtype), acc, input_precision="ieee")
        pa += BK
    if KIND == "scaled":
        acc = acc * tl.load(scales + at_cols)[None, :]
    if MASKED:
        inside = (rows[:, None] < m) & (cols[None, :] < n)
        tl.store(c + rows[:, None] * n + cols[None, :], acc, mask=inside)
    else:
        tl.store(c + at_rows[:, None] * n + at_cols[None, :], acc)


def weights(kind, k, n, block, dtype, rng):
    """What the kernel reads, and what it is to compute with."""
    none = torch.zeros(1)
    if kind == "nibbles":
        groups, words = triton.cdiv(k, block), triton.cdiv(n, 8)
        codes = torch.randint(0, 16, (k, n), generator=rng)
        shifts = torch.arange(8) * 4
        b = (codes.view(k // 8, 8, n) << shifts[:, None]).sum(1)
        at = torch.randint(0, 16, (groups, words * 8), generator=rng)
        z = (at.view(groups, words, 8) << shifts).sum(2)
        s = small_numbers(rng, [groups, n], dtype)
        wide = (codes - at[:, :n].repeat_interleave(block, 0)[:k]).to(dtype)
        wide = wide * s.repeat_interleave(block, 0)[:k]
        return b.to(torch.int32), s, z.to(torch.int32), wide
    b = small_numbers(rng, [k, n], torch.float32 if kind == "transposed" else torch.int8)
    if kind in ("float8_e4m3fn", "float8_e5m2"):
        b = b.to(getattr(torch, kind))
    if kind == "scaled":
        s = small_numbers(rng, [n], torch.float32)
        return b, s, none, b.double() * s
    return b, none, none, b.double()


KINDS = [
    ("int8", "float32"),
    ("scaled", "float32"),
    ("nibbles", "float32"),
    ("transposed", "float32"),
]
COMPILED = [
    pytest.param(*kind, marks=pytest.mark.compiled("the interpreter has neither fp8 nor bf16"))
    for kind in [
        ("float8_e4m3fn", "float32"),
        ("float8_e5m2", "bfloat16"),
        ("nibbles", "bfloat16"),
    ]
]


@pytest.mark.parametrize("how", ["remainder", "unmasked", "where", "hints", "least"])
@pytest.mark.parametrize(
    "shape", [(1, 64), (8, 61), (16, 32), (19, 1), (7, 200), (35, 97)], ids=str
)
@pytest.mark.parametrize(("kind", "type_"), [*KINDS, *COMPILED])
def test_products(kind, type_, shape, how, rng):
    dtype = getattr(torch, type_)
    (m, n), k, block = shape, 80, (16, 32, 32)
    b, s, z, wide = weights(kind, k, n, block[2], dtype, rng)
    a = small_numbers(rng, [m, k], dtype)
    c = torch.full((m + 1, n), 7.0)
    tensor = b.t().contiguous() if kind == "transposed" else b
    # Rows of weights are apart, and NaN lies between them, where they have that.
    row = tensor.shape[1] + 24
    apart = torch.full((tensor.shape[0], row), float("nan")).to(
        torch.float32 if b.dtype.itemsize == 4 else b.dtype
    )
    if not b.dtype.is_floating_point:
        apart = torch.full((tensor.shape[0], row), 77, dtype=b.dtype)
    apart[:, : tensor.shape[1]] = tensor
    flat = at_end_of_memory(
        apart.view(torch.int8).flatten()[: apart.nbytes - 24 * b.dtype.itemsize]
    )
    grid = (triton.cdiv(m, block[0]) * triton.cdiv(n, block[1]),)
    product_kernel[grid](
        at_end_of_memory(a), flat.view(b.dtype), at_end_of_memory(s), at_end_of_memory(z), c, m, n, k, row, z.shape[-1],
        KIND=kind, HOW=how, GROUP=2, MASKED=how != "unmasked", BM=block[0], BN=block[1], BK=block[2],
    )  # fmt: skip
    if dtype == torch.bfloat16:
        wide = wide.to(torch.bfloat16)
    check_equal(c[:m], a.double() @ wide.double(), tolerance=(1e-5, 1e-3))
    assert (c[m] == 7).all()


@triton.jit
def lanes_kernel(x, y, o, total, n, start, B: tl.constexpr, HOW: tl.constexpr):
    i = start + tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + inside_of(i, n, B, HOW))
    w = tl.load(y + tl.program_id(0) * B + tl.arange(0, B))
    tl.store(o + tl.program_id(0) * B + tl.arange(0, B), v * w, mask=i < n)
    if total is not None:
        tl.store(total + tl.program_id(0), tl.sum(v, 0))


@pytest.mark.parametrize("total", [False, True])
@pytest.mark.parametrize("how", ["remainder", "where", "least"])
@pytest.mark.parametrize("n", [1, 2, 31, 64, 100])
@pytest.mark.parametrize("start", [0, -1, -32, -40, -150, 5, 200])
def test_lanes_below_zero(n, start, how, total, rng):
    """A negative number has a negative remainder; a sum over the lanes sees what is not stored."""
    block, programs, room = 32, 5, 256
    x = small_numbers(rng, [room + n], torch.float32)
    y = small_numbers(rng, [block * programs], torch.float32)
    o, sums = torch.full((block * programs,), 7.0), torch.zeros(programs)
    place = at_end_of_memory(x)
    lanes_kernel[(programs,)](
        place[room:], y, o, sums if total else None, n, start, B=block, HOW=how
    )
    i = start + torch.arange(block * programs)
    if how == "remainder":
        at = torch.fmod(i, n)
    else:
        at = torch.where(i < n, i, torch.tensor(0 if how == "where" else n - 1))
    v = x[room + at]
    assert torch.equal(o, torch.where(i < n, v * y, torch.tensor(7.0)))
    if total:
        check_equal(sums, v.view(programs, block).double().sum(1), terms=400)


@triton.jit
def before_kernel(x, o, n, B: tl.constexpr):
    before = tl.zeros((B,), tl.float32)
    blocks = tl.cdiv(n, B)
    for step in range(0, blocks):
        i = (blocks - 1 - step) * B + tl.arange(0, B)
        v = tl.load(x + i % n)
        tl.store(o + i, before, mask=i < n)
        before = v


@pytest.mark.parametrize("n", [1, 31, 32, 50, 64, 97])
def test_lanes_of_the_iteration_before(n, rng):
    """The last block comes first: what it reads beyond the end is stored with the block before it, which has no end."""
    block = 32
    x = small_numbers(rng, [n], torch.float32)
    o = torch.full((n + block,), 7.0)
    before_kernel[(1,)](at_end_of_memory(x), o, n, B=block)
    blocks = triton.cdiv(n, block)
    read = x[torch.arange(blocks * block) % n]
    wanted = torch.cat([read[block:], torch.zeros(block)])
    assert torch.equal(o[:n], wanted[:n])
    assert (o[n:] == 7).all()


@triton.jit
def next_rows_kernel(x, w, o, n, B: tl.constexpr, K: tl.constexpr):
    """Rows that wrap around are the inner dimension of a product, that of attention's second one."""
    i, k = tl.arange(0, B), tl.arange(0, K)
    v = tl.load(x + (i % n)[:, None] * K + k[None, :])
    p = tl.load(w + i[:, None] * B + i[None, :])
    d = tl.dot(p, v, input_precision="ieee")
    tl.store(o + i[:, None] * K + k[None, :], d, mask=(i < n)[:, None])


@pytest.mark.parametrize("n", [1, 5, 16, 31, 32])
def test_rows_that_a_product_adds_up(n, rng):
    block, depth = 32, 16
    x, w = (
        small_numbers(rng, [n, depth], torch.float32),
        small_numbers(rng, [block, block], torch.float32),
    )
    o = torch.full((block, depth), 7.0)
    next_rows_kernel[(1,)](at_end_of_memory(x), w, o, n, B=block, K=depth)
    wanted = w.double() @ x[torch.arange(block) % n].double()
    check_equal(o[:n], wanted[:n], terms=400)
    assert (o[n:] == 7).all()
