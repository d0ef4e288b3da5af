# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of which not all rows are stored: the others need not be computed, nor exist in memory."""

import pytest
import torch
import triton
import triton.language as tl
from support import FP8, at_end_of_memory, check_equal, dtypes, normal, output, small_numbers


@triton.jit
def rows_kernel(
    a, b, c, sums, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), ACC)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        if HOW == "wrapped":
            there = a + (rows % m)[:, None] * k + depth[None, :]
            x = tl.load(there, mask=depth[None, :] < k, other=0.0)
        else:
            inside = (rows[:, None] < m) & (depth[None, :] < k)
            x = tl.load(a + rows[:, None] * k + depth[None, :], mask=inside, other=0.0)
        if HOW == "computed":
            x = (x * 2).to(x.dtype)
        inside = (depth[:, None] < k) & (cols[None, :] < n)
        if HOW == "transposed":
            y = tl.load(b + depth[:, None] + cols[None, :] * k, mask=inside, other=0.0)
        elif HOW == "columns_wrap":
            there = b + depth[:, None] * n + (cols % n)[None, :]
            y = tl.load(there, mask=depth[:, None] < k, other=0.0)
        elif HOW == "upwards":  # The last row of b first.
            y = tl.load(b + (k - 1 - depth)[:, None] * n + cols[None, :], mask=inside, other=0.0)
        else:
            y = tl.load(b + depth[:, None] * n + cols[None, :], mask=inside, other=0.0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
    place = c + rows[:, None] * n + cols[None, :]
    inside = (rows[:, None] < m) & (cols[None, :] < n)
    if HOW == "summed":  # All rows are seen; those outside are zeros.
        tl.store(sums + cols, tl.sum(acc, 0), mask=cols < n)
    if HOW == "upper":  # The upper half of the block, elsewhere.
        tl.store(place, acc, mask=inside & (rows[:, None] % BM < 8))
    elif HOW == "twice":
        tl.store(place, acc, mask=inside)
        tl.store(place, acc * 2, mask=inside & (rows[:, None] < 3))
    else:
        tl.store(place, acc, mask=inside)


def run(rng, m, n, k, block, dtype, how="plain"):
    a, b = small_numbers(rng, [m, k], dtype), small_numbers(rng, [k, n], dtype)
    kind = torch.float32 if dtype.is_floating_point else torch.int32
    acc = tl.float32 if dtype.is_floating_point else tl.int32
    if dtype == torch.float64:
        kind, acc = torch.float64, tl.float64
    c, sums = output([m, n], kind), output([n], kind)
    right = {"transposed": b.t(), "upwards": b.flip(0)}.get(how, b).contiguous()
    rows_kernel[triton.cdiv(m, block[0]), triton.cdiv(n, block[1])](
        at_end_of_memory(a), at_end_of_memory(right), c, sums, m, n, k, *block, ACC=acc, HOW=how
    )
    return c, sums, a.double() @ b.double()


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 2, 7, 13, 33])
@pytest.mark.parametrize("how", ["plain", "wrapped", "computed"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8), ids=str)
def test_few_rows(m, how, dtype, rng):
    c, _, wanted = run(rng, m, 40, 100, (16, 32, 32), dtype, how)
    check_equal(c, wanted * (2 if how == "computed" else 1), terms=400)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("m", [1, 3, 13, 16, 33])
@pytest.mark.parametrize("dtype", [torch.float16, *FP8], ids=str)
def test_few_rows_that_are_converted(m, dtype, rng):
    """Only rows that are wanted are packed; the shape leaves tails along every dimension."""
    for k in (96, 100):
        c, _, wanted = run(rng, m, 48, k, (16, 32, 32), dtype)
        check_equal(c, wanted, terms=400)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("block", [(32, 48 // 3, 16), (64, 64, 64), (16, 128, 256)], ids=str)
def test_tiles_of_other_sizes(block, rng):
    c, _, wanted = run(rng, 37, 130, 300, block, torch.float32)
    check_equal(c, wanted, terms=300 * 4)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("how", ["summed", "upper", "twice"])
def test_other_uses(how, rng):
    c, sums, wanted = run(rng, 5, 40, 96, (16, 32, 32), torch.float32, how)
    if how == "twice":
        wanted[:3] *= 2
    check_equal(c, wanted, terms=96 * 4)
    if how == "summed":
        check_equal(sums, wanted.sum(0), terms=96 * 20)


WIDE_HOWS = ["plain", "wrapped", "computed", "transposed", "columns_wrap", "upwards", "summed"]


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("how", WIDE_HOWS)
@pytest.mark.parametrize("m", [1, 2, 5, 15, 16, 17, 35])
def test_few_rows_with_long_rows(m, how, rng):
    c, sums, wanted = run(rng, m, 1100, 100, (16, 512, 16), torch.float32, how)
    check_equal(c, wanted * (2 if how == "computed" else 1), terms=400)
    if how == "summed" and m <= 16:
        check_equal(sums, wanted.sum(0), terms=400 * 20)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize(
    "block", [(2, 512, 16), (16, 1024, 8), (8, 2048, 4), (16, 512, 1)], ids=str
)
@pytest.mark.parametrize(("m", "k"), [(1, 1), (1, 203), (3, 16), (7, 33)])
def test_long_rows_in_blocks_of_other_sizes(block, m, k, rng):
    c, _, wanted = run(rng, m, 1025, k, block, torch.float32)
    check_equal(c, wanted, terms=k * 4)


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 6])
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float64, torch.float16, torch.bfloat16, torch.int8), ids=str
)
def test_long_rows_of_other_types(m, dtype, rng):
    c, _, wanted = run(rng, m, 1536, 64, (16, 1024, 16), dtype)
    check_equal(c, wanted, terms=64 * 4)


