# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the plugin turns Python values into the bits that a kernel gets, and what it refuses."""

from __future__ import annotations

import math
import struct
from collections import namedtuple

import numpy as np
import pytest
import torch
from tilebridge import _native
from triton.tools.tensor_descriptor import TensorDescriptor


def slots(types, *arguments):
    names = tuple(f"arg{i}" for i in range(len(types)))
    launcher = _native.launcher().Launcher("k", names, tuple(types))
    raw = launcher.slots(*arguments)
    assert len(raw) == 8 * launcher.slot_count
    return list(struct.unpack(f"<{len(raw) // 8}Q", raw))


def bits(value, dtype):
    tensor = torch.tensor([value], dtype=dtype)
    sizes = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    whole = tensor.view(sizes[tensor.element_size()]).item()
    return whole & ((1 << (8 * tensor.element_size())) - 1)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("fp16", torch.float16),
        ("bf16", torch.bfloat16),
        ("fp32", torch.float32),
        ("fp64", torch.float64),
    ],
)
@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -2.5, 1e-7, 3.14159, 65504.0, math.inf, 1e-30])
def test_floats_are_rounded_to_their_type(kind, dtype, value):
    assert slots([kind], value) == [bits(value, dtype)]


def test_numbers_of_other_classes():
    assert slots(["fp32", "i32", "fp32"], 3, np.int64(-1), np.float32(0.5)) == [
        bits(3.0, torch.float32),
        0xFFFFFFFF,
        bits(0.5, torch.float32),
    ]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("i1", True, 1),
        ("u1", False, 0),
        ("i1", 1, 1),
        ("u1", 2, 1),
        ("i1", -4, 1),
        ("i8", -1, 0xFF),
        ("u8", 255, 255),
        ("i16", -(1 << 15), 1 << 15),
        ("i32", -1, 0xFFFFFFFF),
        ("u32", (1 << 32) - 1, (1 << 32) - 1),
        ("i64", -1, (1 << 64) - 1),
        ("i64", 1 << 40, 1 << 40),
        ("u64", (1 << 64) - 1, (1 << 64) - 1),
    ],
)
def test_integers(kind, value, expected):
    assert slots([kind], value) == [expected]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("i8", 128),
        ("u8", -1),
        ("i32", 1 << 31),
        ("u32", -1),
        ("i64", 1 << 63),
        ("u64", -1),
    ],
)
def test_integers_that_do_not_fit(kind, value):
    with pytest.raises(ValueError, match=rf"argument 'arg0' \({kind}\) must fit its type"):
        slots([kind], value)


def test_pointers():
    x = torch.zeros(8)
    assert slots(["*fp32", "*kfp32", "*fp32", "*i64"], x, x[2:], None, 4096) == [
        x.data_ptr(),
        x.data_ptr() + 8,
        0,
        4096,
    ]
    flags = torch.zeros(8, dtype=torch.bool)
    assert slots(["*i1"], flags) == [flags.data_ptr()]


def test_any_object_with_data_ptr_is_a_tensor():
    class Wrapper:
        def __init__(self, array):
            self.array, self.dtype = array, array.dtype

        def data_ptr(self):
            return self.array.ctypes.data

    array = np.zeros(4, np.float64)
    assert slots(["*fp64"], Wrapper(array)) == [array.ctypes.data]
    with pytest.raises(TypeError, match="compiled for another type than float64"):
        slots(["*fp32"], Wrapper(array))


def test_an_object_that_says_it_is_on_a_gpu_is_refused():
    class Elsewhere:
        dtype, is_cuda = torch.float32, True

        def data_ptr(self):
            return 0x10000

    with pytest.raises(ValueError, match="on the device cuda"):
        slots(["*fp32"], Elsewhere())


def test_a_wrong_descriptor_is_named_without_its_elements():
    descriptor = TensorDescriptor.from_tensor(torch.zeros(64, 48), [16, 32])
    descriptor.shape = [64]
    with pytest.raises(TypeError, match=r"TensorDescriptor.*given was \[64\]") as failure:
        slots(["tensordesc<fp32[16, 32]>"], descriptor)
    assert len(str(failure.value)) < 400


def test_constants_and_tuples():
    Pair = namedtuple("Pair", ["a", "b"])
    x = torch.zeros(4)
    types = [("*fp32", ("i32", "constexpr")), "constexpr", ("constexpr", "i64"), ()]
    assert slots(types, Pair(x, (7, "any")), (1, 2), (None, -1), ()) == [
        x.data_ptr(),
        7,
        (1 << 64) - 1,
    ]


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_descriptors(padding):
    x = torch.zeros(64, 48)
    descriptor = TensorDescriptor.from_tensor(x, [16, 32], padding=padding)
    assert slots(["tensordesc<fp32[16, 32]>", "i32"], descriptor, 9) == [
        *(x.data_ptr(), 64, 48, 48, 1, int(padding == "nan")),
        *(64, 48, 48, 1),
        9,
    ]


def test_wrong_counts_name_the_arguments():
    with pytest.raises(TypeError, match=r"takes 3 arguments \(arg0, arg1, arg2\), given were 2"):
        slots(["*fp32", ("i32", "i32"), "i32"], None, (1, 2))
    with pytest.raises(TypeError, match=r"argument 'arg0' .* must be a tuple of as many elements"):
        slots([("i32", "i32")], (1,))
    with pytest.raises(TypeError, match=r"argument 'arg0\[1\]'"):
        slots([("i32", "i32")], (1, "two"))


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("*fp32", 1.5, "must be a tensor"),
        ("*fp32", "x", "must be a tensor"),
        ("i32", 1.5, "must be an integer"),
        ("i32", None, "must be an integer"),
        ("fp32", "x", "must be a number"),
        ("fp32", None, "must be a number"),
        ("tensordesc<fp32[4]>", 3, "must be a TensorDescriptor"),
    ],
)
def test_wrong_types_name_the_argument(kind, value, text):
    with pytest.raises(TypeError, match=f"kernel 'k': argument 'arg0' .*{text}"):
        slots([kind], value)


def test_descriptors_of_another_rank():
    x = torch.zeros(64, 48)
    with pytest.raises(TypeError, match="shape and strides"):
        slots(["tensordesc<fp32[16]>"], TensorDescriptor.from_tensor(x, [16, 16]))


def test_dtypes_are_checked():
    x = torch.zeros(8)
    for _ in range(2):
        assert slots(["*fp32"], x) == [x.data_ptr()]
        with pytest.raises(TypeError, match=r"argument 'arg0' \(\*fp32\) .* torch.float16"):
            slots(["*fp32"], x.half())
    # Signs are the kernel's business.
    slots(["*u8"], torch.zeros(8, dtype=torch.int8))
    slots(["*fp8e5", "*fp8e4nv"], x.to(torch.float8_e5m2), x.to(torch.float8_e4m3fn))


def test_tensors_elsewhere_are_refused():
    with pytest.raises(
        ValueError, match=r"argument 'arg0' \(\*fp32\) is a tensor on the device meta"
    ):
        slots(["*fp32"], torch.zeros(8, device="meta"))

    class OnGpu:
        device = torch.device("cuda:0")

    with pytest.raises(ValueError, match=r"on the device cuda:0; .*\.cpu\(\)"):
        slots(["*fp32"], OnGpu())


def test_unknown_types_are_refused():
    for kind in ("complex64", "i7", "*", "tensordesc<fp16>"):
        with pytest.raises(TypeError, match="which Tilebridge does not know"):
            slots([kind], 0)


def test_many_arguments():
    assert slots(["i64"] * 1000, *range(1000)) == list(range(1000))
