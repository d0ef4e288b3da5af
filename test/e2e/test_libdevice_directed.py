# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic, roots and casts of tl.extra.libdevice that round down, up or towards zero."""

from fractions import Fraction

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from libdevice_support import call, hard_numbers
from triton.language.extra import libdevice
from triton.language.extra.cuda import libdevice as cuda_libdevice

pytestmark = pytest.mark.compiled("the interpreter has no external functions")


def neighbours(exact, np_type):
    """The floats next to an exact number, below and above (equal if it is one)."""
    largest = Fraction(float(np.finfo(np_type).max))
    inf = np_type(np.inf)
    if exact > largest:
        return np.finfo(np_type).max, inf
    if exact < -largest:
        return -inf, np.finfo(np_type).min
    near = np_type(float(exact))
    if not np.isfinite(near):
        near = np.finfo(np_type).max if near > 0 else np.finfo(np_type).min
    with np.errstate(all="ignore"):
        while Fraction(float(near)) > exact:
            near = np.nextafter(near, -inf)
        while Fraction(float(np.nextafter(near, inf))) <= exact and np.isfinite(
            np.nextafter(near, inf)
        ):
            near = np.nextafter(near, inf)
    if Fraction(float(near)) == exact:
        return near, near
    return near, np.nextafter(near, inf)


def is_directed(got, below, above, mode, exact):
    if mode == "rd":
        return got == below
    if mode == "ru":
        return got == above
    return got == (below if exact >= 0 else above)


EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y if y else None,
    "rcp": lambda x: 1 / x if x else None,
    "fma": lambda x, y, z: x * y + z,
}


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("operation", list(EXACT))
@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_directed_arithmetic(operation, mode, np_type):
    rng = np.random.default_rng(7)
    arity = EXACT[operation].__code__.co_argcount
    operands = [hard_numbers(rng, np_type, 300) for _ in range(arity)]
    result = torch.float32 if np_type == np.float32 else torch.float64
    tensors = [torch.from_numpy(x) for x in operands]
    got = call(cuda_libdevice, f"{operation}_{mode}", tensors, result).numpy()
    for i, value in enumerate(got):
        arguments = [Fraction(float(x[i])) for x in operands]
        exact = EXACT[operation](*arguments)
        if exact is None:
            continue
        below, above = neighbours(exact, np_type)
        assert is_directed(value, below, above, mode, exact), (
            operation,
            mode,
            [x[i] for x in operands],
            value,
        )


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_directed_root(mode, np_type):
    x = np.abs(hard_numbers(np.random.default_rng(8), np_type, 300))
    result = torch.float32 if np_type == np.float32 else torch.float64
    got = call(cuda_libdevice, f"sqrt_{mode}", [torch.from_numpy(x)], result).numpy()
    for argument, root in zip(x, got, strict=True):
        exact, square = Fraction(float(argument)), Fraction(float(root)) ** 2
        if mode == "ru":
            before = Fraction(float(np.nextafter(root, np_type(0)))) ** 2
            assert square >= exact
            assert before < exact or root == 0
        else:
            after = Fraction(float(np.nextafter(root, np_type(np.inf)))) ** 2
            assert square <= exact < after


@pytest.mark.parametrize("mode", ["rd", "ru", "rz"])
@pytest.mark.parametrize("source", ["double", "int", "uint", "ll", "ull"])
@pytest.mark.parametrize("target", ["float", "double"])
def test_directed_casts(source, target, mode):
    if target == "double" and source in ("double", "int", "uint"):
        pytest.skip("is exact")
    rng = np.random.default_rng(9)
    width = 64 if source in ("ll", "ull") else 32
    if source == "double":
        operand = hard_numbers(rng, np.float64, 300)
        operand[:50] = hard_numbers(rng, np.float32, 50).astype(np.float64) * 1.0000001
        exact = [Fraction(float(v)) for v in operand]
    else:
        operand = rng.integers(-(2 ** (width - 1)), 2 ** (width - 1), 300, dtype=np.int64)
        operand >>= rng.integers(0, width - 1, 300)
        operand[:3] = [0, -1, 1]
        exact = [Fraction(int(v) % 2**width if source.startswith("u") else int(v)) for v in operand]
        operand = operand.astype(np.int32 if width == 32 else np.int64)
    np_type = np.float32 if target == "float" else np.float64
    result = torch.float32 if target == "float" else torch.float64
    tensor = torch.from_numpy(operand)
    name = f"{source}2{target}_{mode}"
    kind = f"uint{width}" if source.startswith("u") else None
    got = call(cuda_libdevice, name, [tensor], result, [kind]).numpy()
    for value, number in zip(got, exact, strict=True):
        below, above = neighbours(number, np_type)
        assert is_directed(value, below, above, mode, number), (name, number, value)
        assert number != 0 or source == "double" or not np.signbit(value)


def test_sums_are_not_fused():
    """add_rn and mul_rn round each, whatever is around them."""

    @triton.jit
    def kernel(x, y, z, out, N: tl.constexpr):
        at = tl.arange(0, N)
        product = libdevice.mul_rn(tl.load(x + at), tl.load(y + at))
        tl.store(out + at, libdevice.add_rn(product, tl.load(z + at)))

    x, y = torch.randn(256), torch.randn(256)
    z = -(x * y)
    out = torch.ones(256)
    kernel[(1,)](x, y, z, out, 256)
    assert torch.equal(out, torch.zeros(256))
