# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments of launches without Triton's JIT: nothing but time tells them from Triton's own."""

import itertools
import math

import pytest
import torch
import triton
import triton.language as tl
from quick_launch_support import (
    add_body,
    any_body,
    body,
    check_like_triton,
    count,
    in_place,  # noqa: F401
    is_quick,
    new,
    outcome,
)
from support import check_equal, normal, output
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled("has no JIT")


INTEGERS = [0, 1, 2, 3, 15, 16, 17, 32, -1, -16, -17, 2**31 - 1, 2**31, 2**31 + 16, -(2**31)]
INTEGERS += [-(2**31) - 1, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, -(2**63)]


@pytest.mark.parametrize("unspecialized", [(), ("value",)])
@pytest.mark.parametrize("values", [INTEGERS, [True, False, 1, 0], [1.0, 0.5, math.inf, math.nan]])
def test_numbers(values, unspecialized):
    kernel = new(body, do_not_specialize=list(unspecialized))
    is_float = isinstance(values[0], float)
    out = torch.zeros(1, dtype=torch.float64 if is_float else torch.int64)
    for value in values * 3:
        check_like_triton(kernel, out, value)
        kernel[(1,)](out, value)
        expected = value if is_float else int(value) - (2**64 if value >= 2**63 else 0)
        check_equal(out, torch.tensor([expected], dtype=out.dtype))
    assert is_quick(lambda: kernel[(1,)](out, values[-1]))


def test_too_large_integers_are_refused_as_before():
    kernel, out = new(body), torch.zeros(1, dtype=torch.int64)
    for value in (2**64, -(2**63) - 1, 2**63 - 1, 2**64) * 2:
        check_like_triton(kernel, out, value)


def typed_body(out, value: tl.int8):
    tl.store(out, value)


def test_annotated_types_are_checked():
    kernel, out = new(typed_body), torch.zeros(1, dtype=torch.int64)
    for value in (3, 100, 5, 300, 7, -200):
        check_like_triton(kernel, out, value)


