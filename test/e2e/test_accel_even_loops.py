# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that PEs of a line run differently often, with loads that are alike: the bytes that come without multicast, fewer read."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

HEAD = """
import hashlib, json, os, sys
import torch, triton, triton.language as tl
from tilebridge import accel

torch.manual_seed(int(sys.argv[1]))
in_a_row = sys.argv[2] == "grid-1x8"

def each(launch, kernels):
    name = sys.argv[2]
    whole = [(name, "late"), (name, "random:5"), (name + ",depth=1", "random:6"), (name + ",multicast=off", "late")]
    for target, landing in whole:
        os.environ["TILEBRIDGE_TARGET"] = "accel:" + target
        os.environ["TILEBRIDGE_LANDING"] = landing
        for kernel in kernels:
            kernel.device_caches.clear()
        digest = hashlib.sha1(b"".join(out.numpy().tobytes() for out in launch())).hexdigest()
        stats = accel.last_stats()
        read = sum(memory["bytes_read"] for memory in stats["memories"] if memory["name"] != "local")
        print(json.dumps(dict(sum=digest, read=read, saved=stats["multicast_saved_bytes"])))
"""

ATTENTION = (
    HEAD
    + """
sys.path.insert(0, EXAMPLES)
import attention

first = (1, 1, 256, "pointers") if in_a_row else (2, 4, 256, "pointers")
for batch, heads, length, how in (first, (2, 4, 256, "pointers"), (1, 3, 200, "pointers"), (1, 2, 300, "host_desc")):
    case = attention.case(batch, heads, length, 32, torch.float16, causal=True, block=(32, 32), how=how)
    inputs = case.inputs(1)
    outputs = [inputs["out"], inputs["lse"]]

    def launch():
        for out in outputs:
            out.fill_(-7)
        case.run(inputs)
        want = case.reference(inputs)[0]
        assert torch.allclose(inputs["out"].double(), want, rtol=1e-2, atol=1e-2)
        return outputs

    each(launch, [attention.attention_kernel, attention.attention_desc_kernel])
"""
)

# An address that the loop carries and what follows uses, a block that goes from one accumulator to the other, a store in
# the loop, and bounds that do not grow from PE to PE: some programs run nothing, and some PEs have no program.
CARRIED = (
    HEAD
    + """
@triton.jit
def carried(x, y, z, ends, PERIOD: tl.constexpr, BASE: tl.constexpr, B: tl.constexpr):
    p = tl.program_id(0)
    at = p // PERIOD * 8 * B
    a, b = tl.zeros([B], tl.float32), tl.full([B], 1, tl.float32)
    for i in range(0, BASE + p % PERIOD * 5 % 7):
        v = tl.load(x + at + tl.arange(0, B))
        a, b = b * 0.5 + v, a - v
        tl.store(z + (p * 16 + i) * B + tl.arange(0, B), a)
        at += B
    tl.store(y + p * B + tl.arange(0, B), a * 3 + b)
    tl.store(ends + p, at)

for count, period, base in ((8 if in_a_row else 64, 8, 0), (64, 8, 0), (40, 8, 2), (13, 4, 1), (120, 16, 3)):
    x = torch.randn(((count - 1) // period * 8 + 16) * 64)
    y, z = torch.empty(count * 64), torch.empty(count * 16 * 64)
    ends = torch.empty(count, dtype=torch.int32)

    def launch():
        for out in (y, z, ends):
            out.fill_(-7)
        carried[(count,)](x, y, z, ends, period, base, 64)
        for p in range(count):
            at, a, b = p // period * 8, torch.zeros(64), torch.ones(64)
            for i in range(base + p % period * 5 % 7):
                v = x[(at + i) * 64 :][:64]
                a, b = b * 0.5 + v, a - v
                torch.testing.assert_close(z[(p * 16 + i) * 64 :][:64], a)
            torch.testing.assert_close(y[p * 64 :][:64], a * 3 + b)
            assert ends[p] == (at + base + p % period * 5 % 7) * 64
        assert (z == -7).sum() == (16 * count - sum(base + p % period * 5 % 7 for p in range(count))) * 64
        return y, z, ends

    each(launch, [carried])
"""
)

