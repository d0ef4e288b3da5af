# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Triton heeds besides the arguments of a launch: hooks, knobs, globals, caches, drivers."""

import pytest
import torch
import triton
import triton.language as tl
from quick_launch_support import (
    assert_body,
    body,
    check_like_triton,
    in_place,  # noqa: F401
    is_quick,
    new,
)
from triton import knobs

pytestmark = pytest.mark.compiled("has no JIT")


def test_hooks_are_called(monkeypatch):
    kernel, out, seen = new(body), torch.zeros(1), []
    call = lambda: kernel[(1,)](out, 7)  # noqa: E731
    call()
    assert is_quick(call)
    enter = lambda metadata: seen.append(("enter", metadata.get()["name"]))  # noqa: E731
    leave = lambda metadata: seen.append(("exit", metadata.get()["name"]))  # noqa: E731
    for chain, hook in (("launch_enter_hook", enter), ("launch_exit_hook", leave)):
        getattr(knobs.runtime, chain).add(hook)
        assert not is_quick(call)
        getattr(knobs.runtime, chain).remove(hook)
        assert is_quick(call)
        with knobs.runtime.scope():
            setattr(knobs.runtime, chain, hook)
            assert not is_quick(call)
        assert is_quick(call)
    assert seen == [("enter", "body")] * 2 + [("exit", "body")] * 2
    kernel.add_pre_run_hook(lambda *arguments, **options: seen.append(arguments))
    assert not is_quick(call)
    assert seen[-1] == (out, 7)


def test_a_hook_that_the_grid_adds_is_called():
    kernel, out, seen = new(body), torch.zeros(1), []
    hook = lambda metadata: seen.append(metadata.get()["name"])  # noqa: E731

    def grid(meta):
        knobs.runtime.launch_enter_hook.add(hook)
        return (1,)

    kernel[(1,)](out, 7)
    try:
        kernel[grid](out, 7)
    finally:
        knobs.runtime.launch_enter_hook.remove(hook)
    assert seen == ["body"]


def test_debug_that_is_set_later():
    kernel, out = new(assert_body), torch.zeros(1)
    for _ in range(2):
        kernel[(1,)](out, 7)
    with knobs.runtime.scope():
        knobs.runtime.debug = True
        for _ in range(2):
            with pytest.raises(Exception, match="too large"):
                kernel[(1,)](out, 7)
        check_like_triton(kernel, out, 3)
    kernel[(1,)](out, 7)
    kernel.debug = True
    for _ in range(3):
        with pytest.raises(Exception, match="too large"):
            kernel[(1,)](out, 7)
    assert out[0] == 7
    kernel[(1,)](out, 3)
    assert is_quick(lambda: kernel[(1,)](out, 3))
    with pytest.raises(Exception, match="too large"):
        kernel[(1,)](out, 7)


def test_the_environment_behind_knobs(monkeypatch):
    """Where a knob is read at each launch, so is its variable."""
    kernel, out = new(body), torch.zeros(1)
    call = lambda: kernel[(1,)](out, 7)  # noqa: E731
    call()
    for name in ("TRITON_DEBUG", "TRITON_INSTRUMENTATION_MODE", "TRITON_FPSAN_HOMOMORPHIC_CASTS"):
        monkeypatch.setenv(name, "1")
        check_like_triton(kernel, out, 7)
        monkeypatch.delenv(name)
        check_like_triton(kernel, out, 7)
    call()
    assert is_quick(call)


CONSTANT = tl.constexpr(3)


def global_body(out):
    tl.store(out, CONSTANT)


def test_changed_globals_are_errors():
    kernel, out = new(global_body), torch.zeros(1)
    names = kernel.__globals__
    kernel[(1,)](out)
    assert is_quick(lambda: kernel[(1,)](out))
    names["CONSTANT"] = tl.constexpr(4)
    try:
        with pytest.raises(RuntimeError, match="Global variable CONSTANT has changed"):
            kernel[(1,)](out)
        names["CONSTANT"] = tl.constexpr(3)
        kernel[(1,)](out)
        names["CONSTANT"].value = 5
        with pytest.raises(RuntimeError, match="Global variable CONSTANT has changed"):
            kernel[(1,)](out)
    finally:
        names["CONSTANT"] = CONSTANT
    assert out[0] == 3


DTYPE = tl.float16


def dtype_body(out):
    tl.store(out, tl.full([], 1 / 3, DTYPE))


def test_changed_globals_that_are_no_constexprs_are_errors(monkeypatch):
    kernel, out = new(dtype_body), torch.zeros(1)
    kernel[(1,)](out)
    assert is_quick(lambda: kernel[(1,)](out))
    monkeypatch.setitem(kernel.__globals__, "DTYPE", tl.float32)
    with pytest.raises(RuntimeError, match="Global variable DTYPE has changed"):
        kernel[(1,)](out)
    monkeypatch.delitem(kernel.__globals__, "DTYPE")
    with pytest.raises(RuntimeError, match="Global variable DTYPE has changed"):
        kernel[(1,)](out)


def test_cleared_caches_compile_again():
    kernel, out = new(body), torch.zeros(1)
    for _ in range(2):
        before = kernel[(1,)](out, 7)
    kernel.device_caches["cpu"][0].clear()
    after = kernel[(1,)](out, 7)
    assert after is not before
    assert kernel[(1,)](out, 7) is after
    kernel.device_caches.clear()
    last = kernel[(1,)](out, 7)
    assert last is not after
    assert is_quick(lambda: kernel[(1,)](out, 7))


def test_another_driver_is_asked(monkeypatch):
    from triton.runtime import driver

    kernel, out = new(body), torch.zeros(1)
    for _ in range(2):
        kernel[(1,)](out, 7)

    class Driver(type(driver.active)):
        def get_current_device(self):
            raise RuntimeError("another driver")

    ours = driver.active
    driver.set_active(Driver())
    try:
        with pytest.raises(RuntimeError, match="another driver"):
            kernel[(1,)](out, 7)
    finally:
        driver.set_active(ours)
    assert is_quick(lambda: kernel[(1,)](out, 7))


def test_a_launcher_that_is_replaced_is_called():
    kernel, out, seen = new(body), torch.zeros(1), []
    compiled = kernel[(1,)](out, 7)
    own = compiled.run
    compiled._run = lambda *arguments: seen.append(arguments)
    kernel[(1,)](out, 7)
    assert len(seen) == 1
    compiled._run = own
    kernel[(1,)](out, 7)
    assert is_quick(lambda: kernel[(1,)](out, 7))
    assert len(seen) == 1


def test_run_that_is_replaced_is_called(monkeypatch):
    kernel, out = new(body), torch.zeros(1)
    start = kernel[(1,)]
    for _ in range(2):
        start(out, 7)
    kernel.run = lambda *arguments, **options: ("own", options["grid"])
    assert start(out, 7) == ("own", (1,)) == kernel[(1,)](out, 7)
    del kernel.run
    assert is_quick(lambda: start(out, 7))
    own = triton.JITFunction.run
    monkeypatch.setattr(triton.JITFunction, "run", lambda self, *_, **options: options["warmup"])
    assert start(out, 7) is False
    monkeypatch.setattr(triton.JITFunction, "run", own)
    assert is_quick(lambda: start(out, 7))
