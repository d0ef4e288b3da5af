# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Atomic accesses: what they leave does not depend on the order of lanes and programs."""

from __future__ import annotations

import numpy as np
from dtypes import BF16, F16, F32, F64, I1, I32, I64, Dtype, round_to
from integers import unsigned
from ir import ONE, Value
from memory import load, mask, pointers, unique_offsets

from build import EXACT, Builder


def _as_unsigned(choose):
    return lambda x, y: x if choose(unsigned(np.asarray(x)), unsigned(np.asarray(y))) else y


ATOMICS = {
    "add": lambda x, y: x + y,
    "and": lambda x, y: x & y,
    "or": lambda x, y: x | y,
    "xor": lambda x, y: x ^ y,
    "max": np.maximum,
    "min": np.minimum,
    "umax": _as_unsigned(lambda x, y: x >= y),
    "umin": _as_unsigned(lambda x, y: x <= y),
    "fadd": lambda x, y: x + y,
    "exch": lambda x, y: y,
}
ORDERS = ["relaxed", "acquire", "release", "acq_rel"]


def _rounded(value, dtype: Dtype):
    return round_to(value, dtype) if dtype.is_float else value


def _update(b: Builder, kind: str, pointer: Value, value: Value, lanes: Value) -> Value:
    """The result is what was there before; an inactive lane has none."""
    order, dtype = b.random.choice(ORDERS), value.type.dtype
    text = f"{{r0}} = tt.atomic_rmw {kind}, {order}, gpu, {{0}}, {{1}}, {{2}} : ({{t0}}, {{t1}}, {{t2}}) -> {{t1}}"
    combine = ATOMICS[kind]

    def compute(m, a, p, data, condition):
        array, offsets = p
        olds = np.zeros(np.shape(data), np.asarray(data).dtype)
        for at in np.ndindex(np.shape(data)):
            if condition[at]:
                where = int(m.touch(array, np.asarray(offsets[at])))
                olds[at] = m.memory[array][where]
                m.memory[array][where] = _rounded(combine(olds[at], data[at]), dtype)
        return olds

    return b.op("atomic", [pointer, value, lanes], value.type, text, compute, EXACT, effect=True)


def _is_summable(value: Value) -> bool:
    """Sums of a few of them are exact."""
    return not value.type.dtype.is_float or (value.facts.integral and value.facts.bound < 64)


def shared(b: Builder):
    """On elements that several lanes and programs share: nobody sees what was there before."""
    shape = b.some_shape(b.random.choice([1, 2]))
    dtype = b.random.choice([I32, I64, F32, F64])
    kinds = ["fadd"] if dtype.is_float else [k for k in ATOMICS if k not in {"fadd", "exch"}]
    kind = b.random.choice(kinds)
    value = b.a_value(dtype, shape, _is_summable)
    if not _is_summable(value):
        return None
    base = b.array(dtype, "small")
    index = b.a_value(I32, shape)
    last = b.full(b.random.choice([0, 3, 63]), I32, shape)
    offsets = b.guard(b.integer("arith.andi", index, last))
    lanes = mask(b, shape)
    if lanes is None:
        lanes = b.full(1, I1, shape)
    _update(b, kind, pointers(b, base, offsets), value, lanes)
    return None


def _own_elements(b: Builder, dtype: Dtype, shape) -> Value:
    """Pointers to elements that no other lane and no other program has."""
    base, total = b.array(dtype, "small"), ONE
    for size in shape:
        total = total * size
    part = b.integer("arith.muli", b.program_id(), b.size(total))
    return pointers(b, base, unique_offsets(b, shape, b.random.random() < 0.2), part)


def own(b: Builder):
    """On an element for each lane, where the result is known: what was there before."""
    shape = b.some_shape(b.random.choice([1, 2, 3]))
    dtype = b.random.choice([I32, I64, F16, BF16, F32, F64])
    kinds = ["fadd", "exch"] if dtype.is_float else [k for k in ATOMICS if k != "fadd"]
    if dtype.bits < 32:
        kinds = ["fadd"]
    kind = b.random.choice(kinds)
    value = b.a_value(dtype, shape, _is_summable)
    if not _is_summable(value):
        return None
    pointer = _own_elements(b, dtype, shape)
    lanes = mask(b, shape)
    everywhere = lanes is None
    if everywhere:
        lanes = b.full(1, I1, shape)
    old = _update(b, kind, pointer, value, lanes)
    if everywhere:
        return old
    return b.op(
        "select",
        [lanes, old, value],
        value.type,
        "{r0} = arith.select {0}, {1}, {2} : {t0}, {t1}",
        lambda m, a, c, p, q: np.where(c, p, q),
    )


def compare_and_swap(b: Builder):
    """What is expected is there, or is not."""
    shape = b.some_shape(b.random.choice([1, 2]))
    dtype = b.random.choice([I32, I64])
    pointer, value = _own_elements(b, dtype, shape), b.a_value(dtype, shape)
    expected = load(b, pointer, EXACT)
    if b.random.random() < 0.6:
        changed = b.a_value(dtype, shape)
        changed = b.integer("arith.andi", changed, b.full(1, dtype, shape))
        expected = b.integer("arith.xori", expected, changed)
    text = (
        f"{{r0}} = tt.atomic_cas {b.random.choice(ORDERS)}, gpu, {{0}}, {{1}}, {{2}} "
        ": ({t0}, {t1}, {t2}) -> {rt0}"
    )

    def compute(m, a, p, wanted, new):
        array, offsets = p
        where = m.touch(array, np.asarray(offsets))
        old = m.memory[array][where]
        m.memory[array][where] = np.where(old == wanted, new, old)
        return old

    return b.op("atomic", [pointer, expected, value], value.type, text, compute, effect=True)


FAMILY = {shared: 2, own: 1, compare_and_swap: 1}
