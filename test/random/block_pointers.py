# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Block pointers, as Triton had them up to 3.7: a view, its offsets, and bounds that only some dimensions check."""

from __future__ import annotations

import numpy as np
from dtypes import I64, Dtype
from ir import Size, Type, Value

from build import EXACT, Builder


def _inner(shape, element):
    return lambda values: "x".join(str(s.value(values)) for s in shape) + f"x{element}"


def _pointer(b: Builder, base: Value, sizes, strides, offsets, shape) -> Value:
    rank = len(shape)
    lists = [", ".join(f"{{{1 + part * rank + i}}}" for i in range(rank)) for part in range(3)]
    order = ", ".join(str(i) for i in reversed(range(rank)))
    return b.op(
        "block_pointer",
        [base, *sizes, *strides, *offsets],
        Type(base.type.element, tuple(shape), opaque="block"),
        f"{{r0}} = tt.make_tensor_ptr {{0}}, [{lists[0]}], [{lists[1]}], [{lists[2]}] "
        f"{{{{order = array<i32: {order}>}}}} : <tensor<{{inner}}>>",
        lambda m, a, p, *n: (
            p,
            *([int(v) for v in n[i * rank : (i + 1) * rank]] for i in range(3)),
        ),
        inner=_inner(shape, base.type.element),
    )


def _advanced(b: Builder, pointer: Value, steps) -> Value:
    names = ", ".join(f"{{{1 + i}}}" for i in range(len(steps)))
    return b.op(
        "advance",
        [pointer, *steps],
        pointer.type,
        f"{{r0}} = tt.advance {{0}}, [{names}] : <tensor<{{inner}}>>",
        lambda m, a, p, *n: (*p[:3], [o + int(v) for o, v in zip(p[3], n, strict=True)]),
        inner=_inner(pointer.type.shape, pointer.type.element),
    )


def _positions(pointer, shape, checked):
    """Offsets of a block's elements, and which of them are inside of the bounds that are checked."""
    (_, base), sizes, strides, starts = pointer
    offsets, inside = np.asarray(base), np.asarray(True)
    for axis, (start, size, stride) in enumerate(zip(starts, sizes, strides, strict=True)):
        at = start + np.arange(shape[axis])
        along = [1] * len(shape)
        along[axis] = shape[axis]
        offsets = offsets + (at * stride).reshape(along)
        if axis in checked:
            inside = inside & ((at >= 0) & (at < size)).reshape(along)
    return np.broadcast_to(offsets, shape), np.broadcast_to(inside, shape)


def _attributes(checked, padding: int = 0) -> str:
    parts = []
    if checked:
        parts.append(f"boundaryCheck = array<i32: {', '.join(map(str, checked))}>")
        if padding:
            parts.append(f"padding = {padding} : i32")
    return f" {{{{{', '.join(parts)}}}}}" if parts else ""


def load_block(b: Builder, dtype: Dtype, shape) -> Value:
    from memory import facts_of, flavor_of

    flavor, rank = flavor_of(b, dtype), len(shape)
    base = b.array(dtype, flavor)
    sizes = [b.number(0, 70, I64) for _ in shape]
    # Any strides: padded rows, columns first, one element again and again.
    strides = [b.number(*b.random.choice([(0, 3), (40, 90)]), I64) for _ in shape]
    starts = [b.number(-9, 40) for _ in shape]
    pointer = _pointer(b, base, sizes, strides, starts, shape)
    if b.random.random() < 0.5:
        pointer = _advanced(b, pointer, [b.number(-5, 12) for _ in shape])
    checked = [i for i in range(rank) if b.random.random() < 0.7]
    nan = dtype.is_float and dtype.bits > 8 and bool(checked) and b.random.random() < 0.3

    def compute(m, a, p):
        offsets, inside = _positions(p, a["shape"], checked)
        array = p[0][0]
        result = np.zeros(a["shape"], m.memory[array].dtype)
        if nan:
            result[:] = np.nan
        result[inside] = m.memory[array][m.touch(array, offsets[inside])]
        return result

    return b.op(
        "load_block",
        [pointer],
        Type(dtype.name, tuple(shape)),
        "{r0} = tt.load {0}" + _attributes(checked, 2 if nan else 1) + " : {t0}",
        compute,
        EXACT if nan else facts_of(dtype, flavor),
        shape=lambda values: tuple(s.value(values) for s in shape),
    )


def store_block(b: Builder, base: Value, value: Value) -> bool:
    """Each program's part lies below the one before; the other dimensions end before the next row begins."""
    shape = value.type.shape
    rank = len(shape)
    sizes = [b.size(shape[0] * Size(b.program.grid), I64)]
    sizes += [b.number(1, 19, I64) for _ in shape[1:]]
    strides, stride = [b.scalar(1, I64)], 30
    for _ in range(rank - 1):
        strides.insert(0, b.number(stride, stride, I64))
        stride *= 20
    row = b.integer("arith.muli", b.program_id(), b.size(shape[0]))
    starts = [row, *[b.number(-9, 12) for _ in shape[1:]]]
    pointer = _pointer(b, base, sizes, strides, starts, shape)
    checked = [i for i in range(rank) if i > 0 or b.random.random() < 0.5]

    def compute(m, a, p, data):
        offsets, inside = _positions(p, data.shape, checked)
        m.memory[p[0][0]][m.touch(p[0][0], offsets[inside])] = data[inside]
        return []

    b.op(
        "store_block",
        [pointer, value],
        [],
        "tt.store {0}, {1}" + _attributes(checked) + " : {t0}",
        compute,
        effect=True,
    )
    return True
