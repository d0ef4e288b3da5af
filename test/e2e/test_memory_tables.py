# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads from small tables in memory by indices that are known to be small: what no lane reads need not be there."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, FP8, SIGNED, UNSIGNED, at_end_of_memory, dtypes, normal, output

ALL = dtypes(FLOATS, SIGNED, UNSIGNED, FP8, [torch.bool])
SOME = dtypes([torch.float32, torch.uint8, torch.float16, torch.float64])


def bits(x):
    """Also NaN is what it was."""
    return x.contiguous().view(torch.uint8)


def values(rng, shape, dtype):
    return (
        normal(rng, shape, torch.float32).to(dtype) if dtype in FP8 else normal(rng, shape, dtype)
    )


@triton.jit
def load_kernel(table, codes, out, n, MASK: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    code = tl.load(codes + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(table + (code & MASK)), mask=i < n)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("mask", [0, 1, 7, 15, 31, 63, 127, 255])
def test_types(dtype, mask, rng):
    table = values(rng, [mask + 1], dtype)
    codes = torch.randint(0, 256, (300,), generator=rng, dtype=torch.uint8)
    out = output([300], dtype)
    load_kernel[(3,)](table, codes, out, 300, MASK=mask, BLOCK=128)
    assert torch.equal(bits(out), bits(table[(codes & mask).long()]))


@pytest.mark.parametrize("dtype", SOME)
@pytest.mark.parametrize(
    ("block", "n"), [(1, 3), (2, 5), (4, 4), (16, 1), (64, 257), (1024, 3001), (64, 0)]
)
def test_blocks(dtype, block, n, rng):
    table = values(rng, [16], dtype)
    codes = torch.randint(0, 256, (n,), generator=rng, dtype=torch.uint8)
    out = output([n], dtype)
    load_kernel[(triton.cdiv(n, block),)](table, codes, out, n, MASK=15, BLOCK=block)
    assert torch.equal(bits(out), bits(table[(codes & 15).long()]))


@pytest.mark.parametrize("dtype", SOME)
@pytest.mark.parametrize("there", [1, 5, 15, 16])
def test_end_of_memory(dtype, there, rng):
    """Elements that no code chooses are on a page that is not there."""
    table = at_end_of_memory(values(rng, [there], dtype))
    codes = torch.randint(0, there, (300,), generator=rng).to(torch.uint8)
    codes += 16 * torch.randint(0, 16, (300,), generator=rng).to(torch.uint8)
    out = output([300], dtype)
    load_kernel[(3,)](table, codes, out, 300, MASK=15, BLOCK=128)
    assert torch.equal(bits(out), bits(table[(codes & 15).long()]))


@pytest.mark.parametrize("dtype", SOME)
@pytest.mark.parametrize("first", [1, 1000, 1017, 1020, 1024, 2044, 4089, 8191])
def test_places(dtype, first, rng):
    """At any place of a page, and across its end."""
    memory = values(rng, [16384], dtype)
    codes = torch.randint(0, 256, (300,), generator=rng, dtype=torch.uint8)
    out = output([300], dtype)
    load_kernel[(3,)](memory[first:], codes, out, 300, MASK=15, BLOCK=128)
    assert torch.equal(bits(out), bits(memory[first + (codes & 15).long()]))


@triton.jit
def masked_kernel(table, codes, wanted, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    code = tl.load(codes + i, mask=i < n, other=0)
    on = tl.load(wanted + i, mask=i < n, other=0) != 0
    tl.store(out + i, tl.load(table + (code & 15), mask=on, other=7), mask=i < n)


@pytest.mark.parametrize("dtype", SOME)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_masks(dtype, share, rng):
    table = values(rng, [16], dtype)
    codes = torch.randint(0, 256, (300,), generator=rng, dtype=torch.uint8)
    wanted = (torch.rand(300, generator=rng) < share).to(torch.uint8)
    out = output([300], dtype)
    masked_kernel[(3,)](table, codes, wanted, out, 300, BLOCK=128)
    seven = torch.tensor(7).to(dtype)
    assert torch.equal(
        bits(out), bits(torch.where(wanted.bool(), table[(codes & 15).long()], seven))
    )


@pytest.mark.parametrize("dtype", SOME)
def test_masks_of_nothing(dtype, rng):
    """No lane is on where there is no memory."""
    table = at_end_of_memory(values(rng, [1], dtype))[1:]
    codes = torch.randint(0, 256, (300,), generator=rng, dtype=torch.uint8)
    out = output([300], dtype)
    masked_kernel[(3,)](table, codes, torch.zeros(300, dtype=torch.uint8), out, 300, BLOCK=128)
    assert (out.double() == 7).all()


@triton.jit
def chosen_kernel(table, codes, out, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    code = tl.load(codes + i, mask=i < n, other=0)
    if KIND == "shift":
        at = code.to(tl.uint8, bitcast=True) >> 4
    elif KIND == "signed shift":
        at = code.to(tl.int8, bitcast=True) >> 4
    elif KIND == "remainder":
        at = code.to(tl.uint8, bitcast=True) % 11
    elif KIND == "signed remainder":
        at = code.to(tl.int8, bitcast=True).to(tl.int32) % 11
    elif KIND == "clamp":
        at = tl.minimum(tl.maximum(code.to(tl.int8, bitcast=True).to(tl.int32), 0), 20)
    elif KIND == "upper bound":
        at = tl.minimum(code.to(tl.int8, bitcast=True).to(tl.int32), 20)
    elif KIND == "where":
        at = tl.where(code > 99, (code & 3).to(tl.int32), 40)
    elif KIND == "pair":
        at = (code & 3).to(tl.int64) * 4 + ((code >> 6) & 3)
    elif KIND == "bool":
        at = (code > 99).to(tl.int32)
    else:
        at = code.to(tl.int8, bitcast=True)
    tl.store(out + i, tl.load(table + at), mask=i < n)


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("shift", lambda c: c >> 4),
        ("signed shift", lambda c: c.to(torch.int8).long() >> 4),
        ("remainder", lambda c: c % 11),
        ("signed remainder", lambda c: torch.fmod(c.to(torch.int8).long(), 11)),
        ("clamp", lambda c: c.to(torch.int8).long().clamp(0, 20)),
        ("upper bound", lambda c: c.to(torch.int8).long().clamp(max=20)),
        ("where", lambda c: torch.where(c > 99, c & 3, 40)),
        ("pair", lambda c: (c & 3) * 4 + (c >> 6)),
        ("bool", lambda c: (c > 99).long()),
        ("signed", lambda c: c.to(torch.int8).long()),
    ],
)
@pytest.mark.parametrize("dtype", SOME)
def test_ranges(dtype, kind, place, rng):
    """What the index is known to be, and where it may be negative."""
    memory = values(rng, [256], dtype)
    codes = torch.arange(256, dtype=torch.uint8)
    out = output([256], dtype)
    chosen_kernel[(1,)](memory[128:], codes, out, 256, KIND=kind, BLOCK=256)
    assert torch.equal(bits(out), bits(memory[128 + place(codes.long())]))


@triton.jit
def rows_kernel(
    tables, codes, out, n, stride, KIND: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    """Each row has a table of its own, and its sums are of 32 or of 64 bits."""
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    i = tl.arange(0, BLOCK)[None, :]
    at = row * n + i
    code = tl.load(codes + at, mask=i < n, other=0)
    if KIND == "pointers":
        value = tl.load(tables + row * stride + (code & 15))
    elif KIND == "sums":
        value = tl.load(tables + (row * stride + (code & 15)))
    elif KIND == "long sums":
        value = tl.load(tables + (row.to(tl.int64) * stride + (code & 15)))
    elif KIND == "masked":
        value = tl.load(tables + row * stride + (code & 15), mask=code >= 128, other=1)
    else:  # "columns": lanes have tables of their own
        value = tl.load(tables + (code & 15) * stride + row)
    tl.store(out + at, value, mask=i < n)


@pytest.mark.parametrize("dtype", SOME)
@pytest.mark.parametrize("kind", ["pointers", "sums", "long sums", "masked", "columns"])
@pytest.mark.parametrize(("n", "stride"), [(100, 16), (64, 16), (3, 21)])
def test_tables_of_rows(dtype, kind, n, stride, rng):
    rows, longest = 8, 21 * 16
    tables = at_end_of_memory(
        values(rng, [longest if kind == "columns" else 7 * stride + 16], dtype)
    )
    codes = torch.randint(0, 256, (rows, n), generator=rng, dtype=torch.uint8)
    out = output([rows, n], dtype)
    rows_kernel[(2,)](tables, codes, out, n, stride, KIND=kind, ROWS=4, BLOCK=128)
    row = torch.arange(rows)[:, None]
    low = (codes & 15).long()
    wanted = tables[low * stride + row if kind == "columns" else row * stride + low]
    if kind == "masked":
        wanted = torch.where(codes >= 128, wanted, torch.tensor(1).to(dtype))
    assert torch.equal(bits(out), bits(wanted))


@pytest.mark.parametrize("kind", ["pointers", "sums", "masked"])
def test_last_table_that_is_not_whole(kind, rng):
    """Its last elements are on a page that is not there."""
    tables = at_end_of_memory(normal(rng, [7 * 16 + 5]))
    codes = torch.randint(0, 5, (8, 100), generator=rng).to(torch.uint8) + 128
    out = output([8, 100], torch.float32)
    rows_kernel[(2,)](tables, codes, out, 100, 16, KIND=kind, ROWS=4, BLOCK=128)
    assert torch.equal(out, tables[torch.arange(8)[:, None] * 16 + (codes & 15).long()])


@triton.jit
def in_place_kernel(x, shift, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    code = tl.load(x + i)
    tl.store(x + shift + i, tl.load(x + (code & 15)))


@pytest.mark.parametrize("shift", [-3, 0, 5, 16, 300])
def test_table_that_the_store_overwrites(shift, rng):
    """All is read before anything is stored."""
    memory = torch.randint(0, 256, (1024,), generator=rng, dtype=torch.uint8)
    wanted = memory.clone()
    x = memory[100:]
    wanted[100 + shift : 356 + shift] = x[(x[:256] & 15).long()]
    in_place_kernel[(1,)](x, shift, BLOCK=256)
    assert torch.equal(memory, wanted)


@triton.jit
def permute_kernel(x, codes, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    code = tl.load(codes + i)
    tl.store(x + i, tl.load(x + (code & (SIZE - 1))))


@pytest.mark.parametrize("size", [16, 64, 256])
@pytest.mark.parametrize("dtype", SOME)
def test_table_that_is_permuted_in_place(dtype, size, rng):
    x = values(rng, [size], dtype)
    codes = torch.randint(0, 256, (size,), generator=rng, dtype=torch.uint8)
    wanted = x[codes.long() & size - 1]
    permute_kernel[(1,)](x, codes, SIZE=size)
    assert torch.equal(bits(x), bits(wanted))


@triton.jit
def changing_kernel(table, codes, out, steps, BLOCK: tl.constexpr):
    """Each iteration stores a table for the next one, before and after it loads."""
    i = tl.arange(0, BLOCK)
    entry = tl.arange(0, 16)
    code = tl.load(codes + i)
    for step in range(steps):
        tl.store(table + entry, tl.load(table + entry) * 3 + step)
        value = tl.load(table + (code & 15))
        tl.store(table + entry, tl.load(table + 15 - entry) + 1)
        tl.store(out + step * BLOCK + i, value)


def test_table_that_changes(rng):
    table = torch.randint(0, 100, (16,), generator=rng, dtype=torch.int32)
    codes = torch.randint(0, 256, (64,), generator=rng, dtype=torch.uint8)
    out = output([4, 64], torch.int32)
    expected = table.clone()
    changing_kernel[(1,)](table, codes, out, 4, BLOCK=64)
    for step in range(4):
        expected = expected * 3 + step
        assert torch.equal(out[step], expected[(codes & 15).long()])
        expected = expected.flip(0) + 1


@triton.jit
def dequantize_kernel(packed, table, scales, out, n, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Weights of 4 bits, two in a byte, as bitsandbytes keeps NF4 and FP4."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(packed + i, mask=i < n // 2, other=0)
    scale = tl.load(scales + i // (GROUP // 2), mask=i < n // 2, other=0.0)
    high = tl.load(table + (byte >> 4)) * scale
    low = tl.load(table + (byte & 0xF)) * scale
    at = pid * BLOCK * 2 + tl.arange(0, 2 * BLOCK)
    tl.store(out + at, tl.interleave(high, low), mask=at < n)


@pytest.mark.parametrize("dtype", dtypes([torch.float32, torch.float16, torch.bfloat16]))
@pytest.mark.parametrize("n", [2, 64, 1000, 8192])
def test_dequantization(dtype, n, rng):
    packed = torch.randint(0, 256, (n // 2,), generator=rng, dtype=torch.uint8)
    table, scales = normal(rng, [16]), torch.rand(triton.cdiv(n, 64), generator=rng)
    out = output([n], dtype)
    dequantize_kernel[(triton.cdiv(n // 2, 256),)](
        packed, table, scales, out, n, GROUP=64, BLOCK=256
    )
    code = torch.stack([packed >> 4, packed & 15], 1).flatten().long()
    wanted = table[code] * scales.repeat_interleave(64)[:n]
    assert torch.equal(out, wanted.to(dtype))


@triton.jit
def product_kernel(
    packed, table, scales, x, out, k, ROWS: tl.constexpr, BLOCK: tl.constexpr, GROUP: tl.constexpr
):
    """A matrix of such weights times a vector."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros([ROWS], tl.float32)
    for start in range(0, k // 2, BLOCK):
        j = start + tl.arange(0, BLOCK)
        mask = j < k // 2
        byte = tl.load(packed + row[:, None] * (k // 2) + j[None, :], mask=mask[None, :], other=0)
        scale = tl.load(
            scales + (row[:, None] * k + 2 * j[None, :]) // GROUP, mask=mask[None, :], other=0.0
        )
        high, low = tl.load(table + (byte >> 4)), tl.load(table + (byte & 0xF))
        even = tl.load(x + 2 * j, mask=mask, other=0.0)
        odd = tl.load(x + 2 * j + 1, mask=mask, other=0.0)
        total += tl.sum((high * even[None, :] + low * odd[None, :]) * scale, 1)
    tl.store(out + row, total)


@pytest.mark.parametrize("k", [64, 192, 1024])
def test_products(k, rng):
    rows = 16
    packed = torch.randint(0, 256, (rows, k // 2), generator=rng, dtype=torch.uint8)
    table, x = normal(rng, [16]), normal(rng, [k])
    scales = torch.rand(rows * k // 64, generator=rng)
    out = output([rows], torch.float32)
    product_kernel[(2,)](packed, table, scales, x, out, k, ROWS=8, BLOCK=64, GROUP=64)
    code = torch.stack([packed >> 4, packed & 15], 2).reshape(rows, k).long()
    weights = table.double()[code] * scales.double().repeat_interleave(64).reshape(rows, k)
    torch.testing.assert_close(out.double(), weights @ x.double(), rtol=1e-4, atol=1e-4)
