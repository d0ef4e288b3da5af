# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Descriptors as values like any other, of every rank and type, and without the limits of copy units."""

import itertools

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, FP8, HAS_BLOCK_POINTERS, INTEGERS, NAMES, normal
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled("the interpreter keeps the limits of copy units")


@triton.jit
def copy_nd_kernel(
    x,
    out,
    shape,
    strides,
    start,
    BLOCK: tl.constexpr,
    RANK: tl.constexpr,
    PAD: tl.constexpr,
):
    """The block at `start` of x, which may lie outside, to all of out and to the same place of a copy."""
    source = tl.make_tensor_descriptor(x, shape, strides, BLOCK, padding_option=PAD)
    tile = source.load(start)
    size: tl.constexpr = tile.numel
    tl.store(out + tl.arange(0, size), tl.reshape(tile, [size]))


@triton.jit
def put_nd_kernel(x, out, shape, strides, start, BLOCK: tl.constexpr, SIZE: tl.constexpr):
    tile = tl.reshape(tl.load(x + tl.arange(0, SIZE)), BLOCK)
    tl.make_tensor_descriptor(out, shape, strides, BLOCK).store(start, tile)


def outside(x, start, block, fill):
    """The block at `start`, element by element."""
    wanted = torch.full(block, fill).to(x.dtype)
    for at in itertools.product(*[range(b) for b in block]):
        place = tuple(s + i for s, i in zip(start, at, strict=True))
        if all(0 <= p < n for p, n in zip(place, x.shape, strict=True)):
            wanted[at] = x[place]
    return wanted


def bits(tensor):
    return tensor.contiguous().view(torch.uint8)


BLOCKS = {1: (16,), 2: (2, 16), 3: (2, 1, 16), 4: (2, 1, 2, 8), 5: (1, 2, 2, 1, 16)}


@pytest.mark.skipif(
    HAS_BLOCK_POINTERS, reason="Triton 3.7 takes no constexpr tuple as a block's shape"
)
@pytest.mark.parametrize("pad", ["zero", "nan"])
@pytest.mark.parametrize("where", [0, 2, -1])
@pytest.mark.parametrize("rank", [1, 2, 3, 4, 5])
def test_all_ranks(rank, where, pad, rng):
    block = BLOCKS[rank]
    shape = [3, 2, 3, 3, 11][5 - rank :]
    whole = normal(rng, [s + 2 for s in shape])
    # Padded rows and planes, and a base that is aligned to nothing.
    x = whole[tuple(slice(1, 1 + s) for s in shape)]
    start = [where] * rank
    out = normal(rng, block)
    copy_nd_kernel[(1,)](
        x, out, tuple(x.shape), tuple(x.stride()), tuple(start), BLOCK=block, RANK=rank, PAD=pad
    )
    wanted = outside(x, start, block, float("nan") if pad == "nan" else 0.0)
    assert torch.equal(bits(out), bits(wanted)) or torch.allclose(out, wanted, 0, 0, equal_nan=True)

    tile, before = normal(rng, block), whole.clone()
    size = tile.numel()
    put_nd_kernel[(1,)](
        tile, x, tuple(x.shape), tuple(x.stride()), tuple(start), BLOCK=block, SIZE=size
    )
    target = before[tuple(slice(1, 1 + s) for s in shape)]
    for at in itertools.product(*[range(b) for b in block]):
        place = tuple(s + i for s, i in zip(start, at, strict=True))
        if all(0 <= p < n for p, n in zip(place, target.shape, strict=True)):
            target[place] = tile[at]
    assert torch.equal(whole, before)


@triton.jit
def aligned_kernel(source, target, tile, row, col, scale: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, B)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(tile + at, source.load([row * scale, col * scale]))
    target.store([col * scale, row * scale], at.to(tl.float32))


