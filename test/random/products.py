# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of matrices, alone and in loops along K."""

from __future__ import annotations

import numpy as np
from control import MOST_DEPTH, append_loop
from conversions import convert
from dtypes import BF16, F8E4, F8E5, F16, F32, F64, I8, I32, Dtype, round_to
from ir import Facts, Size, Type, Value
from values import is_exact

from build import EXACT, Builder, i64_if

# Types of operands and accumulator.
DOTS = [
    (F32, F32),
    (F16, F32),
    (BF16, F32),
    (I8, I32),
    (F16, F16),
    (F64, F64),
    (F8E5, F32),
    (F8E4, F32),
    (F8E4, F16),
]


def product(b: Builder, x: Value, y: Value, c: Value, terms: int = 0) -> Value:
    """c + x @ y; `terms` products have been added to c before, or will be, of numbers as these."""
    target = c.type.dtype
    depth = x.type.shape[-1].value(b.program.sizes)
    facts = EXACT
    if target.is_float:
        count = depth + terms
        bound = x.facts.bound * y.facts.bound * count + c.facts.bound
        is_integral = x.facts.integral and y.facts.integral and c.facts.integral
        if is_integral and bound <= target.exact_integers:
            facts = Facts(bound, c.facts.error, True)
        else:
            facts = Facts(bound, c.facts.error + (count + 2) * 2 * target.epsilon * bound)

    def run(machine, a, p, q, r):
        if target.is_float:
            return round_to(p @ q + r, target)
        return p.astype(np.int32) @ q.astype(np.int32) + r

    return b.op(
        "dot",
        [x, y, c],
        c.type,
        "{r0} = tt.dot {0}, {1}, {2} : {t0} * {t1} -> {rt0}",
        run,
        facts,
    )


def dot(b: Builder):
    """Of matrices, or of batches of them."""
    source, target = b.random.choice(DOTS)
    m, n, k = (b.random.choice([Size(1, (s,)), Size(16)]) for s in "ABC")
    batch = ()
    if b.random.random() < 0.2:
        batch, m, n = (Size(2),), Size(16), Size(b.random.choice([8, 16, 32]))
    small = lambda v: not source.is_float or v.facts.bound <= 4  # noqa: E731
    x, y = b.a_value(source, (*batch, m, k), small), b.a_value(source, (*batch, k, n), small)
    if not (small(x) and small(y)) or (source.is_float and not (is_exact(x) and is_exact(y))):
        return None
    c = b.pick(
        lambda v: (
            v.type == Type(target.name, (*batch, m, n))
            and (not target.is_float or v.facts.bound <= 64)
        )
    )
    return product(b, x, y, c or b.full(0, target, (*batch, m, n)))


class Operand:
    """A matrix in memory of which a loop along K reads a block in each iteration."""

    def __init__(self, b: Builder, dtype: Dtype, shape, depth_axis: int):
        from memory import facts_of

        self.b, self.dtype, self.shape, self.depth_axis = b, dtype, shape, depth_axis
        flavor = b.random.choice(["small", "small", "normal"]) if dtype.is_float else "small"
        self.base, self.facts = b.array(dtype, flavor), facts_of(dtype, flavor)
        self.wide = b.random.random() < 0.2
        # Contiguous along either dimension, or along none.
        contiguous = b.random.choice([0, 1, 1, 1, 2])
        self.strides = [
            b.scalar(1) if axis == contiguous else b.number(64, 110) for axis in range(2)
        ]
        self.first = b.integer("arith.muli", b.program_id(), b.number(0, 16))
        limit = b.number(0, 40) if b.random.random() < 0.5 else None
        self.outer_mask = None
        if limit is not None:
            other = b.index(shape, 1 - depth_axis)
            self.outer_mask = b.compare("slt", other, b.splat(limit, shape))

    def offsets(self) -> Value:
        """Of the block of the first iteration, from the base."""
        b, total = self.b, None
        for axis in range(2):
            index = b.arange(self.shape[axis])
            if axis != self.depth_axis:
                index = b.integer("arith.addi", index, b.splat(self.first, (self.shape[axis],)))
            index = b.integer("arith.muli", index, b.splat(self.strides[axis], (self.shape[axis],)))
            index = b.along(index, self.shape, axis)
            total = index if total is None else b.integer("arith.addi", total, index)
        return i64_if(b, total, self.wide)

    def load(self, pointer: Value, left: Value | None) -> Value:
        """In the loop: a block of which `left` numbers along K are there."""
        from memory import load

        b, lanes, other = self.b, self.outer_mask, None
        if left is not None:
            depth = b.index(self.shape, self.depth_axis)
            inside = b.compare("slt", depth, b.splat(left, self.shape))
            lanes = inside if lanes is None else b.integer("arith.andi", lanes, inside)
        if lanes is not None and not self.dtype.is_small_float:
            other = b.full(0, self.dtype, self.shape)
        return load(b, pointer, self.facts, lanes, other)


