# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is aimed at, against what one run has measured: a line for each, met or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from report import duration, geometric_mean

MEMORY_GROUPS = ("elementwise", "rows", "backward", "movement", "reductions")
COPY_LIKE = ("add ", "softmax ", "layer norm ", "rms norm ")
# Below this a launch takes as long as the work.
LAUNCH_BOUND_BYTES = 2**17
SQUARES = ("256x256x256", "512x512x512", "1024x1024x1024", "2048x2048x2048")


@dataclass(frozen=True)
class Target:
    what: str
    wanted: str
    measured: str
    met: bool | None  # None: not measured


def at_least(what: str, limit: float, found: Iterable[tuple[float, str]]) -> list[Target]:
    """Each of `found` (a figure, and whose it is) at `limit` or more, by the digits that are printed."""
    values = sorted(found)
    if not values:
        return []
    good = sum(round(value, 2) >= limit for value, _ in values)
    least, of = values[0]
    measured = f"{least:.2f}" if len(values) == 1 else f"{good} of {len(values)}; least {least:.2f}"
    return [Target(what, f">= {limit:.2f}", f"{measured} ({of})", good == len(values))]


def at_most(what: str, limit: float, value: float | None, text: Callable[[float], str]) -> list:
    """`value` is at `limit` or less, by what is printed."""
    if value is None:
        return []
    is_met = value <= limit or text(value) == text(limit)
    return [Target(what, f"<= {text(limit)}", text(value), is_met)]


def _name(row: dict) -> str:
    return f"{row['name']} {row['size']}"


def against(rows: Iterable[dict], peer: str = "eager") -> list[tuple[float, str]]:
    """A peer's time over ours."""
    return [
        (row["runners"][peer]["median_s"] / row["runners"]["pointers"]["median_s"], _name(row))
        for row in rows
        if {"pointers", peer} <= set(row["runners"])
    ]


def _seconds(row: dict | None) -> float | None:
    return row["runners"].get("pointers", {}).get("median_s") if row else None


def is_beyond_caches(row: dict, machine: dict) -> bool:
    """Whether so little of the arrays stays in the last cache that a copy from memory compares."""
    return row["bytes"] >= 2 * machine["last_cache_bytes"]


def memory_targets(rows: list[dict], machine: dict) -> list[Target]:
    moved = [
        row
        for row in rows
        if row["group"] in MEMORY_GROUPS and "ratio" in row and row["bytes"] >= LAUNCH_BOUND_BYTES
    ]
    outside = [row for row in moved if row["place"] == "memory"]
    inside = [row for row in moved if row["place"] != "memory"]
    found = []
    for what, part in (("out of cache", outside), ("in a cache", inside)):
        found += at_least(
            f"memory-bound, {what}: of the best peer", 1.0, [(r["ratio"], _name(r)) for r in part]
        )
    if moved:
        mean = geometric_mean(row["ratio"] for row in moved)
        text = f"{len(moved)} problems"
        found += at_least("memory-bound, geometric mean: of the best peer", 1.6, [(mean, text)])
    for kind in COPY_LIKE:
        same = [
            row
            for row in outside
            if row["name"].startswith(kind) and "backward" not in row["name"] and "of_copy" in row
        ]
        what = f"{kind.strip()}, twice the last cache: of the copy rate"
        part = [(row["of_copy"], _name(row)) for row in same if is_beyond_caches(row, machine)]
        found += at_least(what, 0.85, part)
        if same and not part:
            found.append(Target(what, ">= 0.85", "no problem is so large", None))
    return found


def product_targets(rows: list[dict], limits: dict) -> list[Target]:
    squares = {(row["name"], row["size"]): row for row in rows if row["size"] in SQUARES}
    singles = [row for (name, _), row in squares.items() if name == "matmul f32"]
    found = at_least("matmul f32: of PyTorch", 0.95, against(singles))
    peak = squares.get(("matmul f32", "1024x1024x1024"), {})
    if "of_peak" in peak:
        found += at_least("matmul f32: of the FMA peak", 0.85, [(peak["of_peak"], _name(peak))])
    for kind in ("bf16", "f16", "i8"):
        same = [row for (name, _), row in squares.items() if name == f"matmul {kind}"]
        if kind in limits:
            found += at_least(f"matmul {kind}: of PyTorch", 0.9, against(same))
            continue
        rates = []
        for row in same:
            wide, mine = _seconds(squares.get(("matmul f32", row["size"]))), _seconds(row)
            if "of_f32" in row:
                rates.append((row["of_f32"], _name(row)))
            elif wide and mine:  # in figures from before these were timed in turn
                rates.append((wide / mine, _name(row)))
        found += at_least(f"matmul {kind}: of our f32 rate", 0.8, rates)
    return found


