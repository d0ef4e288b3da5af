# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quotients that are rounded to codes of 8 bits: each code is that of the exact quotient. Of bf16 divided by the largest of
a row one in two thousand lies between two codes."""

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

FORMS = ["e4m3", "e5m2", "rint", "round", "floor", "limited", "short", "magic", "code", "bits"]
MOST = {"e4m3": 448.0, "e5m2": 57344.0}


@triton.jit
def quantize_kernel(x, out, scales, n, MOST: tl.constexpr, FORM: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, BLOCK)
    value = tl.load(x + row * n + i, mask=i < n, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(value)), 1e-10) / MOST
    q = value / scale
    if FORM == "rint":
        code = libdevice.rint(q).to(tl.int8)
    elif FORM == "round":
        code = libdevice.round(q).to(tl.int8)
    elif FORM == "floor":
        code = tl.floor(q + 0.5).to(tl.int8)
    elif FORM == "limited":
        code = tl.clamp(q * 0.5 + tl.where(q < 0, -0.5, 0.5), -64.0, 63.0).to(tl.int8)
    elif FORM == "short":
        code = libdevice.rint(q.to(tl.bfloat16).to(tl.float32)).to(tl.int8)
    elif FORM == "magic":
        code = ((q + 12582912.0) - 12582912.0).to(tl.int8)
    elif FORM == "code":
        code = ((q > 0.5).to(tl.int8) + (q > 1.5).to(tl.int8)) + (-q >= 2.5).to(tl.int8)
    elif FORM == "bits":
        code = (q.to(tl.int32, bitcast=True) & 1).to(tl.int8)
    else:
        code = q.to(out.dtype.element_ty)
    tl.store(out + row * n + i, code, mask=i < n)
    tl.store(scales + row, scale)


def wanted(x, scales, form, dtype):
    q = x.float() / scales[:, None]
    if form == "round":
        code = torch.where(q < 0, -torch.floor(-q + 0.5), torch.floor(q + 0.5))
    elif form == "floor":
        code = torch.floor(q + 0.5)
    elif form == "limited":
        code = torch.clamp(q * 0.5 + torch.where(q < 0, -0.5, 0.5), -64.0, 63.0).trunc()
    elif form == "short":
        code = q.to(torch.bfloat16).float().round()
    elif form in ("rint", "magic"):
        code = q.round()
    elif form == "code":
        code = (q > 0.5).float() + (q > 1.5).float() + (-q >= 2.5).float()
    elif form == "bits":
        code = q.view(torch.int32) & 1
    else:
        code = q
    return code.to(dtype)


@pytest.mark.parametrize("source", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n", [1, 31, 256, 1000])
def test_codes(rng, form, source, n):
    dtype = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}.get(form, torch.int8)
    rows = max(1, 40_000 // n)
    x = torch.randn([rows, n], generator=rng).to(source)
    x[0] = 0
    out, scales = torch.empty(x.shape, dtype=dtype), torch.empty(rows)
    most = MOST.get(form, 127.0)
    quantize_kernel[(rows,)](
        x, out, scales, n, MOST=most, FORM=form, BLOCK=triton.next_power_of_2(n)
    )
    largest = torch.clamp(x.float().abs().amax(1), min=1e-10)
    assert torch.equal(scales, largest / torch.tensor(most))
    got, right = (t.view(torch.uint8) for t in (out, wanted(x, scales, form, dtype)))
    assert torch.equal(got, right)


@triton.jit
def groups_kernel(x, out, scales, ROWS: tl.constexpr, GROUPS: tl.constexpr, SIZE: tl.constexpr):
    at = tl.arange(0, ROWS * GROUPS)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    at += tl.program_id(0) * ROWS * GROUPS * SIZE
    value = tl.load(x + at).to(tl.float32)
    scale = tl.max(tl.abs(value), axis=1) / 448.0
    code = tl.clamp(value / scale[:, None], -448.0, 448.0)
    tl.store(out + at, code.to(tl.float8e4nv))
    group = tl.program_id(0) * ROWS * GROUPS + tl.arange(0, ROWS * GROUPS)
    tl.store(scales + group, scale)


@pytest.mark.parametrize("size", [16, 32, 128])
def test_groups(rng, size):
    x = torch.randn([24, 4 * size], generator=rng).to(torch.bfloat16)
    out, scales = torch.empty(x.shape, dtype=torch.float8_e4m3fn), torch.empty(24, 4)
    groups_kernel[(6,)](x, out, scales, ROWS=4, GROUPS=4, SIZE=size)
    groups = x.float().view(24, 4, size)
    assert torch.equal(scales, groups.abs().amax(-1) / torch.tensor(448.0))
    exact = groups / scales[:, :, None]
    right = exact.clamp(-448, 448).to(torch.float8_e4m3fn).view(24, -1)
    assert torch.equal(out.view(torch.uint8), right.view(torch.uint8))