# Types in memory of both operands, the one that is multiplied, and the accumulator.
LOOPS = [
    (F32, F32, F32, F32),
    (F16, F16, F16, F32),
    (F16, F16, F16, F16),
    (BF16, BF16, BF16, F32),
    (I8, I8, I8, I32),
    (F8E4, F8E5, None, F32),
    (F16, I8, F16, F32),
    (F32, I8, F32, F32),
    (BF16, I8, BF16, F32),
    (F16, F8E4, F16, F32),
]


def product_loop(b: Builder):
    """acc += a[:, k] @ b[k, :], with pointers that move or that are computed."""
    from memory import add_pointer

    if b.depth >= MOST_DEPTH:
        return None
    left_type, right_type, operand_type, target = b.random.choice(LOOPS)
    m, n, k = (b.random.choice([Size(1, (s,)), Size(16), Size(32)]) for s in "ABC")
    swaps = b.random.random() < 0.2
    x = Operand(b, left_type, (m, k), 1)
    y = Operand(b, right_type, (n, k) if swaps else (k, n), 1 if swaps else 0)
    moves = b.random.random() < 0.5
    step = b.size(k)
    depth = None
    if b.random.random() < 0.5:
        depth = b.number(0, 70)
    most = 5
    count = b.number(0, most)
    offsets = [operand.offsets() for operand in (x, y)]
    starts = [
        add_pointer(b, b.splat(o.base, o.shape), at) for o, at in zip((x, y), offsets, strict=True)
    ]
    total = b.full(0, target, (m, n))
    carried = [total, *(starts if moves else [])]
    index = Value(Type("i32"))
    arguments = [Value(v.type, v.facts) for v in carried]
    facts = []

    def body():
        done = b.integer("arith.muli", index, step)
        left = None if depth is None else b.integer("arith.subi", depth, done)
        blocks, nexts = [], []
        for i, operand in enumerate((x, y)):
            along = operand.strides[operand.depth_axis]
            if moves:
                pointer = arguments[1 + i]
                distance = b.integer("arith.muli", step, along)
                nexts.append(add_pointer(b, pointer, b.splat(distance, operand.shape)))
            else:
                distance = b.integer("arith.muli", done, along)
                pointer = add_pointer(b, starts[i], b.splat(distance, operand.shape))
            block = operand.load(pointer, left)
            if operand_type is not None:
                block = convert(b, block, operand_type)
            blocks.append(block)
        if swaps:
            blocks[1] = b.op(
                "trans",
                [blocks[1]],
                blocks[1].type.with_shape((k, n)),
                "{r0} = tt.trans {0} {{order = array<i32: 1, 0>}} : {t0} -> {rt0}",
                lambda m, a, p: p.T,
                blocks[1].facts,
            )
        terms = (most - 1) * k.value(b.program.sizes)
        result = product(b, *blocks, arguments[0], terms)
        facts.append(result.facts)
        return [result, *nexts]

    results = [Value(v.type) for v in carried]
    append_loop(b, (b.scalar(0), count, b.scalar(1)), carried, [index, *arguments], results, body)
    results[0].facts = facts[0]
    return results[0]


FAMILY = {dot: 3, product_loop: 3}
