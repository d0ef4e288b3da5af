# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes programs: what all families of operations use."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from dtypes import FLOATS, I1, I32, I64, INTEGERS, SMALL_FLOATS, Dtype
from ir import ONE, Array, Block, Facts, Op, Program, Size, Type, Value

EXACT = Facts()


class Builder:
    """A program that grows. `visible` are the values that the next operation may use."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        sizes = {s: self.random.choice([1, 2, 4, 8, 16, 16, 32, 64]) for s in "ABC"}
        if sizes["A"] * sizes["B"] * sizes["C"] > 4096:
            sizes["C"] = 2
        self.program = Program(seed, sizes, grid=self.random.choice([1, 1, 2, 3]))
        self.blocks = [self.program.body]
        self.visible: list[Value] = []
        self.masks: list[Value] = []  # of accesses, for further ones
        self.used: set[Value] = set()
        self.depth = 0

    def guard(self, value: Value) -> Value:
        value.is_guard = True
        return value

    # Operations

    def op(self, kind, operands, types, text, compute, facts=EXACT, effect=False, **attributes):
        """Appends an operation; gives its result, or a list where there are several or none."""
        single = isinstance(types, Type)
        if any(value.facts.zero for value in operands):
            facts = replace(facts, zero=True)
        results = [Value(t, facts) for t in ([types] if single else types)]
        constant = {n: (a if callable(a) else (lambda _, a=a: a)) for n, a in attributes.items()}
        op = Op(kind, list(operands), results, text, compute, constant, has_effect=effect)
        self.blocks[-1].ops.append(op)
        self.used.update(operands)
        return results[0] if single else results

    def keep(self, value: Value) -> Value:
        """Offers a value to operations that follow."""
        self.visible.append(value)
        return value

    def elementwise(self, kind, operands, element: Dtype, compute, facts=EXACT, suffix=None):
        """An operation of arith or math with one type for all, or `x : t0 to rt0`."""
        names = ", ".join(f"{{{i}}}" for i in range(len(operands)))
        text = f"{{r0}} = {kind} {names} : {suffix or '{t0}'}"
        result = Type(element.name, operands[0].type.shape)
        return self.op(kind, operands, result, text, lambda m, a, *x: compute(*x), facts)

    # Constants, pointers, ranges

    def scalar(self, number, dtype: Dtype = I32) -> Value:
        facts = EXACT
        if dtype.is_float:
            facts = Facts(abs(number), 0.0, float(number).is_integer())
        text = f"{float(number):.17e}" if dtype.is_float else int(number)
        if dtype is I1:
            text = "true" if number else "false"
            return self.op(
                "constant",
                [],
                Type("i1"),
                f"{{r0}} = arith.constant {text}",
                lambda m, a: np.bool_(number),
            )
        return self.op(
            "constant",
            [],
            Type(dtype.name),
            f"{{r0}} = arith.constant {text} : {{rt0}}",
            lambda m, a: dtype.numpy.type(number),
            facts,
        )

    def splat(self, value: Value, shape) -> Value:
        if not shape:
            return value
        return self.op(
            "splat",
            [value],
            value.type.with_shape(shape),
            "{r0} = tt.splat {0} : {t0} -> {rt0}",
            lambda m, a, x: spread(x, a["shape"]),
            value.facts,
            shape=lambda sizes: tuple(s.value(sizes) for s in shape),
        )

    def full(self, number, dtype: Dtype, shape) -> Value:
        return self.splat(self.scalar(number, dtype), shape)

    def size(self, size: Size, dtype: Dtype = I32) -> Value:
        """A size as a constant."""
        return self.op(
            "size",
            [],
            Type(dtype.name),
            "{r0} = arith.constant {n} : {rt0}",
            lambda m, a: dtype.numpy.type(a["n"]),
            n=size.value,
        )

    def program_id(self) -> Value:
        return self.op(
            "pid",
            [],
            Type("i32"),
            "{r0} = tt.get_program_id x : i32",
            lambda m, a: np.int32(m.id),
        )

    def arange(self, size: Size) -> Value:
        if size == ONE:
            return self.full(0, I32, (ONE,))
        return self.op(
            "range",
            [],
            Type("i32", (size,)),
            "{r0} = tt.make_range {{end = {n} : i32, start = 0 : i32}} : {rt0}",
            lambda m, a: np.arange(a["n"], dtype=np.int32),
            n=size.value,
        )

    def expand(self, value: Value, axis: int) -> Value:
        shape = list(value.type.shape)
        shape.insert(axis, ONE)
        return self.op(
            "expand",
            [value],
            value.type.with_shape(shape),
            "{r0} = tt.expand_dims {0} {{axis = {axis} : i32}} : {t0} -> {rt0}",
            lambda m, a, x: on_blocks(lambda b: np.expand_dims(b, a["axis"]), x),
            value.facts,
            axis=axis,
        )

    def broadcast(self, value: Value, shape) -> Value:
        if tuple(shape) == value.type.shape:
            return value
        return self.op(
            "broadcast",
            [value],
            value.type.with_shape(shape),
            "{r0} = tt.broadcast {0} : {t0} -> {rt0}",
            lambda m, a, x: on_blocks(lambda b: np.broadcast_to(b, a["shape"]), x),
            value.facts,
            shape=lambda sizes: tuple(s.value(sizes) for s in shape),
        )

    def along(self, vector: Value, shape, axis: int) -> Value:
        """A vector as a block of this shape that varies along one axis."""
        for i in range(len(shape)):
            if i != axis:
                vector = self.expand(vector, i)
        return self.broadcast(vector, shape)

    def index(self, shape, axis: int) -> Value:
        return self.along(self.arange(shape[axis]), shape, axis)

    def integer(self, kind: str, x: Value, y: Value) -> Value:
        from integers import INTEGER_OPS

        return self.elementwise(kind, [x, y], x.type.dtype, INTEGER_OPS[kind])

    def widen(self, value: Value) -> Value:
        return self.elementwise(
            "arith.extsi", [value], I64, lambda x: x.astype(np.int64), suffix="{t0} to {rt0}"
        )

    def compare(self, predicate: str, x: Value, y: Value) -> Value:
        from integers import COMPARISONS

        compute = COMPARISONS[predicate]
        return self.op(
            "cmpi",
            [x, y],
            Type("i1", x.type.shape),
            f"{{r0}} = arith.cmpi {predicate}, {{0}}, {{1}} : {{t0}}",
            lambda m, a, p, q: compute(p, q),
        )

    # Choices

    def some_shape(self, rank=None):
        a, b, c = (Size(1, (s,)) for s in "ABC")
        choices = [(a,), (b,), (a, b), (b, a), (a, b), (c, a), (a, ONE), (ONE, b), (a, b, c), (c, b)]
        if rank is not None:
            choices = [s for s in choices if len(s) == rank]
        return self.random.choice(choices)

    def some_dtype(self, floats=True) -> Dtype:
        choices = INTEGERS + [I32] * 2
        if floats:
            choices = choices + FLOATS + SMALL_FLOATS + FLOATS[2:3] * 3 + FLOATS[:1]
        return self.random.choice(choices)

    def pick(self, want: Callable[[Value], bool]) -> Value | None:
        """A visible value, later ones more often than others."""
        found = [value for value in self.visible if want(value)]
        if not found:
            return None
        return found[max(self.random.randrange(len(found)), self.random.randrange(len(found)))]

    def a_value(self, element: Dtype, shape, want=lambda value: True) -> Value:
        """A value of this type, a new one if there is none."""
        wanted = Type(element.name, tuple(shape))
        if self.random.random() < 0.8:
            found = self.pick(lambda value: value.type == wanted and want(value))
            if found:
                return found
        from memory import load_new

        return self.keep(load_new(self, element, shape))

    def array(self, dtype: Dtype, flavor: str) -> Value:
        """A new argument."""
        value = Value(Type(dtype.name, is_pointer=True))
        seed = self.random.randrange(1 << 30)
        divisible = self.random.random() < 0.6
        self.program.arrays.append((value, Array(dtype, flavor, seed, divisible)))
        return value

    def argument(self, number: int, dtype: Dtype = I32) -> Value:
        value = Value(Type(dtype.name))
        self.program.scalars.append((value, number))
        return value

    def number(self, low: int, high: int, dtype: Dtype = I32) -> Value:
        """A number that is a constant or an argument."""
        number = self.random.randint(low, high)
        # An argument of 1 is a constant in Triton; here it is one case more.
        if self.random.random() < 0.5:
            return self.argument(number, dtype)
        return self.scalar(number, dtype)

    # Blocks

    def nested(self, arguments, body: Callable[[], list[Value]]) -> Block:
        """A block that `body` fills; what it makes is not visible behind it."""
        block = Block(list(arguments))
        seen, masks = len(self.visible), len(self.masks)
        self.blocks.append(block)
        self.depth += 1
        self.visible += arguments
        block.yields = body()
        self.used.update(block.yields)
        self.depth -= 1
        self.blocks.pop()
        del self.visible[seen:]
        del self.masks[masks:]
        return block


def spread(x, shape):
    """A scalar, or a pointer, as a block."""
    if isinstance(x, tuple):
        return (x[0], np.full(shape, x[1], np.int64))
    return np.full(shape, x)


def on_blocks(change, x):
    """Applied to a block, or to the offsets of a block of pointers."""
    return (x[0], change(x[1])) if isinstance(x, tuple) else change(x)


def i64_if(builder: Builder, value: Value, wide: bool) -> Value:
    return builder.widen(value) if wide else value


__all__ = ["EXACT", "I64", "Builder", "i64_if", "on_blocks", "spread"]
