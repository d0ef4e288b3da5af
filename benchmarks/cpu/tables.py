# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/figures.md from the JSON files of run.py (one a machine) and of scale.py.

    python benchmarks/cpu/tables.py ONE.json OTHER.json [--scale OTHER-scale.json]
                                    [--summary docs/performance.md] > docs/figures.md

The results of the page as it is are in benchmarks/cpu/results.

With --summary the table of all machines in that page is written anew, too.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import targets
from report import disturbed_text, duration, geometric_mean, is_arithmetic, limits_text, summary

HEAD = """# Figures

What `benchmarks/cpu` has measured; [performance.md](performance.md) says how, and what the columns mean. The ratio is the best
peer's time over ours: above 1 we are faster. This page is written by `benchmarks/cpu/tables.py`. A load above the number of
threads means that other programs took part of the machine: ratios of single lines are then unsure, those of groups less so.
Among the targets, memory-bound are the elementwise kernels, rows, backward, movement and reductions on 128 KiB or more (below, a
launch takes as long as the work); a share of the copy rate is that of arrays of twice the last cache or more, of a copy that
moves as many bytes and was timed in the same rounds; a share of the peak, of as many operations in registers, timed there, too.
Where no unit multiplies bf16, f16 or i8, products of these are compared with our f32 in rounds in turn (in figures from before
2026-12-01, with the time of another problem, minutes apart).
"""


def share(row: dict, machine: dict) -> str:
    if "of_copy" in row and targets.is_beyond_caches(row, machine):
        return f"{row['bytes_per_s'] / 1e9:.1f} GB/s, {row['of_copy']:.2f} of copy"
    if "of_peak" in row and is_arithmetic(row):
        return f"{row['flops_per_s'] / 1e9:.0f} GFLOP/s, {row['of_peak']:.2f} of peak"
    return ""


def table(rows: list[dict], machine: dict) -> list[str]:
    lines = ["| problem | size | ours | best peer | ratio | descriptors | rate |"]
    lines.append("|---|---|---|---|---|---|---|")
    for row in rows:
        name, size = row["name"], row["size"]
        ours = duration(row["runners"].get("pointers", {}).get("median_s"))
        if block := row.get("blocks", {}).get("pointers"):
            ours += f" ({block})"
        if "pointers" in row["problems"]:
            ours = "wrong"
        best = row.get("best_peer")
        peer = f"{best} {duration(row['runners'][best]['median_s'])}" if best else "-"
        ratio = f"{row['ratio']:.2f}" if "ratio" in row else "-"
        both = f"{row['descriptor_ratio']:.2f}" if "descriptor_ratio" in row else ""
        lines.append(
            f"| {name} | {size} | {ours} | {peer} | {ratio} | {both} | {share(row, machine)} |"
        )
    return lines


def machine_section(result: dict) -> list[str]:
    machine = result["machine"]
    lines = [f"## {machine['cpu']}, {machine['threads']} threads", ""]
    how = f"compiled ahead of time for `{result['target']}`" if result.get("target") else "JIT"
    lines.append(
        f"{result['time']}; {how}; PyTorch {result['torch']}; peers: {', '.join(result['peers'])}; load"
        f" when it began: {machine['load'][0]:.1f}. Measured limits: {limits_text(result['limits'])}."
    )
    if text := disturbed_text(result):
        lines += ["", f"{text[0].upper()}{text[1:]}."]
    lines += targets.lines(targets.targets(result))
    lines += ["", "| group | problems | geometric mean | least | of |", "|---|---|---|---|---|"]
    for line in summary(result):
        lines.append(
            f"| {line['group']} | {line['problems']} | {line['mean']:.2f} | {line['least']:.2f} |"
            f" {line['least_of']} |"
        )
    both = [row["descriptor_ratio"] for row in result["results"] if "descriptor_ratio" in row]
    if both:
        lines += [
            "",
            f"With descriptors against pointers: {geometric_mean(both):.2f}, least {min(both):.2f}.",
        ]
    lines += overheads(result)
    groups: dict[str, list[dict]] = {}
    for row in result["results"]:
        groups.setdefault(row["group"], []).append(row)
    for group, rows in groups.items():
        lines += ["", f"### {group[0].upper()}{group[1:]}", *table(rows, machine)]
    return lines


