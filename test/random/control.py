# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops and branches."""

from __future__ import annotations

from dtypes import I32, I64
from ir import Facts, Op, Type, Value

from build import EXACT, Builder

MOST_DEPTH = 2


def _is_carried(value: Value) -> bool:
    """What a loop may change: nothing is known of it afterwards."""
    return not value.type.is_pointer and not value.type.opaque and value.facts.error == 0


def _unknown(value: Value) -> Facts:
    return Facts(product=True, zero=value.facts.zero) if value.type.dtype.is_float else EXACT


def _append(b: Builder, op: Op) -> None:
    b.blocks[-1].ops.append(op)
    b.used.update(op.operands)


def _fill(b: Builder, count: int) -> None:
    from generate import grow

    grow(b, count)


def append_loop(b: Builder, bounds, carried, arguments, results, body) -> None:
    """A counted loop: `arguments` are its index and what it carries, `body` gives what the next iteration gets."""
    block = b.nested(arguments, body)
    dtype = arguments[0].type.dtype

    def compute(m, op, lower, upper, by, *inits):
        state = list(inits)
        for i in range(int(lower), int(upper), int(by)):
            state = m.block(op.blocks[0], [dtype.numpy.type(i), *state])
        return state

    names = ", ".join(f"{{r{i}}}" for i in range(len(results)))
    inits = ", ".join(f"{{b0_{i + 1}}} = {{{i + 3}}}" for i in range(len(results)))
    types = ", ".join(f"{{rt{i}}}" for i in range(len(results)))
    text = (
        f"{names} = scf.for {{b0_0}} = {{0}} to {{1}} step {{2}} iter_args({inits}) -> ({types}) "
        f": {dtype.name} {{{{\n{{body0}}  scf.yield {{yields0}}\n}}}}"
    )
    _append(b, Op("for", [*bounds, *carried], results, text, compute, {}, [block]))


def _successor(b: Builder, carried: Value) -> Value:
    """A value for the next iteration: any of the type that may be carried on."""
    found = b.pick(
        lambda v: v.type == carried.type and _is_carried(v) and v.facts.zero <= carried.facts.zero
    )
    return found or carried


def _carried(b: Builder) -> list[Value]:
    values = {b.pick(_is_carried) for _ in range(b.random.randint(1, 3))}
    return [value for value in b.visible if value in values]


def counted_loop(b: Builder):
    if b.depth >= MOST_DEPTH:
        return None
    carried = _carried(b)
    if not carried:
        return None
    dtype = b.random.choice([I32, I32, I64])
    low, high = b.number(-2, 3, dtype), b.number(-1, 7, dtype)
    step = b.number(1, 3, dtype)
    results = [Value(value.type, _unknown(value)) for value in carried]
    arguments = [Value(value.type, _unknown(value)) for value in carried]
    index = Value(Type(dtype.name))

    def body():
        _fill(b, b.random.randint(1, 5))
        return [_successor(b, value) for value in arguments]

    append_loop(b, (low, high, step), carried, [index, *arguments], results, body)
    for result in results[1:]:
        b.keep(result)
    return results[0]


def while_loop(b: Builder):
    if b.depth >= MOST_DEPTH:
        return None
    carried = _carried(b)
    if not carried:
        return None
    start, limit = b.number(0, 3), b.number(0, 6)
    all_results = [Value(Type("i32"))] + [Value(v.type, _unknown(v)) for v in carried]
    before = [Value(Type("i32"))] + [Value(v.type, _unknown(v)) for v in carried]
    after = [Value(Type("i32"))] + [Value(v.type, _unknown(v)) for v in carried]

    def condition():
        return [b.compare("slt", before[0], limit), *before]

    def body():
        _fill(b, b.random.randint(1, 4))
        count = b.integer("arith.addi", after[0], b.scalar(1))
        return [count, *[_successor(b, value) for value in after[1:]]]

    blocks = [b.nested(before, condition), b.nested(after, body)]

    def compute(m, op, *inits):
        state = list(inits)
        while True:
            goes_on, *state = m.block(op.blocks[0], state)
            if not goes_on:
                return state
            state = m.block(op.blocks[1], state)

    count = len(all_results)
    names = ", ".join(f"{{r{i}}}" for i in range(count))
    inits = ", ".join(f"{{b0_{i}}} = {{{i}}}" for i in range(count))
    types = ", ".join(f"{{rt{i}}}" for i in range(count))
    after_text = ", ".join(f"{{b1_{i}}}: {{rt{i}}}" for i in range(count))
    text = (
        f"{names} = scf.while ({inits}) : ({types}) -> ({types}) {{{{\n"
        "{body0}  scf.condition({first0}) {rest0}\n}} do {{\n"
        f"^bb0({after_text}):\n{{body1}}  scf.yield {{yields1}}\n}}}}"
    )
    op = Op("while", [start, *carried], all_results, text, compute, {}, blocks)
    _append(b, op)
    for result in all_results[1:-1]:
        b.keep(result)
    return all_results[-1]


def branch(b: Builder):
    if b.depth >= MOST_DEPTH:
        return None
    condition = b.pick(lambda v: v.type == Type("i1"))
    if not condition or b.random.random() < 0.3:
        predicate = b.random.choice(["eq", "ne", "slt", "sgt"])
        number = b.pick(lambda v: v.type == Type("i32")) or b.program_id()
        condition = b.compare(predicate, number, b.number(0, 2))
    model = _carried(b)
    if not model:
        return None

    def body():
        _fill(b, b.random.randint(0, 4))
        return [_successor(b, value) for value in model]

    blocks = [b.nested([], body), b.nested([], body)]
    results = []
    for i, value in enumerate(model):
        facts = blocks[0].yields[i].facts.joined(blocks[1].yields[i].facts)
        results.append(Value(value.type, facts))

    def compute(m, op, which):
        return m.block(op.blocks[0 if which else 1], [])

    names = ", ".join(f"{{r{i}}}" for i in range(len(results)))
    types = ", ".join(f"{{rt{i}}}" for i in range(len(results)))
    text = (
        f"{names} = scf.if {{0}} -> ({types}) {{{{\n{{body0}}  scf.yield {{yields0}}\n"
        "}} else {{\n{body1}  scf.yield {yields1}\n}}"
    )
    _append(b, Op("if", [condition], results, text, compute, {}, blocks))
    for result in results[1:]:
        b.keep(result)
    return results[0]


def moving_pointer(b: Builder):
    """A loop that carries a block of pointers and sums what it reads."""
    from memory import add_pointer, affine_offsets, flavor_of, load, mask, pointers

    if b.depth >= MOST_DEPTH:
        return None
    shape, dtype = b.some_shape(), b.random.choice([I32, I64])
    base = b.array(dtype, flavor_of(b, dtype))
    pointer = pointers(b, base, affine_offsets(b, shape, False))
    total = b.full(0, dtype, shape)
    lanes, move = mask(b, shape), b.number(-3, 40)
    count = b.number(0, 4)
    arguments = [Value(Type("i32")), Value(pointer.type), Value(total.type)]
    results = [Value(pointer.type), Value(total.type)]

    def body():
        value = load(b, arguments[1], EXACT, lanes, total if lanes is not None else None)
        value = b.integer("arith.addi", arguments[2], value)
        step = b.splat(move, shape)
        return [add_pointer(b, arguments[1], step), value]

    bounds = (b.scalar(0), count, b.scalar(1))
    append_loop(b, bounds, [pointer, total], arguments, results, body)
    return results[1]


FAMILY = {counted_loop: 2, while_loop: 1, branch: 3, moving_pointer: 1}
