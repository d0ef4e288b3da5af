# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floats: arithmetic, comparisons, functions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from dtypes import F32, F64, I32, Dtype, round_to
from ir import Facts, Type, Value
from values import is_exact, is_float

from build import EXACT, Builder

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


def quotient(b: Builder):
    """Triton's own `/`, which may be off by 2 ulp, by one number for all, for a row, or for an element."""
    x = b.pick(
        lambda v: is_float(v) and v.type.dtype is F32 and is_exact(v) and v.facts.bound < 1e30
    )
    if not x:
        return None
    shape = x.type.shape
    kept = [i for i in range(len(shape)) if b.random.random() < 0.5]
    y = b.a_value(I32, [shape[i] for i in kept])
    inner = y.type.shape
    y = b.integer("arith.andi", y, b.full(15, I32, inner))
    y = b.integer("arith.ori", y, b.full(1, I32, inner))
    y = b.elementwise(
        "arith.sitofp", [y], F32, lambda p: p.astype(np.float64), suffix="{t0} to {rt0}"
    )
    for i in range(len(shape)):
        if inner and i not in kept:
            y = b.expand(y, i)
    y = b.guard(b.broadcast(y, shape) if inner else b.splat(y, shape))
    facts = Facts(x.facts.bound, 4 * F32.epsilon * x.facts.bound, product=True)
    # Quotients of numbers below the normal ones are rounded to multiples of the smallest.
    facts = replace(facts, error=facts.error + 2.0**-148)
    return b.elementwise(
        "arith.divf", [x, y], F32, lambda p, q: round_to(np.divide(p, q), F32), facts
    )


FAMILY = {quotient: 1, float_comparison: 3, float_binary: 10, float_unary: 5}
