# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Wrong results that compilers of this kind have shipped, one test each, always on random data: memory.

The numbers are those of the project's list. Hazard 5 is about block pointers, which only Triton 3.7
has: its tests are in test_block_pointers.py. Hazards 2, 6 and 7 are in test_hazards_values.py, 12 to 19
in test_hazards_support.py.
"""

import pytest
import torch
import triton
import triton.language as tl
from support import FLOATS, check_equal, dtypes, normal, output


# ------------------------------------------------- 1: a masked scalar load or store
@triton.jit
def masked_scalar_kernel(x, out, flags, n, OTHER: tl.constexpr):
    i = tl.program_id(0)
    on = tl.load(flags + i) != 0
    if OTHER is None:
        value = tl.load(x + i, mask=on)
    else:
        value = tl.load(x + i, mask=on, other=OTHER)
    tl.store(out + i, value)
    tl.store(out + n + i, value, mask=on)


@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.float16, torch.int64, torch.int8))
@pytest.mark.parametrize("other", [None, 7])
def test_hazard_01_masked_scalar(dtype, other, rng):
    n = 32
    x = normal(rng, [n], dtype)
    flags = torch.randint(0, 2, [n], generator=rng, dtype=torch.int32)
    out = torch.full([2 * n], 55).to(dtype)
    masked_scalar_kernel[(n,)](x, out, flags, n, OTHER=other)
    on = flags != 0
    check_equal(out[:n], torch.where(on, x, torch.full_like(x, other or 0)))
    check_equal(out[n:], torch.where(on, x, torch.full_like(x, 55)))


@triton.jit
def masked_off_kernel(x, out):
    # Addresses far outside any allocation: the mask is all that keeps the program alive.
    far = x + (tl.program_id(0).to(tl.int64) + 1) * (1 << 44)
    never = tl.program_id(0) < 0
    value = tl.load(far, mask=never, other=3.0)
    tl.store(far, value, mask=never)
    tl.store(out + tl.program_id(0), value)


def test_hazard_01_masked_scalar_of_bad_address(rng):
    out = output([4], torch.float32)
    masked_off_kernel[(4,)](normal(rng, [4]), out)
    check_equal(out, torch.full([4], 3.0))


# ------------------------------------------------- 3, 4, 10: pointers that wrap by modulo
@triton.jit
def wrapped_tile_kernel(
    x, out, rows, cols, row_stride, col_stride, row_start, col_start, left,
    BM: tl.constexpr, BN: tl.constexpr, ORDER: tl.constexpr, MASK: tl.constexpr, COPY: tl.constexpr,
):  # fmt: skip
    """Loads a tile whose rows wrap at `rows` (and columns at `cols`), the terms in several orders."""
    i = (row_start + tl.arange(0, BM)) % rows
    j = (col_start + tl.arange(0, BN)) % cols
    skip = col_stride * 2 + row_stride
    if ORDER == 0:
        at = x + skip + i[:, None] * row_stride + j[None, :] * col_stride
    elif ORDER == 1:
        at = x + (j[None, :] * col_stride + i[:, None] * row_stride) + skip
    elif ORDER == 2:
        at = (x + j[None, :] * col_stride) + skip + (row_stride * i)[:, None]
    else:
        at = (x + i * row_stride)[:, None] + (j * col_stride + col_stride * 2)[None, :] + row_stride
    if MASK:
        inside = (tl.arange(0, BN)[None, :] < left) & (tl.arange(0, BM)[:, None] < left + 1)
        tile = tl.load(at, mask=inside, other=-1.0)
    else:
        tile = tl.load(at)
    tl.store(out + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], tile)
    if COPY:
        back = out + BM * BN + (i[:, None] * cols + j[None, :])
        tl.store(back, tile)


def wrapped_tile(rng, layout, order, mask, row_start=5, col_start=9, rows=11, cols=13):
    bm, bn, left = 8, 16, 6
    if layout == "columns":
        whole = normal(rng, [cols + 8, rows + 8]).t()
    elif layout == "padded":
        whole = normal(rng, [rows + 8, cols + 30])[:, : cols + 8]
    else:
        whole = normal(rng, [rows + 8, cols + 8])
    out = output([bm, bn], torch.float32)
    wrapped_tile_kernel[(1,)](
        whole, out, rows, cols, *whole.stride(), row_start, col_start, left,
        BM=bm, BN=bn, ORDER=order, MASK=mask, COPY=False,
    )  # fmt: skip
    i = (row_start + torch.arange(bm)) % rows
    j = (col_start + torch.arange(bn)) % cols
    wanted = whole[i[:, None] + 1, j[None, :] + 2]
    if mask:
        inside = (torch.arange(bn)[None, :] < left) & (torch.arange(bm)[:, None] < left + 1)
        wanted = torch.where(inside, wanted, -1.0)
    check_equal(out, wanted)


@pytest.mark.parametrize("layout", ["rows", "padded", "columns"])
@pytest.mark.parametrize("starts", [(0, 0), (5, 9), (10, 12), (40, 51)])
def test_hazard_03_modulo_of_any_layout(layout, starts, rng):
    wrapped_tile(rng, layout, 0, False, *starts)
    # A dimension smaller than the block wraps more than once.
    wrapped_tile(rng, layout, 0, False, *starts, rows=3, cols=5)


@pytest.mark.parametrize("layout", ["rows", "padded", "columns"])
@pytest.mark.parametrize("starts", [(0, 0), (5, 9), (10, 12)])
def test_hazard_04_mask_of_a_wrapped_dimension(layout, starts, rng):
    wrapped_tile(rng, layout, 0, True, *starts)
    wrapped_tile(rng, layout, 0, True, *starts, rows=3, cols=5)


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("layout", ["rows", "padded", "columns"])
@pytest.mark.parametrize("mask", [False, True])
def test_hazard_10_scalar_offsets_in_any_order(order, layout, mask, rng):
    wrapped_tile(rng, layout, order, mask)
    wrapped_tile(rng, layout, order, mask, rows=1, cols=2)


# ------------------------------------------------- 8: a masked load without other
@triton.jit
def no_other_kernel(x, idx, out, n, N: tl.constexpr, HOW: tl.constexpr):
    at = tl.arange(0, N)
    if HOW == "prefix":
        value = tl.load(x + at, mask=at < n)
    elif HOW == "middle":
        value = tl.load(x + at, mask=(at >= 3) & (at < n))
    elif HOW == "checkered":
        value = tl.load(x + at, mask=at % 2 == 0)
    else:
        value = tl.load(x + tl.load(idx + at), mask=at < n)
    tl.store(out + at, value)


@pytest.mark.parametrize("how", ["prefix", "middle", "checkered", "gather"])
@pytest.mark.parametrize("dtype", dtypes(FLOATS, torch.int8, torch.int64))
def test_hazard_08_masked_load_without_other(how, dtype, rng):
    n, size = 41, 64
    x = normal(rng, [size], dtype)
    idx = torch.randint(0, size, [size], generator=rng, dtype=torch.int32)
    at = torch.arange(size)
    for bound in (n, 0):
        out = output([size], dtype)
        no_other_kernel[(1,)](x, idx, out, bound, N=size, HOW=how)
        inside = {
            "prefix": at < bound,
            "middle": (at >= 3) & (at < bound),
            "checkered": at % 2 == 0,
            "gather": at < bound,
        }[how]
        source = x[idx.long()] if how == "gather" else x
        check_equal(out, torch.where(inside, source, torch.zeros_like(x)))


# ------------------------------------------------- 9: buffers that alias
@triton.jit
def swap_kernel(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    a = tl.load(x + at)
    b = tl.load(y + at)
    tl.store(x + at, b)
    tl.store(y + at, a)


@triton.jit
def shift_kernel(x, y, N: tl.constexpr, BY: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at + BY, tl.load(x + at) * 2)
    again = tl.load(x + at)
    tl.store(y + at, again + 1)
    tl.store(x + N + at, tl.load(x + at) + tl.load(y + at + BY))


@triton.jit
def accumulate_kernel(x, y, times, N: tl.constexpr):
    at = tl.arange(0, N)
    for _ in range(times):
        value = tl.load(x + at)
        tl.store(y + at, value + 1)
        value2 = tl.load(x + at)
        tl.store(y + at, value2 * 2)


@pytest.mark.parametrize("n", [4, 16, 256])
def test_hazard_09_aliasing_buffers(n, rng):
    x = normal(rng, [n])
    y = normal(rng, [n])
    a, b = x.clone(), y.clone()
    swap_kernel[(1,)](a, b, N=n)
    check_equal(a, y)
    check_equal(b, x)

    one = x.clone()
    swap_kernel[(1,)](one, one, N=n)
    check_equal(one, x)

    # Halves of one buffer that overlap: all loads come before the stores.
    both = normal(rng, [n + n // 2])
    wanted = both.clone()
    first, second = wanted[:n].clone(), wanted[n // 2 :].clone()
    wanted[:n] = second
    wanted[n // 2 :] = first
    swap_kernel[(1,)](both, both[n // 2 :], N=n)
    check_equal(both, wanted)

    for same in (True, False):
        for by in (0, 1, n // 2):
            x = normal(rng, [3 * n])
            y = x if same else normal(rng, [3 * n])
            wx = x.clone()
            wy = wx if same else y.clone()
            wy[by : by + n] = wx[:n].clone() * 2
            wy[:n] = wx[:n].clone() + 1
            wx[n : 2 * n] = wx[:n].clone() + wy[by : by + n].clone()
            shift_kernel[(1,)](x, y, N=n, BY=by)
            check_equal(x, wx)
            check_equal(y, wy)

    x = normal(rng, [n])
    wanted = x.clone()
    for _ in range(3):
        wanted = (wanted + 1) * 2
    accumulate_kernel[(1,)](x, x, 3, N=n)
    check_equal(x, wanted)


# ------------------------------------------------- 11: 32 and 64 bits
@triton.jit
def wide_offset_kernel(x, out, far, N: tl.constexpr):
    """`x` is far below the data; only 64-bit arithmetic arrives there."""
    at = tl.arange(0, N)
    wide = tl.program_id(0).to(tl.int64) * 0 + far
    tl.store(out + at, tl.load(x + (wide + at)))
    tl.store(out + N + at, tl.load(x + wide + at, mask=at < N - 1, other=-1.0))


@pytest.mark.compiled("the interpreter's data pointer is a NumPy integer")
@pytest.mark.parametrize("elements", [1 << 33, 3, (1 << 31) + 5])
def test_hazard_11_64_bit_offsets(elements, rng):
    n = 32
    # So large that it is mapped far above the heap, which may begin below 2**32.
    data = torch.empty(1 << 24)[:n].copy_(normal(rng, [n]))

    class Below:
        """A tensor that starts `elements` floats before the data."""

        dtype = data.dtype

        def data_ptr(self):
            # An address has 64 bits; where tensors lie low, this one wraps around.
            return (data.data_ptr() - 4 * elements) % (1 << 64)

    out = output([2 * n], torch.float32)
    wide_offset_kernel[(1,)](Below(), out, elements, N=n)
    check_equal(out[:n], data)
    check_equal(out[n:], torch.cat([data[:-1], torch.tensor([-1.0])]))