KINDS = [
    1, True, 1.0, 0, False, 0.0, -0.0, 16, 2**31, None, math.nan, tl.float32, tl.int32,
    torch.ones(4), torch.ones(5)[1:], torch.ones(4, dtype=torch.int32), torch.nn.Parameter(torch.ones(4)),
    torch.ones(4, dtype=torch.float16), torch.ones(4, dtype=torch.bfloat16), torch.ones(0), torch.ones(4, device="meta"),
    "a", (1, 2), (torch.ones(4), 1), [1], tl.constexpr(1), object(),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_any_kinds_in_any_order_are_as_with_triton(seed, rng):
    """Each may come after each, so an entry that matches too much would show."""
    kernel, out = new(any_body), torch.zeros(1)
    for i in torch.randint(len(KINDS), [150], generator=torch.Generator().manual_seed(seed)):
        check_like_triton(kernel, out, KINDS[i])


CONSTANTS = [1, True, 1.0, 0, False, 0.0, -0.0, None, "a", "b", "1", tl.float32, tl.float16, 16, -1]


def test_constants_in_any_order_are_as_with_triton():
    kernel, out = new(any_body), torch.zeros(1)
    for first, second in itertools.product(CONSTANTS, repeat=2):
        for constant in (first, second):
            check_like_triton(kernel, out, 1, K=constant)


def test_each_constant_is_found_again():
    kernel, out = new(any_body), torch.zeros(1)
    for constant in (1, True, 1.5, None, "text", tl.float32):
        kernel[(1,)](out, 1, constant)
        assert is_quick(lambda: kernel[(1,)](out, 1, constant))  # noqa: B023


def test_equal_texts_need_not_be_the_same_object():
    kernel, out = new(any_body), torch.zeros(1)
    kernel[(1,)](out, 1, K="relu and more")
    assert is_quick(lambda: kernel[(1,)](out, 1, K="".join(["relu", " and more"])))
    options = {"".join(["nu", "m_warps"]): 2}
    kernel[(1,)](out, 1, **options)
    assert is_quick(lambda: kernel[(1,)](out, 1, num_warps=2))


def test_options_and_the_order_of_keywords():
    kernel, out = new(body), torch.zeros(1)
    calls = [
        {},
        {"num_warps": 2},
        {"num_warps": 8},
        {"num_warps": 2, "num_stages": 3},
        {"num_stages": 3, "num_warps": 2},
        {"K": 4},
        {"K": 4, "other": 3},
        {"other": 3, "K": 4},
        {"other": 1},
        {"debug": True},
        {"debug": False},
    ]
    for options in calls * 3:
        check_like_triton(kernel, out, 2, **options)
    assert is_quick(lambda: kernel[(1,)](out, 2, num_warps=8))
    before = count()
    check_like_triton(kernel, value=5, out=out)
    check_like_triton(kernel, value=5, out=out)
    assert count() == before + 1
    assert out[0] == 5


def test_wrong_calls_are_refused_as_by_triton():
    kernel, out = new(body), torch.zeros(1)
    for _ in range(2):
        check_like_triton(kernel, out, 2)
        for arguments, options in [
            ((), {}), ((out,), {}), ((out, 1, 2, 3, 4), {}), ((out, 1), {"out": out}),
            ((out, 1), {"unknown": 3}), ((object(), 1), {}),
        ]:  # fmt: skip
            assert isinstance(check_like_triton(kernel, *arguments, **options), tuple)
        for options in ({"grid": (1,)}, {"warmup": True}, {"warmup": False, "K": 4}):
            with pytest.raises(TypeError, match="multiple values for keyword argument"):
                kernel[(1,)](out, 2, **options)
        with pytest.raises(TypeError, match="grid"):
            kernel.run(out, 2, warmup=False)
        with pytest.raises(TypeError, match="warmup"):
            kernel.run(out, 2, grid=(1,))


class Own(torch.Tensor):
    pass


def test_other_classes_of_tensors_are_left_to_triton(rng):
    kernel, x = new(add_body), normal(rng, [16])
    for y in (x.as_subclass(Own), triton.reinterpret(x, tl.float32)):
        for _ in range(2):
            out = output([16], torch.float32)
            assert not is_quick(lambda: kernel[(1,)](x, y, out, 16, BLOCK=16))  # noqa: B023
            check_equal(out, x + x)


def test_alignment_and_dtypes(rng):
    kernel = new(add_body)
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int32) * 2:
        for offset in (0, 1, 2, 4, 8):
            x, y = (normal(rng, [40]).mul(8).to(dtype)[offset:] for _ in range(2))
            out = torch.zeros(40, dtype=dtype)[offset:]
            check_like_triton(kernel, x, y, out, 30, BLOCK=32)
            check_equal(out[:30], (x + y)[:30])


def dtypes_by_size() -> dict[int, list[torch.dtype]]:
    found: dict[int, list[torch.dtype]] = {}
    for dtype in dict.fromkeys(d for d in vars(torch).values() if isinstance(d, torch.dtype)):
        found.setdefault(dtype.itemsize, []).append(dtype)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.float16, torch.int32, torch.bool])
def test_no_dtype_is_taken_for_another(dtype):
    kernel, out = new(any_body), torch.zeros(1)
    known = torch.empty(4, dtype=dtype)
    others = [other for other in dtypes_by_size()[dtype.itemsize] if other is not dtype]
    for other in others:
        kernel[(1,)](out, known)
        assert is_quick(lambda: kernel[(1,)](out, known))
        try:
            value = torch.empty(4, dtype=other)
        except (RuntimeError, NotImplementedError, TypeError):
            continue
        assert not is_quick(lambda: outcome(lambda: kernel[(1,)](out, value)))  # noqa: B023


def test_the_address_is_that_of_data_ptr():
    base = torch.arange(64.0)
    kernel = new(pointer_body)
    for tensor in (
        base[3:],
        base.view(8, 8).T,
        base[::2][5:],
        base[64:],
        base[1:].requires_grad_(),
    ):
        address = torch.zeros(1, dtype=torch.int64)
        kernel[(1,)](tensor, address)
        assert is_quick(lambda: kernel[(1,)](tensor, address))  # noqa: B023
        assert address[0] == tensor.data_ptr()