# Two loops of which the second goes on where the first one ends, with a mask that the first one needs not, in grids of three
# dimensions, some of which leave PEs without a program, and some programs return early; in the last problems a loop that decides in
# each iteration what it does with what it loads.
JOINED = (
    HEAD
    + """
@triton.jit
def two_loops(x, y, n, COUNT: tl.constexpr, EARLY: tl.constexpr, BRANCH: tl.constexpr, B: tl.constexpr):
    a, b, c = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    p = (c * tl.num_programs(1) + b) * tl.num_programs(0) + a
    if EARLY and p % 5 == 3:
        return
    at = (b + c) % 2 * B + tl.arange(0, B)
    low, high = a * 3 % COUNT, a * 3 % COUNT + 1 + b % 2
    sums, largest = tl.zeros([B], tl.float32), tl.full([B], 1, tl.float32)
    if BRANCH:
        for i in range(0, high):
            v = tl.load(x + at + i * B, mask=at + i * B < n, other=0.25)
            if i >= low:
                v *= 2
            sums = sums - v
    else:
        for i in range(0, low):
            v = tl.load(x + at + i * B)
            sums, largest = sums * 0.5 + v, tl.maximum(largest, v)
        for i in range(low, high):
            v = tl.load(x + at + i * B, mask=at + i * B < n, other=0.25)
            sums, largest = sums - v * largest, largest + 1
    tl.store(y + p * B + tl.arange(0, B), sums + largest)

for grid, count, early, branch in (
    ((8, 1 if in_a_row else 8), 8, False, False), ((8, 8), 8, False, False), ((4, 3, 5), 4, False, False),
    ((13,), 5, True, False), ((8, 2, 3), 8, True, False),
    ((8, 8), 8, False, True),
):
    grid = (*grid, 1, 1)[:3]
    programs, n = grid[0] * grid[1] * grid[2], (count + 2) * 32 - 13
    x, y = torch.randn((count + 4) * 32), torch.empty(programs * 32)

    def launch():
        y.fill_(-7)
        two_loops[grid](x, y, n, count, early, branch, 32)
        masked = torch.where(torch.arange(len(x)) < n, x, 0.25)
        for p in range(programs):
            a, b, c = p % grid[0], p // grid[0] % grid[1], p // grid[0] // grid[1]
            low, high = a * 3 % count, a * 3 % count + 1 + b % 2
            sums, largest = torch.zeros(32), torch.ones(32)
            for i in range(high):
                at = (b + c) % 2 * 32 + i * 32
                v = (x if i < low and not branch else masked)[at : at + 32]
                if branch:
                    sums = sums - (v if i < low else v * 2)
                elif i < low:
                    sums, largest = sums * 0.5 + v, torch.maximum(largest, v)
                else:
                    sums, largest = sums - v * largest, largest + 1
            want = torch.full((32,), -7.0) if early and p % 5 == 3 else sums + largest
            torch.testing.assert_close(y[p * 32 :][:32], want)
        return [y]

    each(launch, [two_loops])
"""
)


def run(source, name, folder):
    """By problem: the results in both landing modes, with one buffer, and without multicast."""
    script = folder / "kernel.py"
    script.write_text(source.replace("EXAMPLES", repr(str(EXAMPLES))))
    child = subprocess.run(
        [sys.executable, script, "3", name],
        env=os.environ | {"TILEBRIDGE_TARGET": f"accel:{name}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr[-4000:]
    told = [json.loads(line) for line in child.stdout.splitlines()]
    return [told[at : at + 4] for at in range(0, len(told), 4)]


# The first problem of each is one whose lines share; not each launch gives the PEs of a line programs that do. A row of PEs with
# several programs each, which run the loop differently often, is done sooner with as much to do for each PE and nothing shared: the
# first problem there has a program for each.
@pytest.mark.parametrize("name", ["mtia-2i-like", "grid-1x8", "no-multicast"])
@pytest.mark.parametrize(
    ("source", "part"),
    [(ATTENTION, 0.6), (CARRIED, 0.3), (JOINED, 0.3)],
    ids=["attention", "carried", "joined"],
)
def test_bytes_are_those_without_multicast(source, part, name, tmp_path):
    told = run(source, name, tmp_path)
    assert len(told) >= 3
    for each in told:
        assert len({one["sum"] for one in each}) == 1
    late, random, shallow, alone = told[0]
    if name == "no-multicast":
        assert late["saved"] == 0
        return
    assert late["read"] == random["read"] == shallow["read"]
    assert late["read"] < part * alone["read"]
    if source == ATTENTION:
        # Queries, keys and values, each of them once: the block on the diagonal is one that others of the line read, too.
        heads = 1 if name == "grid-1x8" else 2 * 4
        assert late["read"] == 3 * heads * 256 * 32 * 2
