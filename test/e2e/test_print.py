# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tl.device_print: Triton's format, for every type, and whole lines from programs that run at once."""

import re
import subprocess
import sys
import textwrap

import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.compiled("the interpreter prints in a format of its own")


@triton.jit
def block_kernel(x, N: tl.constexpr, HEX: tl.constexpr):
    tl.device_print("x", tl.load(x + tl.arange(0, N)), hex=HEX)


def lines(capfd):
    return [line for line in capfd.readouterr().out.splitlines() if line]


TYPES = [
    (torch.int8, "-5", "0xfb"),
    (torch.int16, "-5", "0xfffb"),
    (torch.int32, "-5", "0xfffffffb"),
    (torch.int64, "-5", "0xfffffffffffffffb"),
    (torch.uint8, "251", "0xfb"),
    (torch.float16, "-5.000000", "-0x1.4p+2"),
    (torch.bfloat16, "-5.000000", "-0x1.4p+2"),
    (torch.float32, "-5.000000", "-0x1.4p+2"),
    (torch.float64, "-5.000000", "-0x1.4p+2"),
]


@pytest.mark.parametrize(("dtype", "decimal", "hexadecimal"), TYPES)
def test_types(dtype, decimal, hexadecimal, capfd):
    x = torch.full([16], 251 if dtype == torch.uint8 else -5).to(dtype)
    for is_hex, text in ((False, decimal), (True, hexadecimal)):
        block_kernel[(1,)](x, 16, is_hex)
        expected = [f"pid (0, 0, 0) idx ({i:2}) x: {text}" for i in range(16)]
        assert sorted(lines(capfd)) == sorted(expected)


def test_special_floats(capfd):
    x = torch.tensor([float("inf"), -float("inf"), float("nan"), -0.0])
    block_kernel[(1,)](x, 4, False)
    assert [line.split(": ")[1].lstrip("-") for line in lines(capfd)] == [
        "inf",
        "inf",
        "nan",
        "0.000000",
    ]


def test_kinds_of_values(capfd):
    @triton.jit
    def kernel(x, n, N: tl.constexpr):
        at = tl.arange(0, N)
        tl.device_print("several", tl.load(x + at), n, x + at, x)
        tl.device_print("two", tl.load(x + at[:, None] * 2 + tl.arange(0, 2)[None, :]))
        print("nothing")
        tl.device_print("flag", n > 3)

    x = torch.arange(8, dtype=torch.int32)
    kernel[(1,)](x, 5, 4)
    out = lines(capfd)
    assert out[0] == "pid (0, 0, 0) idx (0) several: (operand 0) 0"
    assert out[4] == "pid (0, 0, 0) idx () several: (operand 1) 5"
    for i in range(4):
        address = f"0x{x.data_ptr() + 4 * i:016x}"
        assert out[5 + i] == f"pid (0, 0, 0) idx ({i}) several: (operand 2) {address}"
    assert out[9] == f"pid (0, 0, 0) idx () several: (operand 3) 0x{x.data_ptr():016x}"
    assert out[10:18] == [
        f"pid (0, 0, 0) idx ({i}, {j}) two: {2 * i + j}" for i in range(4) for j in range(2)
    ]
    assert out[18:] == ["pid (0, 0, 0) nothing", "pid (0, 0, 0) idx () flag: 1"]


def test_a_scalar_is_printed_once_a_warp(capfd):
    @triton.jit
    def kernel(x, N: tl.constexpr):
        tl.device_print("block", tl.load(x + tl.arange(0, N)))
        tl.device_print("scalar", tl.load(x))

    x = torch.arange(4, dtype=torch.int32)
    for warps in (1, 4):
        kernel[(1,)](x, 4, num_warps=warps)
        out = lines(capfd)
        assert len(out) == 4 + warps
        assert out[4:] == ["pid (0, 0, 0) idx () scalar: 0"] * warps


def test_lines_of_many_programs_are_whole(capfd):
    @triton.jit
    def kernel(x, N: tl.constexpr):
        tl.device_print("a rather long prefix to be torn apart", tl.load(x + tl.arange(0, N)))

    torch.set_num_threads(max(2, torch.get_num_threads()))
    kernel[(8, 4, 2)](torch.arange(16, dtype=torch.int32), 16)
    out = lines(capfd)
    form = re.compile(
        r"pid \((\d+), (\d+), (\d+)\) idx \(([ \d]{2})\) a rather long prefix to be torn apart: (\d+)"
    )
    found = [form.fullmatch(line) for line in out]
    assert all(found)
    assert len({m.groups() for m in found}) == len(found) == 64 * 16
    assert all(int(m[4]) == int(m[5]) for m in found)


def test_percent_signs_are_text(capfd):
    @triton.jit
    def kernel(n):
        tl.device_print("100% %s %n", n)

    kernel[(1,)](7)
    assert lines(capfd) == ["pid (0, 0, 0) idx () 100% %s %n: 7"]


def test_it_is_written_before_the_process_ends_badly(tmp_path):
    """Lines of a launch are out when it returns, also where standard output is a pipe and nobody flushes."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            import os, triton, triton.language as tl

            @triton.jit
            def kernel(n):
                tl.device_print("value", n)

            kernel[(2,)](41)
            os._exit(3)
        """)
    )
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert sorted(done.stdout.splitlines()) == [
        f"pid ({i}, 0, 0) idx () value: 41" for i in range(2)
    ]
