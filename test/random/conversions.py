# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions between types."""

from __future__ import annotations

import math

import numpy as np
from dtypes import (
    BF16,
    F32,
    F64,
    FLOATS,
    I1,
    I32,
    I64,
    INTEGERS,
    SMALL_FLOATS,
    Dtype,
    encode,
    round_to,
)
from floats import clamp
from integers import unsigned
from ir import Facts, Value
from values import is_exact, is_float, is_integer, is_number

from build import EXACT, Builder


def convert(b: Builder, x: Value, to: Dtype) -> Value | None:
    """A value in another type, by the operation that Triton's frontend uses."""
    source = x.type.dtype
    if source is to:
        return x
    if source.is_float and to.is_float:
        return _convert_float(b, x, to)
    if source.is_float:
        if not is_exact(x) or source.is_small_float:
            return None
        limit = {8: 100.0, 16: 30000.0, 32: 2.0**30, 64: 2.0**62}.get(to.bits)
        if limit is None:
            return None
        limit = float(round_to(min(limit, source.largest), source, toward_zero=True))
        x = clamp(b, x, limit)
        return b.elementwise(
            "arith.fptosi", [x], to, lambda p: np.trunc(p).astype(to.numpy), suffix="{t0} to {rt0}"
        )
    if to.is_small_float:
        return None
    if to.is_float:
        return _integer_to_float(b, x, to)
    if to.bits < source.bits:
        kind, compute = "arith.trunci", lambda p: p.astype(to.numpy)
        if to is I1:
            compute = lambda p: (p & 1) != 0  # noqa: E731
    elif source is I1 or b.random.random() < 0.5:
        kind, compute = "arith.extui", lambda p: _zero_extend(p, to)
    else:
        kind, compute = "arith.extsi", lambda p: p.astype(to.numpy)
    return b.elementwise(kind, [x], to, compute, suffix="{t0} to {rt0}")


def _zero_extend(x, to: Dtype):
    x = np.asarray(x)
    return (x if x.dtype == np.bool_ else unsigned(x)).astype(to.numpy)


def _integer_to_float(b: Builder, x: Value, to: Dtype) -> Value:
    source = x.type.dtype
    unsigned = source is I1 or b.random.random() < 0.3
    highest = 1.0 if source is I1 else 2.0**source.bits

    def compute(p):
        p = np.asarray(p)
        wide = _zero_extend(p, I64).view(np.uint64) if unsigned else p.astype(np.int64)
        # A sum of two doubles, of which the first has all bits but the last few.
        if to is F64:
            return wide.astype(np.float64)
        single = wide.astype(np.float32).astype(np.float64)
        if to is F32:
            return single
        return round_to(single, to) if to is BF16 else _odd_round(wide, to)

    facts = Facts(min(highest, math.inf), 0.0, highest <= to.exact_integers)
    if highest > to.largest:
        facts = EXACT
    kind = "arith.uitofp" if unsigned else "arith.sitofp"
    return b.elementwise(kind, [x], to, compute, facts, suffix="{t0} to {rt0}")


def _odd_round(wide, to: Dtype):
    """Rounds integers once: bits that a double has not are gathered in its last one."""
    low = wide & wide.dtype.type(2047)
    sticky = np.where(np.abs(wide.astype(np.float64)) < 2.0**52, low, (low != 0) * 1)
    high = wide - low
    return round_to((high + sticky.astype(wide.dtype)).astype(np.float64), to)


def _convert_float(b: Builder, x: Value, to: Dtype) -> Value | None:
    source, facts = x.type.dtype, x.facts
    if facts.error and facts.bound > to.largest / 4:
        return None
    exact = to.precision >= source.precision and to.largest >= source.largest
    if exact or facts.error == 0:
        bound = facts.bound * (1 + to.epsilon)
        known = bound < to.largest
        integral = facts.integral and facts.bound <= to.exact_integers
        facts = Facts(bound if known else math.inf, facts.error, integral and known)
    else:
        facts = Facts(facts.bound, facts.error + 2 * to.epsilon * facts.bound)
    small = source.is_small_float or to.is_small_float
    toward_zero = to.bits < source.bits and not facts.error and b.random.random() < 0.2
    if source.bits == to.bits and (small or source.bits == 16):
        small = True
    text = "{t0} to {rt0}"
    if small or toward_zero:
        kind = "tt.fp_to_fp"
        rounding = ""
        if to.bits <= source.bits:
            rounding = ", rounding = " + ("rtz" if toward_zero else "rtne")
        text = "{t0} -> {rt0}"
    else:
        kind, rounding = ("arith.extf" if to.bits > source.bits else "arith.truncf"), ""
    saturate = to.is_small_float
    return b.op(
        kind,
        [x],
        x.type.with_element(to),
        f"{{r0}} = {kind} {{0}}{rounding} : {text}",
        lambda m, a, p: round_to(p, to, toward_zero=toward_zero, saturate=saturate),
        facts,
    )


def cast(b: Builder):
    x = b.pick(is_number)
    if not x:
        return None
    to = b.random.choice([I1, *INTEGERS, *FLOATS, *SMALL_FLOATS])
    if x.type.dtype is to or (to is I1 and not is_integer(x)):
        return None
    return convert(b, x, to)


def bitcast(b: Builder):
    """Between floats that are no NaN and integers; a NaN's bits are anybody's."""
    x = b.pick(
        lambda v: is_float(v) and is_exact(v) and v.facts.bound < math.inf and not v.facts.zero
    )
    if not x:
        return None
    dtype = x.type.dtype
    to = {16: INTEGERS[1], 32: I32, 64: I64}[dtype.bits]

    def compute(m, a, p):
        return encode(p, dtype).view(to.numpy).reshape(np.shape(p))

    return b.op(
        "bitcast", [x], x.type.with_element(to), "{r0} = tt.bitcast {0} : {t0} -> {rt0}", compute
    )


FAMILY = {cast: 8, bitcast: 1}
