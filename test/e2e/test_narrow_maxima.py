# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Largest and smallest bf16 of rows, found among integers: NaN counts as missing, in whatever bits."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def extrema_kernel(x, largest, smallest, columns, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    low = tl.load(x + row * stride + i, mask=i < columns, other=-float("inf")).to(tl.float32)
    high = tl.load(x + row * stride + i, mask=i < columns, other=float("inf")).to(tl.float32)
    tl.store(largest + row, tl.max(low, axis=0).to(largest.dtype.element_ty))
    tl.store(smallest + row, tl.min(high, axis=0).to(smallest.dtype.element_ty))


@triton.jit
def running_kernel(x, largest, columns, BLOCK: tl.constexpr):
    """The largest so far, in blocks: begins with -infinity."""
    row = tl.program_id(0) * columns
    i = tl.arange(0, BLOCK)
    top = -float("inf")
    for start in range(0, columns, BLOCK):
        value = tl.load(x + row + start + i, mask=start + i < columns, other=-float("inf"))
        top = tl.maximum(top, tl.max(value.to(tl.float32), axis=0))
    tl.store(largest + tl.program_id(0), top)


def rows(count, columns, kind, seed) -> torch.Tensor:
    """Random bits, NaNs and infinities of both signs among them; or numbers, some rows of one sign alone."""
    g = torch.Generator().manual_seed(seed)
    if kind == "bits":
        bits = torch.randint(-(1 << 15), 1 << 15, [count, columns], generator=g)
        return bits.to(torch.int16).view(torch.bfloat16)
    x = torch.randn([count, columns], generator=g)
    x[1::4] = -x[1::4].abs()
    x[2::4] = x[2::4].abs()
    x = x.bfloat16()
    nans = torch.tensor([0x7FC0, 0x7F81, 0x7FFF, -1, -64, -127], dtype=torch.int16)
    if kind == "nan":  # some, all but one, all
        for row in range(count):
            at = torch.rand(columns, generator=g) < (0.3, 0.9, 2.0)[row % 3]
            at[columns // 2] |= row % 3 == 2
            chosen = torch.randint(0, 6, [columns], generator=g)
            x[row, at] = nans[chosen].view(torch.bfloat16)[at]
    if kind == "inf":
        x[0] = -float("inf")
        x[1, ::2] = -float("inf")
        x[2] = float("inf")
        x[3, columns // 3] = float("inf")
        x[4] = torch.finfo(torch.bfloat16).min
        x[5] = 0.0
        x[5, ::2] = -0.0
        x[6] = torch.finfo(torch.bfloat16).tiny / 128  # below the normal numbers
        x[7] = -x[6]
    return x


@pytest.mark.parametrize("kind", ["numbers", "bits", "nan", "inf"])
@pytest.mark.parametrize("columns", [1, 7, 16, 64, 127, 781, 4096])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows(kind, columns, dtype):
    x = rows(12, columns + 3, kind, columns)[:, :columns]
    largest, smallest = torch.empty(12, dtype=dtype), torch.empty(12, dtype=dtype)
    block = triton.next_power_of_2(columns)
    extrema_kernel[(12,)](x, largest, smallest, columns, x.stride(0), block)
    inputs = x.double().numpy()
    # Behind the row's end there is what masked lanes get.
    ends = [
        np.full((12, 1), end) if block > columns else inputs[:, :1] for end in (-np.inf, np.inf)
    ]
    wanted = np.fmax.reduce(np.concatenate([inputs, ends[0]], 1), axis=1)
    assert np.array_equal(largest.double().numpy(), wanted, equal_nan=True)
    wanted = np.fmin.reduce(np.concatenate([inputs, ends[1]], 1), axis=1)
    assert np.array_equal(smallest.double().numpy(), wanted, equal_nan=True)


@pytest.mark.parametrize("kind", ["numbers", "bits", "nan", "inf"])
@pytest.mark.parametrize("columns", [1, 63, 1000])
def test_blocks(kind, columns):
    x = rows(12, columns, kind, columns)
    largest = torch.empty(12)
    running_kernel[(12,)](x, largest, columns, 64)
    wanted = np.fmax.reduce(x.double().numpy(), axis=1, initial=-np.inf)
    assert np.array_equal(largest.double().numpy(), wanted)
