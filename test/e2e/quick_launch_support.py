# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares launches without Triton's JIT with Triton's own."""

import pytest
import triton
import triton.language as tl
from tilebridge import _native
from tilebridge.triton_backend import quick


@pytest.fixture(autouse=True)
def in_place():
    quick.install()  # Else the first launch of the process does it.


def count() -> int:
    return _native.launcher().quick_launches()


def is_quick(call) -> bool:
    before = count()
    call()
    return count() == before + 1


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def check_like_triton(function, *arguments, grid=(1,), **options):
    """Triton's own way gives the same kernel, or the same exception."""
    found = outcome(lambda: function[grid](*arguments, **options))
    own = outcome(
        lambda: quick.triton_run(function, *arguments, grid=grid, warmup=False, **options)
    )
    assert found is own or (isinstance(own, tuple) and found == own)
    return found


def new(body, **options) -> triton.JITFunction:
    """The kernel with no launch behind it."""
    return triton.jit(body, **options)


def body(out, value, other=3, K: tl.constexpr = 4):
    tl.store(out, value)


def any_body(out, value, K: tl.constexpr = 4):
    tl.store(out, 1)


def add_body(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n)
    tl.store(out + at, total, mask=at < n)


def assert_body(out, value):
    tl.device_assert(value < 5, "too large")
    tl.store(out, value)
