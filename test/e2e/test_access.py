# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads and stores: strides, masks, gathers, scatters, every block size; descriptors."""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, FP8, INTEGERS, NAMES, check_equal, dtypes, normal, output, ramp
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def copy_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)


@pytest.mark.parametrize("block", [1 << i for i in range(13)])
def test_all_block_sizes(block, rng):
    for n in (1, 100, 4096, 4097):
        if n // block > 600:
            continue
        x = normal(rng, [n])
        out = output([n + 1], torch.float32)
        copy_kernel[(triton.cdiv(n, block),)](x, out, n, BLOCK=block)
        check_equal(out[:n], x)
        assert out[n].isnan()


@pytest.mark.parametrize("dtype", [torch.bool, *INTEGERS, *FLOATS, *FP8], ids=lambda d: NAMES[d])
def test_all_types(dtype, rng):
    n = 77
    raw = torch.randint(0, 2 if dtype == torch.bool else 256, [n * dtype.itemsize], generator=rng)
    x = raw.to(torch.uint8).view(dtype)
    out = torch.zeros(n, dtype=torch.uint8).repeat(dtype.itemsize).view(dtype)
    copy_kernel[(3,)](x, out, n, BLOCK=32)
    assert torch.equal(out.view(torch.uint8), x.view(torch.uint8))


