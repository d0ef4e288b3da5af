# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example kernel, and the tests of the language, on the simulators of all accelerators.

    python test/e2e/accel_sweep.py --jobs 16 --out sweep

Each target and file is a piece of its own, in a pytest process of its own with the plug-in accel_comparison; several run
side by side. A test that crashes its process or does not end costs that test: another process goes on behind it. Only the
Python package and Tilebridge's libraries are needed (TILEBRIDGE_LIB_DIR says where they are), and no build tree.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGETS = HERE.parents[1] / "accel-backend" / "targets"
FILES = (
    "test_examples test_arithmetic test_shapes test_reductions test_casts test_access test_memory test_control_flow"
    " test_dots test_gathers test_math test_accumulators test_pointer_arithmetic test_descriptor_shapes"
    " test_hazards_values test_hazards_access test_random_programs"
)


@dataclass
class Piece:
    """A target with a file."""

    target: str
    file: str
    events: Path
    outcomes: dict[str, tuple[str, str]] = field(default_factory=dict)
    compared: list[dict] = field(default_factory=list)
    seconds: float = 0.0
    trouble: str = ""

    def read(self) -> str | None:
        """What has happened so far; the test that was begun and did not end."""
        running = None
        lines = self.events.read_text().splitlines() if self.events.exists() else []
        for event in map(json.loads, lines):
            if "begins" in event:
                running = event["begins"]
            elif "test" in event:
                running = None
                self.outcomes[event["test"]] = (event["outcome"], event["message"])
        return running

    def add(self, test: str, message: str) -> None:
        with self.events.open("a") as file:
            file.write(json.dumps({"test": test, "outcome": "failed", "message": message}) + "\n")


def run_once(piece: Piece, options) -> tuple[int, bool]:
    """One process over what is left of a piece: its exit code, and whether a test took too long."""
    results = piece.events.with_suffix(".results")
    environment = os.environ | {
        "TILEBRIDGE_TARGET": f"accel:{piece.target}",
        "TILEBRIDGE_ACCEL_EVENTS": str(piece.events),
        "TILEBRIDGE_ACCEL_RESULTS": str(results),
        "TRITON_CACHE_DIR": str(piece.events.with_suffix(".cache")),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "accel_comparison"]
    command += ["-p", "no:cacheprovider", piece.file + ".py"]
    command += ["-k", options.k] if options.k else []
    with piece.events.with_suffix(".log").open("a") as log:
        child = subprocess.Popen(
            command, cwd=HERE, env=environment, stdout=log, stderr=log, start_new_session=True
        )
        while True:
            try:
                return child.wait(timeout=2), False
            except subprocess.TimeoutExpired:
                pass
            # Writing a line is a sign of life.
            last = piece.events.stat().st_mtime if piece.events.exists() else 0
            begun = max(last, piece.events.with_suffix(".start").stat().st_mtime)
            if time.time() - begun > options.timeout:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                return -signal.SIGKILL, True


def run(piece: Piece, options) -> Piece:
    begin = time.monotonic()
    for _ in range(200):
        piece.events.with_suffix(".start").write_text("")
        code, is_slow = run_once(piece, options)
        running = piece.read()
        if code in (0, 1, 5) and running is None:
            break
        if running is None:
            piece.trouble = f"pytest ended with {code}"
            break
        what = f"more than {options.timeout} s" if is_slow else f"the process ended with {code}"
        piece.add(running, what)
    piece.read()
    results = piece.events.with_suffix(".results")
    if results.exists():
        piece.compared = [json.loads(line) for line in results.read_text().splitlines()]
    piece.seconds = time.monotonic() - begin
    return piece


def cause_of(message: str) -> str:
    """A message without what is one case's own."""
    return re.sub(r"0x[0-9a-f]+|[0-9a-f]{12,}|-?\d+(\.\d+)?(e[-+]?\d+)?", "#", message)[:160]


def table(pieces: list[Piece]) -> str:
    lines = [
        "| target | passed | failed | skipped | kernels | launches | CPU's bits | CPU minutes |"
    ]
    lines.append("|---|---|---|---|---|---|---|---|")
    by_target = defaultdict(list)
    for piece in pieces:
        by_target[piece.target].append(piece)
    for target, own in sorted(by_target.items()):
        count = Counter(outcome for piece in own for outcome, _ in piece.outcomes.values())
        compared = [one for piece in own for one in piece.compared]
        kernels = {kernel for one in compared for kernel in one["kernels"]}
        launches = sum(one["launches"] for one in compared)
        identical = sum(one["identical"] for one in compared)
        minutes = sum(piece.seconds for piece in own) / 60
        lines.append(
            f"| {target} | {count['passed']} | {count['failed']} | {count['skipped']} | {len(kernels)}"
            f" | {launches} | {identical} | {minutes:.1f} |"
        )
    return "\n".join(lines)


def failures(pieces: list[Piece]) -> str:
    groups = defaultdict(list)
    for piece in pieces:
        for test, (outcome, message) in piece.outcomes.items():
            if outcome == "failed":
                groups[cause_of(message)].append((piece.target, test, message))
    lines = []
    for cases in sorted(groups.values(), key=len, reverse=True):
        targets = ", ".join(f"{name} {n}" for name, n in Counter(c[0] for c in cases).most_common())
        lines.append(f"{len(cases)} failures ({targets}):\n  {cases[0][2][:400]}")
        lines += [f"  {target}: {test}" for target, test, _ in cases[:3]]
    lines += [f"{p.target} {p.file}: {p.trouble}" for p in pieces if p.trouble]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = sorted(path.stem for path in TARGETS.glob("*.json"))
    parser.add_argument("--targets", default=" ".join(known), help="names, or files, of targets")
    parser.add_argument("--files", default=FILES, help="files of test/e2e")
    parser.add_argument("-k", default="", help="as pytest has it")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for a test")
    parser.add_argument("--out", type=Path, default=Path("accel-sweep"), help="logs and results")
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    for old in options.out.glob("*.events"):
        old.unlink()
        old.with_suffix(".results").unlink(missing_ok=True)
    names = [Path(file).stem for file in options.files.split()]
    missing = [name for name in names if not (HERE / f"{name}.py").exists()]
    if missing:
        parser.error(f"there is no {missing[0]}.py in test/e2e")
    # A file on all targets, then the next one: early results say something of each target.
    pieces = [
        Piece(target, name, options.out / f"{Path(target).stem}.{name}.events")
        for name in names
        for target in options.targets.split()
    ]
    lock = threading.Lock()

    def report(piece: Piece) -> None:
        count = Counter(outcome for outcome, _ in piece.outcomes.values())
        with lock:
            print(
                f"{piece.target} {piece.file}: {count['passed']} passed, {count['failed']} failed,"
                f" {piece.seconds:.0f} s {piece.trouble}",
                flush=True,
            )
            done = [one for one in pieces if one.seconds]
            (options.out / "summary.md").write_text(table(done) + "\n\n" + failures(done) + "\n")

    with ThreadPoolExecutor(options.jobs) as pool:
        for piece in pool.map(lambda one: run(one, options), pieces):
            report(piece)
    print((options.out / "summary.md").read_text())
    bad = any(p.trouble or any(o == "failed" for o, _ in p.outcomes.values()) for p in pieces)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
