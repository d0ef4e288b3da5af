# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launch itself: autotuning, heuristics, warm-up, hooks, benchmarks, prints."""

import os
import subprocess
import sys

import pytest
import torch
import triton
import triton.language as tl
from programs import run_program
from support import check_equal, normal, output


@triton.jit
def scale_body(x, out, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


CONFIGS = [
    triton.Config({"BLOCK": b}, num_warps=w, num_stages=2) for b in (32, 256) for w in (1, 4)
]


@triton.autotune(configs=CONFIGS, key=["n"])
@triton.jit
def tuned_kernel(x, out, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * factor, mask=at < n)


@pytest.mark.compiled("does not tune")
def test_autotune(rng):
    for n in (100, 1000):
        x, out = normal(rng, [n]), output([n], torch.float32)
        grid = lambda meta, n=n: (triton.cdiv(n, meta["BLOCK"]),)  # noqa: E731
        tuned_kernel[grid](x, out, n, 2.5)
        check_equal(out, x.double() * 2.5)
    assert tuned_kernel.best_config.kwargs["BLOCK"] in (32, 256)


@triton.heuristics(
    {
        "BLOCK": lambda args: triton.next_power_of_2(args["n"]),
        "EVEN": lambda args: args["n"] % 2 == 0,
    }
)
@triton.jit
def guessed_kernel(x, out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    tl.store(out + at, value * 2 if EVEN else value, mask=at < n)


@pytest.mark.parametrize("n", [1, 6, 33])
def test_heuristics(n, rng):
    x, out = normal(rng, [n]), output([n], torch.float32)
    guessed_kernel[(1,)](x, out, n)
    check_equal(out, x * 2 if n % 2 == 0 else x)


@pytest.mark.compiled("has no warm-up")
def test_warmup_compiles_and_the_result_runs(rng):
    n = 100
    x, out = normal(rng, [n]), output([n], torch.float32)
    compiled = scale_body.warmup(x, out, n, 3.0, BLOCK=64, grid=(2,))
    assert out.isnan().all()
    assert "tt.func" in compiled.asm["ttir"]
    compiled[(2, 1, 1)](x, out, n, 3.0, 64)
    check_equal(out, x.double() * 3)


@pytest.mark.compiled("has no driver")
def test_do_bench(rng):
    x, out = normal(rng, [1000]), output([1000], torch.float32)
    time = triton.testing.do_bench(
        lambda: scale_body[(8,)](x, out, 1000, 2.0, BLOCK=128), warmup=2, rep=5
    )
    assert 0 < time < 1000


@pytest.mark.compiled("has no driver")
@pytest.mark.parametrize("warps", [1, 2, 8, 32])
def test_gpu_tuning_knobs_change_nothing(warps, rng):
    x, out = normal(rng, [100]), output([100], torch.float32)
    scale_body[(2,)](x, out, 100, 2.0, BLOCK=64, num_warps=warps, num_stages=4, num_ctas=1)
    check_equal(out, x.double() * 2)


@pytest.mark.compiled("specializes nothing")
def test_specialization_on_values(rng):
    """1, multiples of 16 and other sizes are different kernels; all give the same results."""
    for n in (1, 16, 17, 32):
        for start in (0, 1, 4):
            data = normal(rng, [n + 4])
            x, out = data[start : start + n], output([n], torch.float32)
            scale_body[(triton.cdiv(n, 8),)](x, out, n, 1, BLOCK=8)
            check_equal(out, x)


PRINTS = """
import torch, triton, triton.language as tl

@triton.jit
def shout(x, N: tl.constexpr):
    tl.static_print("compiling", N)
    value = tl.load(x + tl.arange(0, N))
    tl.device_print("value: ", value)
    tl.device_print("total: ", tl.sum(value, axis=0), tl.program_id(0))

shout[(2,)](torch.arange(4, dtype=torch.int32), N=4)
"""


@pytest.mark.compiled("prints in its own way")
def test_device_print(tmp_path):
    # A kernel that is in Triton's cache is not compiled, and prints nothing then.
    done = run_program(tmp_path, PRINTS, TRITON_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    text = done.stdout + done.stderr
    assert "compiling 4" in text
    for value in range(4):
        assert any(
            "value: " in line and line.rstrip().endswith(str(value)) for line in text.splitlines()
        ), text
    assert sum("total: " in line and " 6" in line for line in text.splitlines()) >= 2, text


ASSERTS = """
import torch, triton, triton.language as tl

@triton.jit
def check(x, N: tl.constexpr):
    tl.static_assert(N == 4, "four only")
    tl.device_assert(tl.load(x + tl.arange(0, N)) > 0, "must be positive")

check[(1,)](torch.tensor([1, 2, 0, 4]), N=4{debug})
print("done")
"""


@pytest.mark.compiled("asserts in its own way")
@pytest.mark.parametrize("how", ["argument", "environment", "off"])
def test_device_assert_in_a_program(tmp_path, how):
    program = ASSERTS.format(debug=", debug=True" if how == "argument" else "")
    done = run_program(tmp_path, program, TRITON_DEBUG="1" if how == "environment" else "0")
    if how == "off":
        assert done.returncode == 0, done.stderr
        assert "done" in done.stdout
    else:
        assert done.returncode == 1, f"ended with {done.returncode}: {done.stderr}"
        assert "must be positive" in done.stderr
        assert "program.py:7" in done.stderr, done.stderr


TWO_AT_ONCE = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.exp(tl.load(x + at, mask=at < n)), mask=at < n)

x, out = torch.ones(100), torch.zeros(100)
kernel[(1,)](x, out, 100, BLOCK=128)
assert abs(out[99] - 2.71828) < 1e-4
print("right")
"""


@pytest.mark.compiled("compiles nothing")
def test_two_processes_compile_the_same_kernel(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(TWO_AT_ONCE)
    caches = {"TRITON_CACHE_DIR": str(tmp_path / "t"), "TILEBRIDGE_CACHE_DIR": str(tmp_path / "b")}
    children = [
        subprocess.Popen(
            [sys.executable, path], env=os.environ | caches, stdout=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    for child in children:
        text, _ = child.communicate(timeout=100)
        assert child.returncode == 0
        assert text.strip() == "right"


@pytest.mark.compiled("caches nothing")
@pytest.mark.parametrize("damage", ["empty", "garbage", "cut"])
def test_corrupt_cache_entries_are_compiled_again(tmp_path, damage):
    caches = {"TRITON_CACHE_DIR": str(tmp_path / "t"), "TILEBRIDGE_CACHE_DIR": str(tmp_path / "b")}
    assert run_program(tmp_path, TWO_AT_ONCE, **caches).stdout.strip() == "right"
    entries = [p for p in (tmp_path / "b").rglob("*") if p.is_file()]
    for entry in entries:
        data = entry.read_bytes()
        new = {"empty": b"", "garbage": os.urandom(len(data)), "cut": data[: len(data) // 2]}[
            damage
        ]
        entry.write_bytes(new)
    # Triton's own cache holds what the backend handed to it: without it, only ours is read.
    caches["TRITON_CACHE_DIR"] = str(tmp_path / "t2")
    done = run_program(tmp_path, TWO_AT_ONCE, **caches)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "right"


@pytest.mark.compiled("caches nothing")
def test_read_only_cache(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("a file where the cache's folder would be")
    done = run_program(tmp_path, TWO_AT_ONCE, TILEBRIDGE_CACHE_DIR=str(blocked / "cache"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "right"