@triton.jit
def strided_kernel(x, out, s0, s1, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    tl.store(out + i * N + j, tl.load(x + i * s0 + j * s1))


def test_any_strides(rng):
    m, n = 8, 16
    data = normal(rng, [2000])
    start = 1000
    for s0, s1 in (
        (16, 1),
        (1, 8),
        (40, 1),
        (40, 2),
        (0, 1),
        (1, 0),
        (0, 0),
        (-20, 1),
        (3, -5),
        (-1, -9),
        (1, 1),
    ):
        out = output([m, n], torch.float32)
        strided_kernel[(1,)](data[start:], out, s0, s1, M=m, N=n)
        at = start + torch.arange(m)[:, None] * s0 + torch.arange(n)[None, :] * s1
        check_equal(out, data[at], context=f"strides {s0}, {s1}")


@triton.jit
def constant_stride_kernel(x, out, N: tl.constexpr, S: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at * S, tl.load(x + at * S) + tl.load(x + (N - 1 - at) * S))
    tl.store(out + at * S + 1, tl.load(x + at // 2) - tl.load(x + at % 4))


@pytest.mark.parametrize("stride", [2, 3, 8])
@pytest.mark.parametrize("n", [4, 64])
def test_constant_strides_division_and_remainder(n, stride, rng):
    x = normal(rng, [n * stride])
    out = output([n * stride], torch.float32)
    constant_stride_kernel[(1,)](x, out, N=n, S=stride)
    at = torch.arange(n)
    check_equal(out[at * stride], x[at * stride] + x[(n - 1 - at) * stride])
    check_equal(out[at * stride + 1], x[at // 2] - x[at % 4])


@triton.jit
def box_kernel(x, out, rows, cols, top, left, M: tl.constexpr, N: tl.constexpr, HOW: tl.constexpr):
    """Masks that are boxes and masks that are not."""
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    if HOW == "prefix":
        mask = (i < rows) & (j < cols)
    elif HOW == "rows":
        mask = (i < rows) & (j >= 0)
    elif HOW == "box":
        mask = (i >= top) & (i < rows) & (j >= left) & (j < cols)
    elif HOW == "reversed":
        mask = (rows > i) & (left <= j)
    elif HOW == "or":
        mask = (i < rows) | (j < cols)
    elif HOW == "not":
        mask = ~((i < rows) & (j < cols))
    elif HOW == "diagonal":
        mask = i + j < rows
    elif HOW == "triangle":
        mask = i >= j
    elif HOW == "product":
        mask = i * N + j < cols * 3
    else:
        mask = ((i < rows) & (j < cols)) & (top > 1)
    tile = tl.load(x + i * N + j, mask=mask, other=-7.0)
    tl.store(out + i * N + j, tile)
    tl.store(out + M * N + i * N + j, tile * 2, mask=mask)


def box_mask(how, rows, cols, top, left, m, n):
    i, j = torch.arange(m)[:, None], torch.arange(n)[None, :]
    return {
        "prefix": lambda: (i < rows) & (j < cols),
        "rows": lambda: (i < rows) & (j >= 0),
        "box": lambda: (i >= top) & (i < rows) & (j >= left) & (j < cols),
        "reversed": lambda: (rows > i) & (left <= j),
        "or": lambda: (i < rows) | (j < cols),
        "not": lambda: ~((i < rows) & (j < cols)),
        "diagonal": lambda: i + j < rows,
        "triangle": lambda: i >= j,
        "product": lambda: i * n + j < cols * 3,
        "scalar": lambda: (i < rows) & (j < cols) & (top > 1),
    }[how]().expand(m, n)


BOXES = [(5, 9, 2, 3), (0, 0, 0, 0), (100, 100, -5, -5), (8, 16, 0, 0), (3, 2, 6, 1), (-4, 5, 1, 9)]


@pytest.mark.parametrize(
    "how",
    [
        *"prefix rows box reversed or not diagonal triangle product".split(),
        pytest.param("scalar", marks=pytest.mark.compiled("rejects a scalar in a mask")),
    ],
)
def test_masks_of_two_dimensions(how, rng):
    m, n = 8, 16
    for box in BOXES:
        x = normal(rng, [m, n])
        out = torch.full([2, m, n], 55.0)
        box_kernel[(1,)](x, out, *box, M=m, N=n, HOW=how)
        mask = box_mask(how, *box, m, n)
        check_equal(out[0], torch.where(mask, x, -7.0), context=f"{box}")
        check_equal(out[1], torch.where(mask, x * 2, 55.0), context=f"{box}")


@triton.jit
def other_kernel(x, y, out, n, N: tl.constexpr, KIND: tl.constexpr):
    at = tl.arange(0, N)
    if KIND == "tensor":
        value = tl.load(x + at, mask=at < n, other=tl.load(y + at))
    elif KIND == "scalar":
        value = tl.load(x + at, mask=at < n, other=tl.load(y))
    elif KIND == "float":
        value = tl.load(x + at, mask=at < n, other=2)
    else:
        value = tl.load(x + at, mask=at < n, other=float("nan"))
    tl.store(out + at, value)


@pytest.mark.parametrize("kind", ["tensor", "scalar", "float", "nan"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16))
@pytest.mark.parametrize("n", [0, 1, 20, 32])
def test_other_values(kind, dtype, n, rng):
    size = 32
    x, y = normal(rng, [size], dtype), normal(rng, [size], dtype)
    out = output([size], dtype)
    other_kernel[(1,)](x, y, out, n, N=size, KIND=kind)
    other = {"tensor": y, "scalar": y[0], "float": 2.0, "nan": float("nan")}[kind]
    other = torch.as_tensor(other, dtype=dtype)
    check_equal(out, torch.where(torch.arange(size) < n, x, other))


@triton.jit
def indexed_kernel(x, idx, out, back, n, N: tl.constexpr):
    at = tl.arange(0, N)
    index = tl.load(idx + at)
    value = tl.load(x + index, mask=at < n, other=-1.0)
    tl.store(out + at, value)
    tl.store(back + index, value * 3, mask=at < n)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.int16], ids=lambda d: NAMES[d])
@pytest.mark.parametrize("n", [0, 1, 63, 64])
def test_gather_and_scatter(dtype, n, rng):
    size = 64
    x = normal(rng, [200])
    idx = torch.randperm(200, generator=rng)[:size].to(dtype)
    out = output([size], torch.float32)
    back = torch.zeros(200)
    indexed_kernel[(1,)](x, idx, out, back, n, N=size)
    inside = torch.arange(size) < n
    check_equal(out, torch.where(inside, x[idx.long()], -1.0))
    wanted = torch.zeros(200)
    wanted[idx.long()[:n]] = x[idx.long()[:n]] * 3
    check_equal(back, wanted)


@triton.jit
def chained_kernel(first, second, x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + tl.load(second + tl.load(first + at))))
    i = tl.load(first + 3)
    tl.store(out + N, tl.load(x + tl.load(second + i)))


def test_chained_gathers(rng):
    n = 64
    first = torch.randint(0, n, [n], generator=rng)
    second = torch.randint(0, n, [n], generator=rng, dtype=torch.int32)
    x = normal(rng, [n])
    out = output([n + 1], torch.float32)
    chained_kernel[(1,)](first, second, x, out, N=n)
    check_equal(out[:n], x[second.long()[first]])
    check_equal(out[n], x[second.long()[first[3]]])


@triton.jit
def rows_kernel(x, idx, out, back, count, cols, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    row = tl.load(idx + i, mask=i < count, other=0)
    inside = (i < count)[:, None] & (j < cols)[None, :]
    tile = tl.load(x + row[:, None] * cols + j[None, :], mask=inside, other=0.0)
    tl.store(out + i[:, None] * N + j[None, :], tile)
    tl.store(back + row[:, None] * cols + j[None, :], tile + 1, mask=inside)
    # The indexed dimension last: columns picked, rows in order.
    turned = tl.load(
        x + j[:, None] * cols + row[None, :], mask=(j < 3)[:, None] & (row < cols)[None, :]
    )
    tl.store(out + M * N + j[:, None] * M + i[None, :], turned)


@pytest.mark.parametrize(("count", "cols"), [(8, 16), (5, 16), (8, 9), (3, 1), (0, 4)])
def test_rows_picked_by_an_index(count, cols, rng):
    m, n, total = 8, 16, 30
    x = normal(rng, [total, cols])
    idx = torch.randperm(total, generator=rng)[:m].int()
    out = output([2, m * n], torch.float32)
    back = torch.zeros(total, cols)
    rows_kernel[(1,)](x, idx, out, back, count, cols, M=m, N=n)
    picked = idx.long()[:count]
    wanted = torch.zeros(m, n)
    wanted[:count, :cols] = x[picked]
    check_equal(out[0].reshape(m, n), wanted)
    after = torch.zeros(total, cols)
    after[picked] = x[picked] + 1
    check_equal(back, after)
    turned = torch.zeros(n, m)
    for i in range(m):
        row = int(idx[i]) if i < count else 0
        if row < cols:
            turned[:3, i] = x[:3, row]
    check_equal(out[1].reshape(n, m), turned)


@triton.jit
def hints_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    at = tl.max_contiguous(tl.multiple_of(at, N), N)
    tl.assume(tl.program_id(0) >= 0)
    a = tl.load(x + at, cache_modifier=".cg", eviction_policy="evict_first")
    b = tl.load(x + at, cache_modifier=".ca", eviction_policy="evict_last")
    c = tl.load(x + at, volatile=True)
    tl.debug_barrier()
    tl.store(out + at, a + b + c, cache_modifier=".wb")


def test_hints_change_nothing(rng):
    x = normal(rng, [64])
    out = output([64], torch.float32)
    hints_kernel[(1,)](x, out, N=64)
    check_equal(out, x.double() * 3)


# ---------------------------------------------------------------- descriptors
@triton.jit
def window_kernel(desc, out, row, col, BM: tl.constexpr, BN: tl.constexpr):
    tile = desc.load([row, col])
    tl.store(out + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], tile)


@triton.jit
def made_window_kernel(
    x, out, rows, cols, stride, row, col, BM: tl.constexpr, BN: tl.constexpr, PAD: tl.constexpr
):
    desc = tl.make_tensor_descriptor(x, [rows, cols], [stride, 1], [BM, BN], padding_option=PAD)
    tile = desc.load([row, col])
    tl.store(out + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], tile)


@triton.jit
def put_kernel(x, out, rows, cols, stride, row, col, BM: tl.constexpr, BN: tl.constexpr):
    tile = tl.load(x + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :])
    desc = tl.make_tensor_descriptor(out, [rows, cols], [stride, 1], [BM, BN])
    desc.store([row, col], tile)


