# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Masks that were numbers: `tl.where(i < n, 1, 0).to(tl.int1)`, and comparisons of such numbers."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal, output


@triton.jit
def copy_kernel(x, out, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if KIND == 0:
        mask = tl.where(i < n, 1, 0).to(tl.int1)
    elif KIND == 1:
        mask = tl.where(i < n, 0, 1) == 0
    elif KIND == 2:
        mask = tl.where(i >= n, -3, 5) > -3
    else:
        mask = tl.where(i < n, 7, 2) != 2
    tl.store(out + i, tl.load(x + i, mask=mask, other=-1.0))


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize("n", [0, 1, 63, 64, 100, 128])
def test_copy(kind, n, rng):
    """Nothing behind the first `n` elements is read."""
    x, out = torch.full([128], float("nan")), output([128], torch.float32)
    x[:n] = normal(rng, [n])
    copy_kernel[(2,)](x, out, n, kind, BLOCK=64)
    check_equal(out, torch.cat([x[:n], torch.full([128 - n], -1.0)]))


@triton.jit
def constants_kernel(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    chosen = tl.where(value < 0, 3, -2)
    always = tl.where(chosen < 4, 1.0, 0.0)
    never = tl.where(chosen == 0, 1.0, 0.0)
    signed = tl.where(chosen < 0, 10.0, 20.0)
    unsigned = tl.where(chosen.to(tl.uint32, bitcast=True) < 4, 100.0, 200.0)
    number = tl.where(n > 3, 1, 0)
    tl.store(out + i, always + never + signed + unsigned, mask=(i < n) & (number != 0))


@pytest.mark.parametrize("n", [3, 4, 50, 64])
def test_constants(n, rng):
    x, out = normal(rng, [64]), torch.zeros(64)
    constants_kernel[(1,)](x, out, n, BLOCK=64)
    wanted = torch.where(x < 0, 1 + 20.0 + 100, 1 + 10.0 + 200)
    wanted[n if n > 3 else 0 :] = 0
    check_equal(out, wanted)


@triton.jit
def pages_kernel(
    q, keys, values, out, table, lengths, scale, heads,
    ROWS: tl.constexpr, COLS: tl.constexpr, PAGE: tl.constexpr, TILE: tl.constexpr, DIM: tl.constexpr, PADDED: tl.constexpr
):  # fmt: skip
    """An attention with a cache in pages, for one head of the keys."""
    batch = tl.program_id(0)
    length = tl.load(lengths + batch)
    row, d, t = tl.arange(0, ROWS), tl.arange(0, PADDED), tl.arange(0, TILE)
    exists = tl.where(row < heads, 1, 0).to(tl.int1)
    inside = tl.where(d < DIM, 1, 0).to(tl.int1)
    places = (batch * heads + row)[:, None] * DIM + d[None, :]
    query = tl.load(q + places, mask=inside[None, :] & exists[:, None], other=0.0)
    top = tl.full([ROWS], float("-inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    sums = tl.zeros([ROWS, PADDED], tl.float32)
    for begin in range(0, length, TILE):
        at = begin + t
        known = at < length
        page = tl.load(table + batch * COLS + at // PAGE)
        line = page * PAGE + at % PAGE
        key = tl.load(
            keys + line[None, :] * DIM + d[:, None],
            mask=inside[:, None] & known[None, :],
            other=0.0,
        )
        value = tl.load(
            values + line[:, None] * DIM + d[None, :],
            mask=inside[None, :] & known[:, None],
            other=0.0,
        )
        scores = tl.where(
            known[None, :], tl.dot(query, key, input_precision="ieee") * scale, float("-inf")
        )
        new = tl.maximum(top, tl.max(scores, 1))
        weights = tl.exp(scores - new[:, None])
        old = tl.exp(top - new)
        sums = sums * old[:, None] + tl.dot(weights.to(value.dtype), value, input_precision="ieee")
        total = total * old + tl.sum(weights, 1)
        top = new
    tl.store(out + places, sums / total[:, None], mask=inside[None, :] & exists[:, None])


@pytest.mark.parametrize(("dim", "padded"), [(64, 64), (24, 32), (80, 128)])
@pytest.mark.parametrize(("page", "tile"), [(16, 16), (16, 32), (8, 64), (32, 16)])
@pytest.mark.parametrize("heads", [1, 3, 16])
def test_pages(dim, padded, page, tile, heads, rng):
    """Lines of pages behind a sequence's end, and pages of nobody, hold NaN."""
    lengths = [1, 37, 64, 100]
    columns = -(-max(lengths) // page) + tile // page + 1
    pages = sum(-(-length // page) for length in lengths) + 3
    nan = float("nan")
    keys, values = torch.full([pages, page, dim], nan), torch.full([pages, page, dim], nan)
    table = torch.zeros(len(lengths), columns, dtype=torch.int32)
    order = torch.randperm(pages, generator=rng).int()
    q, out = (
        normal(rng, [len(lengths), heads, dim]),
        output([len(lengths), heads, dim], torch.float32),
    )
    wanted = torch.empty_like(q)
    for batch, length in enumerate(lengths):
        mine, order = order[: -(-length // page)], order[-(-length // page) :]
        table[batch, : len(mine)] = mine
        k, v = normal(rng, [length, dim]), normal(rng, [length, dim])
        for at in range(length):
            keys[mine[at // page], at % page] = k[at]
            values[mine[at // page], at % page] = v[at]
        wanted[batch] = torch.softmax(q[batch] @ k.T * 0.3, 1) @ v
    pages_kernel[(len(lengths),)](
        q, keys, values, out, table, torch.tensor(lengths, dtype=torch.int32), 0.3, heads,
        ROWS=16, COLS=columns, PAGE=page, TILE=tile, DIM=dim, PADDED=padded
    )  # fmt: skip
    torch.testing.assert_close(out, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.compiled("only the compiler knows what it did")
def test_pages_are_rows(rng):
    """Keys and values are read row by row, not element by element."""
    import tilebridge

    lengths, table = torch.tensor([40], dtype=torch.int32), torch.arange(4, dtype=torch.int32)
    q, keys, out = normal(rng, [1, 4, 24]), normal(rng, [4, 16, 24]), torch.empty(1, 4, 24)
    kernel = pages_kernel[(1,)](
        q, keys, keys, out, table, lengths, 0.3, 4,
        ROWS=16, COLS=4, PAGE=16, TILE=32, DIM=24, PADDED=32
    )  # fmt: skip
    forms = [access["form"] for access in tilebridge.explain(kernel)["accesses"]]
    assert forms.count("row gather") == 2
    assert not [form for form in forms if "element" in form or "masked" in form]
