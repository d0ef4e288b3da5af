# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scalar functions mapped over blocks: branches, loops, several elements at a time."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal, output, whole_range

pytestmark = pytest.mark.compiled("the interpreter has no tl.map_elementwise")


@triton.jit
def clip_and_divide(x, y):
    if y == 0:
        return (x * 0 + 7).to(x.dtype), x > 0
    if x > 1000:
        return (x // y).to(x.dtype), x < 0
    elif x < -1000:
        return (x % y).to(x.dtype), y < 0
    return (x + y).to(x.dtype), x == x


@triton.jit
def branch_kernel(x, y, out, flags, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    a = tl.load(x + i, mask=i < n, other=0)
    b = tl.load(y + i, mask=i < n, other=0)
    c, d = tl.map_elementwise(clip_and_divide, a, b)
    tl.store(out + i, c, mask=i < n)
    tl.store(flags + i, d, mask=i < n)


@pytest.mark.parametrize("n", [63, 200])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.int16], ids=str)
def test_branches(n, dtype, rng):
    x = torch.randint(-3000, 3000, [n], generator=rng).to(dtype)
    y = torch.randint(-3, 4, [n], generator=rng).to(dtype)
    out, flags = output([n + 8], dtype), output([n + 8], torch.bool)
    kept = out[n:].clone()
    branch_kernel[(triton.cdiv(n, 64),)](x, y, out, flags, n, N=64)
    a, b = x.long(), y.long()
    divisor = torch.where(b == 0, 1, b)
    quotient = torch.div(a, divisor, rounding_mode="trunc")
    wanted = torch.where(a < -1000, a - quotient * divisor, a + b)
    wanted = torch.where(a > 1000, quotient, wanted)
    wanted = torch.where(b == 0, 7, wanted)
    check_equal(out[:n], wanted.to(dtype))
    flag = torch.where(a > 1000, False, torch.where(a < -1000, b < 0, True))
    assert torch.equal(flags[:n], torch.where(b == 0, a > 0, flag))
    assert torch.equal(out[n:], kept)


@triton.jit
def collatz(x, limit):
    steps = 0
    while x != 1 and steps < limit:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


@triton.jit
def loop_kernel(x, out, limit, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.map_elementwise(collatz, tl.load(x + at), limit + at * 0))


@pytest.mark.parametrize("shape", [(1, 1), (1, 64), (16, 2), (4, 32)])
def test_loops_that_end_at_different_times(shape, rng):
    x = torch.randint(1, 100, shape, generator=rng, dtype=torch.int32)
    out = output(shape, torch.int32)
    loop_kernel[(1,)](x, out, 60, M=shape[0], N=shape[1])

    def steps(value):
        count = 0
        while value != 1 and count < 60:
            value = value // 2 if value % 2 == 0 else 3 * value + 1
            count += 1
        return count

    assert out.flatten().tolist() == [steps(v) for v in x.flatten().tolist()]


@triton.jit
def selu(x, y):
    if x > 0:
        return x * y
    return 1.5 * (tl.exp(x) - 1.0)


@triton.jit
def sum_kernel(x, y, out, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    # The column is broadcast to the shape of the block.
    z = tl.map_elementwise(selu, tl.load(x + i * N + j), tl.load(y + i))
    tl.store(out + tl.arange(0, M), tl.sum(z, axis=1))


def test_broadcast_and_fused_into_a_reduction(rng):
    x, y = normal(rng, [8, 64]), normal(rng, [8, 1])
    out = output([8], torch.float32)
    sum_kernel[(1,)](x, y, out, M=8, N=64)
    a, b = x.double(), y.double()
    wanted = torch.where(a > 0, a * b, 1.5 * (a.exp() - 1)).sum(1)
    check_equal(out, wanted, terms=100)


@triton.jit
def sort_four(a, b, c, d):
    a, b = min(a, b), max(a, b)
    c, d = min(c, d), max(c, d)
    a, c = min(a, c), max(a, c)
    b, d = min(b, d), max(b, d)
    b, c = min(b, c), max(b, c)
    return a, b, c, d


@triton.jit
def pack_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.map_elementwise(sort_four, tl.load(x + at), pack=4)[0])


@pytest.mark.parametrize("shape", [(1, 64), (16, 4), (8, 16)])
@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8], ids=str)
def test_several_elements_at_a_time(shape, dtype, rng):
    x = whole_range(rng, shape, dtype)
    out = output(shape, dtype)
    pack_kernel[(1,)](x, out, M=shape[0], N=shape[1])
    wanted = x.reshape(-1, 4).long().sort(dim=1).values.reshape(shape)
    check_equal(out, wanted.to(dtype))
