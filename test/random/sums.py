# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reductions and scans of several operands, loops that sum, sorting."""

from __future__ import annotations

import numpy as np
from blocks import INTEGER_COMBINERS, combiner, is_block
from control import MOST_DEPTH, append_loop
from dtypes import BF16, F16, F32, I8, I16, I32, I64
from integers import COMPARISONS
from ir import Size, Type, Value
from values import is_exact, is_float, is_integer

from build import EXACT, Builder


def _region(kind: str, axis: int, types: list[str], lines: list[str], yields: list[str]) -> str:
    """The text of a reduction or a scan: the first half of the region's arguments is %a0, ..., the second %b0, ..."""
    count = len(types)
    results = ", ".join(f"{{r{i}}}" for i in range(count))
    operands = ", ".join(f"{{{i}}}" for i in range(count))
    arguments = ", ".join(f"%{side}{i}: {types[i]}" for side in "ab" for i in range(count))
    operand_types = ", ".join(f"{{t{i}}}" for i in range(count))
    result_types = ", ".join(f"{{rt{i}}}" for i in range(count))
    body = "".join(f"  {line}\n" for line in lines)
    attributes = f"axis = {axis} : i32" + (", reverse = false" if kind == "scan" else "")
    return (
        f'{results} = "tt.{kind}"({operands}) <{{{{{attributes}}}}}> ({{{{\n'
        f"^bb0({arguments}):\n{body}  tt.{kind}.return {', '.join(yields)} : {', '.join(types)}\n"
        f"}}}}) : ({operand_types}) -> ({result_types})"
    )


def reduce_several(b: Builder):
    """Two or three blocks at once, each with a combination of its own."""
    x = b.pick(lambda v: is_block(v) and is_integer(v))
    if not x:
        return None
    operands = [x]
    for _ in range(b.random.randint(1, 2)):
        operands.append(b.a_value(b.random.choice([I8, I16, I32, I64]), x.type.shape))
    axis = b.random.randrange(len(x.type.shape))
    kinds = [b.random.choice(list(INTEGER_COMBINERS)) for _ in operands]
    types = [v.type.element for v in operands]
    lines = [f"%c{i} = {k} %a{i}, %b{i} : {types[i]}" for i, k in enumerate(kinds)]
    text = _region("reduce", axis, types, lines, [f"%c{i}" for i in range(len(kinds))])
    shape = [s for i, s in enumerate(x.type.shape) if i != axis]

    def run(m, a, *blocks):
        results = []
        for kind, block in zip(kinds, blocks, strict=True):
            parts = np.moveaxis(block, axis, 0)
            total = parts[0]
            for part in parts[1:]:
                total = INTEGER_COMBINERS[kind](total, part)
            results.append(total)
        return results

    results = b.op("reduce", operands, [v.type.with_shape(shape) for v in operands], text, run)
    for result in results[1:]:
        b.keep(result)
    return results[0]


def recurrence(b: Builder):
    """A scan that composes x -> a * x + b."""
    a = b.pick(lambda v: is_block(v) and is_integer(v))
    if not a:
        return None
    c = b.a_value(a.type.dtype, a.type.shape)
    axis = b.random.randrange(len(a.type.shape))
    element = a.type.element
    lines = [
        f"%p = arith.muli %a0, %b0 : {element}",
        f"%q = arith.muli %a1, %b0 : {element}",
        f"%s = arith.addi %q, %b1 : {element}",
    ]
    text = _region("scan", axis, [element, element], lines, ["%p", "%s"])

    def run(m, attributes, factors, terms):
        f, t = np.moveaxis(factors, axis, 0), np.moveaxis(terms, axis, 0)
        fs, ts = [f[0]], [t[0]]
        for i in range(1, len(f)):
            ts.append(ts[-1] * f[i] + t[i])
            fs.append(fs[-1] * f[i])
        return [np.moveaxis(np.stack(part), 0, axis) for part in (fs, ts)]

    products, sums = b.op("scan", [a, c], [a.type, a.type], text, run)
    b.keep(products)
    return sums


def argmax(b: Builder):
    """The largest or smallest value and where it is; of equal ones the first."""
    x = b.pick(
        lambda v: (
            is_block(v)
            and (is_integer(v) or (is_float(v) and is_exact(v) and v.facts.bound < np.inf))
        )
    )
    if not x:
        return None
    axis = b.random.randrange(len(x.type.shape))
    index = b.guard(b.index(x.type.shape, axis))
    is_max = b.random.random() < 0.6
    if x.type.dtype.is_float:
        equal, better = "cmpf oeq", "cmpf ogt" if is_max else "cmpf olt"
    else:
        equal, better = "cmpi eq", "cmpi sgt" if is_max else "cmpi slt"
    element = x.type.element
    shape = [s for i, s in enumerate(x.type.shape) if i != axis]
    lines = [
        f"%e = arith.{equal}, %a0, %b0 : {element}",
        "%l = arith.cmpi slt, %a1, %b1 : i32",
        "%t = arith.andi %e, %l : i1",
        f"%g = arith.{better}, %a0, %b0 : {element}",
        "%o = arith.ori %g, %t : i1",
        f"%v = arith.select %o, %a0, %b0 : {element}",
        "%k = arith.select %o, %a1, %b1 : i32",
    ]
    text = _region("reduce", axis, [element, "i32"], lines, ["%v", "%k"])
    types = [x.type.with_shape(shape), Type("i32", tuple(shape))]

    def run(m, a, p, i):
        where = p.argmax(axis) if is_max else p.argmin(axis)
        value = np.take_along_axis(p, np.expand_dims(where, axis), axis).squeeze(axis)
        return [value, where.astype(np.int32)]

    # Of two zeros the first one comes out, which is one value.
    value, where = b.op("argmax", [x, index], types, text, run, x.facts)
    where.facts = EXACT
    b.keep(value)
    return where


