# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches without Triton's JIT: they are found again, by each way to launch, and keep nothing."""

import copy
import gc
import math
import sys
import threading
import weakref

import pytest
import torch
import triton
import triton.language as tl
from programs import output_of
from quick_launch_support import (
    add_body,
    any_body,
    assert_body,
    body,
    check_like_triton,
    count,
    in_place,  # noqa: F401
    is_quick,
    new,
    outcome,
)
from support import check_equal, normal, output
from tilebridge.triton_backend import quick
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled("has no JIT")
ENTRIES = 16  # QUICK_ENTRIES of Quick.h


GRIDS = [(4,), [4], (2, 2), (1, 2, 2), lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)]


@pytest.mark.parametrize("grid", GRIDS)
def test_launches_are_found_again(grid, rng):
    kernel, n = new(add_body), 100
    for again in range(4):
        x, y, out = (*torch.randn(2, 112, generator=rng)[:, :n].unbind(), torch.zeros(n))
        size = 32 if grid is not GRIDS[2] and grid is not GRIDS[3] else 128
        assert is_quick(lambda: kernel[grid](x, y, out, n, BLOCK=size)) == (again > 0)  # noqa: B023
        check_equal(out, x + y)


class Grid(tuple):
    def __len__(self):
        return 1


@pytest.mark.parametrize(
    "grid",
    [(), (1.5,), ("x",), 3, None, (2**70,), (-1,), Grid((1, 5)), (True,), torch.Size([1]), [1, 1, 1, 1], {0: 1}],
)  # fmt: skip
def test_odd_grids_are_as_with_triton(grid):
    kernel, out = new(body), torch.zeros(1)
    for _ in range(2):
        kernel[(1,)](out, 1)
        check_like_triton(kernel, out, 1, grid=grid)
        check_like_triton(kernel, out, 1, grid=lambda meta: grid)


def test_the_function_of_a_grid_gets_all_arguments_and_is_called_once():
    kernel, out, seen = new(body), torch.zeros(1), []

    def grid(meta):
        seen.append(dict(meta))
        return (1,)

    for _ in range(3):
        kernel[grid](out, 7)
    assert [list(each) for each in seen] == [["out", "value", "other", "K"]] * 3
    assert all(each["out"] is out and each["other"] == 3 and each["K"] == 4 for each in seen)

    def fails(meta):
        seen.append(None)
        raise KeyError("from the grid")

    del seen[:]
    with pytest.raises(KeyError, match="from the grid"):
        kernel[fails](out, 7)
    assert seen == [None]
    out.zero_()

    def writes(meta):
        meta["value"] = 9
        return (1,)

    assert is_quick(lambda: kernel[writes](out, 7))
    assert out[0] == 9


@pytest.mark.parametrize("function", [triton.cdiv, triton.next_power_of_2])
def test_constexpr_functions_outside_of_kernels(function):
    values = [
        (7, 2),
        (8, 2),
        (2**70, 3),
        (1, 0),
        (7,),
        (7, 2, 1),
        (),
        (True, 2),
        (7.0, 2),
        ("x", 1),
    ]
    values += [(tl.constexpr(7), 2), (tl.constexpr(7),), ([7],)]
    for given in values:
        own = outcome(lambda: quick.triton_constant(function, *given))  # noqa: B023
        found = outcome(lambda: function(*given))  # noqa: B023
        assert (type(found), found) == (type(own), own)
    named = {"n": 9} if function is triton.next_power_of_2 else {"x": 9, "y": 2}
    assert function(**named) == quick.triton_constant(function, **named)
    assert function(*named.values(), _semantic=None) == function(**named)
    assert isinstance(function(*named.values(), _semantic=1), tl.constexpr)


def test_warmup_launches_nothing():
    kernel, out = new(body), torch.zeros(1)
    for _ in range(2):
        kernel[(1,)](out, 7)
    out.zero_()
    before = count()
    kernel.warmup(out, 7, grid=(1,))
    kernel.run(out, 7, grid=(1,), warmup=True)
    assert out[0] == 0
    assert count() == before


def test_run_is_quick_as_well():
    kernel, out = new(body), torch.zeros(1)
    for again in range(3):
        call = lambda: kernel.run(out, 7, grid=(1,), warmup=False, num_warps=2)  # noqa: E731
        assert is_quick(call) == (again > 0)
    assert is_quick(lambda: kernel.run(out, 7, num_warps=2, warmup=False, grid=(1,)))
    assert is_quick(lambda: kernel[(1,)](out, 7, num_warps=2))


def test_autotune_and_heuristics(rng):
    configs = [triton.Config({"BLOCK": size}) for size in (16, 64)]
    tuned = triton.autotune(configs=configs, key=["n"])(new(add_body))
    guessed = triton.heuristics({"BLOCK": lambda given: triton.next_power_of_2(given["n"])})(
        new(add_body)
    )
    grid = lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)  # noqa: E731
    for kernel in (tuned, guessed):
        for again in range(3):
            x, y, out = normal(rng, [77]), normal(rng, [77]), output([77], torch.float32)
            before = count()
            kernel[grid](x, y, out, 77)
            assert count() > before or again == 0
            check_equal(out, x + y)


