# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Places that are sums of what is read and of what grows evenly until a row ends, as those of torch.gather and scatter are."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, FP8, SIGNED, at_end_of_memory, dtypes


def integers(rng, below, shape):
    return torch.randint(0, below, shape, generator=rng)


def numbers(rng, shape, dtype):
    return integers(rng, 100, shape).to(dtype)


@triton.jit
def gather_kernel(x, index, out, n, N, IR, XR, XC, XD, OTHER: tl.constexpr, B: tl.constexpr):
    """out[i, j] = x[XR i + XC j + XD index[i, j]], flattened."""
    at = tl.program_id(0) * B + tl.arange(0, B).to(tl.int64)
    row, column = at // N, at % N
    mask = at < n
    which = tl.load(index + row * IR + column, mask=mask, other=0)
    value = tl.load(x + (row * XR + column * XC + which * XD), mask=mask, other=OTHER)
    tl.store(out + at, value, mask=mask)
    tl.store(out + n + at, value, mask=mask)


def check(x, index, dim, block=512):
    m, n = index.shape
    memory = at_end_of_memory(x)
    out = torch.zeros(2, m * n, dtype=x.dtype)
    strides = (memory.stride(0), 0) if dim == 1 else (0, memory.stride(1))
    gather_kernel[(triton.cdiv(m * n, block),)](
        memory, at_end_of_memory(index) if m else index, out, m * n, n, index.stride(0), *strides,
        memory.stride(dim), OTHER=7, B=block,
    )  # fmt: skip
    expected = x.gather(dim, index.long()).flatten()
    assert torch.equal(out[0], expected)
    assert torch.equal(out[1], expected)


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("columns", [1, 3, 7, 16, 131, 511, 512, 4096])
def test_gathers(columns, dim, rng):
    rows = max(2, 1500 // columns)
    x = numbers(rng, (rows, columns), torch.float32)
    limit = x.shape[dim]
    for kind in (torch.int32, torch.int64):
        for m in (rows, 1):
            check(x, integers(rng, limit, (m, columns)).to(kind), dim)


@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED, torch.bool))
@pytest.mark.parametrize("dim", [0, 1])
def test_types(dim, dtype, rng):
    x = numbers(rng, (5, 333), dtype)
    index = integers(rng, x.shape[dim], (4, 333))
    for block in (128, 256, 1024):
        check(x, index, dim, block)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8, torch.float64])
@pytest.mark.parametrize("columns", [128, 131, 512, 1000])
def test_rows_of_a_table(columns, dtype, rng):
    """One row of `x` for all columns, or for runs of them: lanes are neighbours, in all vectors or in some."""
    x = numbers(rng, (9, columns), dtype)
    for run in (1, 3, 16, 40, columns):
        index = integers(rng, 9, (7, triton.cdiv(columns, run))).repeat_interleave(run, 1)
        for kind in (torch.int32, torch.int64):
            check(x, index[:, :columns].contiguous().to(kind), 0)


