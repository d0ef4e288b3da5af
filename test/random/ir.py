# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs: typed operations that print themselves as TTIR and that NumPy can run.

Sizes of dimensions are products of symbols, so that a program can be made smaller by giving a symbol a smaller
value: no operation looks at a number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from dtypes import BY_NAME, Dtype, sample


@dataclass(frozen=True)
class Size:
    """factor * product of symbols."""

    factor: int = 1
    symbols: tuple[str, ...] = ()

    def __mul__(self, other: Size) -> Size:
        symbols = tuple(sorted(self.symbols + other.symbols))
        return Size(self.factor * other.factor, symbols)

    def value(self, sizes: dict[str, int]) -> int:
        result = self.factor
        for symbol in self.symbols:
            result *= sizes[symbol]
        return result


ONE = Size()


@dataclass(frozen=True)
class Type:
    """A scalar (no shape), a block, or either of pointers; or something opaque such as a descriptor."""

    element: str
    shape: tuple[Size, ...] = ()
    is_pointer: bool = False
    opaque: str = ""  # "desc", "block": blocks in memory, of this element and shape

    @property
    def dtype(self) -> Dtype:
        return BY_NAME[self.element]

    def with_element(self, dtype: Dtype) -> Type:
        return Type(dtype.name, self.shape)

    def with_shape(self, shape) -> Type:
        return Type(self.element, tuple(shape), self.is_pointer)

    def text(self, sizes: dict[str, int]) -> str:
        dims = "".join(f"{size.value(sizes)}x" for size in self.shape)
        if self.opaque == "desc":
            return f"!tt.tensordesc<{dims}{self.element}>"
        if self.opaque == "block":
            return f"!tt.ptr<tensor<{dims}{self.element}>>"
        element = f"!tt.ptr<{self.element}>" if self.is_pointer else self.element
        return f"tensor<{dims}{element}>" if self.shape else element


@dataclass(frozen=True)
class Facts:
    """What is known of a float, to compare it as sharply as is right.

    `error`: how far two right answers may be apart; 0 where all bits are the same. `bound`: no value is larger.
    `integral`: all values are integers. `product`: it may be fused with a sum that follows. `zero`: the
    sign of a zero is anybody's.
    """

    bound: float = float("inf")
    error: float = 0.0
    integral: bool = False
    product: bool = False
    zero: bool = False

    def joined(self, other: Facts) -> Facts:
        return Facts(
            max(self.bound, other.bound),
            max(self.error, other.error),
            self.integral and other.integral,
            self.product or other.product,
            self.zero or other.zero,
        )


@dataclass(eq=False)
class Value:
    """An SSA value."""

    type: Type
    facts: Facts = Facts()
    # Operations rely on its range: another value may not take its place.
    is_guard: bool = False


@dataclass(eq=False)
class Block:
    """Operations and the values that they end with."""

    arguments: list[Value] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)


@dataclass(eq=False)
class Op:
    """`text` is a template: {0} is an operand, {t0} its type, {r0} a result, {rt0} its type, {a} an attribute.

    `compute` takes the machine, the operands and the attributes, and gives the results, as NumPy has them. An
    operation with blocks is run by its `compute`, too, which gets the operation itself in the place of attributes.
    """

    kind: str
    operands: list[Value]
    results: list[Value]
    text: str
    compute: Callable
    attributes: dict[str, Callable[[dict[str, int]], object]] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    has_effect: bool = False


@dataclass(eq=False)
class Array:
    """Memory behind a pointer argument: as large as the programs reach."""

    dtype: Dtype
    flavor: str  # of its data before the launch
    seed: int
    divisible: bool = False  # the pointer is a multiple of 16 bytes
    error: float = 0.0  # how much of a difference is right


@dataclass(eq=False)
class Program:
    """A kernel with its arguments and its grid."""

    seed: int
    sizes: dict[str, int]
    arrays: list[tuple[Value, Array]] = field(default_factory=list)
    scalars: list[tuple[Value, int]] = field(default_factory=list)
    body: Block = field(default_factory=Block)
    grid: int = 1

    def arguments(self) -> list[Value]:
        return [value for value, _ in self.arrays] + [value for value, _ in self.scalars]

    def text(self) -> str:
        return Printer(self).text()