def sum_loop(b: Builder):
    """A loop adds blocks to a block, which is reduced behind it."""
    from memory import add_pointer, affine_offsets, facts_of, load, mask

    if b.depth >= MOST_DEPTH:
        return None
    shape, dtype = b.some_shape(), b.random.choice([F32, F32, F16, BF16, I32, I64])
    flavor = "small" if b.random.random() < 0.6 else "normal"
    base = b.array(dtype, flavor)
    one = facts_of(dtype, flavor) if dtype.is_float else EXACT
    start = add_pointer(b, b.splat(base, shape), affine_offsets(b, shape, b.random.random() < 0.2))
    lanes, move = mask(b, shape), b.number(0, 40)
    other = b.full(0, dtype, shape) if lanes is not None else None
    most = 5
    count = b.number(0, most)
    model = Value(Type(dtype.name, shape), one)
    kind, compute, facts = combiner(b, model, most + 1)
    if facts.error and facts.bound >= dtype.largest / 64:
        return None
    total = b.full(0, dtype, shape)
    index = Value(Type("i32"))
    argument, result = Value(total.type, facts), Value(total.type, facts)

    def body():
        distance = b.integer("arith.muli", index, move)
        pointer = add_pointer(b, start, b.splat(distance, shape))
        if pointer.type.shape != shape:
            raise AssertionError("a block of pointers")
        value = load(b, pointer, one, lanes, other)
        if b.random.random() < 0.3 and dtype.is_float:
            value = b.elementwise("math.absf", [value], dtype, np.abs, one)
        from blocks import folded

        return [b.elementwise(kind, [argument, value], dtype, folded(compute, dtype), facts)]

    append_loop(b, (b.scalar(0), count, b.scalar(1)), [total], [index, argument], [result], body)
    from blocks import reduce_by

    if b.random.random() < 0.8:
        again = reduce_by(b, result, b.random.randrange(len(shape)), kind)
        if again is not None:
            b.keep(result)
            return again
    return result


# Sorting, as Triton writes it: a block is a cube of side 2, and neighbours along one of its dimensions are
# exchanged by exclusive or.


def _flipped(b: Builder, x: Value, axis: int) -> Value:
    """Each element's neighbour along an axis of length 2."""
    both = _xor_along(b, x, axis)
    both = b.broadcast(b.expand(both, axis), x.type.shape)
    return b.integer("arith.xori", x, both)


def _xor_along(b: Builder, x: Value, axis: int) -> Value:
    element = x.type.element
    shape = [s for i, s in enumerate(x.type.shape) if i != axis]
    text = _region("reduce", axis, [element], [f"%c = arith.xori %a0, %b0 : {element}"], ["%c"])
    return b.op(
        "reduce",
        [x],
        [x.type.with_shape(shape)],
        text,
        lambda m, a, p: [np.bitwise_xor.reduce(p, axis=axis)],
    )[0]


def _indicator(b: Builder, rank: int, axis: int) -> Value:
    """False and true along one axis of the cube."""
    index = b.arange(Size(2))
    index = b.along(index, (Size(2),) * rank, axis)
    return b.compare("ne", index, b.full(0, I32, (Size(2),) * rank))


def sort(b: Builder):
    """All of a bitonic network, or the last steps of a longer one."""
    dtype = b.random.choice([I8, I16, I32, I32, I64])
    whole = b.random.random() < 0.5
    rank = b.random.randint(2, 3 if whole else 7)
    cube = (Size(2),) * rank
    x = b.a_value(dtype, (Size(2**rank),))
    reshape = "{r0} = tt.reshape {0} : {t0} -> {rt0}"
    x = b.op(
        "reshape", [x], x.type.with_shape(cube), reshape, lambda m, a, p: p.reshape((2,) * rank)
    )
    greater = b.random.choice(["sgt", "slt"])
    for stage in range(1 if whole else rank, rank + 1):
        descends = _indicator(b, rank, rank - 1 - stage) if stage < rank else None
        for step in reversed(range(stage)):
            axis = rank - 1 - step
            y = _flipped(b, x, axis)
            swap = b.op(
                "cmpi",
                [x, y],
                Type("i1", cube),
                f"{{r0}} = arith.cmpi {greater}, {{0}}, {{1}} : {{t0}}",
                lambda m, a, p, q: COMPARISONS[greater](p, q),
            )
            side = _indicator(b, rank, axis)
            if descends is not None:
                side = b.integer("arith.xori", side, descends)
            swap = b.integer("arith.xori", swap, side)
            x = b.op(
                "select",
                [swap, y, x],
                x.type,
                "{r0} = arith.select {0}, {1}, {2} : {t0}, {t1}",
                lambda m, a, c, p, q: np.where(c, p, q),
            )
    flat = x.type.with_shape((Size(2**rank),))
    return b.op("reshape", [x], flat, reshape, lambda m, a, p: p.reshape(-1))


FAMILY = {reduce_several: 1, recurrence: 1, argmax: 1, sum_loop: 2, sort: 1}
