# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many Python threads compile and launch at once, with the interpreter's lock or in a free-threaded Python."""

import io
import os
import subprocess
import sys
import textwrap
import threading

import pytest
import torch
import triton
import triton.language as tl
from support import normal
from vector_add import add_kernel

pytestmark = pytest.mark.compiled("the interpreter runs no compiled code")


@triton.jit
def affine_kernel(x, y, n, A: tl.constexpr, B: tl.constexpr, N: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    value = tl.load(x + at, mask=at < n)
    tl.store(y + at, value * A + B, mask=at < n)


def check_affine(a, b, n=1000):
    x = torch.randn(n, dtype=torch.float64)
    y = torch.zeros(n, dtype=torch.float64)
    affine_kernel[(triton.cdiv(n, 64),)](x, y, n, a, b, 64)
    torch.testing.assert_close(y, x * a + b)


def in_threads(count, work):
    errors, start = [], threading.Barrier(count)

    def body(index):
        try:
            start.wait()
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def test_many_threads_compile_and_launch_different_kernels():
    in_threads(8, lambda index: [check_affine(index + 2, k) for k in range(3)])


def test_many_threads_compile_and_launch_the_same_kernel():
    in_threads(8, lambda _: [check_affine(77, 5) for _ in range(20)])


def test_many_threads_meet_errors():
    """Messages stay with the thread whose kernel is wrong."""

    @triton.jit
    def wrong(x, K: tl.constexpr):
        tl.device_assert(tl.load(x) < 0, "assertion number " + K)

    def work(index):
        for i in range(10):
            if index % 2:
                check_affine(3, 9)
            else:
                with pytest.raises(AssertionError, match=f"assertion number {index}_"):
                    wrong[(4,)](torch.ones(1), f"{index}_", debug=True, num_stages=1 + i % 2)

    in_threads(6, work)


def add(x, y, block=256):
    out = torch.full_like(x, float("nan"))
    add_kernel[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), BLOCK=block)
    return out


def test_launches_of_one_kernel(rng):
    x, y = normal(rng, [50000]), normal(rng, [50000])

    def work(_):
        for _ in range(20):
            assert torch.equal(add(x, y), x + y)

    in_threads(6, work)


def test_threads_compile_the_same_kernel_and_others(rng):
    """All new to the process."""
    x, y = normal(rng, [1000]), normal(rng, [1000])
    in_threads(8, lambda index: torch.testing.assert_close(add(x, y, 32 << index % 4), x + y))


@triton.jit
def copy_kernel(x, y, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y + at, tl.load(x + at))


def test_a_kernel_that_gets_other_types_by_turns():
    """Signed and unsigned integers share a launcher, which keeps the last type that it saw."""

    def work(index):
        dtype = (torch.int32, torch.uint32)[index % 2]
        x = torch.arange(64).to(dtype)
        for _ in range(300):
            y = torch.zeros(64, dtype=torch.int32).to(dtype)
            compiled[(1, 1, 1)](x, y, 64)
            assert torch.equal(y.int(), x.int())

    x = torch.arange(64, dtype=torch.int32)
    compiled = copy_kernel[(1,)](x, x.clone(), 64)
    in_threads(6, work)


@triton.jit
def print_kernel(x, N: tl.constexpr):
    tl.device_print("x", tl.load(x + tl.arange(0, N)))


def test_prints_while_another_thread_replaces_stdout(monkeypatch):
    """Each line is in one of the files, whole."""
    files, stop = [io.StringIO()], threading.Event()
    monkeypatch.setattr(sys, "stdout", files[0])
    x = torch.full([16], 5)

    def replace():
        while not stop.wait(1e-4):
            files.append(io.StringIO())
            sys.stdout = files[-1]

    thread = threading.Thread(target=replace)
    thread.start()
    try:
        in_threads(4, lambda _: [print_kernel[(2,)](x, 16) for _ in range(10)])
    finally:
        stop.set()
        thread.join()
    lines = "".join(file.getvalue() for file in files).splitlines()
    assert len(lines) == 4 * 10 * 2 * 16
    assert all(line.endswith("x: 5") for line in lines)


def test_first_use_in_many_threads(tmp_path):
    """Of the package, its libraries and Triton's driver."""
    script = tmp_path / "first.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys, threading
            import torch, triton
            import triton.language as tl

            @triton.jit
            def double(x, N: tl.constexpr):
                at = tl.arange(0, N)
                tl.store(x + at, tl.load(x + at) * 2)

            results, start = [None] * 8, threading.Barrier(8)

            def work(index):
                start.wait()
                x = torch.arange(64.0)
                double[(1,)](x, 64)
                results[index] = torch.equal(x, torch.arange(64.0) * 2)

            threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert all(results), results
            """
        )
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif("t" not in sys.abiflags, reason="this Python has no free threads")
def test_the_package_does_not_ask_for_the_lock():
    """Triton's own library does (3.9.0): without PYTHON_GIL=0, Python gives all threads one lock when it is imported."""
    code = "import sys, tilebridge; tilebridge.describe_threads(); print(sys._is_gil_enabled())"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHON_GIL"}
    output = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert output.strip() == "False"