class Printer:
    """A program as TTIR."""

    def __init__(self, program: Program):
        self.program = program
        self.names: dict[Value, str] = {}

    def name(self, value: Value) -> str:
        return self.names.setdefault(value, f"%v{len(self.names)}")

    def text(self) -> str:
        arguments = []
        for value, array in self.program.arrays:
            attribute = " {tt.divisibility = 16 : i32}" if array.divisible else ""
            arguments.append(f"{self.name(value)}: {value.type.text({})}{attribute}")
        for value, _ in self.program.scalars:
            arguments.append(f"{self.name(value)}: {value.type.text({})}")
        lines = [f"// seed {self.program.seed}, grid {self.program.grid}", "module {"]
        lines.append(f"  tt.func public @random({', '.join(arguments)}) {{")
        lines += self.block(self.program.body, 4)
        return "\n".join([*lines, "    tt.return", "  }", "}", ""])

    def block(self, block: Block, indent: int) -> list[str]:
        lines = []
        for op in block.ops:
            lines += self.op(op, indent)
        return lines

    def op(self, op: Op, indent: int) -> list[str]:
        sizes = self.program.sizes
        fields = {name: value(sizes) for name, value in op.attributes.items()}
        operands = [self.name(value) for value in op.operands]
        for i, value in enumerate(op.operands):
            fields[f"t{i}"] = value.type.text(sizes)
        for i, value in enumerate(op.results):
            fields[f"r{i}"] = self.name(value)
            fields[f"rt{i}"] = value.type.text(sizes)
        for i, block in enumerate(op.blocks):
            for j, value in enumerate(block.arguments):
                fields[f"b{i}_{j}"] = self.name(value)
            body = self.block(block, indent + 2)
            yields = [self.name(value) for value in block.yields]
            types = [value.type.text(sizes) for value in block.yields]
            fields[f"body{i}"] = "\n".join(body) + ("\n" if body else "")
            fields[f"yields{i}"] = ", ".join(yields) + (" : " + ", ".join(types) if yields else "")
            fields[f"first{i}"] = yields[0] if yields else ""
            fields[f"rest{i}"] = ", ".join(yields[1:]) + " : " + ", ".join(types[1:])
        pad = " " * indent
        text = op.text.format(*operands, **fields)
        return [line if line.startswith(pad) else pad + line for line in text.split("\n")]


class Machine:
    """Runs a program in NumPy. Memory is there wherever it is touched; what was is kept."""

    SIZE = 1 << 19  # elements, half of them before the pointer

    def __init__(self, program: Program):
        self.program = program
        self.values: dict[Value, object] = {}
        self.memory: list[np.ndarray] = []
        self.initial: list[np.ndarray] = []
        self.low = [0] * len(program.arrays)
        self.high = [1] * len(program.arrays)
        self.id = 0
        for _, array in program.arrays:
            rng = np.random.default_rng(array.seed)
            # The same again after a prime number of elements.
            data = np.resize(sample(rng, array.dtype, array.flavor, 8191), self.SIZE)
            self.initial.append(data)
            self.memory.append(data.copy())

    def run(self) -> None:
        for number in range(self.program.grid):
            self.id = number
            for i, (value, _) in enumerate(self.program.arrays):
                self.values[value] = (i, np.int64(0))
            for value, scalar in self.program.scalars:
                self.values[value] = value.type.dtype.numpy.type(scalar)
            with np.errstate(all="ignore"):
                self.block(self.program.body, [])

    def block(self, block: Block, arguments: list) -> list:
        for value, argument in zip(block.arguments, arguments, strict=True):
            self.values[value] = argument
        for op in block.ops:
            operands = [self.values[value] for value in op.operands]
            if op.blocks:
                results = op.compute(self, op, *operands)
            else:
                attributes = {n: f(self.program.sizes) for n, f in op.attributes.items()}
                results = op.compute(self, attributes, *operands)
            if not isinstance(results, list):
                results = [results]
            for value, result in zip(op.results, results, strict=False):
                self.values[value] = result
        return [self.values[value] for value in block.yields]

    def touch(self, array: int, offsets: np.ndarray) -> np.ndarray:
        """Positions in memory of offsets from the pointer."""
        if offsets.size:
            low, high = int(offsets.min()), int(offsets.max())
            if not -self.SIZE // 2 <= low <= high < self.SIZE // 2:
                raise OverflowError(f"offsets from {low} to {high}: the generator went wild")
            self.low[array] = min(self.low[array], low)
            self.high[array] = max(self.high[array], high + 1)
        return offsets + self.SIZE // 2