COLUMN_TYPES = dtypes(
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.float8_e5m2
)


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 7, 8, 9, 16, 17])
@pytest.mark.parametrize("block", [(16, 32, 64), (16, 16, 32), (8, 64, 128), (2, 8, 16)], ids=str)
@pytest.mark.parametrize("dtype", COLUMN_TYPES, ids=str)
def test_few_rows_with_contiguous_columns(m, block, dtype, rng):
    """b as the transpose of weights: the last blocks along N and K exist in part."""
    if dtype.itemsize == 1 and dtype.is_floating_point and block[0] < 16:
        block = (16, *block[1:])
    c, _, wanted = run(rng, m, 50, 200, block, dtype, "transposed")
    check_equal(c, wanted, terms=200 * 4)


@triton.jit
def scaled_kernel(
    a, b, c, m, n, k, step_k, step_n,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, LOOP: tl.constexpr,
):  # fmt: skip
    rows, cols = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    if LOOP:
        for start in range(0, k, BK):
            depth = start + tl.arange(0, BK)
            inside = (rows[:, None] < m) & (depth[None, :] < k)
            x = tl.load(a + rows[:, None] * k + depth[None, :], mask=inside, other=0.0)
            inside = (depth[:, None] < k) & (cols[None, :] < n)
            y = tl.load(
                b + depth[:, None] * step_k + cols[None, :] * step_n, mask=inside, other=0.0
            )
            # Not only added to: each iteration multiplies by itself.
            acc = acc * 0.5 + tl.dot(x, y)
    else:
        depth = tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + depth[None, :], mask=rows[:, None] < m, other=0.0)
        y = tl.load(b + depth[:, None] * step_k + cols[None, :] * step_n, mask=cols[None, :] < n)
        acc = tl.dot(x, y)
    place = c + rows[:, None] * n + cols[None, :]
    tl.store(place, tl.exp(acc), mask=(rows[:, None] < m) & (cols[None, :] < n))


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("m", [1, 2, 4, 5, 8, 9, 16])
@pytest.mark.parametrize("layout", ["rows", "columns", "neither"])
@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float32, torch.float16, torch.bfloat16, torch.float8_e5m2), ids=str
)
def test_few_rows_of_single_products(m, layout, loop, dtype, rng):
    n, k, step = 48, 200 if loop else 64, 64
    a, b = (0.1 * normal(rng, [m, k], torch.float32)).to(dtype), normal(rng, [k, n], dtype)
    memory = {"rows": b, "columns": b.t(), "neither": b.repeat_interleave(2, 1)}[layout]
    memory = at_end_of_memory(memory.contiguous())
    steps = {"rows": (n, 1), "columns": (1, k), "neither": (2 * n, 2)}[layout]
    c = output([m, n], torch.float32)
    scaled_kernel[(2,)](
        at_end_of_memory(a), memory, c, m, n, k, *steps, BM=16, BN=32, BK=step, LOOP=loop
    )
    wanted = torch.zeros(m, n, dtype=torch.float64)
    for start in range(0, k, step):
        piece = slice(start, start + step)
        wanted = wanted * 0.5 + a[:, piece].double() @ b[piece].double()
    check_equal(c, wanted.exp(), tolerance=(2e-3, 1e-4))


@triton.jit
def batch_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    a += tl.program_id(0) * m * k
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        inside = (rows[:, None] < m) & (depth[None, :] < k)
        x = tl.load(a + rows[:, None] * k + depth[None, :], mask=inside, other=0)
        inside = (depth[:, None] < k) & (cols[None, :] < n)
        y = tl.load(b + depth[:, None] * n + cols[None, :], mask=inside, other=0)
        acc = tl.dot(x, y, acc)
    place = c + (tl.program_id(0) * m + rows)[:, None] * n + cols[None, :]
    tl.store(place, acc, mask=(rows[:, None] < m) & (cols[None, :] < n))


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("m", [1, 6, 15])
def test_programs_with_the_same_long_rows(m, rng):
    """The first program of a column packs nothing, the second one does, and the next ones share."""
    a, b = normal(rng, [5 * m, 300], torch.float32), normal(rng, [300, 1100], torch.float32)
    c = output([5 * m, 1100], torch.float32)
    batch_kernel[5, 3](a, b, c, m, 1100, 300, BM=16, BN=512, BK=16)
    check_equal(c, a.double() @ b.double(), terms=300 * 4)


