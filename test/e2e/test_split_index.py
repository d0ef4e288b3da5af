# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Flat indices that a kernel takes apart by quotient and remainder, as generated kernels do."""

import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


@triton.jit
def transpose_kernel(
    x, bias, out, n, X_ROW, OUT_ROW, FIRST, COLUMNS: tl.constexpr, BLOCK: tl.constexpr
):
    at = FIRST + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = at // COLUMNS, at % COLUMNS
    value = tl.load(x + column * X_ROW + row, mask=at < n, other=5)
    value += tl.load(bias + row, mask=at < n, other=5)
    tl.store(out + row * OUT_ROW + column, value, mask=at < n)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.int8, torch.int64))
@pytest.mark.parametrize(
    ("columns", "block", "n"),
    [(64, 1024, 37 * 64), (64, 1024, 37 * 64 - 13), (16, 256, 1600), (48, 256, 240), (4, 1024, 0)],
)
def test_rows_and_columns_of_a_flat_index(columns, block, n, dtype, rng):
    rows = triton.cdiv(max(n, 1), columns)
    x, bias = normal(rng, [columns, rows + 3], dtype), normal(rng, [rows], dtype)
    out = torch.full([rows, columns + 5], 7, dtype=dtype)
    before = out.clone()
    transpose_kernel[(triton.cdiv(max(n, 1), block),)](
        x, bias, out, n, rows + 3, columns + 5, 0, COLUMNS=columns, BLOCK=block
    )
    flat = (x[:, :rows].T + bias[:, None]).reshape(-1)
    wanted = before[:, :columns].reshape(-1).clone()
    wanted[:n] = flat[:n]
    check_equal(out[:, :columns].reshape(-1), wanted)
    assert torch.equal(out[:, columns:], before[:, columns:])


@pytest.mark.compiled("the interpreter compiles nothing")
def test_forms_of_a_flat_index(rng):
    x, out = normal(rng, [16, 100]), output([100, 16], torch.float32)
    bias = torch.zeros(100)
    kernel = transpose_kernel[(7,)](x, bias, out, 1600, 100, 16, 0, COLUMNS=16, BLOCK=256)
    check_equal(out, x.T)
    assert kernel.asm["bridge"].count("sizes: [16, 16]") == 3
    access = tilebridge.explain(kernel)["accesses"][0]
    assert (access["form"], access["fallback"]) == ("subview", "element gather")
    assert access["strides"] == ["1 for i0 // 16, X_ROW for i0 % 16"]


@pytest.mark.parametrize("first", [-512, -16, 8, 2**31 - 1024])
def test_where_a_flat_index_begins(first, rng):
    """Below zero a quotient is rounded to zero; not at a multiple, rows are cut."""
    memory = normal(rng, [4000])
    out = output([256], torch.float32)
    columns = 64

    @triton.jit
    def kernel(x, out, FIRST, BASE, BLOCK: tl.constexpr):
        at = FIRST * 16 + tl.arange(0, BLOCK)
        tl.store(out + tl.arange(0, BLOCK), tl.load(x + (at // 64 - BASE) * 100 + at % 64))

    start = first // 16 * 16
    at = torch.arange(start, start + 256, dtype=torch.int64)
    at = (at + 2**31) % 2**32 - 2**31
    quotient = torch.div(at, columns, rounding_mode="trunc")
    remainder = at - quotient * columns
    base = int(quotient.min())
    wanted = memory[100 + (quotient - base) * 100 + remainder]
    kernel[(1,)](memory[100:], out, first // 16, base, BLOCK=256)
    check_equal(out, wanted)


@triton.jit
def permute_kernel(
    x, out, n, A, B, C, M: tl.constexpr, K: tl.constexpr, FIRST, BLOCK: tl.constexpr
):
    """The dimensions of a flat index are (any, M, K); those of `x` have strides of any order."""
    at = FIRST + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i, j, k = at // (M * K), (at // K) % M, at % K
    value = tl.load(x + i * A + j * B + k * C, mask=at < n, other=5)
    tl.store(out + i * (M * K + 3) + k + j * K, value, mask=at < n)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.int8))
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (2, 1, 0)], ids=str)
@pytest.mark.parametrize(
    ("m", "k", "block"), [(10, 16, 256), (8, 16, 1024), (3, 48, 64), (5, 24, 512), (7, 5, 128)]
)
@pytest.mark.parametrize("cut", [0, 8, 13])
def test_three_dimensions_of_a_flat_index(m, k, block, order, cut, dtype, rng):
    shape = (9, m, k)
    n = 9 * m * k - cut
    stored = normal(rng, [shape[d] for d in order], dtype)
    x = stored.permute([order.index(d) for d in range(3)])
    out = torch.full([9, m * k + 3], 7, dtype=dtype)
    wanted = out.clone()
    flat = torch.cat([x.reshape(-1)[:n], torch.full([cut], 7, dtype=dtype)])
    wanted[:, : m * k] = flat.view(9, m * k)
    permute_kernel[(triton.cdiv(n, block),)](x, out, n, *x.stride(), M=m, K=k, FIRST=0, BLOCK=block)
    check_equal(out, wanted)


