# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What kind of value one is."""

from __future__ import annotations

from dtypes import FLOATS, INTEGERS
from ir import Value


def is_number(value: Value) -> bool:
    return not value.type.is_pointer and not value.type.opaque


def is_integer(value: Value) -> bool:
    return is_number(value) and value.type.element in {d.name for d in INTEGERS}


def is_float(value: Value) -> bool:
    """A float that can be computed with."""
    return is_number(value) and value.type.element in {d.name for d in FLOATS}


def is_exact(value: Value) -> bool:
    return value.facts.error == 0


def is_boolean(value: Value) -> bool:
    return is_number(value) and value.type.element == "i1"
