# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arithmetic, comparisons, conversions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from dtypes import BF16, F32, F64, FLOATS, I1, I32, I64, INTEGERS, SMALL_FLOATS, Dtype, round_to
from ir import Facts, Type, Value

from build import EXACT, Builder


def _unsigned(x):
    return x.view(f"uint{x.dtype.itemsize * 8}")


def _as_unsigned(operation):
    def compute(x, y):
        x, y = np.asarray(x), np.asarray(y)
        return operation(_unsigned(x), _unsigned(y)).view(x.dtype)

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
    "ult": lambda x, y: np.less(_unsigned(np.asarray(x)), _unsigned(np.asarray(y))),
    "uge": lambda x, y: np.greater_equal(_unsigned(np.asarray(x)), _unsigned(np.asarray(y))),
}

FLOAT_COMPARISONS = {
    "oeq": np.equal,
    "une": np.not_equal,
    "olt": np.less,
    "ole": np.less_equal,
    "ogt": np.greater,
    "oge": np.greater_equal,
    "ult": lambda x, y: ~np.greater_equal(x, y),
    "uno": lambda x, y: np.isnan(x) | np.isnan(y),
}


def _is_number(value: Value) -> bool:
    return not value.type.is_pointer and not value.type.opaque


def is_integer(value: Value) -> bool:
    return _is_number(value) and value.type.element in {d.name for d in INTEGERS}


def is_float(value: Value) -> bool:
    """A float that can be computed with."""
    return _is_number(value) and value.type.element in {d.name for d in FLOATS}


def is_exact(value: Value) -> bool:
    return value.facts.error == 0


def is_boolean(value: Value) -> bool:
    return _is_number(value) and value.type.element == "i1"


# Integers


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


def float_comparison(b: Builder):
    x = b.pick(lambda v: is_float(v) and is_exact(v))
    if not x:
        return None
    y = b.a_value(x.type.dtype, x.type.shape, is_exact)
    predicate = b.random.choice(list(FLOAT_COMPARISONS))
    compute = FLOAT_COMPARISONS[predicate]
    return b.op(
        "cmpf",
        [x, y],
        Type("i1", x.type.shape),
        f"{{r0}} = arith.cmpf {predicate}, {{0}}, {{1}} : {{t0}}",
        lambda m, a, p, q: compute(p, q),
    )


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
    x = b.pick(lambda v: _is_number(v) and v.type.shape == shape)
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


# Floats


def _sum_facts(x: Facts, y: Facts, dtype: Dtype) -> Facts | None:
    bound = x.bound + y.bound
    integral = x.integral and y.integral and bound <= dtype.exact_integers
    if integral:
        return Facts(bound, x.error + y.error, True)
    if x.error == y.error == 0 and not (x.product or y.product):
        return Facts(bound if bound < dtype.largest else math.inf)
    # A product that is fused with the sum is not rounded.
    if bound >= dtype.largest / 4:
        return None
    return Facts(bound, x.error + y.error + 2 * dtype.epsilon * bound)


def _product_facts(x: Facts, y: Facts, dtype: Dtype) -> Facts | None:
    bound = x.bound * y.bound if x.bound and y.bound else 0.0
    if x.integral and y.integral and bound <= dtype.exact_integers:
        return Facts(bound, x.error * y.bound + y.error * x.bound, True)
    if x.error == y.error == 0:
        return Facts(bound if bound < dtype.largest else math.inf, 0.0, False, True)
    if not bound < dtype.largest / 4:
        return None
    error = x.error * y.bound + y.error * x.bound + 2 * dtype.epsilon * bound
    return Facts(bound, error, False, True)


def _larger(x, y):
    """The larger number; of two zeros the positive one."""
    return np.where(x == y, np.where(np.signbit(x), y, x), np.where(x > y, x, y))


def _smaller(x, y):
    return -_larger(-x, -y)


EXTREMA = {
    "maximumf": lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, _larger(x, y)),
    "minimumf": lambda x, y: np.where(np.isnan(x) | np.isnan(y), np.nan, _smaller(x, y)),
    "maxnumf": lambda x, y: np.where(np.isnan(x), y, np.where(np.isnan(y), x, _larger(x, y))),
    "minnumf": lambda x, y: np.where(np.isnan(x), y, np.where(np.isnan(y), x, _smaller(x, y))),
}