def overheads(result: dict) -> list[str]:
    lines = []
    if launch := result.get("launch"):
        lines += [
            "",
            f"A launch of 4096 elements: {duration(launch['python_s'])} in Python, where Triton's JIT"
            f" alone takes {duration(launch['jit_s'])} (ratio {launch['ratio']:.2f}); through the C"
            f" interface {duration(launch.get('c_s'))}.",
        ]
    if rows := result.get("compile"):
        lines += [
            "",
            "| compilation without cache | median | first in a process |",
            "|---|---|---|",
        ]
        for row in rows:
            first = duration(row["first_s"]) if "first_s" in row else ""
            lines.append(f"| {row['name']} | {duration(row['median_s'])} | {first} |")
    return lines


def scale_section(runs: dict[str, dict]) -> list[str]:
    counts = sorted(runs, key=int)
    machine = runs[counts[0]]["machine"]
    lines = [f"## {machine['cpu']}: threads", *targets.lines(targets.scale_targets(runs)), ""]
    lines.append("| problem | size | | " + " | ".join(f"{c} threads" for c in counts) + " |")
    lines.append("|" + "---|" * (3 + len(counts)))
    for row in runs[counts[0]]["results"]:
        key = (row["name"], row["size"])
        for runner, timing in row["runners"].items():
            cells = []
            for count in counts:
                found = next(
                    (r for r in runs[count]["results"] if (r["name"], r["size"]) == key), None
                )
                then = found and found["runners"].get(runner, {}).get("median_s")
                gain = f" ({timing['median_s'] / then:.1f}x)" if then and count != counts[0] else ""
                cells.append(duration(then or None) + gain)
            lines.append(f"| {key[0]} | {key[1]} | {runner} | " + " | ".join(cells) + " |")
    return lines


BEGIN, END = "<!-- written by tables.py -->", "<!-- end -->"


def overview(results: list[dict]) -> list[str]:
    """All machines side by side: the geometric mean of each group, and its least ratio."""
    heads = [
        f"{r['machine']['cpu'].replace('(R)', '')}, {r['machine']['threads']} threads"
        for r in results
    ]
    lines = ["| ratio to the best peer | " + " | ".join(heads) + " |"]
    lines.append("|---|" + "---|" * len(results))
    found = [{line["group"]: line for line in summary(result)} for result in results]
    # In the order of the machine that has most groups.
    for group in dict.fromkeys(
        group for lines_ in sorted(found, key=len, reverse=True) for group in lines_
    ):
        cells = [
            f"{one[group]['mean']:.2f} (least {one[group]['least']:.2f})" if group in one else ""
            for one in found
        ]
        lines.append(f"| {group} | " + " | ".join(cells) + " |")
    met = [targets.targets(result) for result in results]
    cells = [
        f"{sum(t.met is True for t in one)} of {sum(t.met is not None for t in one)}" for one in met
    ]
    lines.append("| targets met | " + " | ".join(cells) + " |")
    return lines


def write_overview(path: Path, results: list[dict]) -> None:
    text = path.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    path.write_text("\n".join([before + BEGIN, *overview(results), END + after]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", nargs="+", metavar="RESULT.json")
    parser.add_argument("--scale", action="append", default=[], metavar="SCALE.json")
    parser.add_argument("--summary", metavar="PAGE.md", help="also write the table in this page")
    options = parser.parse_args()
    lines = [HEAD]
    results = [json.loads(Path(path).read_text()) for path in options.results]
    for result in results:
        lines += [*machine_section(result), ""]
    if options.summary:
        write_overview(Path(options.summary), results)
    for path in options.scale:
        lines += [*scale_section(json.loads(Path(path).read_text())), ""]
    print("\n".join(lines).rstrip())


if __name__ == "__main__":
    main()