@triton.jit
def embedding_kernel(x, index, out, n, m, N: tl.constexpr, NEGATIVE: tl.constexpr, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    which = tl.load(index + at // N, mask=at < n, other=0)
    if NEGATIVE:
        which = tl.where(which < 0, which + m, which)
    value = tl.load(x + (at % N + N * which), mask=at < n, other=0)
    tl.store(out + at, value, mask=at < n)


@pytest.mark.parametrize("columns", [32, 100, 128, 256, 300])
@pytest.mark.parametrize("negative", [False, True])
def test_embeddings(columns, negative, rng):
    x = at_end_of_memory(numbers(rng, (50, columns), torch.float32))
    for rows in (1, 13, 64):
        index = integers(rng, 100 if negative else 50, (rows,)) - (50 if negative else 0)
        for kind in (torch.int32, torch.int64):
            for block in (256, 1024):
                out = torch.full((rows, columns), -1.0)
                embedding_kernel[(triton.cdiv(out.numel(), block),)](
                    x, at_end_of_memory(index.to(kind)), out, out.numel(), 50, N=columns,
                    NEGATIVE=negative, B=block,
                )  # fmt: skip
                assert torch.equal(out, x[index])


def test_nothing_at_all(rng):
    check(numbers(rng, (3, 5), torch.float32), torch.zeros(0, 5, dtype=torch.int64), 1)


@triton.jit
def scatter_kernel(x, index, out, n, N, M, OR, OC, OD, B: tl.constexpr):
    """out[OR i + OC j + OD index[i, j]] = x[i, j], flattened, of columns below M."""
    at = tl.program_id(0) * B + tl.arange(0, B).to(tl.int64)
    row, column = at // N, at % N
    mask = (at < n) & (column < M)
    which = tl.load(index + at, mask=at < n, other=0)
    value = tl.load(x + at, mask=at < n, other=0)
    tl.store(out + (row * OR + column * OC + which * OD), value, mask=mask)


@pytest.mark.parametrize("dtype", dtypes(FLOATS, SIGNED, torch.bool))
@pytest.mark.parametrize("columns", [1, 5, 64, 131, 700])
@pytest.mark.parametrize("dim", [0, 1])
def test_scatters(dim, columns, dtype, rng):
    rows = max(2, 1400 // columns)
    x = numbers(rng, (rows, columns), dtype)
    index = torch.rand(rows, columns, generator=rng).argsort(dim)
    for limit in (columns, max(columns - 3, 0)):
        out = at_end_of_memory(numbers(rng, (rows, columns), dtype))
        expected = out.clone()
        kept = slice(0, limit)
        expected.scatter_(dim, index[:, kept], x[:, kept])
        strides = (columns, 0, 1) if dim == 1 else (0, 1, columns)
        grid = (triton.cdiv(x.numel(), 512),)
        scatter_kernel[grid](x, index, out, x.numel(), columns, limit, *strides, B=512)
        assert torch.equal(out, expected)


@triton.jit
def rows_kernel(
    x, index, out, m, n, M, XR, OR, PUT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    """out[i] = x[index[i]], or out[index[i]] = x[i], of rows that there are; places wrap around behind the end."""
    row = (tl.program_id(0) * BM + tl.arange(0, BM).to(tl.int64))[:, None]
    at = (tl.program_id(1) * BN + tl.arange(0, BN).to(tl.int64))[None, :]
    which = tl.load(index + row % m, mask=row < m, other=0)
    mask = (which >= 0) & (which < M) & (row < m) & (at < n)
    column = at % n
    if PUT:
        value = tl.load(x + (row % m * XR + column), mask=mask)
        tl.store(out + (which * OR + column), value, mask=mask)
    else:
        value = tl.load(x + (which * XR + column), mask=mask)
        tl.store(out + (row % m * OR + column), value, mask=mask)


@pytest.mark.parametrize(
    "dtype", dtypes(torch.float32, torch.bfloat16, torch.int8, torch.int64, torch.bool)
)
@pytest.mark.parametrize("n", [1, 3, 100, 256, 300, 1000])
@pytest.mark.parametrize("put", [False, True])
def test_rows_that_are_read(put, n, dtype, rng):
    m = 9
    x = at_end_of_memory(numbers(rng, (m, n), dtype))
    index = torch.randperm(m, generator=rng)
    index[2], index[5] = -1, m
    for bm, bn in [(4, 256), (1, 512), (16, 128)]:
        out = at_end_of_memory(numbers(rng, (m, n), dtype))
        expected = out.clone()
        there = (index >= 0) & (index < m)
        if put:
            expected[index[there]] = x[there]
        else:
            expected[there] = x[index[there]]
        grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))
        rows_kernel[grid](x, at_end_of_memory(index), out, m, n, m, n, n, PUT=put, BM=bm, BN=bn)
        assert torch.equal(out, expected)


@triton.jit
def wrapping_kernel(x, index, out, n, N, back, B: tl.constexpr):
    at = tl.arange(0, B)
    which = tl.load(index + at, mask=at < n, other=0)
    place = at // N + at % N + back + which
    tl.store(out + at, tl.load(x + place, mask=at < n, other=0), mask=at < n)


@pytest.mark.parametrize("N", [1, 40, 1000])
def test_sums_that_run_over(N, rng):
    """In the 32 bits that the kernel takes its sums in."""
    far = (1 << 31) - 1
    x = numbers(rng, (2000,), torch.float32)
    which = integers(rng, 900, (300,))
    index = (which + far).to(torch.int32)
    out = torch.zeros(300)
    wrapping_kernel[(1,)](x, index, out, 300, N, -far, B=512)
    at = torch.arange(300)
    assert torch.equal(out, x[at // N + at % N + which])


@triton.jit
def in_place_kernel(x, n, N, S, B: tl.constexpr):
    at = tl.arange(0, B)
    which = tl.load(x + at, mask=at < n, other=0)
    value = tl.load(x + at // N * S + at % N + which, mask=at < n, other=0)
    tl.store(x + at, value, mask=at < n)


@pytest.mark.parametrize("N", [5, 64, 200])
def test_what_is_read_is_written(N, rng):
    """The indices, and what they select."""
    x = integers(rng, 400, (1000,)).to(torch.int32)
    at = torch.arange(500)
    expected = x.clone()
    expected[:500] = x[at // N * N + at % N + x[:500]]
    in_place_kernel[(1,)](x, 500, N, N, B=512)
    assert torch.equal(x, expected)


@triton.jit
def masked_kernel(x, index, out, limit, N, B: tl.constexpr):
    """A mask that is read differs within rows."""
    at = tl.arange(0, B)
    which = tl.load(index + at)
    wanted = which < limit
    tl.store(out + at, tl.load(x + at // N + at % N + which, mask=wanted, other=-1))


@pytest.mark.parametrize("limit", [0, 3, 10])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8, torch.int64))
def test_masks_that_are_read(dtype, limit, rng):
    x = at_end_of_memory(numbers(rng, (100,), dtype))
    index = integers(rng, 10, (256,)).to(torch.int32)
    at = torch.arange(256)
    places = at // 90 + at % 90 + index
    index[places >= 100] = 10
    out = torch.zeros(256, dtype=dtype)
    masked_kernel[(1,)](x, index, out, limit, 90, B=256)
    expected = torch.where(index < limit, x[places.clamp(max=99)], torch.tensor(-1).to(dtype))
    assert torch.equal(out, expected)


@triton.jit
def small_floats_kernel(x, index, out, put, n, N, B: tl.constexpr):
    at = tl.arange(0, B)
    which = tl.load(index + at, mask=at < n, other=0)
    value = tl.load(x + (at // N * N + which), mask=at < n)
    tl.store(out + at, value, mask=at < n)
    tl.store(put + (at // N * N + which), value, mask=at < n)


@pytest.mark.parametrize("dtype", FP8, ids=str)
@pytest.mark.parametrize("N", [3, 40, 300])
def test_small_floats(N, dtype, rng):
    n = 300 // N * N
    x = torch.randn(600, generator=rng).to(dtype)
    index = torch.cat([torch.randperm(N, generator=rng) for _ in range(n // N)])
    out, put = torch.zeros(512).to(dtype), torch.zeros(600).to(dtype)
    small_floats_kernel[(1,)](x, index, out, put, n, N, B=512)
    places = torch.arange(n) // N * N + index
    bits = x.view(torch.int8)[places]
    assert torch.equal(out.view(torch.int8)[:n], bits)
    expected = torch.zeros(600, dtype=torch.int8)
    expected[places] = bits
    assert torch.equal(put.view(torch.int8), expected)


@triton.jit
def overwritten_kernel(x, n, N, B: tl.constexpr):
    """What says where to put something is overwritten by it."""
    at = tl.arange(0, B)
    which = tl.load(x + at, mask=at < n, other=0)
    tl.store(x + (at // N * N + at % N * 0 + which), which * 3, mask=at < n)


@pytest.mark.parametrize("N", [16, 64, 300])
def test_places_that_are_overwritten(N, rng):
    n = 256
    index = torch.cat([torch.randperm(N, generator=rng) for _ in range(n // N + 1)])[:n]
    x = torch.cat([index, torch.zeros(N + n, dtype=torch.int64)])
    expected = x.clone()
    expected[torch.arange(n) // N * N + index] = index * 3
    overwritten_kernel[(1,)](x, n, N, B=256)
    assert torch.equal(x, expected)


@triton.jit
def overwritten_rows_kernel(x, N, BM: tl.constexpr, BN: tl.constexpr):
    """Rows are put where their own first elements say, or nowhere."""
    row = tl.arange(0, BM)[:, None]
    at = tl.arange(0, BN)[None, :]
    which = tl.load(x + row * N)
    value = (row * 1000 + at).to(tl.int64)
    tl.store(x + (which * N + at % N), value, mask=(which >= 0) & (at < N))


@pytest.mark.parametrize("N", [100, 256])
def test_rows_that_are_overwritten(N, rng):
    x = integers(rng, 9, (8, N))
    x[:, 0] = torch.randperm(8, generator=rng)
    x[3, 0] = -1
    which, expected = x[:, 0].clone(), x.clone()
    for row in range(8):
        if which[row] >= 0:
            expected[which[row]] = row * 1000 + torch.arange(N)
    overwritten_rows_kernel[(1,)](x, N, BM=8, BN=256)
    assert torch.equal(x, expected)
