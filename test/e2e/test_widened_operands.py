# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Left operands below f32 that are computed, or that all iterations multiply: kept as what is multiplied, and rounded all the
same."""

import pytest
import torch
import triton
import triton.language as tl
from support import normal, output

NARROW = [torch.bfloat16, torch.float16, torch.float8_e5m2]


@triton.jit
def chained_kernel(
    a, b, c, sums, out, m, n, steps,
    BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, TURNED: tl.constexpr, STORED: tl.constexpr,
):  # fmt: skip
    """For blocks of BN columns: out += round(relu(a @ b)) @ c, as an attention does; m rows and n columns in all."""
    i, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BD)
    k = tl.arange(0, BK)
    left = tl.load(a + i[:, None] * BK + k[None, :], mask=(i < m)[:, None], other=0.0)
    total = tl.zeros([BM, BD], tl.float32)
    for step in range(0, steps):
        j = step * BN + tl.arange(0, BN)
        right = tl.load(b + k[:, None] * n + j[None, :], mask=(j < n)[None, :], other=0.0)
        score = tl.dot(left, right, input_precision="ieee") * 0.7
        weight = tl.where(score > 0, score, 0).to(left.dtype)
        if STORED:
            place = sums + i[:, None] * n + j[None, :]
            tl.store(place, weight, mask=(i < m)[:, None] & (j < n)[None, :])
        value = tl.load(c + j[:, None] * BD + d[None, :], mask=(j < n)[:, None], other=0.0)
        if TURNED:
            part = tl.dot(tl.trans(tl.trans(weight)), value, input_precision="ieee")
        else:
            part = tl.dot(weight, value, input_precision="ieee")
        total = total * 0.75 + part
    tl.store(out + i[:, None] * BD + d[None, :], total, mask=(i < m)[:, None])


def chained(a, b, c, width, narrow):
    """In f64, but for what is rounded."""
    total = torch.zeros(a.shape[0], c.shape[1], dtype=torch.float64)
    weights = ((a.double() @ b.double()).float() * 0.7).clamp(min=0).to(narrow)
    for first in range(0, b.shape[1], width):
        part = slice(first, first + width)
        total = total * 0.75 + weights[:, part].double() @ c[part].double()
    return total, weights


@pytest.mark.parametrize("narrow", NARROW, ids=str)
@pytest.mark.parametrize(
    ("m", "n", "block"),
    [(64, 128, (64, 32, 64, 32)), (37, 50, (32, 16, 32, 64)), (1, 17, (16, 64, 16, 16)), (5, 96, (16, 32, 32, 128)),
     (128, 257, (128, 64, 64, 16))],
)  # fmt: skip
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("stored", [False, True])
def test_chained(narrow, m, n, block, turned, stored, rng):
    """Small whole numbers: the first sums are exact, so that what is rounded is known to the bit."""
    bm, bk, bn, bd = block

    def whole(shape, most):
        return torch.randint(-most, most + 1, shape, generator=rng).float().to(narrow)

    a, b, c = whole([m, bk], 4), whole([bk, n], 6), whole([n, bd], 2)
    out, sums = output([m, bd], torch.float32), output([m, n], narrow)
    steps = triton.cdiv(n, bn)
    chained_kernel[(triton.cdiv(m, bm),)](
        a, b, c, sums, out, m, n, steps, BM=bm, BK=bk, BN=bn, BD=bd, TURNED=turned, STORED=stored
    )
    total, weights = chained(a, b, c, bn, narrow)
    if stored:
        assert torch.equal(sums.float(), weights.float())
    torch.testing.assert_close(out.double(), total, rtol=0, atol=1e-6 * total.abs().max().item())


@triton.jit
def exponential_kernel(x, v, out, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    i, k, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    weight = tl.exp(tl.load(x + i[:, None] * K + k[None, :])).to(v.dtype.element_ty)
    value = tl.load(v + k[:, None] * N + n[None, :])
    tl.store(out + i[:, None] * N + n[None, :], tl.dot(weight, value, input_precision="ieee"))


@pytest.mark.parametrize("narrow", NARROW[:2], ids=str)
def test_infinite(narrow, rng):
    """What is too large for f16 is infinite before it is multiplied; NaN and infinities go through."""
    m, k, n = 32, 32, 32
    x, v = normal(rng, [m, k], torch.float32), torch.ones(k, n).to(narrow)
    x[1, 3], x[2, 5], x[3, 7] = 12.0, float("inf"), float("nan")
    out = output([m, n], torch.float32)
    exponential_kernel[(1,)](x, v, out, M=m, K=k, N=n)
    wanted = x.double().exp().float().to(narrow).double() @ v.double()
    torch.testing.assert_close(out.double(), wanted, rtol=1e-2, atol=1e-2, equal_nan=True)
    assert torch.isinf(out[1]).all() == (narrow == torch.float16)


@triton.jit
def changed_kernel(x, v, out, steps, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    i, k, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    at = x + i[:, None] * K + k[None, :]
    left, total = tl.load(at), tl.zeros([M, N], tl.float32)
    for step in range(0, steps):
        value = tl.load(v + step * K * N + k[:, None] * N + n[None, :])
        total = total * 0.5 + tl.dot(left, value, input_precision="ieee")
        tl.store(at, left + 1)
    tl.store(out + i[:, None] * N + n[None, :], total)


@pytest.mark.parametrize("narrow", NARROW[:2], ids=str)
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_changed_later(narrow, steps, rng):
    """What all iterations multiply is what was read before them, whatever they store there."""
    m, k, n = 32, 32, 32
    x = torch.randint(-4, 5, [m, k], generator=rng).float().to(narrow)
    v = torch.randint(-4, 5, [max(steps, 1), k, n], generator=rng).float().to(narrow)
    total = torch.zeros(m, n, dtype=torch.float64)
    for step in range(steps):
        total = total * 0.5 + x.double() @ v[step].double()
    changed = (x + 1) if steps else x.clone()
    out = output([m, n], torch.float32)
    changed_kernel[(1,)](x, v, out, steps, M=m, K=k, N=n)
    assert torch.equal(out.double(), total)
    assert torch.equal(x, changed)
