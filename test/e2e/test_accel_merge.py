# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Neighbouring programs that a PE of an accelerator runs as one: the same bytes as apart, and fewer of them loaded."""

import json
import os
import subprocess
import sys

import pytest
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

HEAD = """
import hashlib, json, os, sys
import torch, triton, triton.language as tl
from tilebridge import accel

torch.manual_seed(int(sys.argv[1]))

def each(launch):
    for target in sys.argv[2:]:
        os.environ["TILEBRIDGE_TARGET"] = "accel:" + target
        for kernel in list(globals().values()):
            if isinstance(kernel, triton.JITFunction):
                kernel.device_caches.clear()
        say(launch())

def say(result, **more):
    stats = accel.last_stats()
    read = sum(memory["bytes_read"] for memory in stats["memories"] if memory["name"] != "local")
    print(json.dumps(dict(sum=hashlib.sha1(result.numpy().tobytes()).hexdigest(), cycles=stats["cycles"], read=read, **more)))
"""

MATMUL = (
    HEAD
    + """
@triton.jit
def matmul(a, b, c, M, N, K, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    s = tl.program_id(1) * B + tl.arange(0, B)
    k = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for i in range(0, K, B):
        x = tl.load(a + r[:, None] * K + (i + k)[None, :], mask=(r < M)[:, None] & (i + k < K)[None, :], other=0)
        y = tl.load(b + (i + k)[:, None] * N + s[None, :], mask=(i + k < K)[:, None] & (s < N)[None, :], other=0)
        acc = tl.dot(x, y, acc)
    tl.store(c + r[:, None] * N + s[None, :], acc, mask=(r < M)[:, None] & (s < N)[None, :])

M, N, K = SIZES
a, b, c = torch.randn(M, K).half(), torch.randn(K, N).half(), torch.full((M, N), -1.0)
def launch():
    c.fill_(-1)
    matmul[triton.cdiv(M, 32), triton.cdiv(N, 32)](a, b, c, M, N, K, 32)
    torch.testing.assert_close(c, a.float() @ b.float(), atol=1e-1, rtol=1e-2)
    return c
"""
)

# Blocks by quotients of one id, in groups of rows.
GROUPED = (
    MATMUL.replace("    r = tl.program_id(0) * B", "    p = tl.program_id(0)\n    G: tl.constexpr = 2\n"
        "    across = tl.cdiv(N, B)\n    group = p // (G * across)\n"
        "    height = tl.minimum(tl.cdiv(M, B) - group * G, G)\n"
        "    r = (group * G + p % (G * across) % height) * B")
    .replace("tl.program_id(1)", "(p % (G * across) // height)")
    .replace("[triton.cdiv(M, 32), triton.cdiv(N, 32)]", "[(triton.cdiv(M, 32) * triton.cdiv(N, 32),)]")
)  # fmt: skip

# Programs that return early, loops that run differently often, stores of neighbours that overlap (with the same values),
# sums of integers in memory, in a grid of three dimensions.
MIXED = (
    HEAD
    + """
@triton.jit
def mixed(x, y, count, n, B: tl.constexpr):
    p = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    if p * B >= n:
        return
    i = p * B + tl.arange(0, 2 * B)
    v = tl.load(x + i, mask=i < n, other=0)
    w = tl.load(x + tl.program_id(2) * B + tl.arange(0, 2 * B))
    for _ in range(p % 5):
        v = v * 3 + w.to(tl.int32) * 0 + 1 - v * 2 - 1
    tl.store(y + i, v, mask=i < n)
    tl.atomic_add(count + tl.arange(0, 2 * B) % 8, v)

n = 64 * 5 * 3 * 2 - 70
x = torch.randint(-99, 99, (n + 256,), dtype=torch.int32)
y, count = torch.zeros(n, dtype=torch.int32), torch.zeros(8, dtype=torch.int32)
def launch():
    y.fill_(-1), count.fill_(0)
    mixed[5, 3, 2](x, y, count, n, 64)
    assert torch.equal(y, x[:n])
    return torch.cat([y, count])
"""
)

ROWS = (
    HEAD
    + """
@triton.jit
def scale(x, scales, y, n, B: tl.constexpr):
    i = tl.program_id(1) * B + tl.arange(0, B)
    j = tl.program_id(0) * n + i
    tl.store(y + j, tl.load(x + j, mask=i < n) * tl.load(scales + i, mask=i < n), mask=i < n)

x, scales, y = torch.randn(7, 1000), torch.randn(1000), torch.full((7, 1000), -1.0)
def launch():
    y.fill_(-1)
    scale[7, 4](x, scales, y, 1000, 256)
    assert torch.equal(y, x * scales)
    return y
"""
)


def run(program: str, tmp_path, *targets: str) -> list[dict]:
    script = tmp_path / "program.py"
    script.write_text(program)
    seed = os.environ.get("TILEBRIDGE_TEST_SEED", "20261121")
    child = subprocess.run(
        [sys.executable, script, seed, *targets],
        env=os.environ | {"TILEBRIDGE_TARGET": f"accel:{targets[0]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-4000:]
    return [json.loads(line) for line in child.stdout.splitlines()]


MERGES = ("2x1x1", "1x2x1", "1x1x2", "2x2x2", "3x1x1", "16x1x1")


@pytest.mark.parametrize("target", ["grid-1x1", "dma-1d", "mtia-2i-like"])
@pytest.mark.parametrize(
    "program", [MATMUL, GROUPED, MIXED, ROWS], ids=["product", "by_quotients", "mixed", "rows"]
)
def test_what_programs_give_is_the_same(program, target, tmp_path):
    program = program.replace("SIZES", "130, 225, 100") + "each(launch)\n"
    apart, *merged = run(program, tmp_path, target, *(f"{target},merge={each}" for each in MERGES))
    assert {
        merge: told["sum"] == apart["sum"] for merge, told in zip(MERGES, merged, strict=True)
    } == dict.fromkeys(MERGES, True)


def test_what_neighbours_share_is_loaded_once(tmp_path):
    program = MATMUL.replace("SIZES", "256, 256, 128") + "each(launch)\n"
    merges = ("1x1x1", "2x1x1", "4x1x1", "2x2x1")
    told = run(program, tmp_path, *(f"grid-1x1,merge={merge}" for merge in merges))
    # 8 x 8 programs, of which each reads a row of blocks of A and a column of those of B.
    whole = 2 * 8 * 256 * 128 * 2
    assert [each["read"] / whole for each in told] == [1, 3 / 4, 5 / 8, 1 / 2]


@pytest.mark.parametrize("target", ["no-multicast", "mtia-2i-like"])
def test_the_search_merges_where_that_is_faster(target, tmp_path):
    program = (
        MATMUL.replace("SIZES", "512, 512, 128")
        + "say(launch())\nwith accel.simulation(autotile=True):\n    launch()\n"
        + "say(c, found=accel.last_autotile())\n"
    )
    own, tuned = run(program, tmp_path, target)
    assert tuned["found"]["merge"] != [1, 1, 1]
    assert tuned["sum"] == own["sum"]
    assert tuned["cycles"] < own["cycles"]
    assert tuned["read"] < own["read"]


@pytest.mark.parametrize("merge", ["0x1x1", "8x4x1", "1x1x1x2", ""])
def test_what_cannot_be_merged_is_an_error(merge, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(ROWS + "each(launch)\n")
    child = subprocess.run(
        [sys.executable, script, "1", f"grid-1x1,merge={merge}"],
        env=os.environ | {"TILEBRIDGE_TARGET": "accel:grid-1x1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 1
    assert "merge wants how many programs are run as one in each dimension" in child.stderr
