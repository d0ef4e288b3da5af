# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a program that fails small: any change is kept with which it still fails in the same way."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator

from ir import Block, Op, Program, Value


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        for inner in op.blocks:
            yield from _blocks(inner)


def _ops(program: Program) -> list[tuple[Block, Op]]:
    return [(block, op) for block in _blocks(program.body) for op in block.ops]


def _replace(program: Program, old: Value, new: Value) -> None:
    for block in _blocks(program.body):
        block.yields = [new if v is old else v for v in block.yields]
        for op in block.ops:
            op.operands = [new if v is old else v for v in op.operands]


def _remove_dead(program: Program) -> None:
    """Operations without effect that nobody uses, then arguments."""
    while True:
        used = set()
        for block in _blocks(program.body):
            used.update(block.yields)
            for op in block.ops:
                used.update(op.operands)
        dead = [
            (block, op)
            for block, op in _ops(program)
            if not used.intersection(op.results) and not _has_effect(op)
        ]
        for block, op in dead:
            if op in block.ops:
                block.ops.remove(op)
        if not dead:
            break
    program.arrays = [(v, a) for v, a in program.arrays if v in used]
    program.scalars = [(v, n) for v, n in program.scalars if v in used]


def _has_effect(op: Op) -> bool:
    return op.has_effect or any(_has_effect(o) for b in op.blocks for o in b.ops)


def _is_weaker(old: Value, new: Value) -> bool:
    """Whether all that is known of the old value holds for the new one."""
    x, y = old.facts, new.facts
    return (
        old.type == new.type
        and y.bound <= x.bound
        and y.error <= x.error
        and y.integral >= x.integral
        and y.product <= x.product
        and y.zero <= x.zero
    )


def _addresses(program: Program) -> set[Value]:
    """What makes up the addresses of stores: each lane has its own, or the order of lanes would matter."""
    makers = {result: op for _, op in _ops(program) for result in op.results}
    found: set[Value] = set()
    pending = [op.operands[0] for _, op in _ops(program) if op.kind == "store"]
    while pending:
        value = pending.pop()
        if value in found:
            continue
        found.add(value)
        if value in makers and not makers[value].blocks and makers[value].kind != "load":
            pending += makers[value].operands
    return found


def _candidates(program: Program) -> Iterator[Callable[[Program], None]]:
    """Changes, the largest first. Each works on a copy, where operations are found by their number."""
    count = len(_ops(program))
    if program.grid > 1:
        yield lambda p: setattr(p, "grid", 1)
    for number in reversed(range(count)):
        if _ops(program)[number][1].has_effect:
            yield lambda p, n=number: _drop(p, n)
    for number in reversed(range(count)):
        if _ops(program)[number][1].blocks:
            for which in range(len(_ops(program)[number][1].blocks)):
                yield lambda p, n=number, w=which: _inline(p, n, w)
    for symbol, size in program.sizes.items():
        for smaller in (1, 2, size // 2):
            if smaller < size:
                yield lambda p, s=symbol, n=smaller: p.sizes.__setitem__(s, n)
    for number in reversed(range(count)):
        for attempt in range(3):
            yield lambda p, n=number, a=attempt: _bypass(p, n, a)
    for i, (_, number) in enumerate(program.scalars):
        for simpler in (0, 1):
            if number not in (0, 1):
                yield lambda p, i=i, n=simpler: _set_scalar(p, i, n)
    for i, (_, array) in enumerate(program.arrays):
        if array.flavor != "small":
            yield lambda p, i=i: setattr(p.arrays[i][1], "flavor", "small")


def _set_scalar(program: Program, index: int, number: int) -> None:
    program.scalars[index] = (program.scalars[index][0], number)


def _drop(program: Program, number: int) -> None:
    block, op = _ops(program)[number]
    if any(result in o.operands for _, o in _ops(program) for result in op.results):
        raise ValueError("in use")
    block.ops.remove(op)


def _inline(program: Program, number: int, which: int) -> None:
    """A loop's or a branch's block in its place, run once."""
    block, op = _ops(program)[number]
    inner = op.blocks[which]
    if op.kind == "while":
        raise ValueError("two blocks that belong together")
    at = block.ops.index(op)
    arguments = op.operands[-len(inner.arguments) + 1 :] if len(inner.arguments) > 1 else []
    if op.kind == "for":
        arguments = [op.operands[0], *arguments]
    block.ops[at : at + 1] = inner.ops
    for old, new in zip(inner.arguments, arguments, strict=True):
        _replace(program, old, new)
        inner.yields = [new if v is old else v for v in inner.yields]
    for old, new in zip(op.results, inner.yields, strict=True):
        _replace(program, old, new)


def _bypass(program: Program, number: int, attempt: int) -> None:
    """An earlier value in the place of an operation's result."""
    block, op = _ops(program)[number]
    if len(op.results) != 1 or op.results[0].is_guard or op.results[0].type.opaque:
        raise ValueError("has to stay")
    result = op.results[0]
    if result in _addresses(program):
        raise ValueError("has to stay")
    before = block.ops[: block.ops.index(op)]
    earlier = [*block.arguments, *program.arguments(), *(v for o in before for v in o.results)]
    fitting = [v for v in op.operands if _is_weaker(result, v)]
    fitting += [v for v in earlier if _is_weaker(result, v) and v not in fitting]
    _replace(program, result, fitting[attempt])


def shrink(program: Program, fails: Callable[[Program], bool], most: int = 2000) -> Program:
    """The smallest program found by at most so many trials."""
    trials, has_changed = 0, True
    while has_changed and trials < most:
        has_changed = False
        skip = 0
        while trials < most:
            changes = list(_candidates(program))[skip:]
            if not changes:
                break
            smaller = copy.deepcopy(program)
            try:
                changes[0](smaller)
                _remove_dead(smaller)
                is_smaller = smaller.text() != program.text()
            except (ValueError, IndexError):
                is_smaller = False
            trials += is_smaller
            if is_smaller and fails(smaller):
                program, has_changed = smaller, True
            else:
                skip += 1
    return program
