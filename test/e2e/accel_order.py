# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether two targets have to give the same bits for a kernel, or why they need not."""

from __future__ import annotations

import re

# Rounded once from the exact result, or not rounded.
EXACT = {"absf", "absi", "ceil", "copysign", "floor", "fma", "round", "roundeven", "sqrt", "trunc"}
EXACT |= {"isnan", "isinf", "isfinite", "ctlz", "cttz", "ctpop"}
REGION = re.compile(r'"tt\.(?:reduce|scan)".*?\}\)', re.DOTALL)
ROUNDS = re.compile(r"\b(?:arith\.(?:addf|subf|mulf|divf)|math\.\w+|tt\.call)\b")


def reasons(ttir: str) -> list[str]:
    """What in a kernel is computed in an order, or by a formula, that each target chooses for itself; where this is empty,
    results are equal to the bit."""
    found = []
    if "tt.dot" in ttir:
        found.append("product of blocks")
    if any(ROUNDS.search(region) for region in REGION.findall(ttir)):
        found.append("sum over a block")
    if re.search(r"tt\.atomic_rmw fadd", ttir):
        found.append("atomic sum")
    functions = set(re.findall(r"\bmath\.(\w+)", ttir)) - EXACT
    if functions or "tt.extern_elementwise" in ttir:
        found.append("function")
    if "arith.divf" in ttir:
        found.append("quotient")
    return found