def pointer_body(x, out):
    tl.store(out, x.to(tl.int64))


def test_tensors_elsewhere_are_refused_each_time():
    kernel = new(body)
    kernel[(1,)](torch.zeros(1), 7)
    for _ in range(3):
        with pytest.raises(ValueError, match="meta"):
            kernel[(1,)](torch.zeros(1, device="meta"), 7)


def copy_body(source, target, ROWS: tl.constexpr):
    target.store([0, 0], source.load([ROWS // 2, 0]))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32])
def test_descriptors(dtype, rng):
    kernel = new(copy_body)
    for height, width, block, padding in itertools.product(
        (16, 20), (32, 64), (16, 32), ("zero", "nan")
    ):
        if padding == "nan" and not dtype.is_floating_point:
            continue
        for kind in (list, tuple):
            x = normal(rng, [height, width]).mul(9).to(dtype)
            out = torch.zeros(32, width, dtype=dtype)
            source = TensorDescriptor(
                x, kind(x.shape), kind(x.stride()), kind([16, block]), padding
            )
            target = TensorDescriptor.from_tensor(out, [16, block])
            before = count()
            for _ in range(2):
                check_like_triton(kernel, source, target, ROWS=16)
            assert count() > before
            rows = height - 8
            check_equal(out[: min(rows, 16), :block], x[8 : 8 + min(rows, 16), :block])
            rest = out[rows:16, :block]
            assert rest.isnan().all() if padding == "nan" else (rest == 0).all()


def in_another_order(descriptor, rows):
    base = descriptor.base
    del descriptor.base
    descriptor.base = base


def with_strides_first(descriptor, rows):
    fields = dict(vars(descriptor))
    vars(descriptor).clear()
    vars(descriptor).update(base=fields.pop("base"), strides=fields.pop("strides"), **fields)


def with_more_in_front(descriptor, rows):
    fields = dict(vars(descriptor))
    vars(descriptor).clear()
    vars(descriptor).update(name="mine", **fields)


def with_another_base(descriptor, rows):
    descriptor.base = descriptor.base + 1


def with_fewer_rows(descriptor, rows):
    descriptor.shape = [rows, *descriptor.shape[1:]]


def with_fewer_rows_in_place(descriptor, rows):
    descriptor.shape[0] = rows


def with_padding_made_later(descriptor, rows):
    descriptor.shape[0] = rows
    descriptor.padding = "".join(["n", "an"])


@pytest.mark.parametrize(
    "change",
    [
        in_another_order,
        with_strides_first,
        with_more_in_front,
        with_another_base,
        with_fewer_rows,
        with_fewer_rows_in_place,
        with_padding_made_later,
    ],
)
def test_descriptors_that_change(change, rng):
    kernel, x = new(copy_body), normal(rng, [16, 32])
    source = TensorDescriptor(x, list(x.shape), x.stride(), [16, 16])
    for _ in range(3):
        out = torch.zeros(16, 16)
        kernel[(1,)](source, TensorDescriptor.from_tensor(out, [16, 16]), ROWS=16)
        check_equal(out[:8], x[8:, :16])
    change(source, 11)
    rows = source.shape[0]
    for _ in range(2):
        out = torch.zeros(16, 16)
        kernel[(1,)](source, TensorDescriptor.from_tensor(out, [16, 16]), ROWS=16)
        check_equal(out[: rows - 8], source.base[8:rows, :16])
        rest = out[rows - 8 :]
        assert rest.isnan().all() if source.padding == "nan" else (rest == 0).all()


def test_a_descriptor_without_a_field_is_refused(rng):
    kernel, x = new(copy_body), normal(rng, [16, 32])
    source, out = (TensorDescriptor.from_tensor(x, [16, 16]) for _ in range(2))
    for _ in range(2):
        kernel[(1,)](source, out, ROWS=16)
    del source.strides
    with pytest.raises(AttributeError, match="strides"):
        kernel[(1,)](source, out, ROWS=16)
