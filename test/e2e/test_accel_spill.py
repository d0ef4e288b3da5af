# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels whose blocks are larger than a PE's memory: what does not fit is kept farther away."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tilebridge.accel
import torch
import triton
import triton.language as tl
from programs import output_of
from support import INTERPRETED, normal, output

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

TARGET = os.environ.get("TILEBRIDGE_TARGET", "").removeprefix("accel:")
case = pytest.mark.skipif(not TARGET, reason="test_targets runs it")
LANDINGS = ["late", "random:3"]


@pytest.mark.skipif(bool(TARGET), reason="runs the others on each target")
@pytest.mark.parametrize(
    "target", ["tiny-16kb", "xdna-like", "dma-1d", "ascend-310b-like", "mtia-1-like"]
)
def test_targets(target):
    """A process for each: a kernel is compiled once in a process."""
    child = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__],
        env=os.environ | {"TILEBRIDGE_TARGET": f"accel:{target}"},
        cwd=Path(__file__).resolve().parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stdout[-4000:]
    assert " passed" in child.stdout


@contextlib.contextmanager
def machine(landing):
    with tilebridge.accel.simulation(landing=landing):
        yield
    assert tilebridge.accel.last_stats()["target"] == TARGET


@triton.jit
def softmax_kernel(x, out, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row * n + at, value / tl.sum(value, axis=0), mask=at < n)


@triton.jit
def slope_kernel(x, out, target, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    value = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + at, value - tl.where(at == target, 0.0, at.to(tl.float32)))