def float_binary(b: Builder):
    x = b.pick(is_float)
    if not x:
        return None
    dtype = x.type.dtype
    kind = b.random.choice(["addf", "subf", "mulf", "divf", *EXTREMA])
    y = b.a_value(dtype, x.type.shape)
    if kind in {"addf", "subf"}:
        facts = _sum_facts(x.facts, y.facts, dtype)
        compute = np.add if kind == "addf" else np.subtract
    elif kind == "mulf":
        facts, compute = _product_facts(x.facts, y.facts, dtype), np.multiply
    elif kind == "divf":
        facts = EXACT if is_exact(x) and is_exact(y) and not y.facts.zero else None
        compute = np.divide
    else:
        facts, compute = x.facts.joined(y.facts), EXTREMA[kind]
        if "num" in kind:
            facts = replace(facts, zero=True)
    if facts is None:
        return None
    # Triton's own quotient of f32 may be off by 2 ulp.
    name = "tt.precise_divf" if kind == "divf" and dtype == F32 else f"arith.{kind}"
    return b.elementwise(name, [x, y], dtype, lambda p, q: round_to(compute(p, q), dtype), facts)


EXACT_FUNCTIONS = {
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.sqrt": np.sqrt,
    "math.absf": np.abs,
    "arith.negf": np.negative,
}

# With a bound of the result where the operand is at most 4, and none is ill-conditioned.
FUNCTIONS = {
    "math.exp": (np.exp, 60.0),
    "math.exp2": (np.exp2, 16.0),
    "math.sin": (np.sin, 1.0),
    "math.cos": (np.cos, 1.0),
    "math.erf": (np.vectorize(math.erf, otypes=[np.float64]), 1.0),
    "math.tanh": (np.tanh, 1.0),
}


def float_unary(b: Builder):
    x = b.pick(is_float)
    if not x:
        return None
    dtype, facts = x.type.dtype, x.facts
    if b.random.random() < 0.4 and is_exact(x) and facts.bound <= 4:
        kind = b.random.choice(list(FUNCTIONS))
        compute, bound = FUNCTIONS[kind]
        relative = max(4 * dtype.epsilon, 4e-7 if dtype in (F32, F64) else 0)
        facts = Facts(bound, relative * bound)
    else:
        kind = b.random.choice(list(EXACT_FUNCTIONS))
        compute = EXACT_FUNCTIONS[kind]
        if kind in {"math.floor", "math.ceil", "math.sqrt"}:
            if not is_exact(x):
                return None
            # A root may be NaN, which has no bound.
            facts = EXACT if kind == "math.sqrt" else Facts(max(facts.bound + 1, 1), 0.0, True)
    return b.elementwise(kind, [x], dtype, lambda p: round_to(compute(p), dtype), facts)


def clamp(b: Builder, x: Value, limit: float) -> Value:
    shape = x.type.shape
    low, high = b.full(-limit, x.type.dtype, shape), b.full(limit, x.type.dtype, shape)
    return b.op(
        "clampf",
        [x, low, high],
        x.type,
        "{r0} = tt.clampf {0}, {1}, {2}, propagateNan = none : {t0}",
        lambda m, a, p, lo, hi: EXTREMA["minnumf"](EXTREMA["maxnumf"](p, lo), hi),
        Facts(limit, x.facts.error, x.facts.integral, x.facts.product),
    )


# Conversions


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
    return (x if x.dtype == np.bool_ else _unsigned(x)).astype(to.numpy)


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
    x = b.pick(_is_number)
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
    from dtypes import encode

    dtype = x.type.dtype
    to = {16: INTEGERS[1], 32: I32, 64: I64}[dtype.bits]

    def compute(m, a, p):
        return encode(p, dtype).view(to.numpy).reshape(np.shape(p))

    return b.op(
        "bitcast", [x], x.type.with_element(to), "{r0} = tt.bitcast {0} : {t0} -> {rt0}", compute
    )


FAMILY = {
    integer_binary: 8,
    comparison: 3,
    float_comparison: 3,
    boolean_binary: 1,
    select: 4,
    float_binary: 10,
    float_unary: 5,
    cast: 8,
    bitcast: 1,
}
