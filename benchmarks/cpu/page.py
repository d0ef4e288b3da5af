# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The figures as one self-contained HTML page: bars on a logarithmic scale of ratios, and a table."""

from __future__ import annotations

import html
import math

import targets
from report import OURS, blocks_text, duration, limits_text, rate_text, summary

STYLE = """
body{font:14px/1.4 system-ui,sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;font-size:12px}td,th{padding:2px 8px;text-align:right;
border-bottom:1px solid #ddd}td:first-child,td:nth-child(2),th:first-child,th:nth-child(2)
{text-align:left}.bad{color:#b00}.good{color:#060}svg text{font:11px system-ui,sans-serif}
"""
COLORS = {
    "pointers": "#1f77b4",
    "descriptors": "#17becf",
    "eager": "#ff7f0e",
    "inductor": "#2ca02c",
    "jax": "#9467bd",
    "numpy": "#8c564b",
}
ROW, LEFT, WIDTH = 18, 330, 640


def position(ratio: float) -> float:
    """Ratios from 1/8 to 8 on a logarithmic axis."""
    return LEFT + WIDTH * (min(max(math.log2(ratio), -3.0), 3.0) + 3) / 6


def chart(rows: list[dict]) -> str:
    """A line a problem: a bar from 1 to our ratio to the best peer, a dot for each peer's own."""
    rows = [row for row in rows if "ratio" in row]
    height = ROW * (len(rows) + 2)
    parts = [f'<svg width="{LEFT + WIDTH + 60}" height="{height}" role="img">']
    for power in range(-3, 4):
        x = position(2.0**power)
        color = "#888" if power == 0 else "#ddd"
        parts.append(f'<line x1="{x}" y1="{ROW}" x2="{x}" y2="{height}" stroke="{color}"/>')
        label = f"{2**power}" if power >= 0 else f"1/{2**-power}"
        parts.append(f'<text x="{x}" y="12" text-anchor="middle">{label}</text>')
    for index, row in enumerate(rows):
        y = ROW * (index + 1) + 4
        one, end = position(1.0), position(row["ratio"])
        color = "#2a7" if row["ratio"] >= 1 else "#d55"
        title = html.escape(f"{row['name']} {row['size']}")
        parts.append(f'<text x="{LEFT - 8}" y="{y + 10}" text-anchor="end">{title}</text>')
        parts.append(
            f'<rect x="{min(one, end)}" y="{y}" width="{abs(end - one)}" height="{ROW - 6}"'
            f' fill="{color}"><title>{title}: {row["ratio"]:.2f} of {row["best_peer"]}'
            f" ({row['ratio_low']:.2f} to {row['ratio_high']:.2f})</title></rect>"
        )
        low, high = position(row["ratio_low"]), position(row["ratio_high"])
        middle = y + (ROW - 6) / 2
        parts.append(f'<line x1="{low}" y1="{middle}" x2="{high}" y2="{middle}" stroke="#333"/>')
        mine = row["runners"].get("pointers", {}).get("median_s")
        for name, timing in row["runners"].items():
            if mine and name not in OURS:
                parts.append(
                    f'<circle cx="{position(timing["median_s"] / mine)}" cy="{middle}" r="3"'
                    f' fill="{COLORS.get(name, "#000")}"><title>{name}:'
                    f" {duration(timing['median_s'])}</title></circle>"
                )
    return "".join([*parts, "</svg>"])


def table(rows: list[dict], peers: list[str]) -> str:
    heads = ["problem", "size", "in", *OURS, *peers, "ratio", "spread", "descr.", "rate"]
    parts = ["<table><tr>", *(f"<th>{head}</th>" for head in heads), "</tr>"]
    for row in rows:
        cells = [row["name"], row["size"], row["place"]]
        for name in (*OURS, *peers):
            problem = row["problems"].get(name)
            timing = row["runners"].get(name, {})
            cells.append("wrong" if problem else duration(timing.get("median_s")))
        has_ratio = "ratio" in row
        cells.append(f"{row['ratio']:.2f}" if has_ratio else "-")
        cells.append(f"{row['ratio_low']:.2f} to {row['ratio_high']:.2f}" if has_ratio else "-")
        cells.append(f"{row['descriptor_ratio']:.2f}" if "descriptor_ratio" in row else "-")
        cells.append(rate_text(row) + blocks_text(row))
        mark = ""
        if has_ratio:
            mark = ' class="good"' if row["ratio"] >= 1 else ' class="bad"'
        parts.append(
            f"<tr{mark}>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells)
        )
    return "".join([*parts, "</table>"])


def overheads(result: dict) -> str:
    parts = []
    if launch := result.get("launch"):
        parts.append(
            f"<p>A launch of 4096 elements: {duration(launch['python_s'])} in Python, where"
            f" Triton's JIT alone takes {duration(launch['jit_s'])}; through the C interface"
            f" {duration(launch.get('c_s'))}.</p>"
        )
    if rows := result.get("compile"):
        parts.append("<table><tr><th>compilation without cache</th><th>median</th><th>first</th>")
        parts += [
            f"<tr><td>{html.escape(row['name'])}</td><td>{duration(row['median_s'])}</td>"
            f"<td>{duration(row.get('first_s'))}</td></tr>"
            for row in rows
        ]
        parts.append("</table>")
    return "".join(parts)


def targets_table(result: dict) -> str:
    parts = ["<table><tr><th>target</th><th>measured</th><th>wanted</th><th></th></tr>"]
    for target in targets.targets(result):
        mark = {True: "good", False: "bad", None: ""}[target.met]
        cells = (target.what, target.measured, target.wanted, targets.state(target))
        parts.append(
            f'<tr class="{mark}">' + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells)
        )
    return "".join([*parts, "</table>"])


def render(result: dict) -> str:
    machine = result["machine"]
    lines = "".join(
        f"<tr><td>{html.escape(line['group'])}</td><td>{html.escape(line['least_of'])}</td>"
        f"<td>{line['problems']}</td><td>{line['mean']:.2f}</td><td>{line['least']:.2f}</td></tr>"
        for line in summary(result)
    )
    legend = " ".join(
        f'<span style="color:{COLORS.get(name, "#000")}">&#9679; {name}</span>'
        for name in result["peers"]
    )
    groups: dict[str, list[dict]] = {}
    for row in result["results"]:
        groups.setdefault(row["group"], []).append(row)
    body = "".join(
        f"<h2>{html.escape(group)}</h2>{chart(rows)}{table(rows, result['peers'])}"
        for group, rows in groups.items()
    )
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in result["notes"])
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Tilebridge on a CPU</title>'
        f"<style>{STYLE}</style><h1>Tilebridge on a CPU</h1>"
        f"<p>{html.escape(machine['cpu'])}, {machine['threads']} of {machine['cores']} cores,"
        f" load {machine['load'][0]:.1f}; {html.escape(result['time'])}; PyTorch"
        f" {html.escape(result['torch'])}, Triton {html.escape(result['triton'])}</p>"
        f"<p>Measured limits: {html.escape(limits_text(result['limits']))}</p>{notes}"
        f"<h2>targets</h2>{targets_table(result)}"
        f"<p>Bars: the best peer's time over ours (above 1 we are faster), with its spread; dots:"
        f" each peer's. {legend}</p><table><tr><th>group</th><th>least ratio at</th>"
        f"<th>problems</th><th>geometric mean</th><th>least</th></tr>{lines}</table>{overheads(result)}{body}</html>\n"
    )
