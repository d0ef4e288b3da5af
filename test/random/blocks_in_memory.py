# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks in memory: tensor descriptors."""

from __future__ import annotations

import numpy as np
from dtypes import I32, I64, Dtype
from ir import ONE, Facts, Size, Type, Value

from build import EXACT, Builder


def _descriptor(b: Builder, base: Value, sizes, strides, block, nan: bool) -> Value:
    rank = len(block)
    operands = [base, *sizes, *strides]
    size_names = ", ".join(f"{{{1 + i}}}" for i in range(rank))
    stride_names = ", ".join(f"{{{1 + rank + i}}}" for i in range(rank))
    padding = " {{padding = 2 : i32}}" if nan else ""
    result = Type(base.type.element, tuple(block), opaque="desc")
    text = (
        f"{{r0}} = tt.make_tensor_descriptor {{0}}, [{size_names}], [{stride_names}]{padding} "
        ": <{element}>, <{inner}>"
    )

    def inner(values):
        return "x".join(str(s.value(values)) for s in block) + f"x{base.type.element}"

    def compute(m, a, p, *numbers):
        return (p, [int(n) for n in numbers[:rank]], [int(n) for n in numbers[rank:]], nan)

    return b.op(
        "descriptor", operands, result, text, compute, element=base.type.element, inner=inner
    )


def _positions(descriptor, starts, shape):
    """Offsets of a block's elements, and which of them are inside."""
    (_, base), sizes, strides, _ = descriptor
    offsets, inside = np.asarray(base), np.asarray(True)
    for axis, (start, size, stride) in enumerate(zip(starts, sizes, strides, strict=True)):
        at = int(start) + np.arange(shape[axis])
        along = [1] * len(shape)
        along[axis] = shape[axis]
        offsets = offsets + (at * stride).reshape(along)
        inside = inside & ((at >= 0) & (at < size)).reshape(along)
    return np.broadcast_to(offsets, shape), np.broadcast_to(inside, shape)


def _starts(b: Builder, rank: int) -> list[Value]:
    return [b.number(*b.random.choice([(0, 0), (0, 12), (-9, 40)])) for _ in range(rank)]


def _block_shape(shape):
    return lambda sizes: tuple(s.value(sizes) for s in shape)


def load_descriptor(b: Builder, dtype: Dtype, shape) -> Value | None:
    from memory import facts_of, flavor_of

    flavor = flavor_of(b, dtype)
    base = b.array(dtype, flavor)
    sizes = [b.number(1, 70) for _ in shape]
    strides = [
        b.number(20 * 8 ** (len(shape) - 2 - i), 100 * 8 ** (len(shape) - 2 - i), I64)
        for i in range(len(shape) - 1)
    ]
    nan = dtype.is_float and dtype.bits > 8 and b.random.random() < 0.3
    descriptor = _descriptor(b, base, sizes, [*strides, b.scalar(1, I64)], shape, nan)
    names = ", ".join(f"{{{1 + i}}}" for i in range(len(shape)))

    def compute(m, a, d, *starts):
        offsets, inside = _positions(d, starts, a["shape"])
        array = d[0][0]
        result = np.zeros(a["shape"], m.memory[array].dtype)
        if d[3]:
            result[:] = np.nan
        result[inside] = m.memory[array][m.touch(array, offsets[inside])]
        return result

    facts = EXACT if nan else facts_of(dtype, flavor)
    return b.op(
        "descriptor_load",
        [descriptor, *_starts(b, len(shape))],
        Type(dtype.name, tuple(shape)),
        f"{{r0}} = tt.descriptor_load {{0}}[{names}] : {{t0}} -> {{rt0}}",
        compute,
        facts,
        shape=_block_shape(shape),
    )


def store_descriptor(b: Builder, base: Value, value: Value) -> bool:
    """Each program's part lies below the one before: its first size is the block's."""
    shape = value.type.shape
    if len(shape) < 2:
        return False
    rank = len(shape)
    sizes = [b.size(shape[0] * Size(b.program.grid)), *[b.number(1, 19) for _ in shape[1:]]]
    strides, stride = [b.scalar(1, I64)], 30
    for _ in range(rank - 1):
        strides.insert(0, b.number(stride, stride, I64))
        stride *= 20
    descriptor = _descriptor(b, base, sizes, strides, shape, False)
    row = b.integer("arith.muli", b.program_id(), b.size(shape[0]))
    starts = [row, *_starts(b, rank - 1)]
    names = ", ".join(f"{{{1 + i}}}" for i in range(rank))

    def compute(m, a, d, *rest):
        *starts, data = rest
        offsets, inside = _positions(d, starts, data.shape)
        m.memory[d[0][0]][m.touch(d[0][0], offsets[inside])] = data[inside]
        return []

    operation = "store"
    b.op(
        "descriptor_" + operation,
        [descriptor, *starts, value],
        [],
        f"tt.descriptor_store {{0}}[{names}], {{{rank + 1}}} : {{t0}}, {{t{rank + 1}}}",
        compute,
        effect=True,
    )
    return True


