# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Integers and booleans: arithmetic, comparisons, choices."""

from __future__ import annotations

import numpy as np
from values import is_boolean, is_integer, is_number

from build import Builder


def unsigned(x):
    return x.view(f"uint{x.dtype.itemsize * 8}")


def _as_unsigned(operation):
    def compute(x, y):
        x, y = np.asarray(x), np.asarray(y)
        return operation(unsigned(x), unsigned(y)).view(x.dtype)

    return compute


def _truncated_quotient(x, y):
    quotient = x // y
    return quotient + ((x % y != 0) & ((x < 0) != (y < 0))).astype(np.asarray(x).dtype)


INTEGER_OPS = {
    "arith.addi": lambda x, y: x + y,
    "arith.subi": lambda x, y: x - y,
    "arith.muli": lambda x, y: x * y,
    "arith.andi": lambda x, y: x & y,
    "arith.ori": lambda x, y: x | y,
    "arith.xori": lambda x, y: x ^ y,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxui": _as_unsigned(np.maximum),
    "arith.minui": _as_unsigned(np.minimum),
    "arith.shli": lambda x, y: np.left_shift(x, y),
    "arith.shrsi": lambda x, y: np.right_shift(x, y),
    "arith.shrui": _as_unsigned(np.right_shift),
    "arith.divsi": _truncated_quotient,
    "arith.remsi": lambda x, y: np.fmod(x, y),
    "arith.divui": _as_unsigned(np.floor_divide),
    "arith.remui": _as_unsigned(np.remainder),
}

COMPARISONS = {
    "eq": np.equal,
    "ne": np.not_equal,
    "slt": np.less,
    "sle": np.less_equal,
    "sgt": np.greater,
    "sge": np.greater_equal,
    "ult": lambda x, y: np.less(unsigned(np.asarray(x)), unsigned(np.asarray(y))),
    "uge": lambda x, y: np.greater_equal(unsigned(np.asarray(x)), unsigned(np.asarray(y))),
}


def integer_binary(b: Builder):
    x = b.pick(is_integer)
    if not x:
        return None
    kind = b.random.choice(list(INTEGER_OPS))
    dtype, shape = x.type.dtype, x.type.shape
    y = b.a_value(dtype, shape)
    if "sh" in kind:  # a distance below the width
        y = b.guard(b.integer("arith.andi", y, b.full(dtype.bits - 1, dtype, shape)))
    if "div" in kind or "rem" in kind:  # from 1 to 15: no zero, and no overflow
        y = b.integer("arith.andi", y, b.full(15, dtype, shape))
        y = b.guard(b.integer("arith.ori", y, b.full(1, dtype, shape)))
    return b.integer(kind, x, y)


def comparison(b: Builder):
    x = b.pick(is_integer)
    if not x:
        return None
    return b.compare(b.random.choice(list(COMPARISONS)), x, b.a_value(x.type.dtype, x.type.shape))


def boolean_binary(b: Builder):
    x = b.pick(is_boolean)
    y = x and b.pick(lambda v: v.type == x.type)
    if not y:
        return None
    return b.integer(b.random.choice(["arith.andi", "arith.ori", "arith.xori"]), x, y)


def select(b: Builder):
    condition = b.pick(is_boolean)
    if not condition:
        return None
    shape = condition.type.shape
    x = b.pick(lambda v: is_number(v) and v.type.shape == shape)
    if not x:
        return None
    y = b.a_value(x.type.dtype, shape)
    return b.op(
        "select",
        [condition, x, y],
        x.type,
        "{r0} = arith.select {0}, {1}, {2} : {t0}, {t1}",
        lambda m, a, c, p, q: np.where(c, p, q),
        x.facts.joined(y.facts),
    )


FAMILY = {integer_binary: 8, comparison: 3, boolean_binary: 1, select: 4}
