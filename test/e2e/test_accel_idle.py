# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches of fewer programs than an accelerator has PEs: the results, and what those without a program do not load."""

import json

import pytest
from programs import output_of
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

PROGRAM = """
import json, os, sys
import torch, triton, triton.language as tl
from tilebridge import accel

# Groups of HEIGHT programs share the rows of x that they go through; each scales them by its own row of s.
@triton.jit
def scaled(x, s, y, n, HEIGHT: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    i = tl.arange(0, B)
    scale = tl.load(s + p * B + i)
    total = tl.zeros([B], tl.float32)
    for j in range(0, n):
        total += tl.load(x + (p // HEIGHT * n + j) * B + i) * scale
    tl.store(y + p * B + i, total)

target, told = os.environ["TILEBRIDGE_TARGET"], {}
for programs, height in json.loads(sys.argv[1]):
    n, B = 9, 64
    groups = -(-programs // height)
    x, s = torch.randn(groups, n, B), torch.randn(programs, B)
    want = (x.sum(1).repeat_interleave(height, 0)[:programs]) * s
    for landing in ("late", "random:7"):
        os.environ["TILEBRIDGE_LANDING"] = landing
        for options in ("", ",multicast=off"):
            os.environ["TILEBRIDGE_TARGET"] = target + options
            scaled.device_caches.clear()
            y = torch.full((programs + 1, B), -7.0)
            scaled[(programs,)](x, s, y, n, height, B)
            torch.testing.assert_close(y[:programs], want, atol=1e-4, rtol=1e-4)
            assert (y[programs] == -7).all()
            stats = accel.last_stats()
            if not options:
                read = sum(memory["bytes_read"] for memory in stats["memories"] if memory["name"] in ("dram", "sram"))
                told[f"{programs} by {height}"] = read / (x.numel() + s.numel()) / 4
print(json.dumps(told))
"""

SHAPES = "[[1, 1], [3, 1], [5, 8], [12, 4], [16, 8], [40, 8], [37, 8], [40, 40], [61, 4], [64, 8]]"


@pytest.mark.parametrize("target", ["mtia-2i-like", "wormhole-like", "xdna-like", "grid-1x8"])
def test_idle_pes_load_little(tmp_path, target):
    told = json.loads(output_of(tmp_path, PROGRAM, SHAPES, target=target))
    if target not in ("mtia-2i-like", "wormhole-like"):
        return
    # Rows of 8 PEs, of one group each or without a program: nothing is read twice, and nothing else.
    for name in ("1 by 1", "3 by 1", "16 by 8", "40 by 8", "64 by 8"):
        assert told[name] == 1, name
    # PEs of other rows read nothing; those of the same row read a scale.
    assert 1 < told["37 by 8"] < 1.1
