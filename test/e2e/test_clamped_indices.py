# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indices that are kept within an array's ends, with masks and without: `tl.maximum(i - k, 0)`."""

import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory, check_equal, normal, output

FORMS = {
    "maximum": lambda i, k, n, valid: (i - k).clamp(min=0),
    "minimum": lambda i, k, n, valid: (i - k + n).clamp(max=n - 1),
    "between": lambda i, k, n, valid: (i - k).clamp(min=0).clamp(max=n - 1),
    "not_below": lambda i, k, n, valid: torch.where(i < k, 0, i - k),
    "backwards": lambda i, k, n, valid: (k - i).clamp(min=0),
    "bound": lambda i, k, n, valid: i.clamp(min=k),
    "valid": lambda i, k, n, valid: torch.where(valid, i, 0),
}
MASKS = {
    "none": lambda i, k, n, valid: torch.full_like(valid, True),
    "low": lambda i, k, n, valid: i - k >= 0,
    "same_low": lambda i, k, n, valid: i >= k,
    "high": lambda i, k, n, valid: i - k < n,
    "both": lambda i, k, n, valid: (i - k >= 0) & (i - k < n),
    "other_way": lambda i, k, n, valid: k - i >= 0,
    "valid": lambda i, k, n, valid: valid,
}


@triton.jit
def index_of(i, k, n, valid, FORM: tl.constexpr):
    if FORM == "maximum":
        return tl.maximum(i - k, 0)
    elif FORM == "minimum":
        return tl.minimum(i - k + n, n - 1)
    elif FORM == "between":
        return tl.minimum(tl.maximum(i - k, 0), n - 1)
    elif FORM == "not_below":
        return tl.where(i < k, 0, i - k)
    elif FORM == "backwards":
        return tl.maximum(k - i, 0)
    elif FORM == "bound":
        return tl.maximum(k, i)
    else:
        return tl.where(valid, i, 0)


@triton.jit
def mask_of(i, k, n, valid, MASK: tl.constexpr):
    if MASK == "low":
        return i - k >= 0
    elif MASK == "same_low":
        return i >= k
    elif MASK == "high":
        return i - k < n
    elif MASK == "both":
        return (i - k >= 0) & (i - k < n)
    elif MASK == "other_way":
        return k - i >= 0
    elif MASK == "valid":
        return valid
    else:
        return i >= i


@triton.jit
def kernel(
    x, flags, out, total, k, n, FORM: tl.constexpr, MASK: tl.constexpr, WHERE: tl.constexpr, COLS: tl.constexpr,
    BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    valid = tl.load(flags + i) != 0
    j = index_of(i, k, n, valid, FORM)
    mask = mask_of(i, k, n, valid, MASK)
    cols = tl.arange(0, COLS)
    at = x + j[:, None] * COLS + cols[None, :]
    to = out + i[:, None] * COLS + cols[None, :]
    if WHERE == "load":
        tl.store(to, tl.load(at, mask=mask[:, None], other=-7.0))
    elif WHERE == "store":
        tl.store(to, tl.load(at), mask=mask[:, None])
    else:
        sums = tl.sum(tl.load(at, mask=mask[:, None], other=0.0), 0)
        tl.atomic_add(total + cols, sums)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("where", ["load", "store", "sum"])
@pytest.mark.parametrize("cols", [1, 8])
def test_clamped(form, mask, where, cols, rng):
    """The array ends where memory does."""
    for k in (0, 1, 7, 16, 23, 64, 100):
        n, i = 37, torch.arange(64)
        flags = torch.randint(0, 2, [64], generator=rng, dtype=torch.int32)
        j = FORMS[form](i, k, n, flags != 0)
        taken = MASKS[mask](i, k, n, flags != 0)
        # What a store leaves out is read all the same.
        seen = j if where == "store" or mask == "none" else j * taken
        if seen.min() < 0:
            continue
        x = at_end_of_memory(normal(rng, [int(seen.max()) + 1, cols]))
        out, total = output([64, cols], torch.float32).fill_(5), torch.zeros(cols)
        kernel[(4,)](x, flags, out, total, k, n, form, mask, where, COLS=cols, BLOCK=16)
        read = x[seen]
        if where == "load":
            check_equal(out, torch.where(taken[:, None], read, -7.0))
        elif where == "store":
            check_equal(out, torch.where(taken[:, None], read, 5.0))
        else:
            wanted = torch.where(taken[:, None], read, 0.0).double().sum(0)
            torch.testing.assert_close(total.double(), wanted, rtol=1e-5, atol=1e-5)


@triton.jit
def narrow_kernel(x, out, start, n, BLOCK: tl.constexpr):
    i = (start + tl.arange(0, BLOCK)).to(tl.int8)
    j = tl.maximum(i, 0)
    tl.store(out + tl.arange(0, BLOCK), tl.load(x + j.to(tl.int32)))


@pytest.mark.parametrize("start", [0, 5, 100, 120, -5, -128])
def test_wraps_around(start, rng):
    """Numbers of 8 bits that run over their largest one are below zero then."""
    x = normal(rng, [128])
    out = output([32], torch.float32)
    narrow_kernel[(1,)](x, out, start, 128, BLOCK=32)
    i = (torch.arange(32) + start).to(torch.int8).clamp(min=0).long()
    check_equal(out, x[i])


@pytest.mark.compiled("only the compiler knows what it did")
@pytest.mark.parametrize(
    ("form", "mask", "where", "is_structured"),
    [
        ("maximum", "low", "load", True),
        ("maximum", "low", "sum", True),
        ("maximum", "low", "store", True),
        ("minimum", "none", "load", False),
        ("between", "both", "load", True),
        ("not_below", "same_low", "load", True),
        ("maximum", "none", "load", False),
        ("valid", "valid", "load", True),
    ],
)
def test_is_structured(form, mask, where, is_structured, rng):
    """With the mask there is no other way; without, one that few programs take."""
    import tilebridge

    x, flags = normal(rng, [64, 8]), torch.ones(64, dtype=torch.int32)
    compiled = kernel[(4,)](
        x, flags, torch.empty(64, 8), torch.zeros(8), 3, 37, form, mask, where, COLS=8, BLOCK=16
    )
    access = tilebridge.explain(compiled)["accesses"][1]
    assert "gather" not in access["form"] or form == "valid"
    assert ("only" in str(access)) != is_structured
