# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs from a seed."""

from __future__ import annotations

import atomics
import blocks
import blocks_in_memory
import control
import conversions
import floats
import integers
import memory
import products
import scaled
import sums
from ir import Program

from build import Builder

MOST_OUTPUTS = 6

FAMILIES = {
    **integers.FAMILY,
    **floats.FAMILY,
    **conversions.FAMILY,
    **blocks.FAMILY,
    **products.FAMILY,
    **sums.FAMILY,
    **memory.FAMILY,
    **atomics.FAMILY,
    **blocks_in_memory.FAMILY,
    **control.FAMILY,
    **scaled.FAMILY,
}


def grow(b: Builder, count: int) -> None:
    """Adds some operations, each on what there is."""
    makers, weights = list(FAMILIES), list(FAMILIES.values())
    for _ in range(count):
        value = b.random.choices(makers, weights)[0](b)
        if value is not None:
            b.keep(value)


def generate(seed: int) -> Program:
    """The program of a seed; the same one on every machine."""
    b = Builder(seed)
    for _ in range(b.random.randint(1, 3)):
        b.keep(memory.new_load(b))
    grow(b, b.random.choice([2, 4, 8, 16, 24]))
    # What nothing used is stored, and so is some of the rest.
    results = [v for v in b.visible if not v.type.is_pointer and not v.type.opaque]
    ends = [v for v in results if v not in b.used]
    others = [v for v in results if v in b.used]
    b.random.shuffle(others)
    chosen = (ends[-MOST_OUTPUTS:] + others)[:MOST_OUTPUTS]
    for value in chosen:
        memory.store_value(b, value)
    return b.program