@pytest.mark.parametrize("scale", [16, 8, 24])
@pytest.mark.parametrize("first", [-3, 0, 2**27 - 1])
def test_blocks_at_multiples_of_their_size(first, scale, rng):
    """Before, in and behind the tensor; products of 32 bits wrap around to the tensor's begin and to below it."""
    block, rows, cols, count = 16, 41, 60, 5
    starts = [(i + first) * scale for i in range(count)]
    starts = [(start + 2**31) % 2**32 - 2**31 for start in starts]
    x, out = normal(rng, [rows, cols]), normal(rng, [cols, 44])
    tiles = normal(rng, [count, count, block, block])
    source = TensorDescriptor(x, [rows, cols], [cols, 1], [block, block])
    target = TensorDescriptor(out, [cols, 43], [44, 1], [block, block])
    for r, c in itertools.product(range(count), range(count)):
        before = out.clone()
        aligned_kernel[(1,)](
            source, target, tiles[r, c], r + first, c + first, scale=scale, B=block
        )
        assert torch.equal(tiles[r, c], outside(x, (starts[r], starts[c]), (block, block), 0.0))
        for i, j in itertools.product(range(block), range(block)):
            if 0 <= starts[c] + i < cols and 0 <= starts[r] + j < 43:
                before[starts[c] + i, starts[r] + j] = i * block + j
        assert torch.equal(out, before)


@triton.jit
def host_copy_kernel(source, target, row, col):
    target.store([col, row], source.load([row, col]).T)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *FP8], ids=lambda d: NAMES[d])
def test_all_types(dtype, rng):
    rows, cols = 9, 32
    raw = torch.randint(0, 256, [rows * cols * dtype.itemsize], generator=rng)
    x = raw.to(torch.uint8).view(dtype).reshape(rows, cols)
    out = torch.zeros(cols * 16 * dtype.itemsize, dtype=torch.uint8).view(dtype).reshape(cols, 16)
    source = TensorDescriptor(x, [rows, cols - 3], [cols, 1], [16, 16])
    target = TensorDescriptor(out, [cols, 16], [16, 1], [16, 16])
    host_copy_kernel[(1,)](source, target, 1, 16)
    wanted = torch.zeros_like(out)
    wanted[16 : cols - 3, 1:9] = x[1:, 16 : cols - 3].T
    assert torch.equal(bits(out), bits(wanted))


@triton.jit(noinline=True)
def made(x, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    return tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [BM, BN])


@triton.jit(noinline=True)
def corner(desc, row):
    return tl.sum(tl.sum(desc.load([row, 0]), axis=1), axis=0)


@triton.jit
def values_kernel(x, y, out, rows, cols, times, which, BM: tl.constexpr, BN: tl.constexpr):
    """Made in a call and in a loop, chosen by a branch, carried and swapped, kept in tuples."""
    first = made(x, rows, cols, BM, BN)
    second = tl.make_tensor_descriptor(y, [rows, cols], [cols, 1], [BM, BN])
    if which > 0:
        one = first
        pair = (second, 3)
    else:
        one = second
        pair = (first, 5)
    two = pair[0]
    total = corner(one, 0) * pair[1]
    for i in range(times):
        total += corner(one, i)
        one, two = two, one
        fresh = tl.make_tensor_descriptor(x + i, [rows - i, cols], [cols, 1], [BM, BN])
        total += 2 * corner(fresh, 1)
    tl.store(out, total)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("times", [0, 1, 4])
def test_descriptors_flow_like_values(times, which, rng):
    rows, cols, bm, bn = 7, 16, 4, 16
    x, y = normal(rng, [rows, cols]), normal(rng, [rows, cols])
    flat = torch.cat([x.flatten(), torch.zeros(cols)]).double()
    out = torch.zeros(1)
    values_kernel[(1,)](x, y, out, rows, cols, times, which, BM=bm, BN=bn)
    one, two = (x, y) if which else (y, x)
    total = one[:bm].double().sum() * (3 if which else 5)
    for i in range(times):
        total += one[i : i + bm].double().sum()
        one, two = two, one
        fresh = flat[i : i + (rows - i) * cols].reshape(rows - i, cols)
        total += 2 * fresh[1 : 1 + bm].sum()
    assert torch.allclose(out.double(), total, rtol=1e-4, atol=1e-4)


