# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TILEBRIDGE_CHECK=1: an access outside of all tensors is an error at its line; everything else is as before."""

import pytest
import torch
import triton
import triton.language as tl
from tilebridge import TilebridgeError

pytestmark = pytest.mark.compiled("the interpreter does not go through the backend")


@pytest.fixture(autouse=True)
def _checked(monkeypatch):
    monkeypatch.setenv("TILEBRIDGE_CHECK", "1")


def test_a_store_outside_names_its_line():
    @triton.jit
    def kernel(x, y, n, N: tl.constexpr):
        at = tl.program_id(0) * N + tl.arange(0, N)
        value = tl.load(x + at, mask=at < n)
        tl.store(y + at, value)  # the mask is missing

    x, y = torch.randn(100), torch.zeros(100)
    with pytest.raises(
        TilebridgeError, match=r"test_checked\.py:\d+:\d+: error: program \(3, 0, 0\) writes"
    ) as error:
        kernel[(4,)](x, y, 100, 32)
    line = int(str(error.value).split("test_checked.py:")[1].split(":")[0])
    text = open(__file__).read().splitlines()[line - 1]
    assert "the mask is missing" in text


def test_arguments_have_their_names():
    @triton.jit
    def kernel(N: tl.constexpr, x, one, y, part):
        at = tl.arange(0, N)
        value = tl.load(x + at * one)
        tl.store(part + at, value)
        tl.store(y + at, value)

    # Neither a constant nor an argument that is 1 counts among those of the compiled kernel.
    x, y, part = torch.randn(64), torch.zeros(63), torch.zeros(64)
    with pytest.raises(TilebridgeError, match="writes element 63 of the array of argument 'y'"):
        kernel[(1,)](64, x, 1, y, part)
    both = torch.zeros(63)
    with pytest.raises(
        TilebridgeError, match="element 63 of the array of arguments 'y' and 'part'"
    ):
        kernel[(1,)](64, x, 1, both, both)


def test_a_wild_pointer():
    @triton.jit
    def kernel(address, y):
        tl.store(y, tl.load(address.to(tl.int64).to(tl.pointer_type(tl.float32))))

    with pytest.raises(TilebridgeError, match="reads"):
        kernel[(1,)](4096, torch.zeros(1))


def test_addresses_in_memory():
    @triton.jit
    def kernel(addresses, y):
        at = tl.load(addresses + tl.program_id(0)).to(tl.pointer_type(tl.float32))
        tl.store(y + tl.program_id(0), tl.load(at + 1))

    tensors = [torch.randn(2), torch.randn(5)[2:]]
    addresses, y = torch.tensor([x.data_ptr() for x in tensors]), torch.zeros(2)
    kernel[(2,)](addresses, y)
    assert y.tolist() == [x[1].item() for x in tensors]
    with pytest.raises(TilebridgeError, match="in none of the arrays"):
        kernel[(2,)](addresses + (1 << 40), y)


def test_every_kind_of_argument():
    @triton.jit
    def kernel(x, out, pair, flag, small, real, N: tl.constexpr):
        at = tl.arange(0, N)
        value = tl.load(x + at).to(tl.float32) + pair[0] * pair[1] + real
        tl.store(out + at, tl.where(flag, value, value - small))

    x, out = torch.randn(16, dtype=torch.float16), torch.zeros(16)
    for flag in (True, False):
        kernel[(1,)](x, out, (3, 2.5), flag, -7, 0.5, 16)
        expected = x.float() + 7.5 + 0.5 + (0 if flag else 7)
        torch.testing.assert_close(out, expected)


def test_views_and_descriptors():
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def kernel(source, out, N: tl.constexpr):
        block = source.load([1, 0])
        tl.store(out + tl.arange(0, 2)[:, None] * N + tl.arange(0, N)[None, :], block)

    base, out = torch.randn(3, 8), torch.zeros(2, 8)
    kernel[(1,)](TensorDescriptor.from_tensor(base, [2, 8]), out, 8)
    assert torch.equal(out, base[1:])

    @triton.jit
    def before(x, y):
        tl.store(y, tl.load(x - 1))

    storage, y = torch.randn(4), torch.zeros(1)
    before[(1,)](storage[1:], y)  # still in the storage
    assert y[0] == storage[0]
    with pytest.raises(TilebridgeError, match="reads"):
        before[(1,)](storage, y)


def test_it_prints_and_asserts(capfd):
    @triton.jit
    def kernel(n):
        tl.device_print("n", n)
        tl.device_assert(n < 3, "too large")

    kernel[(1,)](2, debug=True)
    assert capfd.readouterr().out == "pid (0, 0, 0) idx () n: 2\n"
    with pytest.raises(AssertionError, match="too large"):
        kernel[(1,)](4, debug=True)
