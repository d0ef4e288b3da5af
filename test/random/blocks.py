# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks: shapes, reductions, scans, products."""

from __future__ import annotations

import numpy as np
from dtypes import I32, Dtype, round_to
from floats import EXTREMA
from ir import ONE, Facts, Size, Type, Value
from values import is_float, is_integer

from build import EXACT, Builder, on_blocks


def is_block(value: Value) -> bool:
    return bool(value.type.shape) and not value.type.is_pointer and not value.type.opaque


def _change(b: Builder, kind: str, x: Value, shape, compute, text: str, **attributes) -> Value:
    return b.op(
        kind,
        [x],
        x.type.with_shape(shape),
        text,
        lambda m, a, p: on_blocks(lambda block: compute(block, a), p),
        x.facts,
        **attributes,
    )


def _values(shape):
    return lambda sizes: tuple(s.value(sizes) for s in shape)


def reshape(b: Builder):
    x = b.pick(is_block)
    if not x:
        return None
    shape = list(x.type.shape)
    total = ONE
    for size in shape:
        total = total * size
    # Other dimensions with the same product: of the symbols one by one, or all together.
    parts = [Size(1, (s,)) for s in total.symbols] + (
        [Size(total.factor)] if total.factor > 1 else []
    )
    b.random.shuffle(parts)
    other = [total] if b.random.random() < 0.4 or len(parts) > 4 else parts or [ONE]
    if b.random.random() < 0.2 and len(other) < 4:
        other.insert(b.random.randrange(len(other) + 1), ONE)
    text = "{r0} = tt.reshape {0} : {t0} -> {rt0}"
    return _change(
        b, "reshape", x, other, lambda p, a: p.reshape(a["sizes"]), text, sizes=_values(other)
    )


def transpose(b: Builder):
    x = b.pick(lambda v: is_block(v) and len(v.type.shape) > 1)
    if not x:
        return None
    order = list(range(len(x.type.shape)))
    b.random.shuffle(order)
    text = f"{{r0}} = tt.trans {{0}} {{{{order = array<i32: {', '.join(map(str, order))}>}}}} : {{t0}} -> {{rt0}}"
    shape = [x.type.shape[i] for i in order]
    return _change(b, "trans", x, shape, lambda p, a: p.transpose(order), text)


def expand(b: Builder):
    x = b.pick(lambda v: is_block(v) and len(v.type.shape) < 3)
    return x and b.expand(x, b.random.randrange(len(x.type.shape) + 1))


def broadcast(b: Builder):
    x = b.pick(lambda v: is_block(v) and ONE in v.type.shape)
    if not x:
        return None
    new = [Size(1, (b.random.choice("AB"),)) if s == ONE else s for s in x.type.shape]
    if sum(len(s.symbols) for s in new) > 3:
        return None
    return b.broadcast(x, new)


def splat(b: Builder):
    x = b.pick(lambda v: not v.type.shape and not v.type.is_pointer and not v.type.opaque)
    return x and b.splat(x, b.some_shape())


def join(b: Builder):
    x = b.pick(lambda v: is_block(v) and len(v.type.shape) < 3)
    y = x and b.pick(lambda v: v.type == x.type)
    if not y:
        return None
    return b.op(
        "join",
        [x, y],
        x.type.with_shape([*x.type.shape, Size(2)]),
        "{r0} = tt.join {0}, {1} : {t0} -> {rt0}",
        lambda m, a, p, q: np.stack([p, q], -1),
        x.facts.joined(y.facts),
    )


def split(b: Builder):
    x = b.pick(lambda v: is_block(v) and v.type.shape[-1] == Size(2) and len(v.type.shape) > 1)
    if not x:
        return None
    half = x.type.with_shape(x.type.shape[:-1])
    first, second = b.op(
        "split",
        [x],
        [half, half],
        "{r0}, {r1} = tt.split {0} : {t0} -> {rt0}",
        lambda m, a, p: [p[..., 0], p[..., 1]],
        x.facts,
    )
    b.keep(second)
    return first


def concatenate(b: Builder):
    x = b.pick(lambda v: is_block(v) and len(v.type.shape) == 1)
    y = x and b.pick(lambda v: v.type == x.type)
    if not y:
        return None
    return b.op(
        "cat",
        [x, y],
        x.type.with_shape([x.type.shape[0] * Size(2)]),
        "{r0} = tt.cat {0}, {1} : {t0} -> {rt0}",
        lambda m, a, p, q: np.concatenate([p, q]),
        x.facts.joined(y.facts),
    )


def gather_along(b: Builder):
    x = b.pick(lambda v: is_block(v) and all(s.symbols for s in v.type.shape))
    if not x:
        return None
    axis = b.random.randrange(len(x.type.shape))
    index = b.a_value(I32, x.type.shape)
    last = b.size(x.type.shape[axis])
    last = b.integer("arith.subi", last, b.scalar(1))
    # Sizes are powers of two.
    index = b.guard(b.integer("arith.andi", index, b.splat(last, x.type.shape)))
    return b.op(
        "gather",
        [x, index],
        x.type,
        f"{{r0}} = tt.gather {{0}}[{{1}}] {{{{axis = {axis} : i32}}}} : ({{t0}}, {{t1}}) -> {{rt0}}",
        lambda m, a, p, i: np.take_along_axis(p, i.astype(np.int64), axis),
        x.facts,
    )


