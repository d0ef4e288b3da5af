# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks whose columns a table chooses, as keys of an attention in pages: each column is contiguous in memory."""

import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def scores_kernel(
    q,
    k,
    table,
    out,
    seq,
    width,
    stride_k,
    stride_q,
    M: tl.constexpr,
    D: tl.constexpr,
    N: tl.constexpr,
):
    m, d, n = tl.arange(0, M), tl.arange(0, D), tl.arange(0, N)
    rows = tl.load(q + m[:, None] * stride_q + d[None, :], mask=d[None, :] < width, other=0.0)
    for start in range(0, seq, N):
        inside = start + n < seq
        place = tl.load(table + start + n, mask=inside, other=0).to(tl.int64)
        keys = tl.load(
            k + place[None, :] * stride_k + d[:, None],
            mask=inside[None, :] & (d[:, None] < width),
            other=0.0,
        )
        product = tl.dot(rows, keys)
        tl.store(out + m[:, None] * seq + (start + n)[None, :], product, mask=inside[None, :])


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.float16, torch.int8], ids=str
)
@pytest.mark.parametrize(
    ("rows", "width", "depth", "seq", "block", "pad"),
    [
        (16, 64, 64, 128, 64, 0),
        (16, 80, 128, 77, 16, 5),
        (64, 33, 64, 131, 32, 1),
        (16, 16, 16, 1, 16, 0),
        (32, 128, 128, 0, 64, 0),
    ],
)
def test_scores_of_chosen_keys(dtype, rows, width, depth, seq, block, pad):
    generator = torch.Generator().manual_seed(rows + width + seq)
    stride, count = width + pad, 2 * seq + 3

    def values(*shape):
        if dtype == torch.int8:
            return torch.randint(-128, 128, shape, generator=generator, dtype=torch.int8)
        return torch.randn(*shape, generator=generator).to(dtype)

    q, memory = values(rows, stride), values(count, stride)
    # Some twice, the first and the last one; keys that are not chosen are not read: NaN would tell.
    table = torch.randint(0, count, (seq,), generator=generator, dtype=torch.int32)
    if seq > 2:
        table[0], table[1], table[2] = count - 1, 0, count - 1
    if dtype.is_floating_point:
        left = torch.ones(count, dtype=torch.bool)
        left[table.long()] = False
        memory[left] = float("nan")
        memory[:, width:] = float("nan")
        q[:, width:] = float("nan")
    out = torch.full((rows, seq), -7, dtype=torch.int32 if dtype == torch.int8 else torch.float32)
    scores_kernel[(1,)](q, memory, table, out, seq, width, stride, stride, rows, depth, block)
    expected = q[:, :width].double() @ memory[table.long(), :width].double().T
    tolerance = 0 if dtype == torch.int8 else 1e-4 if dtype == torch.float32 else 1e-3
    torch.testing.assert_close(out.double(), expected, rtol=tolerance, atol=tolerance * width)