def overhead_targets(result: dict) -> list[Target]:
    found = []
    if launch := result.get("launch"):
        found += at_most(
            "a launch in Python: of Triton's JIT alone", 1.5, launch["ratio"], "{:.2f}".format
        )
        found += at_most("a launch through the C interface", 3e-6, launch.get("c_s"), duration)
    compiled = {row["name"]: row for row in result.get("compile") or []}
    first = compiled.get("vector add", {}).get("first_s")
    found += at_most("compilation, first in a process: vector add", 60e-3, first, duration)
    for kind, limit in (("matmul", 250e-3), ("attention", 500e-3)):
        times = {
            int(name.split()[1].split("x")[0]): row["median_s"]
            for name, row in compiled.items()
            if name.startswith(kind)
        }
        if times:
            found += at_most(
                f"compilation: {kind}, the slowest block", limit, max(times.values()), duration
            )
        if {32, 256} <= set(times):
            found += at_most(
                f"compilation: {kind}, blocks of 256 to 32",
                1.3,
                times[256] / times[32],
                "{:.2f}".format,
            )
    return found


def targets(result: dict) -> list[Target]:
    rows = result["results"]
    attention = [
        row for row in rows if row["group"] == "attention" and "decoding" not in row["name"]
    ]
    both = [(row["descriptor_ratio"], _name(row)) for row in rows if "descriptor_ratio" in row]
    return [
        *memory_targets(rows, result["machine"]),
        *product_targets(rows, result["limits"]),
        *at_least("attention: of PyTorch", 1.1, against(attention)),
        *at_least("descriptors: of pointers", 0.98, both),
        *overhead_targets(result),
    ]


def scale_targets(runs: dict[str, dict]) -> list[Target]:
    """How much of N times the speed N threads are, for products of 1024^3 and more (below, threads wait for
    each other for as long as they work); and against what the machine's own peak gains: N cores at work
    run at a lower clock than one."""
    counts = sorted(runs, key=int)
    if len(counts) < 2:
        return []
    few, many = counts[0], counts[-1]
    linear = int(many) / int(few)
    of_linear, of_peak = [], []
    for row in runs[few]["results"]:
        if not row["name"].startswith("matmul") or row["flops"] < 2 * 1024**3:
            continue
        key = (row["name"], row["size"])
        then = next((r for r in runs[many]["results"] if (r["name"], r["size"]) == key), None)
        one, all_ = _seconds(row), _seconds(then)
        if not one or not all_:
            continue
        of_linear.append((one / all_ / linear, _name(row)))
        limits = [runs[count].get("limits", {}).get(row["rate"]) for count in (few, many)]
        if all(limits):
            of_peak.append((one / all_ * limits[0] / limits[1], _name(row)))
    what = f"matmul, {few} to {many} threads:"
    return [
        *at_least(f"{what} of linear", 0.8, of_linear),
        *at_least(f"{what} of what the peak in registers gains", 0.8, of_peak),
    ]


def lines(found: list[Target]) -> list[str]:
    """The table for a page."""
    if not found:
        return []
    rows = [f"| {t.what} | {t.wanted} | {t.measured} | {state(t)} |" for t in found]
    return ["", "| target | wanted | measured | |", "|---|---|---|---|", *rows]


def state(target: Target) -> str:
    if target.met is None:
        return "not measured"
    return "met" if target.met else "not met"


def print_targets(result: dict) -> None:
    found = targets(result)
    if not found:
        return
    width = max(len(target.what) for target in found)
    print("\ntargets")
    for target in found:
        print(f"{state(target):<12} {target.what:<{width}} {target.wanted:<10} {target.measured}")
