# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loads of rows in loops: started iterations ahead, with what computes their indices."""

import pytest
from programs import output_of
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

PROGRAM = """
import torch, triton, triton.language as tl
from tilebridge import accel

@triton.jit
def bag(out, table, ids, L, D: tl.constexpr, R: tl.constexpr):
    d = tl.arange(0, D)
    acc = tl.zeros((D,), tl.float32)
    for j in range(0, L, R):
        r = j + tl.arange(0, R)
        i = tl.load(ids + tl.program_id(0) * L + r, mask=r < L, other=0)
        x = tl.load(table + i[:, None] * D + d[None, :], mask=(r < L)[:, None], other=0.0)
        acc += tl.sum(x.to(tl.float32), 0)
    tl.store(out + tl.program_id(0) * D + d, acc)

@triton.jit
def pages(out, keys, values, table, count, D: tl.constexpr, P: tl.constexpr):
    # Two loads by the same number, read from memory.
    at = tl.arange(0, P)[:, None] * D + tl.arange(0, D)[None, :]
    acc = tl.zeros((P, D), tl.float32)
    for j in range(0, count):
        page = tl.load(table + tl.program_id(0) * count + j)
        acc += tl.load(keys + page * P * D + at) * tl.load(values + page * P * D + at)
    tl.store(out + tl.program_id(0) * P * D + at, acc)

g = torch.Generator().manual_seed(1)
B, V, D = 24, 300, 64
table = torch.randn(V, D, generator=g).half()
cycles = {}
for L in (0, 1, 16, 17, 150):
    ids = torch.randint(0, V, (B, L), generator=g).int()
    for landing in ("late", "random:3"):
        out = torch.full((B, D), float("nan"))
        with accel.simulation(landing=landing):
            bag[(B,)](out, table, ids, L, D, 16)
        torch.testing.assert_close(out, table[ids.long()].float().sum(1), rtol=1e-5, atol=1e-4)
        cycles[L] = accel.last_stats()["cycles"]
for count in (0, 1, 2, 9):
    P = 16
    keys, values = torch.randn(40, P, D, generator=g), torch.randn(40, P, D, generator=g)
    numbers = torch.randint(0, 40, (B, count), generator=g)
    for landing in ("late", "random:3"):
        out = torch.full((B, P, D), float("nan"))
        with accel.simulation(landing=landing):
            pages[(B,)](out, keys, values, numbers, count, D, P)
        expected = (keys[numbers] * values[numbers]).sum(1)
        torch.testing.assert_close(out, expected, rtol=1e-5, atol=1e-5)
print(cycles[150])
"""


def run(tmp_path, target: str) -> float:
    return float(output_of(tmp_path, PROGRAM, target=target))


def test_early_rows_take_less_time(tmp_path):
    assert run(tmp_path, "mtia-2i-like") * 1.2 < run(tmp_path, "mtia-2i-like,depth=1")


# Engines without indices copy a row at a time; three buffers; little memory.
@pytest.mark.parametrize(
    "target", ["dma-1d", "hexagon-like,depth=3", "tiny-16kb", "ascend-910b-like"]
)
def test_early_rows_are_right(target, tmp_path):
    run(tmp_path, target)
