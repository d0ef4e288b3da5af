# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers, bits and the parts of floats in tl.extra.libdevice, against exact arithmetic."""

import math
import struct

import numpy as np
import pytest
import torch
from libdevice_support import call, hard_numbers
from triton.language.extra.cuda import libdevice as cuda_libdevice

pytestmark = pytest.mark.compiled("the interpreter has no external functions")


def as_signed(value, width=32):
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


def low24(value):
    return as_signed(value % (1 << 24), 24)


def permute(x, y, selector):
    both = (y % 2**32) << 32 | x % 2**32
    return sum(((both >> 8 * (selector >> 4 * i & 7)) & 0xFF) << 8 * i for i in range(4))


INTEGER_FUNCTIONS = {
    "clz": (1, lambda x: 32 - (x % 2**32).bit_length()),
    "popc": (1, lambda x: (x % 2**32).bit_count()),
    "ffs": (1, lambda x: (x & -x).bit_length()),
    "brev": (1, lambda x: int(f"{x % 2**32:032b}"[::-1], 2)),
    "abs": (1, abs),
    "byte_perm": (3, permute),
    "mulhi": (2, lambda x, y: x * y >> 32),
    "mul24": (2, lambda x, y: low24(x) * low24(y)),
    "sad": (3, lambda x, y, z: abs(x - y) + z),
    "hadd": (2, lambda x, y: (x + y) >> 1),
    "rhadd": (2, lambda x, y: (x + y + 1) >> 1),
}


@pytest.mark.parametrize("name", INTEGER_FUNCTIONS)
def test_integers(name):
    arity, exact = INTEGER_FUNCTIONS[name]
    rng = np.random.default_rng(3)
    operands = [rng.integers(-(2**31), 2**31, 500, dtype=np.int64) for _ in range(arity)]
    for x in operands:
        x[:100] >>= rng.integers(0, 32, 100)
        x[100:104] = [0, -1, -(2**31), 2**31 - 1]
    tensors = [torch.from_numpy(x).to(torch.int32) for x in operands]
    kinds = (None, None, "uint32") if name == "sad" else ()
    got = call(cuda_libdevice, name, tensors, torch.int32, kinds)
    for i, value in enumerate(got.tolist()):
        arguments = [int(x[i]) for x in operands]
        assert as_signed(value) == as_signed(exact(*arguments)), (name, arguments)


@pytest.mark.parametrize("name", ["clz", "popc", "ffs", "brev", "mulhi"])
def test_integers_of_64_bits(name):
    exact = {
        "clz": lambda x: 64 - (x % 2**64).bit_length(),
        "popc": lambda x: (x % 2**64).bit_count(),
        "ffs": lambda x: (x & -x).bit_length(),
        "brev": lambda x: int(f"{x % 2**64:064b}"[::-1], 2),
        "mulhi": lambda x, y: x * y >> 64,
    }[name]
    rng = np.random.default_rng(4)
    operands = [
        rng.integers(-(2**63), 2**63, 200, dtype=np.int64)
        for _ in range(exact.__code__.co_argcount)
    ]
    operands[0][:4] = [0, -1, -(2**63), 2**63 - 1]
    result = torch.int64 if name in ("brev", "mulhi") else torch.int32
    got = call(cuda_libdevice, name, [torch.from_numpy(x) for x in operands], result)
    for i, value in enumerate(got.tolist()):
        assert as_signed(value, 64) == as_signed(exact(*(int(x[i]) for x in operands)), 64)


SPECIAL = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    5e-324,
    -5e-324,
    1e-310,
    1e38,
    2.0**-1022,
    math.inf,
    -math.inf,
    math.nan,
    0.1,
    -3.7,
]


@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_parts_of_floats(np_type):
    tiny = 1e-45 if np_type == np.float32 else 5e-324
    x = np.array([*SPECIAL, tiny, -tiny, 1e-40, 3.0, -8.0], dtype=np_type)
    x = np.concatenate([x, hard_numbers(np.random.default_rng(5), np_type, 200)])
    dtype = torch.float32 if np_type == np.float32 else torch.float64
    tensor = torch.from_numpy(x)
    logb = call(cuda_libdevice, "logb", [tensor], dtype).numpy()
    ilogb = call(cuda_libdevice, "ilogb", [tensor], torch.int32).numpy()
    signs = call(cuda_libdevice, "signbit", [tensor], torch.int32).numpy()
    assert (signs != 0).tolist() == np.signbit(x).tolist()
    for value, real, integer in zip(x, logb, ilogb, strict=True):
        if np.isnan(value):
            assert np.isnan(real)
            assert integer == -(2**31)
        elif value == 0:
            assert real == -np.inf
            assert integer == -(2**31)
        elif np.isinf(value):
            assert real == np.inf
            assert integer == 2**31 - 1
        else:
            assert real == integer == math.frexp(float(value))[1] - 1


@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_scaling(np_type):
    rng = np.random.default_rng(6)
    x = np.concatenate([np.array(SPECIAL, dtype=np_type), hard_numbers(rng, np_type, 2000)])
    n = rng.integers(-1200, 1200, len(x)).astype(np.int32)
    n[:40] = rng.choice([0, 1, -1, 2**31 - 1, -(2**31)], 40)
    dtype = torch.float32 if np_type == np.float32 else torch.float64
    for name in ("ldexp", "scalbn"):
        got = call(cuda_libdevice, name, [torch.from_numpy(x), torch.from_numpy(n)], dtype).numpy()
        with np.errstate(all="ignore"):
            expected = np.ldexp(x, np.clip(n, -5000, 5000))
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


@pytest.mark.parametrize("np_type", [np.float32, np.float64])
def test_next_after(np_type):
    rng = np.random.default_rng(6)
    x = np.concatenate(
        [np.repeat(np.array(SPECIAL, dtype=np_type), 14), hard_numbers(rng, np_type, 200)]
    )
    y = np.concatenate(
        [np.tile(np.array(SPECIAL, dtype=np_type), 14), hard_numbers(rng, np_type, 200)]
    )
    dtype = torch.float32 if np_type == np.float32 else torch.float64
    got = call(
        cuda_libdevice, "nextafter", [torch.from_numpy(x), torch.from_numpy(y)], dtype
    ).numpy()
    with np.errstate(all="ignore"):
        expected = np.nextafter(x, y)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(
        np.signbit(got)[~np.isnan(got)], np.signbit(expected)[~np.isnan(got)]
    )


def test_bits_of_doubles():
    x = torch.from_numpy(hard_numbers(np.random.default_rng(1), np.float64, 100))
    high = call(cuda_libdevice, "double2hiint", [x], torch.int32)
    low = call(cuda_libdevice, "double2loint", [x], torch.int32)
    for value, h, l in zip(x.tolist(), high.tolist(), low.tolist(), strict=True):  # noqa: E741
        assert struct.pack("<d", value) == struct.pack("<ii", l, h)
    assert call(cuda_libdevice, "hiloint2double", [high, low], torch.float64).tolist() == x.tolist()
