# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The problems, one module a family. Each has `benches(sizes)`, with sizes one of tiny, quick, full."""

from __future__ import annotations

import dataclasses
import importlib

from bench import Bench

FAMILIES = (
    "elementwise",
    "rows",
    "columns",
    "backward",
    "movement",
    "reductions",
    "products",
    "linear",
    "weights",
    "attend",
    "experts",
)
SIZES = ("tiny", "quick", "full")


def benches(sizes: str) -> list[Bench]:
    found = []
    for family in FAMILIES:
        module = importlib.import_module(f"kernels.{family}")
        found += [dataclasses.replace(b, group=module.GROUP) for b in module.benches(sizes)]
    return found


def pick(sizes: str, tiny: list, quick: list, full: list) -> list:
    return {"tiny": tiny, "quick": quick, "full": full}[sizes]
