# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accesses by pointers: masks, strides, wrap-around, gathers, atomics."""

from __future__ import annotations

import numpy as np
from dtypes import I1, I32, I64, Dtype
from ir import ONE, Facts, Type, Value

from build import EXACT, Builder, i64_if


def flavor_of(b: Builder, dtype: Dtype) -> str:
    return b.random.choice(["small", "small", "normal", "special"])


def facts_of(dtype: Dtype, flavor: str) -> Facts:
    if not dtype.is_float or flavor == "special":
        return EXACT
    return Facts(4.0, 0.0, flavor == "small")


def add_pointer(b: Builder, pointer: Value, offset: Value) -> Value:
    return b.op(
        "addptr",
        [pointer, offset],
        pointer.type,
        "{r0} = tt.addptr {0}, {1} : {t0}, {t1}",
        lambda m, a, p, o: (p[0], p[1] + np.asarray(o, np.int64)),
    )


def pointers(b: Builder, base: Value, offsets: Value, uniform: Value | None = None) -> Value:
    """A block of pointers; what all have in common is added to the scalar, or to the block."""
    shape = offsets.type.shape
    if uniform is not None and b.random.random() < 0.5:
        base, uniform = add_pointer(b, base, uniform), None
    block = b.splat(base, shape)
    if uniform is not None:
        dtype = offsets.type.dtype
        if uniform.type.dtype is not dtype:
            uniform = b.widen(uniform)
        offsets = b.integer("arith.addi", offsets, b.splat(uniform, shape))
    return add_pointer(b, block, offsets)


def affine_offsets(b: Builder, shape, wide: bool):
    """Offsets that are linear in the position: any order of dimensions, padded, broadcast, reversed, wrapped."""
    dtype = I64 if wide else I32
    order = list(range(len(shape)))
    if b.random.random() < 0.4:
        b.random.shuffle(order)
    strides, stride = {}, ONE
    padding = b.random.choice([0, 0, 0, 1, 3])
    for axis in reversed(order):
        strides[axis] = (stride, padding if stride != ONE else 0)
        stride = stride * shape[axis]
    total = None
    for axis in range(len(shape)):
        index = b.arange(shape[axis])
        kind = b.random.random()
        if kind < 0.1:  # (start + i) % m
            start = b.number(0, 9)
            index = b.integer("arith.addi", index, b.splat(start, (shape[axis],)))
            index = b.integer(
                "arith.remsi", index, b.full(b.random.choice([3, 7, 16]), I32, (shape[axis],))
            )
        elif kind < 0.17:  # reversed
            index = b.integer("arith.subi", b.full(5, I32, (shape[axis],)), index)
        index = i64_if(b, index, wide)
        size, extra = strides[axis]
        step = b.size(size, dtype)
        if extra:
            step = b.integer("arith.addi", step, b.scalar(extra, dtype))
        if b.random.random() < 0.08:
            step = b.scalar(0, dtype)
        elif b.random.random() < 0.15:
            step = b.argument(b.random.choice([1, 2, 5, 33]), dtype)
        # Multiplied before or after the vector becomes a block.
        if b.random.random() < 0.5:
            index = b.along(index, shape, axis)
            index = b.integer("arith.muli", index, b.splat(step, shape))
        else:
            index = b.integer("arith.muli", index, b.splat(step, (shape[axis],)))
            index = b.along(index, shape, axis)
        total = index if total is None else b.integer("arith.addi", total, index)
    return total


def unique_offsets(b: Builder, shape, wide: bool) -> Value:
    """Offsets that differ everywhere: row-major, with any order of dimensions."""
    dtype = I64 if wide else I32
    order = list(range(len(shape)))
    if b.random.random() < 0.3:
        b.random.shuffle(order)
    stride, total = ONE, None
    for axis in reversed(order):
        index = i64_if(b, b.index(shape, axis), wide)
        if stride != ONE:
            index = b.integer("arith.muli", index, b.splat(b.size(stride, dtype), shape))
        stride = stride * shape[axis]
        total = index if total is None else b.integer("arith.addi", total, index)
    return total


def mask(b: Builder, shape) -> Value | None:
    """None, prefixes, ranges, those of other accesses, or any booleans."""
    kind = b.random.random()
    if kind < 0.3:
        return None
    known = [value for value in b.masks if value.type.shape == tuple(shape)]
    if kind < 0.5 and known:
        return b.random.choice(known)
    if kind < 0.6:
        found = b.pick(lambda v: v.type == Type("i1", tuple(shape)))
        if found:
            return found
    result = None
    for axis in range(len(shape)):
        if result is not None and b.random.random() < 0.3:
            continue
        index = b.index(shape, axis)
        limit = b.splat(b.number(0, 40), shape)
        condition = b.compare(b.random.choice(["slt", "slt", "sle", "sge", "ne"]), index, limit)
        result = condition if result is None else b.integer("arith.andi", result, condition)
    if result is not None:
        b.masks.append(result)
    return result


def load(b: Builder, pointer: Value, facts: Facts, lanes: Value | None = None, other=None) -> Value:
    operands = [v for v in (pointer, lanes, other) if v is not None]
    text = "{r0} = tt.load " + ", ".join(f"{{{i}}}" for i in range(len(operands))) + " : {t0}"

    def compute(m, a, p, condition=None, fill=None):
        array, offsets = p
        active = np.ones(np.shape(offsets), bool) if condition is None else condition
        where = m.touch(array, np.asarray(offsets)[np.asarray(active)])
        result = np.zeros(np.shape(offsets), m.memory[array].dtype)
        if fill is not None:
            result = np.array(np.broadcast_to(fill, np.shape(offsets)))
        result[active] = m.memory[array][where]
        return result[()]

    result = Type(pointer.type.element, pointer.type.shape)
    return b.op("load", operands, result, text, compute, facts)