def gather_rows(b: Builder):
    """Rows of a descriptor by their numbers."""
    from memory import facts_of, flavor_of

    columns = Size(b.random.choice([8, 16, 32]))
    count = Size(8) * Size(1, ("A",))
    dtype = b.some_dtype()
    flavor = flavor_of(b, dtype)
    base = b.array(dtype, flavor)
    sizes = [b.number(1, 70), b.number(1, 50)]
    descriptor = _descriptor(
        b, base, sizes, [b.number(64, 90, I64), b.scalar(1, I64)], (ONE, columns), False
    )
    rows = b.a_value(I32, (count,))
    rows = b.guard(b.integer("arith.andi", rows, b.full(127, I32, (count,))))
    column = _starts(b, 1)[0]

    def compute(m, a, d, numbers, start):
        (array, base), (height, width), (stride, _), _ = d
        at = int(start) + np.arange(a["columns"])
        inside = ((numbers >= 0) & (numbers < height))[:, None] & ((at >= 0) & (at < width))
        offsets = base + numbers.astype(np.int64)[:, None] * stride + at
        result = np.zeros(inside.shape, m.memory[array].dtype)
        result[inside] = m.memory[array][m.touch(array, offsets[inside])]
        return result

    return b.op(
        "descriptor_gather",
        [descriptor, rows, column],
        Type(dtype.name, (count, columns)),
        "{r0} = tt.descriptor_gather {0}[{1}, {2}] : ({t0}, {t1}, {t2}) -> {rt0}",
        compute,
        facts_of(dtype, flavor),
        columns=columns.value,
    )


def scatter_rows(b: Builder):
    """Rows of a block to rows of a descriptor that each program has for itself; of equal ones the last one wins."""
    from memory import flavor_of

    columns = Size(b.random.choice([8, 16, 32]))
    count = Size(8) * Size(1, ("A",))
    value = b.a_value(b.some_dtype(), (count, columns))
    dtype = value.type.dtype
    base = b.array(dtype, flavor_of(b, dtype))
    b.program.arrays[-1][1].error = value.facts.error
    sizes = [b.number(1, 70 + 64 * b.program.grid), b.number(1, 50)]
    descriptor = _descriptor(
        b, base, sizes, [b.number(64, 90, I64), b.scalar(1, I64)], (ONE, columns), False
    )
    rows = b.integer("arith.andi", b.a_value(I32, (count,)), b.full(63, I32, (count,)))
    part = b.integer("arith.muli", b.program_id(), b.scalar(64))
    rows = b.guard(b.integer("arith.addi", rows, b.splat(part, (count,))))

    def compute(m, a, d, numbers, start, data):
        (array, base), (height, width), (stride, _), _ = d
        at = int(start) + np.arange(data.shape[1])
        inside = ((numbers >= 0) & (numbers < height))[:, None] & ((at >= 0) & (at < width))
        offsets = base + numbers.astype(np.int64)[:, None] * stride + at
        where = m.touch(array, offsets[inside])
        for position, element in zip(where, data[inside], strict=True):
            m.memory[array][position] = element
        return []

    b.op(
        "descriptor_scatter",
        [descriptor, rows, _starts(b, 1)[0], value],
        [],
        "tt.descriptor_scatter {0}[{1}, {2}], {3} : {t0}, {t1}, {t2}, {t3}",
        compute,
        effect=True,
    )
    return None


REDUCTIONS = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}


def reduce_into(b: Builder):
    """descriptor_reduce: combines a block with what is in memory."""
    value = b.pick(
        lambda v: v.type.element == "i32" and len(v.type.shape) == 2 and not v.type.opaque
    )
    if not value:
        return None
    kind = b.random.choice(list(REDUCTIONS))
    base = b.array(I32, "small")
    shape = value.type.shape
    sizes = [b.number(1, 70), b.number(1, 70)]
    element = "si32" if kind in {"min", "max"} else "i32"
    descriptor = _descriptor(
        b, base, sizes, [b.number(70, 90, I64), b.scalar(1, I64)], shape, False
    )
    signed = Type("si32", shape, opaque="desc")
    if element == "si32":
        descriptor.type = signed
        b.blocks[-1].ops[-1].attributes["inner"] = lambda values: (
            "x".join(str(s.value(values)) for s in shape) + "xsi32"
        )
    combine = REDUCTIONS[kind]

    def compute(m, a, d, row, column, data):
        offsets, inside = _positions(d, (row, column), data.shape)
        where = m.touch(d[0][0], offsets[inside])
        m.memory[d[0][0]][where] = combine(m.memory[d[0][0]][where], data[inside])
        return []

    b.op(
        "descriptor_reduce",
        [descriptor, *_starts(b, 2), value],
        [],
        f"tt.descriptor_reduce {kind}, {{0}}[{{1}}, {{2}}], {{3}} : {{t0}}, {{t3}}",
        compute,
        effect=True,
    )
    return None


FAMILY = {gather_rows: 1, scatter_rows: 1, reduce_into: 1}
__all__ = ["FAMILY", "Facts", "load_descriptor", "store_descriptor"]
