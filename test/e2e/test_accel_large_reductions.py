# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions of several blocks, of rows that a PE's memory has no room for: taken in parts."""

import pytest
from programs import output_of
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

PROGRAM = """
import torch, triton, triton.language as tl
from tilebridge import accel

@triton.jit
def extremes(out, value, x, N: tl.constexpr, LARGEST: tl.constexpr):
    v = tl.load(x + tl.program_id(0) * N + tl.arange(0, N))
    if LARGEST:
        m, i = tl.max(v, 0, return_indices=True)
    else:
        m, i = tl.min(v, 0, return_indices=True)
    tl.store(out + tl.program_id(0), i)
    tl.store(value + tl.program_id(0), m)

g = torch.Generator().manual_seed(1)
x = torch.randint(-300, 300, (3, 8192), generator=g).float()
for largest in (True, False):
    expected = x.max(1).values if largest else x.min(1).values
    # Of equal ones the first.
    first = (x == expected[:, None]).int().argmax(1)
    for landing in ("late", "random:3"):
        index, value = torch.full((3,), -1, dtype=torch.int32), torch.full((3,), float("nan"))
        with accel.simulation(landing=landing, lowered=True):
            extremes[(3,)](index, value, x, 8192, largest)
        assert torch.equal(value, expected)
        assert torch.equal(index.long(), first)
    assert "linalg_ext.reduce" in accel.last_lowered()
    assert "8192xf32, #accel" not in accel.last_lowered()
"""


@pytest.mark.parametrize("target", ["tiny-16kb"])
def test_the_first_largest_and_smallest_of_a_long_row(target, tmp_path):
    output_of(tmp_path, PROGRAM, target=target)
