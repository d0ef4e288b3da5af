# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures as text."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path

OURS = ("pointers", "descriptors")
PATIENCE_SECONDS = 10.0
TOO_SLOW = f"would take more than {PATIENCE_SECONDS:.0f} s, by its time for a smaller problem"


def rounded(value):
    """The same with 5 digits of each number: more is noise, and such files are kept in the repository."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def write_json(path: str, value: dict) -> None:
    Path(path).write_text(json.dumps(rounded(value), separators=(",", ":")) + "\n")


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def geometric_mean(values: Iterable[float]) -> float:
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def limits_text(limits: dict) -> str:
    parts = [f"{kind} {limits[kind] / 1e9:.0f} GFLOP/s" for kind in limits if kind != "copy"]
    if "copy" in limits:
        parts.append(f"copy {limits['copy'] / 1e9:.1f} GB/s")
    return ", ".join(parts) or "none: no C compiler is here"


def print_head(result: dict) -> None:
    machine, limits = result["machine"], result["limits"]
    print(f"{machine['cpu']}, {machine['threads']} threads of {machine['cores']} cores")
    print(f"PyTorch {result['torch']}, Triton {result['triton']}, load {machine['load'][0]:.1f}")
    print(f"limits, measured: {limits_text(limits)}")
    for note in result["notes"]:
        print(note)
    print(
        f"\n{'problem':<28} {'size':<26} {'in':<10}{'ours':>10}{'descr.':>10}"
        + "".join(f"{name:>10}" for name in result["peers"])
        + f" {'ratio':>7} {'spread':>13} {'desc':>5}  rate"
    )


def is_arithmetic(row: dict) -> bool:
    """Whether operations and not bytes bound the problem."""
    return row["flops"] > 16 * row["bytes"]


def rate_text(row: dict) -> str:
    if "of_peak" in row and is_arithmetic(row):
        return f"{row['flops_per_s'] / 1e9:.1f} GFLOP/s ({row['of_peak']:.2f} of peak)"
    if "bytes_per_s" not in row:
        return ""
    text = f"{row['bytes_per_s'] / 1e9:.1f} GB/s"
    return text + (f" ({row['of_copy']:.2f} of copy)" if "of_copy" in row else "")


def blocks_text(row: dict) -> str:
    """The block sizes that were the fastest, where there was a choice."""
    found = row.get("blocks") or {}
    same = len(set(found.values())) == 1
    texts = set(found.values()) if same else [f"{name} {block}" for name, block in found.items()]
    return f"  in {', '.join(texts)}" if texts else ""


def print_row(row: dict, peers: list[str]) -> None:
    timed = row["runners"]

    def cell(name: str) -> str:
        if row["problems"].get(name) == TOO_SLOW:
            return f"{'too slow':>10}"
        if name in row["problems"]:
            return f"{'WRONG' if name in OURS else 'differs':>10}"
        return f"{duration(timed.get(name, {}).get('median_s')):>10}"

    ratio = f"{row['ratio']:.2f}" if "ratio" in row else "-"
    spread = f"{row['ratio_low']:.2f}..{row['ratio_high']:.2f}" if "ratio" in row else ""
    both = f"{row['descriptor_ratio']:.2f}" if "descriptor_ratio" in row else "-"
    cells = "".join(cell(name) for name in (*OURS, *peers))
    print(
        f"{row['name']:<28} {row['size']:<26} {row['place']:<10}{cells}"
        f" {ratio:>7} {spread:>13} {both:>5}  {rate_text(row)}{blocks_text(row)}",
        flush=True,
    )
    for name, detail in row["problems"].items():
        print(f"    {name}: {detail}")
    for name, timing in (timed | row.get("limits", {})).items():
        if timing["disturbed"]:
            print(
                f"    {name}: another thread of the process still ran when {timing['disturbed']} of"
                f" {timing['rounds']} rounds began"
            )


def summary(result: dict) -> list[dict]:
    """Per group and per place: how many problems, the geometric mean and the least ratio."""
    groups: dict[str, list[dict]] = {}
    for key in ("group", "place"):
        for row in result["results"]:
            groups.setdefault(("" if key == "group" else "in ") + row[key], []).append(row)
    lines = []
    for group, rows in [*groups.items(), ("all", result["results"])]:
        found = [row for row in rows if "ratio" in row]
        if not found:
            continue
        least = min(found, key=lambda row: row["ratio"])
        lines.append(
            {
                "group": group,
                "problems": len(found),
                "mean": geometric_mean(row["ratio"] for row in found),
                "least": least["ratio"],
                "least_of": f"{least['name']} {least['size']} ({least['best_peer']})",
            }
        )
    return lines


def print_overheads(result: dict) -> None:
    if launch := result.get("launch"):
        print(
            f"\na launch of 4096 elements: {duration(launch['python_s'])} in Python, where Triton's"
            f" JIT alone takes {duration(launch['jit_s'])} (ratio {launch['ratio']:.2f});"
            f" through the C interface {duration(launch.get('c_s'))}"
        )
    if not result.get("compile"):
        return
    print(f"\n{'compilation without cache':<28} {'median':>10} {'least':>10} {'first':>10}")
    for row in result["compile"]:
        print(
            f"{row['name']:<28} {duration(row['median_s']):>10} {duration(row['least_s']):>10}"
            f" {duration(row.get('first_s')):>10}"
        )


def disturbed_text(result: dict) -> str:
    """In how many rounds another thread of the process ran on beside what was timed; empty where unknown."""
    timed = [
        (timing, f"{row['name']} {row['size']} ({name})")
        for row in result["results"]
        for name, timing in (row["runners"] | row.get("limits", {})).items()
        if "disturbed" in timing
    ]
    if not timed:
        return ""
    rounds = sum(timing["rounds"] for timing, _ in timed)
    found = [(timing["disturbed"], of) for timing, of in timed if timing["disturbed"]]
    if not found:
        return f"no other thread of the process ran when a round began: {rounds} rounds"
    most, of = max(found)
    return (
        f"another thread of the process still ran when a round began in {sum(n for n, _ in found)} of"
        f" {rounds} rounds, in {most} of them for {of}"
    )


def print_summary(result: dict) -> None:
    print_overheads(result)
    print(f"\nlimits, measured again, the best of both: {limits_text(result['limits'])}")
    if text := disturbed_text(result):
        print(text)
    print(f"\n{'group':<20} {'problems':>8} {'geometric mean':>15} {'least':>7}  of")
    for line in summary(result):
        print(
            f"{line['group']:<20} {line['problems']:>8} {line['mean']:>15.2f}"
            f" {line['least']:>7.2f}  {line['least_of']}"
        )
    both = [row["descriptor_ratio"] for row in result["results"] if "descriptor_ratio" in row]
    if both:
        print(
            f"descriptors against pointers: {len(both)} problems, geometric mean"
            f" {geometric_mean(both):.2f}, least {min(both):.2f}"
        )


def print_changes(old: dict, new: dict) -> None:
    """Our times against an earlier run's, where both have the problem."""
    before = {(row["name"], row["size"]): row for row in old["results"]}
    print(f"\nsince {old['time']} on {old['machine']['cpu']}: time then / time now")
    factors = []
    for row in new["results"]:
        earlier = before.get((row["name"], row["size"]), {"runners": {}})
        for variant in OURS:
            if variant in row["runners"] and variant in earlier["runners"]:
                then = earlier["runners"][variant]["median_s"]
                now = row["runners"][variant]["median_s"]
                factors.append(then / now)
                mark = "" if 0.9 < then / now < 1.1 else "  *"
                print(
                    f"{row['name']:<28} {row['size']:<22} {variant:<12} {then / now:6.2f}"
                    f"  ({duration(then)} to {duration(now)}){mark}"
                )
    if factors:
        print(f"geometric mean {geometric_mean(factors):.2f} of {len(factors)}")