@pytest.mark.compiled("the interpreter compiles nothing")
def test_rows_between_multiples_of_the_divisor(rng):
    """16 is the largest power of two that 48 is a multiple of."""
    x, out = normal(rng, [10, 3, 16]), torch.zeros(10, 51)
    kernel = permute_kernel[(2,)](x, out, 480, 48, 16, 1, M=3, K=16, FIRST=0, BLOCK=256)
    check_equal(out[:, :48], x.view(10, 48))
    for access in tilebridge.explain(kernel)["accesses"]:
        assert access["form"] in ("row gather", "row scatter")
        assert access["strides"][0].startswith("? for i0 // 16, ")


@pytest.mark.parametrize("first", [-480, -16, -8, 8, 5, 2**31 - 512])
def test_rows_of_an_index_that_begins_anywhere(first, rng):
    memory, out = normal(rng, [40000]), torch.zeros(256)

    @triton.jit
    def kernel(x, out, FIRST, BASE, BLOCK: tl.constexpr):
        at = FIRST + tl.arange(0, BLOCK)
        tl.store(out + tl.arange(0, BLOCK), tl.load(x + (at // 48 - BASE) * 100 + at % 48))

    at = torch.arange(first, first + 256, dtype=torch.int64)
    at = (at + 2**31) % 2**32 - 2**31
    quotient = torch.div(at, 48, rounding_mode="trunc")
    base = int(quotient[0])
    where = (quotient - base) * 100 + at - quotient * 48
    kernel[(1,)](memory[100:], out, first, base, BLOCK=256)
    check_equal(out, memory[100 + where])


@triton.jit
def packed_kernel(
    z, scale, out, N, GROUP, FIRST, PACK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    column = (FIRST + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % N
    row = tl.arange(0, ROWS)
    word = tl.load(z + (row[:, None] // GROUP) * tl.cdiv(N, PACK) + column[None, :] // PACK)
    value = (word >> (column[None, :] % PACK) * (32 // PACK)) & ((1 << (32 // PACK)) - 1)
    factor = tl.load(scale + column[None, :] % PACK * 3 + column[None, :] // PACK)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + row[:, None] * tl.num_programs(0) * BLOCK + at[None, :], value * factor)


@pytest.mark.parametrize("pack", [8, 4])
@pytest.mark.parametrize(
    ("n", "first"),
    [(128, 0), (96, 0), (100, 0), (64, 0), (48, 0), (7, 0), (128, 64), (128, 8), (4096, 3)],
)
def test_quotients_of_a_block_that_may_wrap_around(n, first, pack, rng):
    """Zeros of weights of 4 bits: words of 8, of columns modulo N."""
    rows, group, block, programs = 16, 4, 64, 3
    words = (n + pack - 1) // pack
    z = torch.randint(-(2**31), 2**31, (rows // group, words), generator=rng, dtype=torch.int32)
    scale = torch.randint(-50, 50, (3 * pack + words,), generator=rng, dtype=torch.int32)
    out = torch.zeros(rows, programs * block, dtype=torch.int32)
    packed_kernel[(programs,)](z, scale, out, n, group, first, PACK=pack, ROWS=rows, BLOCK=block)
    column = (first + torch.arange(programs * block)) % n
    value = z[torch.arange(rows)[:, None] // group, column[None, :] // pack].long() & 0xFFFFFFFF
    value = value >> (column % pack * (32 // pack)) & ((1 << 32 // pack) - 1)
    assert torch.equal(out.long(), value * scale[column % pack * 3 + column // pack])


@pytest.mark.compiled("the interpreter compiles nothing")
def test_form_of_a_quotient_of_a_remainder(rng):
    @triton.jit
    def kernel(z, out, N, BLOCK: tl.constexpr):
        column = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)) % N
        tl.store(out + column, tl.load(z + column // 8))

    z, out = torch.arange(64), torch.zeros(512, dtype=torch.int64)
    compiled = kernel[(8,)](z, out, 512, BLOCK=64)
    assert torch.equal(out, torch.arange(512) // 8)
    access = next(
        a for a in tilebridge.explain(compiled)["accesses"] if "// 8" in "".join(a["strides"])
    )
    assert access["form"] == "subview"
    assert access["strides"] == ["1 for i0 // 8, 0 for i0 % 8"]
