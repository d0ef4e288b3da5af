#!/usr/bin/env python3
# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the timeline of a simulated kernel: trace_svg.py trace.json -o trace.svg.

The trace is what `tilebridge run --trace` writes; https://ui.perfetto.dev shows it with everything that can be clicked.
"""

import argparse
import html
import json
import pathlib
import zlib

WIDTH, LEFT, ROW, TOP = 960, 170, 16, 24


def tracks_of(events):
    """The complete events of each track, by the names of its process and thread."""
    names = {}
    for event in events:
        if event["ph"] == "M" and event["name"] in ("process_name", "thread_name"):
            key = (event["name"], event["pid"], event.get("tid") if event["name"][0] == "t" else 0)
            names[key] = event["args"]["name"]
    tracks = {}
    for event in sorted(
        events, key=lambda event: (event["pid"], event.get("tid", 0), event.get("ts", 0))
    ):
        if event["ph"] == "X":
            pid, tid = event["pid"], event.get("tid", 0)
            process = names.get(("process_name", pid, 0), f"process {pid}")
            thread = names.get(("thread_name", pid, tid), str(tid))
            name = thread if process == "PEs" else f"{process}: {thread}"
            tracks.setdefault(name, []).append(event)
    return tracks


def color_of(name):
    """The same for the same kind of work."""
    hue = zlib.crc32(name.split(" ")[0].encode()) % 360
    return f"hsl({hue},55%,60%)"


def draw(trace, most_tracks):
    tracks = dict(list(tracks_of(trace["traceEvents"]).items())[:most_tracks])
    if not tracks:
        raise SystemExit("the trace has no events")
    end = max(
        event["args"]["cycle"] + event["args"]["cycles"]
        for events in tracks.values()
        for event in events
    )
    scale = (WIDTH - LEFT - 10) / end
    height = TOP + ROW * len(tracks) + 24
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="10">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
    ]
    for number, (track, events) in enumerate(tracks.items()):
        y = TOP + ROW * number
        lines.append(f'<text x="4" y="{y + 11}">{html.escape(track[:30])}</text>')
        lines.append(
            f'<rect x="{LEFT}" y="{y}" width="{WIDTH - LEFT - 10}" height="{ROW - 2}" fill="#f2f2f2"/>'
        )
        for event in events:
            width = max(event["args"]["cycles"] * scale, 0.5)
            title = html.escape(
                f"{event['name']}: {event['args']['cycles']:g} cycles from {event['args']['cycle']:g}"
            )
            lines.append(
                f'<rect x="{LEFT + event["args"]["cycle"] * scale:.1f}" y="{y}" width="{width:.1f}" height="{ROW - 2}" '
                f'fill="{color_of(event["name"])}" stroke="white" stroke-width="0.3"><title>{title}</title></rect>'
            )
            if width > 6.2 * len(event["name"]):
                x = LEFT + event["args"]["cycle"] * scale + 2
                lines.append(f'<text x="{x:.1f}" y="{y + 11}">{html.escape(event["name"])}</text>')
    for part in range(5):
        x = LEFT + (WIDTH - LEFT - 10) * part / 4
        lines.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{height - 22}" stroke="#999"/>'
        )
        lines.append(
            f'<text x="{x:.1f}" y="{TOP - 8}" text-anchor="middle">{end * part / 4:.4g}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--tracks", type=int, default=24, help="draw so many tracks at most")
    options = parser.parse_args()
    options.output.write_text(draw(json.loads(options.trace.read_text()), options.tracks))


if __name__ == "__main__":
    main()