def window(x, row, col, bm, bn, fill=0.0):
    wanted = torch.full([bm, bn], fill).to(x.dtype)
    for i in range(bm):
        for j in range(bn):
            if 0 <= row + i < x.shape[0] and 0 <= col + j < x.shape[1]:
                wanted[i, j] = x[row + i, col + j]
    return wanted


OFFSETS = [(0, 0), (3, 16), (-2, 0), (0, -16), (-40, 0), (12, 112)]
# The interpreter wants columns to start at 16 bytes, which the copy units of GPUs do not.
odd = pytest.mark.compiled("asserts aligned offsets")
UNALIGNED = [(3, 5), (0, -7), (-3, -4), (10, 13), (30, 2), (12, 100)]
WINDOWS = OFFSETS + [pytest.param(at, marks=odd) for at in UNALIGNED]


@pytest.mark.parametrize("at", WINDOWS, ids=str)
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.bfloat16, torch.int8))
def test_descriptor_loads(at, dtype, rng):
    rows, cols, bm, bn = 13, 17, 8, 16
    whole = normal(rng, [rows, 32], dtype)
    x = whole[:, :cols]
    out = output([bm, bn], dtype)
    desc = TensorDescriptor(x, [rows, cols], [32, 1], [bm, bn])
    window_kernel[(1,)](desc, out, *at, BM=bm, BN=bn)
    check_equal(out, window(x, *at, bm, bn))
    out = output([bm, bn], dtype)
    made_window_kernel[(1,)](x, out, rows, cols, 32, *at, BM=bm, BN=bn, PAD="zero")
    check_equal(out, window(x, *at, bm, bn))


