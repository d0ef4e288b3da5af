# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of products that are padded to a power of two, by a number of elements that is known."""

import pytest
import torch
import triton
import triton.language as tl
from support import normal, output

DEPTHS = (1, 16, 17, 40, 72, 80, 100, 128)
NAN = float("nan")


def padded(rng, rows, columns, dtype, more=3):
    """Rows of so many elements, with NaN between them."""
    x = torch.full([rows, columns + more], NAN, dtype=torch.float32).to(dtype)
    x[:, :columns] = normal(rng, [rows, columns], dtype)
    return x


@triton.jit
def attention_kernel(
    q, k, v, out, n, stride, scale, D: tl.constexpr, BD: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, BD)
    inside = (row < n)[:, None] & (d < D)[None, :]
    queries = tl.load(q + row[:, None] * stride + d[None, :], mask=inside, other=0.0)
    highest = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    sums = tl.zeros([BM, BD], tl.float32)
    for first in range(0, n, BN):
        at = first + tl.arange(0, BN)
        mask = (at < n)[None, :] & (d < D)[:, None]
        keys = tl.load(k + at[None, :] * stride + d[:, None], mask=mask, other=0.0)
        scores = tl.dot(queries, keys, input_precision="ieee") * scale
        scores = tl.where((at < n)[None, :], scores, float("-inf"))
        higher = tl.maximum(highest, tl.max(scores, 1))
        weights = tl.exp(scores - higher[:, None])
        before = tl.exp(highest - higher)
        total = total * before + tl.sum(weights, 1)
        mask = (at < n)[:, None] & (d < D)[None, :]
        values = tl.load(v + at[:, None] * stride + d[None, :], mask=mask, other=0.0)
        sums = tl.dot(
            weights.to(values.dtype), values, sums * before[:, None], input_precision="ieee"
        )
        highest = higher
    result = (sums / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + row[:, None] * D + d[None, :], result, mask=inside)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("n", [1, 33, 100])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_attention(depth, n, dtype, rng):
    q, k, v = (padded(rng, n, depth, dtype) for _ in range(3))
    out = output([n, depth], dtype)
    block = max(16, triton.next_power_of_2(depth))
    attention_kernel[(triton.cdiv(n, 32),)](
        q, k, v, out, n, q.stride(0), depth**-0.5, D=depth, BD=block, BM=32, BN=64
    )
    a, b, c = (x[:, :depth].double() for x in (q, k, v))
    wanted = torch.softmax(a @ b.T * depth**-0.5, 1) @ c
    close = 1e-5 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(out.double(), wanted, rtol=close, atol=close)


@triton.jit
def gradient_kernel(a, b, scores, out, n, D: tl.constexpr, BD: tl.constexpr, B: tl.constexpr):
    """The padded dimension is added up in one product, and stored in the other."""
    i = tl.arange(0, B)
    d = tl.arange(0, BD)
    mask = (i < n)[:, None] & (d < D)[None, :]
    x = tl.load(a + i[:, None] * D + d[None, :], mask=mask, other=0)
    y = tl.load(b + i[:, None] * D + d[None, :], mask=mask, other=0)
    s = tl.dot(x, tl.trans(y), input_precision="ieee")
    tl.store(scores + i[:, None] * B + i[None, :], s)
    g = tl.dot(tl.trans(s.to(y.dtype)), y, input_precision="ieee")
    tl.store(out + d[:, None] * n + i[None, :], tl.trans(g), mask=tl.trans(mask))


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("n", [1, 29, 32])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8], ids=str)
def test_gradient(depth, n, dtype, rng):
    if dtype == torch.int8:
        a, b = (torch.randint(-2, 3, [n, depth], generator=rng).to(dtype) for _ in range(2))
        if depth > 16:
            a[:, 16:] = 0
    else:
        a, b = (normal(rng, [n, depth], dtype) for _ in range(2))
    sums = torch.int32 if dtype == torch.int8 else torch.float32
    scores, out = output([32, 32], sums), output([depth, n], sums)
    gradient_kernel[(1,)](
        a, b, scores, out, n, D=depth, BD=max(16, triton.next_power_of_2(depth)), B=32
    )
    wanted = a.double() @ b.double().T
    torch.testing.assert_close(scores[:n, :n].double(), wanted, rtol=1e-5, atol=1e-5)
    assert not scores[n:].any()
    assert not scores[:, n:].any()
    product = wanted.to(dtype).double().T if dtype == torch.int8 else wanted.T
    torch.testing.assert_close(out.double(), (product @ b.double()).T, rtol=1e-4, atol=1e-4)