def store(b: Builder, pointer: Value, value: Value, lanes: Value | None = None) -> None:
    operands = [v for v in (pointer, value, lanes) if v is not None]
    text = "tt.store " + ", ".join(f"{{{i}}}" for i in range(len(operands))) + " : {t0}"

    def compute(m, a, p, data, condition=None):
        array, offsets = p
        active = np.ones(np.shape(offsets), bool) if condition is None else condition
        where = m.touch(array, np.asarray(offsets)[np.asarray(active)])
        m.memory[array][where] = np.asarray(data)[np.asarray(active)]
        return []

    b.op("store", operands, [], text, compute, effect=True)


def new_facts(dtype: Dtype, flavor: str, other: Value | None) -> Facts:
    facts = facts_of(dtype, flavor)
    if other is not None:
        return facts.joined(other.facts)
    return facts


def load_new(b: Builder, dtype: Dtype, shape) -> Value:
    """A block from an array that nothing else touches, in any form of access."""
    if dtype is I1 and (not shape or b.random.random() < 0.5):
        return b.compare("sgt", load_new(b, I32, shape), b.full(0, I32, shape))
    if not shape:
        flavor = flavor_of(b, dtype)
        base = b.array(dtype, flavor)
        return load(b, add_pointer(b, base, b.number(0, 5)), facts_of(dtype, flavor))
    from block_pointers import load_block
    from blocks_in_memory import load_descriptor

    if b.random.random() < 0.08 and dtype.bits > 1:
        return load_block(b, dtype, shape)
    if b.random.random() < 0.15 and len(shape) > 1 and dtype.bits > 1:
        loaded = load_descriptor(b, dtype, shape)
        if loaded:
            return loaded
    flavor = flavor_of(b, dtype)
    base = b.array(dtype, flavor)
    wide = b.random.random() < 0.2
    if b.random.random() < 0.15:
        # Row or element numbers that are data.
        index = b.a_value(I32, shape)
        offsets = b.guard(b.integer("arith.andi", index, b.full(63, I32, shape)))
        offsets = i64_if(b, offsets, wide)
    else:
        offsets = affine_offsets(b, shape, wide)
    uniform = None
    if b.random.random() < 0.7:
        uniform = b.integer("arith.muli", b.program_id(), b.number(0, 70))
    pointer = pointers(b, base, offsets, uniform)
    lanes, other = mask(b, shape), None
    if lanes is not None and b.random.random() < 0.6:
        other = b.pick(lambda v: v.type == Type(dtype.name, tuple(shape)))
        if other is None or b.random.random() < 0.5:
            other = (
                b.full(b.random.choice([0, 1]), dtype, shape) if not dtype.is_small_float else None
            )
    return load(b, pointer, new_facts(dtype, flavor, other), lanes, other)


def new_load(b: Builder):
    dtype = I1 if b.random.random() < 0.06 else b.some_dtype()
    return load_new(b, dtype, b.some_shape())


def gather_rows(b: Builder):
    """Rows chosen by data, columns in a range."""
    dtype, shape = b.some_dtype(), b.some_shape(2)
    flavor = flavor_of(b, dtype)
    base = b.array(dtype, flavor)
    rows = b.a_value(I32, shape[:1])
    rows = b.guard(b.integer("arith.andi", rows, b.full(31, I32, shape[:1])))
    rows = b.along(rows, shape, 0)
    stride = b.number(1, 40)
    offsets = b.integer("arith.muli", rows, b.splat(stride, shape))
    offsets = b.integer("arith.addi", offsets, b.index(shape, 1))
    lanes = mask(b, shape)
    return load(b, pointers(b, base, offsets), facts_of(dtype, flavor), lanes)


def store_value(b: Builder, value: Value) -> None:
    """To an array of its own, where each program has its part."""
    if value.type.element == "i1" and (not value.type.shape or b.random.random() < 0.6):
        from conversions import convert

        value = convert(b, value, I32)
    dtype, shape = value.type.dtype, value.type.shape
    base = b.array(dtype, flavor_of(b, dtype))
    b.program.arrays[-1][1].error = value.facts.error
    if not shape:
        store(b, add_pointer(b, base, b.program_id()), value)
        return
    from block_pointers import store_block
    from blocks_in_memory import store_descriptor

    if b.random.random() < 0.07 and dtype is not I1:
        store_block(b, base, value)
        return
    if b.random.random() < 0.12 and dtype is not I1 and store_descriptor(b, base, value):
        return
    total = ONE
    for size in shape:
        total = total * size
    part = b.integer("arith.muli", b.program_id(), b.size(total))
    wide = b.random.random() < 0.2
    pointer = pointers(b, base, unique_offsets(b, shape, wide), part)
    lanes = mask(b, shape)
    if b.random.random() < 0.1:  # in place: read, changed, written
        old = load(b, pointer, EXACT, lanes)
        if not dtype.is_float:
            value = b.integer("arith.xori", value, old)
    store(b, pointer, value, lanes)


def early_store(b: Builder):
    value = b.pick(lambda v: not v.type.is_pointer and not v.type.opaque and v not in b.used)
    if value and value.type.element != "i1":
        store_value(b, value)
        b.used.add(value)
    return None


FAMILY = {new_load: 6, gather_rows: 1, early_store: 3}
