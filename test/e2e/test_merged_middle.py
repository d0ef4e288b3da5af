# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are numbered by one id, whose remainder is a column: those that follow one another run together."""

import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import FLOATS, INTERPRETED, normal, output


@triton.jit
def mean_kernel(
    x, o, stride_m, stride_n, stride_k, out_m, out_k, M, N, K, BLOCK: tl.constexpr
):  # fmt: skip
    """Of [M, N, K] along N, each program one number."""
    pid = tl.program_id(0)
    m, k = pid // K, pid % K
    if m >= M or k >= K:
        return
    total = 0.0
    for begin in range(0, N, BLOCK):
        n = begin + tl.arange(0, BLOCK)
        value = tl.load(x + m * stride_m + n * stride_n + k * stride_k, mask=n < N, other=0.0)
        total += tl.sum(value.to(tl.float32))
    tl.store(o + m * out_m + k * out_k, total / N)


def mean(x, o, block, extra=0):
    M, N, K = x.shape
    grid = (M * K + extra,)
    return mean_kernel[grid](x, o, *x.stride(), *o.stride(), M, N, K, BLOCK=block)


def check(o, x):
    """Sums of up to 100 numbers, rounded once to the type."""
    wanted = x.double().mean(1)
    tolerance = max(1e-5, 2 * torch.finfo(o.dtype).eps)
    torch.testing.assert_close(o.double(), wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("m", "n", "k"), [(1, 100, 64), (3, 33, 50), (7, 1, 16), (2, 64, 15), (5, 17, 100), (4, 9, 1)]
)
@pytest.mark.parametrize("block", [16, 128])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_mean(m, n, k, block, dtype, rng):
    """Rows that are no multiple of what runs together; more programs than columns."""
    x, o = normal(rng, [m, n, k]).to(dtype), output([m + 1, k], dtype)
    o[m:] = 7
    kernel = mean(x, o[:m], block, extra=k)
    if not INTERPRETED and k > 1:
        (merged,) = [d for d in tilebridge.explain(kernel)["decisions"] if d["kind"] == "merged"]
        assert "along x run together" in merged["text"]
    check(o[:m], x)
    assert (o[m:] == 7).all()


@pytest.mark.parametrize(
    "order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1), (1, 2, 0), (2, 0, 1)]
)
@pytest.mark.parametrize(("m", "n", "k"), [(3, 40, 64), (64, 40, 3), (17, 33, 31)])
def test_strides(order, m, n, k, rng):
    """Whichever of the dimensions is contiguous, what is behind the others' ends is not seen."""
    sizes = [(m, n, k)[d] for d in order]
    wide = torch.full([size + 3 for size in sizes], float("nan"))
    part = wide[tuple(slice(0, size) for size in sizes)]
    part.copy_(normal(rng, sizes))
    x = part.permute([order.index(d) for d in range(3)])
    o = output([m, k], torch.float32)
    mean(x, o, 32)
    check(o, x)


@triton.jit
def scale_kernel(x, scale, rows, K, BLOCK: tl.constexpr):
    """In place: each program one column of one matrix, beginning behind the one before."""
    pid = tl.program_id(0)
    m, k = pid // K, pid % K
    n = tl.arange(0, BLOCK)
    at = (m * rows + n) * K + k
    value = tl.load(x + at, mask=n < rows, other=0.0)
    top = tl.max(tl.abs(value)) + m
    tl.store(x + at, value * tl.load(scale + k) / top, mask=n < rows)


@pytest.mark.parametrize(("m", "rows", "k"), [(4, 16, 64), (5, 13, 70), (70, 5, 3)])
def test_in_place(m, rows, k, rng):
    x, scale = normal(rng, [m, rows, k]), normal(rng, [k])
    wanted = x * scale / (x.abs().amax(1) + torch.arange(m)[:, None])[:, None]
    scale_kernel[(m * k,)](x, scale, rows, k, BLOCK=16)
    torch.testing.assert_close(x, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("k", [48, 50])
def test_every_launch_gives_the_same_bits(k, rng):
    x = normal(rng, [9, 77, k])
    first, second = (torch.empty(9, k) for _ in range(2))
    for o in (first, second):
        mean(x, o, 32)
    assert torch.equal(first, second)
