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

for batch, heads, length, how in ((2, 4, 256, "pointers"), (1, 3, 200, "pointers"), (1, 2, 300, "host_desc")):
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

for count, period, base in ((64, 8, 0), (40, 8, 2), (13, 4, 1), (120, 16, 3)):
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


# The first problem of each is one whose lines share; not each launch gives the PEs of a line programs that do.
@pytest.mark.parametrize("name", ["mtia-2i-like", "grid-1x8", "no-multicast"])
@pytest.mark.parametrize(
    ("source", "part"), [(ATTENTION, 0.6), (CARRIED, 0.3)], ids=["attention", "carried"]
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