@pytest.mark.parametrize("at", WINDOWS, ids=str)
def test_descriptor_stores(at, rng):
    rows, cols, bm, bn = 13, 17, 8, 16
    x = normal(rng, [bm, bn])
    whole = normal(rng, [rows + 40, 32])
    wanted = whole.clone()
    for i in range(bm):
        for j in range(bn):
            r, c = at[0] + i, at[1] + j
            if 0 <= r < rows and 0 <= c < cols:
                wanted[20 + r, c] = x[i, j]
    put_kernel[(1,)](x, whole[20:], rows, cols, 32, *at, BM=bm, BN=bn)
    check_equal(whole, wanted)


@pytest.mark.compiled("pads with zeros in the interpreter")
def test_descriptor_padding_with_nan(rng):
    x = normal(rng, [13, 32])
    for at in OFFSETS + UNALIGNED:
        out = output([8, 16], torch.float32)
        made_window_kernel[(1,)](x, out, 13, 17, 32, *at, BM=8, BN=16, PAD="nan")
        check_equal(out, window(x[:, :17], *at, 8, 16, float("nan")))
        desc = TensorDescriptor(x, [13, 17], [32, 1], [8, 16], padding="nan")
        window_kernel[(1,)](desc, out, *at, BM=8, BN=16)
        check_equal(out, window(x[:, :17], *at, 8, 16, float("nan")))


@triton.jit
def copy_1d_kernel(source, target, N: tl.constexpr):
    at = tl.program_id(0) * N
    target.store([at], source.load([at]) + 1)


@triton.jit
def copy_3d_kernel(source, target, a, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    for i in range(0, a, A):
        tile = source.load([i, 1, 0])
        target.store([i, 1, 0], tl.reshape(tile * 2, [A, B, C]))


def test_descriptors_of_other_ranks(rng):
    x = normal(rng, [50])
    out = torch.zeros(50)
    descs = [TensorDescriptor.from_tensor(t, [16]) for t in (x, out)]
    copy_1d_kernel[(4,)](*descs, N=16)
    check_equal(out, x + 1)

    x = normal(rng, [5, 6, 8])
    out = torch.zeros(5, 6, 8)
    descs = [TensorDescriptor.from_tensor(t, [2, 4, 8]) for t in (x, out)]
    copy_3d_kernel[(1,)](*descs, 5, A=2, B=4, C=8)
    wanted = torch.zeros(5, 6, 8)
    wanted[:, 1:5] = x[:, 1:5] * 2
    check_equal(out, wanted)


@triton.jit(noinline=True)
def load_at(desc, row):
    return tl.sum(tl.sum(desc.load([row, 0]), axis=1), axis=0)


@triton.jit
def passed_kernel(x, y, out, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    """A descriptor chosen by a branch, kept in a tuple, handed to a function that is not inlined."""
    first = tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [BM, BN])
    second = tl.make_tensor_descriptor(y, [rows, cols], [cols, 1], [BM, BN])
    both = (first, second)
    total = 0.0
    for i in range(0, rows, BM):
        total += load_at(both[0], i) - 2 * load_at(both[1], i)
    tl.store(out, total)


def test_descriptors_as_values(rng):
    rows, cols = 20, 16
    x, y = normal(rng, [rows, cols]), normal(rng, [rows, cols])
    out = output([1], torch.float32)
    passed_kernel[(1,)](x, y, out, rows, cols, BM=8, BN=16)
    check_equal(out, (x.double() - 2 * y.double()).sum()[None], terms=1000)


def test_ramp_is_what_it_says():
    assert ramp(4).tolist() == [0, 1, 2, 3]