@triton.jit
def move_kernel(x, table, out, sums, count, stride, N: tl.constexpr, D: tl.constexpr):
    n, d = tl.arange(0, N), tl.arange(0, D)
    place = tl.load(table + n, mask=n < count, other=-1)
    block = tl.load(x + place[None, :] * stride + d[:, None], mask=(place >= 0)[None, :], other=3.0)
    tl.store(out + d[:, None] * N + n[None, :], block)
    tl.store(sums + n, tl.sum(block.to(tl.float32), 0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize(
    ("count", "block", "depth"),
    [(64, 64, 64), (5, 16, 128), (0, 32, 32), (31, 32, 16), (1, 2, 256)],
)
def test_chosen_columns_are_moved_and_summed(dtype, count, block, depth):
    x = torch.randn(2 * count + 1, depth + 3).to(dtype)
    table = torch.randperm(2 * count + 1)[:count].int()
    out, sums = torch.zeros(depth, block, dtype=dtype), torch.zeros(block)
    move_kernel[(1,)](x, table, out, sums, count, x.stride(0), block, depth)
    expected = torch.full((depth, block), 3.0, dtype=dtype)
    expected[:, :count] = x[table.long(), :depth].T
    torch.testing.assert_close(out, expected, rtol=0, atol=0)
    torch.testing.assert_close(sums.double(), expected.double().sum(0), rtol=1e-5, atol=1e-4)


@triton.jit
def narrow_kernel(
    q, k, table, scales, offsets, out, seq, width, stride, M: tl.constexpr, D: tl.constexpr, N: tl.constexpr, KIND: tl.constexpr
):  # fmt: skip
    m, d, n = tl.arange(0, M), tl.arange(0, D), tl.arange(0, N)
    rows = tl.load(q + m[:, None] * width + d[None, :], mask=(d < width)[None, :], other=0.0)
    for start in range(0, seq, N):
        inside = start + n < seq
        place = tl.load(table + start + n, mask=inside, other=0).to(tl.int64)
        known = inside[None, :] & (d < width)[:, None]
        keys = tl.load(k + place[None, :] * stride + d[:, None], mask=known, other=0.0)
        if KIND == "keys":
            keys = keys.to(tl.float32) * tl.load(scales + place, mask=inside, other=0.0)[None, :]
        elif KIND == "depth":
            keys = (
                keys.to(tl.float32) * tl.load(offsets + d, mask=d < width, other=0.0)[:, None]
                - 0.25
            )
        elif KIND == "both":
            other = tl.load(k + (place + 1)[None, :] * stride + d[:, None], mask=known, other=0.0)
            keys = keys.to(tl.float32) - other.to(tl.float32)
        elif KIND == "index":
            keys = keys.to(tl.float32) * (d % 3)[:, None]
        elif KIND == "seen":
            keys = keys.to(tl.float32)
            tl.store(
                out + M * seq + d[:, None] * seq + (start + n)[None, :], keys, mask=inside[None, :]
            )
        product = tl.dot(rows, keys.to(rows.dtype), input_precision="ieee")
        tl.store(out + m[:, None] * seq + (start + n)[None, :], product, mask=inside[None, :])


@pytest.mark.parametrize("kind", ["plain", "keys", "depth", "both", "index", "seen"])
@pytest.mark.parametrize("dtype", [torch.int8, torch.float8_e4m3fn, torch.bfloat16], ids=str)
@pytest.mark.parametrize("queries", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(
    ("width", "depth", "seq", "block"), [(64, 64, 100, 32), (33, 64, 16, 16), (128, 128, 1, 64)]
)
def test_scores_of_narrow_keys(kind, dtype, queries, width, depth, seq, block):
    """Keys that are widened, scaled by key or by depth, combined, or seen besides."""
    generator = torch.Generator().manual_seed(width + seq)
    rows, count, stride = 16, 2 * seq + 3, width + 3
    q = torch.randn(rows, width, generator=generator).to(queries)
    memory = torch.randint(-6, 7, (count + 1, stride), generator=generator).float().to(dtype)
    table = torch.randint(0, count, (seq,), generator=generator, dtype=torch.int32)
    scales, offsets = (torch.randint(1, 5, (n,), generator=generator) / 4 for n in (count, width))
    out = torch.full((rows + depth, seq), -7.0)
    narrow_kernel[(1,)](
        q, memory, table, scales, offsets, out, seq, width, stride, rows, depth, block, kind
    )
    places, known = table.long(), memory.double()[:, :width]
    keys = known[places]
    if kind == "keys":
        keys = keys * scales.double()[places][:, None]
    elif kind == "depth":
        keys = keys * offsets.double() - 0.25
    elif kind == "both":
        keys = keys - known[places + 1]
    elif kind == "index":
        keys = keys * (torch.arange(width) % 3)
    torch.testing.assert_close(out[:rows].double(), q.double() @ keys.T, rtol=1e-4, atol=1e-3)
    if kind == "seen":
        torch.testing.assert_close(out[rows : rows + width].double(), keys.T)
        assert not out[rows + width :].any()
    else:
        assert (out[rows:] == -7).all()