@triton.jit
def rows_kernel(
    x, rows, out, back, n, cols, y, R: tl.constexpr, N: tl.constexpr, PAD: tl.constexpr
):
    source = tl.make_tensor_descriptor(x, [n, cols], [cols, 1], [1, N], padding_option=PAD)
    target = tl.make_tensor_descriptor(back, [n, cols], [cols, 1], [1, N])
    which = tl.load(rows + tl.arange(0, R))
    tile = source.gather(which, y)
    tl.store(out + tl.arange(0, R)[:, None] * N + tl.arange(0, N)[None, :], tile)
    target.scatter(tile, which, y)


@pytest.mark.parametrize("pad", ["zero", "nan"])
@pytest.mark.parametrize("y", [0, 3, -5, 30])
def test_rows_of_descriptors(y, pad, rng):
    n, cols, r, width = 11, 37, 8, 16
    x, back = normal(rng, [n, cols]), torch.zeros(n, cols)
    rows = torch.tensor([3, -1, 10, 11, 0, 7, 5, 2**31 - 1], dtype=torch.int32)
    out = normal(rng, [r, width])
    rows_kernel[(1,)](x, rows, out, back, n, cols, y, R=r, N=width, PAD=pad)
    fill = float("nan") if pad == "nan" else 0.0
    wanted = torch.cat([outside(x, [int(row), y], [1, width], fill) for row in rows])
    assert torch.allclose(out, wanted, 0, 0, equal_nan=True)
    wanted = torch.zeros(n, cols)
    for row in [int(v) for v in rows if 0 <= v < n]:
        inside = slice(max(y, 0), min(y + width, cols))
        wanted[row, inside] = x[row, inside]
    assert torch.equal(back, wanted)


@triton.jit
def product_kernel(a, b, out, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, col = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        acc = tl.dot(a.load([row, start]), b.load([start, col]), acc, input_precision="ieee")
    out.store([row, col], acc)


@pytest.mark.parametrize("pad", ["zero", "nan"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("size", [(1, 48, 64), (19, 33, 64), (35, 64, 50), (3, 40, 1)])
def test_operands_of_products(size, dtype, pad, rng):
    """What is outside of rows and columns that are stored is nobody's; behind the end of K NaN makes all sums NaN."""
    m, n, k = size
    bm, bn, bk = 16, 32, 32
    a, b = normal(rng, [m, k]).to(dtype), normal(rng, [k, n]).to(dtype)
    # Rows of a descriptor are multiples of 16 bytes apart.
    rows = [torch.zeros(s[0], -(-s[1] // 16) * 16, dtype=dtype) for s in ((m, k), (k, n))]
    out = torch.full([m, -(-n // 16) * 16], -1.0)
    sides = []
    for tensor, room, block in zip((a, b), rows, ([bm, bk], [bk, bn]), strict=True):
        view = room[:, : tensor.shape[1]]
        view.copy_(tensor)
        sides.append(TensorDescriptor(view, view.shape, view.stride(), block, padding=pad))
    to = out[:, :n]
    product_kernel[(triton.cdiv(m, bm), triton.cdiv(n, bn))](
        *sides, TensorDescriptor(to, to.shape, to.stride(), [bm, bn]), k, BM=bm, BN=bn, BK=bk
    )
    if pad == "nan" and k % bk:
        assert to.isnan().all()
    else:
        torch.testing.assert_close(to.double(), a.double() @ b.double(), rtol=1e-5, atol=1e-4)
    assert (out[:, n:] == -1).all()
