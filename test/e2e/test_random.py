# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers are those of the generator's definition, bit for bit."""

import dropout
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, output


@triton.jit
def random_kernel(bits, uniform, gauss, seed, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(bits + at, tl.randint(seed, at).to(tl.int32, bitcast=True))
    tl.store(uniform + at, tl.rand(seed, at))
    tl.store(gauss + at, tl.randn(seed, at))


@pytest.mark.parametrize("seed_value", [0, 1, 42, (1 << 31) - 1, (1 << 40) + 7])
def test_generator(seed_value):
    n = 512
    bits, uniform, gauss = (
        output([n], torch.int32),
        output([n], torch.float32),
        output([n], torch.float32),
    )
    random_kernel[(4,)](bits, uniform, gauss, seed_value, N=128)
    wanted = dropout.philox(seed_value, np.arange(n)).view(np.int32)
    assert torch.equal(bits, torch.from_numpy(wanted))
    check_equal(uniform, dropout.uniform(seed_value, n), tolerance=(0, 0))
    assert 0 <= uniform.min() < 0.02
    assert 0.98 < uniform.max() < 1
    assert abs(float(gauss.mean())) < 0.2
    assert abs(float(gauss.std()) - 1) < 0.15
    assert gauss.isfinite().all()


@triton.jit
def four_kernel(out, seed, N: tl.constexpr):
    at = tl.arange(0, N)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(out + at, (a ^ b).to(tl.int32, bitcast=True))
    tl.store(out + N + at, (c ^ d).to(tl.int32, bitcast=True))


def test_four_at_once_differ():
    out = output([2, 64], torch.int32)
    four_kernel[(1,)](out, 3, N=64)
    assert len(set(out.flatten().tolist())) == 128
