# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What programs and tests take for granted of a backend of Triton, beside right numbers."""

from __future__ import annotations

import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.compiled("about the backend")


@triton.jit
def unrolled_kernel(Out, FACTOR: tl.constexpr):
    pid = tl.program_id(0)
    for i in tl.range(0, 10, loop_unroll_factor=FACTOR):
        tl.atomic_add(Out + pid, i + 1)


@pytest.mark.parametrize("factor", [1, 2, 4, 7])
def test_loops_are_unrolled_as_asked(factor):
    out = torch.zeros(3, dtype=torch.int32)
    kernel = unrolled_kernel[(3,)](out, factor)
    assert out.tolist() == [55] * 3
    # A rest that does not fill a turn is a loop of its own.
    assert kernel.asm["ttir"].count("tt.atomic_rmw") == factor + (10 % factor != 0)


@triton.jit
def sum_kernel(X, Out, N: tl.constexpr):
    tl.store(Out, tl.sum(tl.load(X + tl.arange(0, N))))


@triton.jit
def copy_kernel(X, Out, N: tl.constexpr):
    offsets = tl.arange(0, N)
    tl.store(Out + offsets, tl.load(X + offsets))


def test_shared_memory_is_not_zero_where_threads_would_exchange_values():
    x, out = torch.rand(64), torch.empty(64)
    assert sum_kernel[(1,)](x, out, 64).metadata.shared > 0
    assert copy_kernel[(1,)](x, out, 64).metadata.shared == 0


def test_the_device_is_called_as_torch_calls_it():
    copy_kernel[(1,)](torch.rand(32), torch.empty(32), 32)
    assert copy_kernel.device_caches[torch.cpu.current_device()][0]


def test_no_external_libraries():
    x, out = torch.rand(16), torch.empty(16)
    copy_kernel[(1,)](x, out, 16, extern_libs={})
    assert torch.equal(out, x)


@triton.jit(noinline=True)
def store_one_more(Out, value):
    tl.store(Out, value + 1)


@triton.jit
def calling_kernel(Out, value):
    store_one_more(Out, value)
    tl.store(Out + 1, tl.sum(tl.arange(0, 16)))


def test_kernels_without_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_DISABLE_LINE_INFO", "1")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))  # which does not tell such kernels apart
    out = torch.zeros(2, dtype=torch.int32)
    kernel = calling_kernel[(1,)](out, 41)
    assert out.tolist() == [42, 120]
    assert "test_conventions.py" not in kernel.asm["ttir"]


def test_a_stream_can_be_set_on_the_device_that_triton_names():
    device = triton.runtime.driver.active.get_active_torch_device()
    assert device == torch.device("cpu")
    module = getattr(torch, device.type)
    module.set_stream(module.Stream())


@triton.jit
def add_kernel(X, Y, Out):
    tl.store(Out, tl.load(X) + tl.load(Y))


def test_integers_that_overflow_are_an_error_in_debug_mode():
    x = torch.tensor([2**31 - 1], dtype=torch.int32)
    out = torch.zeros_like(x)
    add_kernel[(1,)](x, x, out)
    assert out.item() == -2
    add_kernel[(1,)](x, -x, out, debug=True)
    assert out.item() == 0
    with pytest.raises(RuntimeError, match=r"device-side assert.*overflow"):
        add_kernel[(1,)](x, x, out, debug=True)