def test_assertions_of_kernels_are_errors_each_time():
    kernel, out = new(assert_body, debug=True), torch.zeros(1)
    kernel[(1,)](out, 3)
    before = count()
    for _ in range(3):
        with pytest.raises(Exception, match="too large"):
            kernel[(1,)](out, 7)
    assert count() == before + 3


def test_more_kinds_of_launches_than_are_kept():
    kernel, out = new(any_body), torch.zeros(1)
    for constant in range(2 * ENTRIES):
        kernel[(1,)](out, 2, K=constant)
    for constant in range(ENTRIES, 2 * ENTRIES):
        assert is_quick(lambda: kernel[(1,)](out, 2, K=constant))  # noqa: B023
    assert not is_quick(lambda: kernel[(1,)](out, 2, K=0))


def test_a_function_that_is_never_found_again_is_left_alone():
    kernel, out = new(any_body), torch.zeros(1)
    for constant in range(100):
        kernel[(1,)](out, 2, K=constant)
    for _ in range(2):
        assert not is_quick(lambda: kernel[(1,)](out, 2, K=99))


def test_threads(rng):
    kernel = new(add_body)
    cases = [
        (normal(rng, [n]), normal(rng, [n]), n, size) for n in (16, 17, 40) for size in (16, 64)
    ]
    wrong = []

    def work(seed):
        for i in range(300):
            x, y, n, size = cases[(i * seed) % len(cases)]
            out = torch.full([n], math.nan)
            kernel[(triton.cdiv(n, size),)](x, y, out, n, BLOCK=size)
            if not torch.equal(out, x + y):
                wrong.append((n, size))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 5, 7, 11)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def some_launches(kernel, out):
    text, grid = "some text for a constant", lambda meta: (1,)
    descriptor = TensorDescriptor.from_tensor(torch.ones(16, 16), [16, 16])

    def call():
        kernel[(1,)](out, 2**40 + 5, K=text)
        kernel[grid](out, 2.5, num_warps=2)
        kernel[(1,)](out, descriptor)

    return call, [text, grid, descriptor, descriptor.base]


def test_launches_keep_nothing():
    kernel, out = new(any_body), torch.zeros(1)
    call, things = some_launches(kernel, out)
    things += [kernel, out, kernel[(1,)](out, 2), tl.float32, kernel.__dict__]
    for _ in range(3):
        call()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in things]
    blocks = sys.getallocatedblocks()
    for _ in range(10000):
        call()
    gc.collect()
    assert [sys.getrefcount(thing) for thing in things] == before
    assert sys.getallocatedblocks() < blocks + 500


def test_functions_and_tensors_are_given_back():
    def launch():
        kernel, out = new(any_body), torch.zeros(1)
        for _ in range(3):
            some_launches(kernel, out)[0]()
        return weakref.ref(kernel), weakref.ref(out)

    gone = launch()
    new(any_body)  # Triton lists functions by name: this one takes the other's place.
    gc.collect()
    assert [each() for each in gone] == [None, None]


def test_a_copied_function_launches():
    kernel, out = new(body), torch.zeros(1)
    for _ in range(2):
        kernel[(1,)](out, 7)
    other = copy.copy(kernel)
    other[(1,)](out, 8)
    assert out[0] == 8
    assert copy.deepcopy(vars(kernel)["_tilebridge_launches"]) is None


def test_it_can_be_switched_off(tmp_path):
    text = """
        import torch, triton, triton.language as tl
        @triton.jit
        def kernel(out, value):
            tl.store(out, value)
        out = torch.zeros(1)
        for _ in range(3):
            kernel[(1,)](out, 7)
        from tilebridge import _native
        print(out.item(), type(triton.JITFunction.run).__name__, _native.launcher().quick_launches())
    """
    # The first launch puts it in place, the second one is recorded.
    assert output_of(tmp_path, text).split() == ["7.0", "method_descriptor", "1"]
    off = output_of(tmp_path, text, TILEBRIDGE_QUICK_LAUNCH="0")
    assert off.split() == ["7.0", "function", "0"]
    checked = output_of(tmp_path, text, TILEBRIDGE_CHECK="1")
    assert checked.split() == ["7.0", "function", "0"]


def test_pytorch_that_is_imported_later(tmp_path):
    text = """
        import numpy, triton, triton.language as tl
        @triton.jit
        def kernel(out, value, K: tl.constexpr):
            tl.store(out, value)
        class Array:
            def __init__(self, data):
                self.data, self.dtype = data, data.dtype
            def data_ptr(self):
                return self.data.ctypes.data
        out = Array(numpy.zeros(1, numpy.float32))
        kernel[(1,)](out, 7, 1)
        kernel[(1,)](out, 7, 1)
        import torch
        out = torch.zeros(1)
        for K in (2, 2, 2):  # The first one makes a launcher, the second is recorded.
            kernel[(1,)](out, 7, K)
        from tilebridge import _native
        print(out.item(), _native.launcher().quick_launches())
    """
    # Triton 3.7 imports PyTorch itself: there the first of them is recorded.
    assert output_of(tmp_path, text).split() in (["7.0", "1"], ["7.0", "2"])