def histogram(b: Builder):
    """Of all numbers, or of those that a mask chooses."""
    x = b.pick(lambda v: v.type.element == "i32" and len(v.type.shape) == 1 and not v.type.opaque)
    if not x:
        return None
    bins = b.random.choice([1, 2, 8, 64])
    x = b.guard(b.integer("arith.andi", x, b.full(bins - 1, I32, x.type.shape)))
    chosen = b.pick(lambda v: v.type == Type("i1", x.type.shape))
    if chosen is None:
        return b.op(
            "histogram",
            [x],
            Type("i32", (Size(bins),)),
            "{r0} = tt.histogram {0} : {t0} -> {rt0}",
            lambda m, a, p: np.bincount(p, minlength=bins).astype(np.int32),
        )
    return b.op(
        "histogram",
        [x, chosen],
        Type("i32", (Size(bins),)),
        '{r0} = "tt.histogram"({0}, {1}) : ({t0}, {t1}) -> {rt0}',
        lambda m, a, p, c: np.bincount(p[c], minlength=bins).astype(np.int32),
    )


# Reductions and scans

INTEGER_COMBINERS = {
    "arith.addi": np.add,
    "arith.xori": np.bitwise_xor,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.muli": np.multiply,
}
FLOAT_COMBINERS = {f"arith.{name}": compute for name, compute in EXTREMA.items()}


def combiner(b: Builder, x: Value, size: int, wanted: str = ""):
    """An associative operation, the wanted one if that is possible, with what is known of its result."""
    dtype = x.type.dtype
    if not dtype.is_float:
        kind = b.random.choice(list(INTEGER_COMBINERS))
        if x.type.element == "i1":
            kind = b.random.choice(["arith.andi", "arith.ori", "arith.xori"])
        kind = wanted or kind
        return kind, INTEGER_COMBINERS[kind], EXACT
    if wanted == "arith.addf" or (not wanted and b.random.random() < 0.5):
        bound = x.facts.bound * size
        if x.facts.integral and bound <= dtype.exact_integers:
            return "arith.addf", np.add, Facts(bound, x.facts.error * size, True)
        if bound < dtype.largest / 8:
            error = size * x.facts.error + size * 2 * dtype.epsilon * bound
            return "arith.addf", np.add, Facts(bound, error)
    kind = b.random.choice(list(FLOAT_COMBINERS))
    if wanted in FLOAT_COMBINERS:
        kind = wanted
    # Which of two zeros comes out depends on the order only where NaN loses.
    facts = Facts(
        x.facts.bound, x.facts.error, x.facts.integral, False, "num" in kind or x.facts.zero
    )
    return kind, FLOAT_COMBINERS[kind], facts


def folded(compute, dtype: Dtype):
    def step(x, y):
        result = compute(x, y)
        return round_to(result, dtype) if dtype.is_float else result.astype(dtype.numpy)

    return step


def reduce(b: Builder):
    x = b.pick(lambda v: is_block(v) and (is_float(v) or is_integer(v) or v.type.element == "i1"))
    if not x:
        return None
    return reduce_by(b, x, b.random.randrange(len(x.type.shape)))


def reduce_by(b: Builder, x: Value, axis: int, wanted: str = "") -> Value | None:
    """Along one axis, by any operation or by a wanted one if that is known to be accurate enough."""
    size = x.type.shape[axis].value(b.program.sizes)
    kind, compute, facts = combiner(b, x, size, wanted)
    if wanted and kind != wanted:
        return None
    step, element = folded(compute, x.type.dtype), x.type.element
    shape = [s for i, s in enumerate(x.type.shape) if i != axis]
    text = (
        f'{{r0}} = "tt.reduce"({{0}}) <{{{{axis = {axis} : i32}}}}> ({{{{\n'
        f"^bb0(%a: {element}, %b: {element}):\n  %c = {kind} %a, %b : {element}\n"
        f"  tt.reduce.return %c : {element}\n}}}}) : ({{t0}}) -> {{rt0}}"
    )

    def run(m, a, p):
        parts = np.moveaxis(p, axis, 0)
        total = parts[0]
        for part in parts[1:]:
            total = step(total, part)
        return total

    return b.op("reduce", [x], x.type.with_shape(shape), text, run, facts)


def scan(b: Builder):
    x = b.pick(lambda v: is_block(v) and (is_float(v) or is_integer(v)))
    if not x:
        return None
    axis = b.random.randrange(len(x.type.shape))
    kind, compute, facts = combiner(b, x, x.type.shape[axis].value(b.program.sizes))
    step, element = folded(compute, x.type.dtype), x.type.element
    reverse = b.random.random() < 0.3
    text = (
        f'{{r0}} = "tt.scan"({{0}}) <{{{{axis = {axis} : i32, reverse = {str(reverse).lower()}}}}}> ({{{{\n'
        f"^bb0(%a: {element}, %b: {element}):\n  %c = {kind} %a, %b : {element}\n"
        f"  tt.scan.return %c : {element}\n}}}}) : ({{t0}}) -> {{rt0}}"
    )

    def run(m, a, p):
        parts = np.moveaxis(p, axis, 0)[:: -1 if reverse else 1]
        results = [parts[0]]
        for part in parts[1:]:
            results.append(step(results[-1], part))
        return np.moveaxis(np.stack(results)[:: -1 if reverse else 1], 0, axis)

    return b.op("scan", [x], x.type, text, run, facts)


FAMILY = {
    reshape: 3,
    transpose: 3,
    expand: 2,
    broadcast: 3,
    splat: 2,
    join: 2,
    split: 2,
    concatenate: 1,
    gather_along: 2,
    histogram: 1,
    reduce: 6,
    scan: 2,
}