@triton.jit
def descriptor_kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    right = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
    out = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    row, col = tl.program_id(0) * BM - 8, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(left.load([row, start]), right.load([start, col]), acc)
    out.store([row, col], acc)


@pytest.mark.compiled("is slow")
@pytest.mark.parametrize("m", [1, 9, 21])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16), ids=str)
def test_descriptors_whose_blocks_begin_outside(m, dtype, rng):
    a, b = normal(rng, [m, 96], dtype), normal(rng, [96, 64], dtype)
    c = output([m, 64], torch.float32)
    descriptor_kernel[triton.cdiv(m + 8, 16), 2](
        at_end_of_memory(a), at_end_of_memory(b), c, m, 64, 96, BM=16, BN=32, BK=32
    )
    check_equal(c, a.double() @ b.double(), terms=96 * 4)


@triton.jit
def slots_kernel(
    a, b, c, sums, slots, end, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, SUMS: tl.constexpr,
):  # fmt: skip
    slot = tl.load(slots + tl.program_id(0) * BM + tl.arange(0, BM))
    inside = slot < end
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), ACC)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(a + slot[:, None] * k + depth[None, :], mask=inside[:, None], other=0)
        acc = tl.dot(x, tl.load(b + depth[:, None] * n + cols[None, :]), acc, out_dtype=ACC)
    tl.store(c + slot[:, None] * n + cols[None, :], acc * 2, mask=inside[:, None])
    if SUMS:
        tl.store(sums + tl.program_id(0) * n + cols, tl.sum(acc, 0))


@pytest.mark.compiled("has no bf16")
@pytest.mark.parametrize("sums", [False, True], ids=["rows", "sums"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.int8), ids=str)
def test_slots_that_a_mask_leaves_out(dtype, sums, rng):
    """Blocks in which all rows are stored, none, the first, the last, some in front, and any."""
    block, n, k = (32, 32, 64), 64, 192
    taken = torch.zeros([6, block[0]], dtype=torch.bool)
    taken[0], taken[2, 0], taken[3, -1], taken[4, :5] = True, True, True, True
    taken[5, [1, 2, 13, 22]] = True
    end = int(taken.sum())
    slots = torch.full(taken.shape, end + 1000, dtype=torch.int32)
    slots[taken] = torch.randperm(end, generator=rng).to(torch.int32)
    a, b = small_numbers(rng, [end, k], dtype), small_numbers(rng, [k, n], dtype)
    kind = torch.float32 if dtype.is_floating_point else torch.int32
    c, totals = output([end, n], kind), output([6, n], kind)
    slots_kernel[6, n // block[1]](
        at_end_of_memory(a), at_end_of_memory(b), c, totals, slots, end, n, k, *block,
        ACC=tl.float32 if dtype.is_floating_point else tl.int32, SUMS=sums,
    )  # fmt: skip
    wanted = a.double() @ b.double()
    check_equal(c, wanted * 2, terms=k * 4)
    if sums:
        each = [wanted[slots[i][taken[i]].long()].sum(0) for i in range(6)]
        check_equal(totals, torch.stack(each), terms=k * 80)


@triton.jit
def shared_codes_kernel(
    a, codes, scales, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    # Programs of the same columns follow one another, and b is computed where it is packed.
    programs = tl.cdiv(m, BM)
    rows = tl.program_id(0) % programs * BM + tl.arange(0, BM)
    cols = tl.program_id(0) // programs * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        depth = start + tl.arange(0, BK)
        x = tl.load(a + rows[:, None] * k + depth[None, :], mask=rows[:, None] < m, other=0.0)
        word = tl.load(codes + (depth[:, None] // 8) * n + cols[None, :])
        code = (word >> ((depth[:, None] % 8) * 4)) & 15
        y = (code - 8).to(tl.float32) * tl.load(scales + cols)[None, :]
        acc = tl.dot(x, y.to(x.dtype), acc)
    tl.store(c + rows[:, None] * n + cols[None, :], acc, mask=rows[:, None] < m)


@pytest.mark.parametrize("m", [1, 3, 16, 40])
@pytest.mark.parametrize("block", [(16, 64, 32), (16, 32, 64), (16, 1024, 16)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_few_rows_with_a_computed_operand_that_programs_share(m, block, dtype, rng):
    k, n = 256, 1024
    a = small_numbers(rng, [m, k], dtype)
    codes = torch.randint(-(2**31), 2**31, (k // 8, n), generator=rng, dtype=torch.int64).int()
    scales = torch.randint(1, 5, (n,), generator=rng).float()
    c = torch.full((m, n), 7.0)
    grid = triton.cdiv(m, block[0]) * (n // block[1])
    shared_codes_kernel[(grid,)](a, at_end_of_memory(codes), scales, c, m, n, k, *block)
    shifts = torch.arange(8) * 4
    wide = (codes[:, None, :] >> shifts[None, :, None]).bitwise_and(15).reshape(k, n)
    check_equal(c, a.double() @ ((wide - 8).double() * scales), terms=k * 64)
