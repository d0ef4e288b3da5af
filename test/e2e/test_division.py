# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Division of f32: by one number for a row it may be a product with the reciprocal, right to 2 ulp; tl.div_rn is exact."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import normal, output

TINY, HUGE, LEAST = 2.0**-126, 3.4028234663852886e38, 2.0**-149
SPECIAL = [0.0, -0.0, 1.0, -3.0, LEAST, -TINY, TINY * 1.5, HUGE, -HUGE, np.inf, -np.inf, np.nan]


@triton.jit
def divide_rows_kernel(x, y, out, exact, N: tl.constexpr):
    row = tl.program_id(0)
    at = row * N + tl.arange(0, N)
    value = tl.load(x + at)
    by = tl.load(y + row)
    tl.store(out + at, value / by)
    tl.store(exact + at, tl.div_rn(value, by))


def divided(x, y, **options):
    out, exact = (output(list(x.shape), torch.float32) for _ in range(2))
    divide_rows_kernel[(len(y),)](x, y, out, exact, N=x.shape[1], **options)
    return out.numpy(), exact.numpy()


def rows(rng):
    """Numbers of every size, and the special ones, by divisors of every size."""
    sizes = torch.randint(-149, 128, [4096], generator=rng).double()
    wide = (normal(rng, [4096], torch.float64) * 2.0**sizes).float()
    x = torch.cat([torch.tensor(SPECIAL, dtype=torch.float32), wide])[:4096]
    y = torch.cat([torch.tensor(SPECIAL, dtype=torch.float32), wide[::97]])
    return x.repeat(len(y), 1).contiguous(), y


def test_quotients_are_right_to_two_ulp(rng):
    x, y = rows(rng)
    got, exact = divided(x, y)
    with np.errstate(all="ignore"):
        wanted = x.numpy().astype(np.float64) / y.numpy().astype(np.float64)[:, None]
        rounded = wanted.astype(np.float32)
        np.testing.assert_array_equal(exact, rounded)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(rounded))
        np.testing.assert_array_equal(
            np.signbit(got[~np.isnan(got)]), np.signbit(rounded[~np.isnan(got)])
        )
        ordinary = np.abs(wanted) < HUGE / 4
        ulp = np.spacing(np.maximum(np.abs(rounded), np.float32(TINY)).astype(np.float32))
        error = np.abs(got.astype(np.float64) - wanted)[ordinary] / ulp[ordinary].astype(np.float64)
        assert error.max() <= 2
        far = ~np.isnan(rounded) & (np.abs(wanted) > HUGE * 1.0001)
        np.testing.assert_array_equal(got[far], rounded[far])
        zero = np.abs(wanted) < LEAST / 4
        np.testing.assert_array_equal(got[zero], rounded[zero])


def test_divisions_are_exact_without_fusion(rng):
    x, y = rows(rng)
    got, exact = divided(x, y, enable_fp_fusion=False)
    np.testing.assert_array_equal(got, exact)


@pytest.mark.compiled("it looks at the code")
def test_the_division_leaves_the_loop():
    x, y = torch.ones(2, 256), torch.ones(2)
    out, exact = (output([2, 256], torch.float32) for _ in range(2))
    kernel = divide_rows_kernel[(2,)](x, y, out, exact, N=256)
    code = kernel.asm["llir"]
    vectors = [line for line in code.splitlines() if "fdiv <" in line]
    assert len(vectors) <= 4, vectors  # Those of tl.div_rn.
    assert "fdiv float 1.0" in code
