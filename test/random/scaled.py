# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of block-scaled matrices: tl.dot_scaled."""

from __future__ import annotations

import numpy as np
from dtypes import BF16, F8E4, F8E5, F16, F32, I8, round_to
from ir import Facts, Size, Type, Value

from build import Builder

# Formats with their types in memory; of the first there are two elements in a byte.
FORMATS = {"e2m1": I8, "e4m3": F8E4, "e5m2": F8E5, "bf16": BF16, "fp16": F16}
_MAGNITUDES = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
GROUP = 32  # elements of K that share a scale


def _unpacked(bytes_, axis: int) -> np.ndarray:
    """Low four bits first."""
    bits = np.asarray(bytes_).astype(np.uint8)
    halves = np.stack([bits & 15, bits >> 4], axis + 1)
    shape = list(bits.shape)
    shape[axis] *= 2
    values = halves.reshape(shape)
    return np.where(values & 8, -_MAGNITUDES[values & 7], _MAGNITUDES[values & 7])


def _side(b: Builder, name: str, other: Size, depth: Size, half: Size, is_left: bool):
    """A block of this format, or nothing if there is none whose values are small."""
    along = half if name == "e2m1" else depth
    shape = (other, along) if is_left else (along, other)
    dtype = FORMATS[name]
    small = lambda v: name == "e2m1" or (v.facts.bound <= 4 and not v.facts.error)  # noqa: E731
    value = b.a_value(dtype, shape, small)
    return value if small(value) else None


def _scales(b: Builder, name: str, other: Size, groups: Size) -> Value | None:
    """Powers of two from 1/8 to 1."""
    if name in {"bf16", "fp16"} or (name != "e2m1" and b.random.random() < 0.3):
        return None
    shape = (other, groups)
    number = b.integer("arith.andi", b.a_value(I8, shape), b.full(3, I8, shape))
    return b.guard(b.integer("arith.addi", number, b.full(124, I8, shape)))


def dot_scaled(b: Builder):
    depth = b.random.choice([1, 2])
    depth, half, groups = Size(GROUP * depth), Size(GROUP // 2 * depth), Size(depth)
    m, n = (b.random.choice([Size(1, (s,)), Size(16)]) for s in "AB")
    formats = [b.random.choice(list(FORMATS)) for _ in range(2)]
    if not set(formats) - {"bf16", "fp16"}:
        return None
    # One of the two is not scaled at most.
    x, y = _side(b, formats[0], m, depth, half, True), _side(b, formats[1], n, depth, half, False)
    if x is None or y is None:
        return None
    scales = [_scales(b, f, d, groups) for f, d in zip(formats, (m, n), strict=True)]
    if scales == [None, None]:
        return None
    c = b.pick(lambda v: v.type == Type("f32", (m, n)) and v.facts.bound <= 64)
    c = c or b.full(0, F32, (m, n))
    operands, names, types = [], [], []
    for block, scale in zip((x, y), scales, strict=True):
        at = len(operands)
        operands += [block] if scale is None else [block, scale]
        names.append(f"{{{at}}}" + ("" if scale is None else f" scale {{{at + 1}}}"))
        types.append(f"{{t{at}}}" + ("" if scale is None else f", {{t{at + 1}}}"))
    bound = 36.0 * depth.factor + c.facts.bound
    error = c.facts.error + (depth.factor + 2) * 2 * F32.epsilon * bound

    def run(machine, a, *values):
        values = list(values)
        sides = []
        for axis, (name, scale) in enumerate(zip(formats, scales, strict=True)):
            block = np.asarray(values.pop(0))
            along = 1 - axis
            block = _unpacked(block, along) if name == "e2m1" else block
            if scale is not None:
                factor = np.exp2(np.asarray(values.pop(0)).astype(np.uint8).astype(float) - 127)
                factor = factor.repeat(GROUP, 1)
                block = block * (factor if axis == 0 else factor.T)
            sides.append(block)
        return round_to(sides[0] @ sides[1] + values.pop(), F32)

    return b.op(
        "dot_scaled",
        [*operands, c],
        Type("f32", (m, n)),
        f"{{r0}} = tt.dot_scaled {names[0]}, {names[1]}, {{{len(operands)}}} lhs = {formats[0]} "
        f"rhs = {formats[1]} {{{{fastMath = false}}}} : {types[0]} * {types[1]} -> {{rt0}}",
        run,
        Facts(bound, error),
    )


FAMILY = {dot_scaled: 1}
