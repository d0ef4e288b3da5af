# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How kernels and peers gain from threads: run.py once for each number of them, in turn.

    python benchmarks/cpu/scale.py [--threads 1,2,4,8,16] [--json FILE] [options of run.py...]

A row has the time on one thread over the time on N, and that over N (the efficiency).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from report import duration, write_json

RUN = Path(__file__).with_name("run.py")


def counts_up_to(cores: int) -> list[int]:
    counts = [1]
    while counts[-1] * 2 <= cores:
        counts.append(counts[-1] * 2)
    return counts if counts[-1] == cores else [*counts, cores]


def measure(threads: int, options: list[str]) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        command = [sys.executable, str(RUN), "--threads", str(threads), "--json", str(path)]
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        if not path.exists():
            sys.exit(f"with {threads} threads:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return json.loads(path.read_text())


def times(result: dict) -> dict[tuple[str, str, str], float]:
    return {
        (row["name"], row["size"], runner): timing["median_s"]
        for row in result["results"]
        for runner, timing in row["runners"].items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", default="", metavar="1,2,4")
    parser.add_argument("--json", metavar="FILE", help="write all runs to FILE")
    options, rest = parser.parse_known_args()
    counts = [int(word) for word in options.threads.split(",") if word]
    counts = counts or counts_up_to(len(os.sched_getaffinity(0)))
    runs = {}
    for count in counts:
        runs[count] = measure(count, rest)
        print(f"measured with {count} threads", flush=True)
    found = {count: times(run) for count, run in runs.items()}
    first = counts[0]
    heads = "".join(f"{f'{count} threads':>12}" for count in counts)
    gains = "".join(f"{f'x{count}':>14}" for count in counts[1:])
    print(f"\n{'problem':<28} {'size':<22} {'':<12}{heads}{gains}")
    for key, base in found[first].items():
        name, size, runner = key
        values = [found[count].get(key) for count in counts]
        cells = "".join(f"{duration(value):>12}" for value in values)
        for count, value in zip(counts[1:], values[1:], strict=True):
            gain = base / value if value else float("nan")
            cells += f"{gain:7.2f} ({gain * first / count:.2f})"
        print(f"{name:<28} {size:<22} {runner:<12}{cells}")
    if options.json:
        write_json(options.json, runs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
