# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on the simulators of DMA accelerators: unmodified, with the CPU's results, whenever transfers land.

This is a sample. scripts/accel-sweep.sh runs all example kernels and the tests of the language on every target.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

HERE = Path(__file__).resolve().parent
EXAMPLES = "1000_128 or (softmax and 7x127) or (matmul and 45x37x50) or (dropout and 127_0)"


def run(target: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"TILEBRIDGE_TARGET": f"accel:{target}"} | environment,
        cwd=HERE,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("target", ["mtia-2i-like", "grid-1x8"])
def test_examples_leave_what_the_cpu_leaves(target, tmp_path):
    results = tmp_path / "results"
    child = run(
        target,
        *("-m", "pytest", "-q", "-p", "accel_comparison", "-p", "no:cacheprovider"),
        *("test_examples.py", "-k", EXAMPLES),
        TILEBRIDGE_ACCEL_RESULTS=str(results),
    )
    assert child.returncode == 0, child.stdout[-4000:]
    compared = json.loads(results.read_text())
    assert compared["target"] == f"accel:{target}"
    assert len(compared["kernels"]) >= 8
    assert compared["identical"] >= compared["launches"] // 2


def test_arguments_that_overlap_and_grids_of_any_size():
    child = run(
        "dma-1d",
        *("-m", "pytest", "-q", "-p", "accel_comparison", "-p", "no:cacheprovider"),
        *("test_launches_that_overlap.py", "-m", "not slow"),
    )
    assert child.returncode == 0, child.stdout[-4000:]


KERNEL = """
import json, sys
import torch, triton, triton.language as tl
import tilebridge

@triton.jit
def double(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, i < n) * 2, i < n)

x, y = torch.randn(3000), torch.zeros(3000)
for n in (3000, 3000, 1000):
    with tilebridge.accel.simulation(trace=n == 1000, lowered=True):
        double[(triton.cdiv(n, 256),)](x, y, n, 256)
assert torch.equal(y, x * 2)
stats = tilebridge.accel.last_stats()
trace = json.loads(tilebridge.accel.last_trace())
json.dump([stats, len(trace["traceEvents"]), tilebridge.accel.last_lowered()], sys.stdout)
"""


def test_reports_and_traces(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tilebridge.accel\n" + KERNEL)
    child = run("grid-1x8", str(program))
    assert child.returncode == 0, child.stderr[-4000:]
    stats, events, lowered = json.loads(child.stdout)
    assert stats["kernel"] == "double"
    assert stats["programs"] == 4
    dram = next(memory for memory in stats["memories"] if memory["name"] == "dram")
    assert dram["bytes_written"] == 4000
    # PEs without a program of their own load another one's.
    assert dram["bytes_read"] >= 4000
    assert all(stats["cycles"] >= term for term in stats["roofline"]["terms"].values())
    assert events > 20
    assert "accel.kernel" in lowered


GATHER = """
import json, sys
import torch, triton, triton.language as tl
import tilebridge, tilebridge.accel

@triton.jit
def pick(x, index, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + tl.load(index + i)))

x, index, y = torch.randn(100), torch.randint(0, 100, [64]), torch.zeros(64)
pick[(1,)](x, index, y, 64)
assert torch.equal(y, x[index])
print(json.dumps(tilebridge.accel.last_stats()["accesses"]))
"""


# dma-1d loads one element at a time; of its eight PEs only that with the program does.
@pytest.mark.parametrize(("target", "transfers"), [("grid-1x1", 1), ("dma-1d", 64)])
def test_each_gather_says_why_it_is_one(tmp_path, target, transfers):
    program = tmp_path / "program.py"
    program.write_text(GATHER)
    cache = {"TRITON_CACHE_DIR": str(tmp_path / "cache")}
    quiet = run(target, str(program), **cache)
    assert (quiet.returncode, quiet.stderr) == (0, "")
    index, gathered, stored = json.loads(quiet.stdout)
    assert (index["tensor"], index["form"], stored["form"]) == ("index", "subview", "subview")
    assert "reason" not in index
    assert (gathered["tensor"], gathered["form"]) == ("x", "element gather")
    assert gathered["reason"] == (
        "the offset is not linear: it depends on values loaded from memory"
    )
    line = next(n for n, text in enumerate(GATHER.splitlines(), 1) if "tl.load" in text)
    assert gathered["cause"].startswith(f"values loaded from memory at {program}:{line}:")
    assert gathered["line"] == f"{program}:{line}"
    assert (gathered["transfers"], gathered["bytes"]) == (transfers, 64 * 4)

    told = run(target, str(program), TILEBRIDGE_REMARKS="1", **cache)
    assert told.returncode == 0, told.stderr[-4000:]
    assert f"{program}:{line}:" in told.stderr
    assert f"remark: element gather: {gathered['reason']}" in told.stderr
    assert f"(64 a program): {gathered['reason']}; a DMA engine moves blocks" in told.stderr

    told = run(
        target, str(program), TILEBRIDGE_EXPLAIN="1", TRITON_CACHE_DIR=str(tmp_path / "again")
    )
    assert told.returncode == 0, told.stderr[-4000:]
    assert "kernel pick: 3 accesses: 2 subview, 1 element gather" in told.stderr
    assert "decisions" not in told.stderr


def test_an_unknown_target_is_an_error(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tilebridge.accel\n" + KERNEL)
    child = run("grid-1x", str(program))
    assert child.returncode != 0
    assert "there is no target 'grid-1x'; did you mean 'grid-1x1'?" in child.stderr


def test_wrong_settings_are_errors():
    from tilebridge import accel

    for landing in ("soon", "random:", "random:x"):
        with (
            pytest.raises(ValueError, match="'late' or 'random:SEED'"),
            accel.simulation(landing=landing),
        ):
            pass