@triton.jit
def scan_kernel(x, out, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    tl.store(out + at, value - tl.max(value, axis=0) + tl.cumsum(value, axis=0, reverse=REVERSE))


@triton.jit
def product_kernel(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + rows[:, None] * K + inner[None, :])
    y = tl.load(b + inner[:, None] * N + columns[None, :])
    tl.store(c + rows[:, None] * N + columns[None, :], tl.dot(x, y))


@triton.jit
def histogram_kernel(x, out, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.arange(0, BLOCK)
    bins = tl.arange(0, BINS)
    tl.store(out + bins, tl.histogram(tl.load(x + at), BINS))


@triton.jit
def gather_kernel(x, where, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    index = tl.load(where + at)
    value = tl.load(x + index, mask=index >= 0, other=1.0)
    tl.store(out + index, value - tl.max(value, axis=0) + tl.cumsum(value, axis=0), mask=index >= 0)


@case
@pytest.mark.parametrize("landing", LANDINGS)
@pytest.mark.parametrize("n", [8192, 301, 8000])
def test_softmax(rng, landing, n):
    x, out = normal(rng, [2, n]), output([2, n], torch.float32)
    with machine(landing):
        softmax_kernel[(2,)](x, out, n, BLOCK=8192)
    torch.testing.assert_close(out, x.softmax(1), rtol=1e-5, atol=1e-7)


@pytest.mark.skipif(TARGET != "tiny-16kb", reason="counts the bytes of one target")
def test_bytes_are_those_of_the_pieces(rng):
    """A row is loaded once, kept in the chip's memory, and read there as often as it is used."""
    n = 8192
    x, out = normal(rng, [8, n]), output([8, n], torch.float32)
    with machine("late"):
        softmax_kernel[(8,)](x, out, n, BLOCK=n)
    stats = tilebridge.accel.last_stats()
    dram = next(one for one in stats["memories"] if one["name"] == "dram")
    # The row for itself, its maximum and its exponentials; those for their sum and the quotients; these for the result.
    assert dram["bytes_read"] == 8 * 6 * 4 * n
    assert dram["bytes_written"] == 8 * 4 * 4 * n


@case
def test_large_block(rng):
    n = 1 << 17
    x, out = normal(rng, [n]), output([n], torch.float32)
    with machine("late"):
        scan_kernel[(1,)](x, out, BLOCK=n, REVERSE=False)
    wanted = x.double() - x.double().max() + x.double().cumsum(0)
    torch.testing.assert_close(out.double(), wanted, rtol=1e-4, atol=1e-2)


@case
@pytest.mark.parametrize("landing", LANDINGS)
@pytest.mark.parametrize("reverse", [False, True])
def test_scan(rng, landing, reverse):
    """A scan goes on from piece to piece."""
    x, out = normal(rng, [1 << 16]), output([1 << 16], torch.float32)
    with machine(landing):
        scan_kernel[(1,)](x, out, BLOCK=1 << 16, REVERSE=reverse)
    sums = x.flip(0).double().cumsum(0).flip(0) if reverse else x.double().cumsum(0)
    torch.testing.assert_close(out.double(), x.double() - x.max() + sums, rtol=1e-4, atol=1e-2)


@case
@pytest.mark.parametrize("landing", LANDINGS)
def test_positions(rng, landing):
    """A piece knows where in the block it is."""
    n = 8192
    x, out = normal(rng, [n]), output([n], torch.float32)
    with machine(landing):
        slope_kernel[(1,)](x, out, 5001, BLOCK=n)
    wanted = (x - x.max()).exp() - torch.arange(n) * (torch.arange(n) != 5001)
    torch.testing.assert_close(out, wanted, rtol=1e-5, atol=1e-6)


@case
@pytest.mark.parametrize("landing", LANDINGS)
def test_product(rng, landing):
    a, b = normal(rng, [128, 128]), normal(rng, [128, 256])
    c = output([128, 256], torch.float32)
    with machine(landing):
        product_kernel[(1,)](a, b, c, M=128, N=256, K=128)
    torch.testing.assert_close(c, a @ b, rtol=1e-4, atol=1e-4)


@case
@pytest.mark.parametrize("landing", LANDINGS)
@pytest.mark.parametrize("bins", [64, 4096])
def test_histogram(rng, landing, bins):
    x = torch.randint(0, bins, [8192], generator=rng).int()
    out = output([bins], torch.int32)
    with machine(landing):
        histogram_kernel[(1,)](x, out, BLOCK=8192, BINS=bins)
    assert torch.equal(out.long(), torch.bincount(x, minlength=bins))


@case
@pytest.mark.parametrize("landing", LANDINGS)
def test_gather(rng, landing):
    """Indices and masks are far away, too."""
    n = 16384
    x, out = normal(rng, [n]), torch.zeros(n)
    where = torch.randperm(n, generator=rng).int()
    where[where % 7 == 0] = -1
    with machine(landing):
        gather_kernel[(1,)](x, where, out, BLOCK=n)
    value = torch.where(where >= 0, x[where.clamp(min=0).long()], 1.0)
    result = value - value.max() + value.double().cumsum(0).float()
    wanted = torch.zeros(n)
    wanted[where[where >= 0].long()] = result[where >= 0]
    torch.testing.assert_close(out, wanted, rtol=1e-4, atol=1e-2)


SORT = """
import resource, torch, triton, triton.language as tl
resource.setrlimit(resource.RLIMIT_CPU, (40, 40))

@triton.jit
def kernel(x, out, best, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    tl.store(out + at, tl.sort(value))
    tl.store(best + tl.arange(0, 16), tl.topk(value, 16))

x = torch.randn(4096, generator=torch.Generator().manual_seed(5))
out, best = torch.full_like(x, float("nan")), torch.full((16,), float("nan"))
kernel[(1,)](x, out, best, 4096)
assert torch.equal(out, x.sort().values)
assert torch.equal(best, x.topk(16).values)
"""


@pytest.mark.skipif(bool(TARGET), reason="has a process of its own")
def test_thousands_of_blocks_are_compiled_in_seconds(tmp_path):
    """The compare-and-swap steps of a sort are as many blocks; the limit is on the CPU's time."""
    output_of(tmp_path, SORT, target="tiny-16kb")
