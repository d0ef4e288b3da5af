# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Searches for accelerators: tiles, depths and mappings by --autotile, a kernel's block sizes by @triton.autotune."""

import json
import subprocess
from pathlib import Path

import pytest
from accel_cpp_support import ROOT, TOOL
from programs import output_of
from support import INTERPRETED

pytestmark = pytest.mark.skipif(INTERPRETED, reason="runs compiled kernels")

HEAD = """
import json, sys
import torch, triton, triton.language as tl
from tilebridge import accel

def say(**what):
    print(json.dumps(what))
"""

MATMUL = (
    HEAD
    + """
@triton.jit
def matmul(a, b, c, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    s = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, N, BK):
        acc += tl.dot(tl.load(a + r[:, None] * N + (i + k)[None, :]), tl.load(b + (i + k)[:, None] * N + s[None, :]))
    tl.store(c + r[:, None] * N + s[None, :], acc)

N = 256
a, b, c = torch.randn(N, N).half(), torch.randn(N, N).half(), torch.full((N, N), -1.0)
"""
)

SEARCH = (
    MATMUL
    + """
def launch():
    matmul[(2, 4)](a, b, c, N, 128, 64, 64)

found = {}
for how in (True, "exhaustive"):
    with accel.simulation(autotile=how):
        accel.do_bench(launch)
    found[str(how)] = accel.last_autotile()
assert bool((c == -1).all()), "a search leaves a trace"
launch()
own = accel.last_stats()["cycles"]
with accel.simulation(autotile=True):
    launch()
good = torch.allclose(c, a.float() @ b.float(), atol=1e-2)
say(own=own, tuned=accel.last_stats()["cycles"], found=found, good=good)
"""
)

AUTOTUNE = (
    MATMUL
    + """
sizes = [16, 64]
configs = [triton.Config({"BM": m, "BN": m, "BK": min(m, 64)}) for m in sizes]
tuned = triton.autotune(configs, key=[])(matmul)
tuned[lambda meta: (triton.cdiv(N, meta["BM"]), triton.cdiv(N, meta["BN"]))](a, b, c, N)
times = {config.kwargs["BM"]: time[0] for config, time in tuned.configs_timings.items()}
real = {}
for m in sizes:
    matmul[(N // m, N // m)](a, b, c, N, m, m, min(m, 64))
    real[m] = accel.last_stats()["microseconds"] / 1000
say(best=tuned.best_config.kwargs["BM"], times=times, real=real, good=torch.allclose(c, a.float() @ b.float(), atol=1e-2))
"""
)

NEVER = (
    HEAD
    + """
@triton.jit
def look_up(x, y, B: tl.constexpr):  # all of the table has to be at hand
    i = tl.arange(0, B)
    tl.store(y + i, tl.gather(tl.load(x + i), B - 1 - i, 0))

x, y = torch.zeros(8192), torch.zeros(8192)
say(large=accel.do_bench(lambda: look_up[(1,)](x, y, 8192)), small=accel.do_bench(lambda: look_up[(1,)](x, y, 64)),
    three=accel.do_bench(lambda: look_up[(1,)](x, y, 64), quantiles=(0.5, 0.2, 0.8)))
"""
)

# Decisions that a search gets wrong, or has none of: blocks in the order of memory, most PEs without a program, many buffers.
NEVER_WORSE = (
    HEAD
    + """
@triton.jit
def transposed(x, y, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    tl.store(y + i * N + j, tl.load(x + i + j * M))

@triton.jit
def stream(x, y, n: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * n * B + tl.arange(0, B)
    total = tl.zeros([B], tl.float32)
    for _ in range(0, n):
        total += tl.load(x + i)
        i += B
    tl.store(y + tl.program_id(0) * B + tl.arange(0, B), total)

@triton.jit
def softmax(x, y, N: tl.constexpr):
    row = tl.load(x + tl.program_id(0) * N + tl.arange(0, N))
    row = tl.exp(row - tl.max(row))
    tl.store(y + tl.program_id(0) * N + tl.arange(0, N), row / tl.sum(row))

x, y = torch.randn(1 << 19), torch.zeros(1 << 19)
told = {}
for name, launch in dict(
    transposed=lambda: transposed[(1,)](x, y, 256, 512),
    transposed_by_4=lambda: transposed[(4,)](x, y, 64, 128),
    stream=lambda: stream[(64,)](x, y, 64, 128),
    softmax=lambda: softmax[(40,)](x, y, 4096),
).items():
    launch()
    own = accel.last_stats()["cycles"]
    before = y.clone()
    with accel.simulation(autotile=True):
        launch()
    torch.testing.assert_close(y, before, rtol=1e-5, atol=1e-6)
    told[name] = (own, accel.last_stats()["cycles"], accel.last_autotile()["depth"])
say(**told)
"""
)


def run(program: str, tmp_path, target: str = "grid-1x8") -> dict:
    return json.loads(output_of(tmp_path, program, target=target).splitlines()[-1])


def test_the_search_finds_what_simulating_everything_finds(tmp_path):
    told = run(SEARCH, tmp_path)
    searched, best = told["found"]["True"], told["found"]["exhaustive"]
    assert best["simulated"] > 2 * searched["lowered"] > searched["simulated"] > 0
    assert searched["decisions"] == best["decisions"] >= best["simulated"]
    assert (
        best["simulated_cycles"] <= searched["simulated_cycles"] <= 1.05 * best["simulated_cycles"]
    )
    # A rehearsal that computes nothing takes the time of the launch.
    assert told["tuned"] == searched["simulated_cycles"]
    assert told["tuned"] <= told["own"]
    assert told["good"]


@pytest.mark.parametrize("target", ["wormhole-like", "dma-1d", "hexagon-like", "grid-1x8,depth=16"])
def test_a_search_is_never_worse_than_none(tmp_path, target):
    told = run(NEVER_WORSE, tmp_path, target)
    assert {name: own for name, (own, tuned, _) in told.items() if tuned > own} == {}
    if "depth" in target:
        # The search itself tries no more than 3 buffers.
        assert told["stream"][2] > 3


def test_autotune_asks_the_model(tmp_path):
    told = run(AUTOTUNE, tmp_path)
    assert told["best"] == 64
    assert told["good"]
    for size, milliseconds in told["real"].items():
        assert 0.5 < told["times"][size] / milliseconds < 2


def test_what_does_not_fit_takes_for_ever(tmp_path):
    told = run(NEVER, tmp_path, "tiny-16kb")
    assert told["large"] == float("inf")
    assert 0 < told["small"] < 1
    assert told["three"] == [told["small"]] * 3


def test_autotune_on_the_command_line(tmp_path):
    arguments = [
        *["--arg", "f32[100000]=random"] * 2,
        "--out",
        "sum.npy=f32[100000]",
        "--arg",
        "100000",
    ]
    kernel = ROOT / "examples" / "c-api" / "add.ttir"
    command = [TOOL, "run", kernel, "--target=accel:mtia-2i-like", "--grid", "98", *arguments]

    def cycles(*more: str) -> tuple[float, str]:
        done = subprocess.run(
            [*command, *more], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return float(done.stdout.split()[0]), done.stdout

    own, text = cycles()
    assert "autotile" not in text
    results = Path(tmp_path / "sum.npy").read_bytes()
    tuned, text = cycles("--autotile")
    assert "decisions lowered" in text
    assert tuned <= own
    assert Path(tmp_path / "sum.npy").read_bytes() == results
    wrong = subprocess.run(
        [TOOL, "run", kernel, "--autotile", "--grid", "1"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert wrong.returncode == 2
    assert "--target=accel:NAME" in wrong.stderr
