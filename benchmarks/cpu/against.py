# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two compilers' code for the same problems, timed in turn on the same arrays.

`run.py --record OLD` with one version of the compiler, `run.py --record NEW` with another, then
`run.py --replay NEW --against OLD`. What changes a machine's speed from one minute to the next meets
both, so that one part in a hundred shows where two runs one after the other differ by ten.
"""

from __future__ import annotations

import gc
import math
import statistics
from pathlib import Path

from measure import samples_in_turn
from pairs import spread
from replay import Replay

ROUNDS = 60


def ratios_of(bench, old: Replay, new: Replay, budget: float) -> dict[str, tuple]:
    """Of each form and block size that both have: quartiles of old over new, and the new time."""
    tensors = bench.inputs()
    found = {}
    for variant in bench.ours:
        for block in bench.launches(variant):
            if not (old.has(bench, variant, block) and new.has(bench, variant, block)):
                continue
            runners = {
                name: replay.runner(bench, variant, tensors, block)
                for name, replay in (("old", old), ("new", new))
            }
            samples, _ = samples_in_turn(runners, ROUNDS, budget, least=7, share_threads=True)
            label = " ".join(part for part in (variant, block) if part)
            found[label] = (
                *spread(samples["old"], samples["new"]),
                statistics.median(samples["new"]),
            )
    return found


def compare(benches: list, old_folder: Path, new: Replay, budget: float) -> int:
    """Prints old time / new time of each problem, and their geometric means by group."""
    old = Replay(old_folder)
    # One runtime, and so one team of threads, for both.
    old.library = new.library
    groups: dict[str, list[float]] = {}
    print(f"{'old / new':60}{'ratio':>7}  {'quartiles':13}{'new us':>10}")
    for bench in benches:
        for label, (low, middle, high, seconds) in ratios_of(bench, old, new, budget).items():
            name = f"{bench} {label}"
            print(
                f"{name:60}{middle:7.3f}  {low:.3f}-{high:.3f}  {seconds * 1e6:10.1f}", flush=True
            )
            groups.setdefault(bench.group, []).append(middle)
        gc.collect()
    if not groups:
        print(f"{new.folder} and {old_folder} have none of these problems both")
        return 1
    for group, values in groups.items():
        mean = math.exp(statistics.fmean(map(math.log, values)))
        print(f"{group:60}{mean:7.3f}  geometric mean of {len(values)}")
    return 0