@triton.jit
def seen_kernel(
    a, b, out, n, scale, other_a, other_b, D: tl.constexpr, KIND: tl.constexpr, BD: tl.constexpr, B: tl.constexpr
):  # fmt: skip
    i = tl.arange(0, B)
    d = tl.arange(0, BD)
    mask = (i < n)[:, None] & (d < D)[None, :]
    if KIND == "others":
        x = tl.load(a + i[:, None] * BD + d[None, :], mask=mask, other=other_a)
        y = tl.load(b + i[:, None] * BD + d[None, :], mask=mask, other=other_b)
    elif KIND == "ones":
        x = tl.load(a + i[:, None] * BD + d[None, :], mask=mask, other=1.0)
        y = tl.load(b + i[:, None] * BD + d[None, :], mask=mask, other=2.0)
    elif KIND == "half":
        x = tl.load(a + i[:, None] * BD + d[None, :], mask=mask, other=0.0)
        y = tl.load(b + i[:, None] * BD + d[None, :])
    else:
        x = tl.load(a + i[:, None] * BD + d[None, :], mask=mask, other=0.0)
        y = tl.load(b + i[:, None] * BD + d[None, :], mask=mask, other=0.0)
    if KIND == "added":
        x += 1
        y += 1
    elif KIND == "scaled":
        x *= scale
    elif KIND == "doubled":
        x = x * 2 - x * x
    elif KIND == "normed":
        x /= tl.sqrt(tl.sum(x * x, 1) / D + 1)[:, None]
    elif KIND == "where":
        x = tl.where((d < 20)[None, :], 3.0, x)
        y = tl.where((d >= 20)[None, :], 3.0, y)
    s = tl.dot(x, tl.trans(y), input_precision="ieee")
    if KIND == "highest":
        s += tl.max(-tl.abs(x), 1)[:, None]
    if KIND == "columns":
        z = tl.dot(s, y, input_precision="ieee") - 5
        tl.store(out + i * BD, tl.max(z, 1))
        tl.store(out + i * BD + 1, tl.sum(z, 1))
        tl.store(out + i * BD + 2, tl.argmax(z, 1).to(tl.float32))
    elif KIND == "wide":
        z = tl.dot(s, y, input_precision="ieee") + d[None, :]
        tl.store(out + i[:, None] * BD + d[None, :], z, mask=(d < D + 9)[None, :])
    elif KIND == "scanned":
        z = tl.cumsum(tl.dot(s, y, input_precision="ieee"), 1)
        tl.store(out + i[:, None] * BD + d[None, :], z, mask=(d < D)[None, :])
    elif KIND == "turned":
        z = tl.flip(tl.dot(s, y, input_precision="ieee"), 1)
        tl.store(out + i[:, None] * BD + d[None, :], z, mask=(d < D)[None, :])
    elif KIND == "split":
        z = tl.dot(s, y, input_precision="ieee")
        z = tl.reshape(z, [B, BD // 2, 2])
        first, second = tl.split(z)
        tl.store(out + i[:, None] * BD + tl.arange(0, BD // 2)[None, :], first + 2 * second)
    elif KIND == "scattered":
        z = tl.dot(s, y, input_precision="ieee")
        place = (d * 37) % BD
        tl.store(out + i[:, None] * BD + place[None, :], z, mask=(d < D)[None, :])
    else:
        tl.store(out + i[:, None] * BD + i[None, :], s)


def seen(kind, a, b, n, depth, scale, other_a, other_b):
    """What `seen_kernel` gives, in double precision: blocks, with all that was padded."""
    size, block = 32, a.shape[1]
    inside = torch.zeros(size, block, dtype=torch.bool)
    inside[:n, :depth] = True
    x = torch.where(inside, a.double(), {"others": other_a, "ones": 1.0}.get(kind, 0.0))
    y = torch.where(inside, b.double(), {"others": other_b, "ones": 2.0}.get(kind, 0.0))
    d = torch.arange(block)
    if kind == "half":
        y = b.double()
    elif kind == "added":
        x, y = x + 1, y + 1
    elif kind == "scaled":
        x = x * scale
    elif kind == "doubled":
        x = x * 2 - x * x
    elif kind == "normed":
        x = x / torch.sqrt((x * x).sum(1) / depth + 1)[:, None]
    elif kind == "where":
        x = torch.where(d < 20, 3.0, x)
        y = torch.where(d >= 20, 3.0, y)
    s = x @ y.T
    if kind == "highest":
        s = s + (-x.abs()).max(1).values[:, None]
    out = torch.full([size, block], -7.0, dtype=torch.float64)
    z = s @ y
    if kind == "columns":
        z = z - 5
        out[:, 0], out[:, 1], out[:, 2] = z.max(1).values, z.sum(1), z.argmax(1).double()
    elif kind == "wide":
        out[:, : depth + 9] = (z + d)[:, : depth + 9]
    elif kind == "scanned":
        out[:, :depth] = z.cumsum(1)[:, :depth]
    elif kind == "turned":
        out[:, :depth] = z.flip(1)[:, :depth]
    elif kind == "split":
        out[:, : block // 2] = z[:, 0::2] + 2 * z[:, 1::2]
    elif kind == "scattered":
        out[:, d[:depth] * 37 % block] = z[:, :depth]
    else:
        out[:, :size] = s
    return out


KINDS = (
    "plain", "others", "ones", "half", "added", "scaled", "doubled", "normed", "highest", "where", "columns", "wide",
    "scanned", "turned", "split", "scattered",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("depth", [33, 40, 48, 55])
@pytest.mark.parametrize("n", [5, 32])
def test_padding_that_is_seen(kind, depth, n, rng):
    """Sums that get more than zeros of it, and operations that see it."""
    a, b = (normal(rng, [32, 64], torch.float32) for _ in range(2))
    out = torch.full([32, 64], -7.0)
    seen_kernel[(1,)](a, b, out, n, 1.5, 0.5, -0.25, D=depth, KIND=kind, BD=64, B=32)
    wanted = seen(kind, a, b, n, depth, 1.5, 0.5, -0.25)
    torch.testing.assert_close(out.double(), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("kind", "scale"), [("half", 1.0), ("scaled", NAN), ("scaled", float("inf"))]
)
def test_zero_times_infinity(kind, scale, rng):
    """What is padded is zero times NaN, or infinity, for the other operand or a factor."""
    a, b = (normal(rng, [32, 64], torch.float32).abs() for _ in range(2))
    b[:, 48:] = float("inf")
    out = torch.full([32, 64], -7.0)
    seen_kernel[(1,)](a, b, out, 32, scale, 0.0, 0.0, D=48, KIND=kind, BD=64, B=32)
    assert out[:, :32].isnan().all()


@triton.jit
def heads_kernel(
    q, k, out, tokens, D: tl.constexpr, H: tl.constexpr, BD: tl.constexpr, B: tl.constexpr
):
    """Rows of tokens and heads, as in attention with grouped queries: masks that are no boxes."""
    i = tl.arange(0, B)
    d = tl.arange(0, BD)
    token = tl.program_id(0) * (B // H) + i // H
    head = i % H
    mask = (token < tokens)[:, None] & (head < H - 1)[:, None] & (d < D)[None, :]
    place = token[:, None] * (H * D) + head[:, None] * D + d[None, :]
    x = tl.load(q + place, mask=mask, other=0.0)
    known = tl.where(d < D, 1, 0).to(tl.int1)
    y = tl.load(k + i[None, :] * D + d[:, None], mask=known[:, None], other=0.0)
    s = tl.dot(x, y, input_precision="ieee")
    tl.store(out + place, tl.dot(s, tl.trans(y), input_precision="ieee"), mask=mask)


@pytest.mark.parametrize("depth", [20, 64, 80, 90])
@pytest.mark.parametrize("tokens", [1, 4, 9])
@pytest.mark.parametrize("heads", [4, 8])
def test_masks_of_heads(depth, tokens, heads, rng):
    q, k = (
        normal(rng, [tokens, heads, depth], torch.float32),
        normal(rng, [32, depth], torch.float32),
    )
    out = output([tokens, heads, depth], torch.float32)
    out[:, -1] = -7
    heads_kernel[(triton.cdiv(tokens, 32 // heads),)](
        q, k, out, tokens, D=depth, H=heads, BD=triton.next_power_of_2(depth), B=32
    )
    wanted = q.double() @ k.double().T @ k.double()
    wanted[:, -1] = -7
    torch.testing.assert_close(out.double(), wanted, rtol=1e-4, atol=1e-4)


@triton.jit
def paged_kernel(q, k, table, out, n, D: tl.constexpr, BD: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    d = tl.arange(0, BD)
    x = tl.load(q + i[:, None] * D + d[None, :], mask=(d < D)[None, :], other=0.0)
    sums = tl.zeros([B, BD], tl.float32)
    for first in range(0, n, B):
        at = first + i
        page = tl.load(table + at, mask=at < n, other=0)
        mask = (at < n)[None, :] & (d < D)[:, None]
        if first + B > n:
            keys = tl.load(k + page[None, :] * D + d[:, None], mask=mask, other=0.0)
        else:
            keys = tl.load(k + page[None, :] * D + d[:, None], mask=(d < D)[:, None], other=0.0)
        sums += tl.dot(
            tl.dot(x, keys, input_precision="ieee"), tl.trans(keys), input_precision="ieee"
        )
    tl.store(out + i[:, None] * D + d[None, :], sums, mask=(d < D)[None, :])


@pytest.mark.parametrize("depth", [24, 72, 80, 128])
@pytest.mark.parametrize("n", [1, 32, 75])
def test_pages(depth, n, rng):
    """Rows that a table chooses, in branches."""
    q, k = normal(rng, [32, depth], torch.float32), normal(rng, [90, depth], torch.float32)
    table = torch.randperm(90, generator=rng)[:n].int()
    out = output([32, depth], torch.float32)
    paged_kernel[(1,)](q, k, table, out, n, D=depth, BD=triton.next_power_of_2(depth), B=32)
    keys = k[table.long()].double()
    torch.testing.assert_close(out.double(), q.double() @ keys.T @ keys, rtol=1e-4, atol=1e-4)


@triton.jit
def descriptor_kernel(a, b, out, m, n, K: tl.constexpr, BK: tl.constexpr, B: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [m, K], [K, 1], [B, BK])
    right = tl.make_tensor_descriptor(b, [n, K], [K, 1], [B, BK])
    result = tl.make_tensor_descriptor(out, [m, K], [K, 1], [B, BK])
    row = tl.program_id(0) * B
    x = left.load([row, 0])
    sums = tl.zeros([B, BK], tl.float32)
    for first in range(0, n, B):
        y = right.load([first, 0])
        sums = tl.dot(tl.dot(x, y.T, input_precision="ieee"), y, sums, input_precision="ieee")
    result.store([row, 0], sums)


@pytest.mark.parametrize("depth", [4, 80, 100])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (33, 70)])
def test_descriptors(depth, m, n, rng):
    a, b = normal(rng, [m, depth], torch.float32), normal(rng, [n, depth], torch.float32)
    out = output([m, depth], torch.float32)
    block = max(16, triton.next_power_of_2(depth))
    descriptor_kernel[(triton.cdiv(m, 32),)](a, b, out, m, n, K=depth, BK=block, B=32)
    torch.testing.assert_close(
        out.double(), a.double() @ b.double().T @ b.double(), rtol=1e-4, atol=1e-4
    )
