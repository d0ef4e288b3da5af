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
