# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example kernel, and the tests of the language, on the simulators of all accelerators.

    python test/e2e/accel_sweep.py --jobs 16 --out sweep --page docs/accel-sweep.md

Each target and file, or a part of a long file, is a piece: a pytest process of its own with the plug-in accel_comparison; several
run side by side, and share what Triton and the CPU's compiler make of a kernel. A test that crashes its process or does not end
costs that test: another process goes on behind it. Only the Python package and Tilebridge's libraries are needed
(TILEBRIDGE_LIB_DIR says where they are), and no build tree. --page writes what docs/ shows.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from accel_sweep_report import failures, is_failure, page, table

HERE = Path(__file__).resolve().parent
TARGETS = HERE.parents[1] / "accel-backend" / "targets"
# With the number of pieces that each is cut into.
FILES = (
    "test_examples/4 test_memory test_accumulators/2 test_reductions/2 test_scans test_arithmetic/2 test_casts/2 test_access/2"
    " test_hazards_values/2 test_hazards_access test_shapes test_gathers test_dots test_pointer_arithmetic"
    " test_control_flow test_math test_descriptor_shapes test_random_programs"
)
MANY = "measures the memory of the process over up to a million launches, which a simulator takes hours for"
UNSPECIFIED = "the index of the least of a row with NaN is not specified"
LEFT_OUT = {
    "test_hazards_values.py::test_hazard_07_argmax_of_nan[False]": UNSPECIFIED,
    "test_memory.py::test_hazard_16_programs_leave_nothing_behind": MANY,
    "test_memory.py::test_hazard_16_launches_leave_nothing_behind": MANY,
    "test_memory.py::test_hazard_16_a_million_launches": MANY,
}


@dataclass
class Piece:
    """A target with a part of a file."""

    target: str
    file: str
    part: str
    events: Path
    outcomes: dict[str, tuple[str, str]] = field(default_factory=dict)
    # By test, how many launches each comparison held for.
    held: dict[str, dict[str, int]] = field(default_factory=dict)
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
                self.held[event["test"]] = event.get("held", {})
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
        "TILEBRIDGE_ACCEL_PART": piece.part,
        "TILEBRIDGE_ACCEL_SHARED": str(options.out / "cpu"),
        "TRITON_CACHE_DIR": str(options.out / "triton"),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(HERE), os.environ.get("PYTHONPATH")])),
    }
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "accel_comparison"]
    command += ["-p", "no:cacheprovider", piece.file + ".py"]
    # Named from the root of the repository, where that is there.
    command += [f"--deselect={root}{test}" for test in LEFT_OUT for root in ("", "test/e2e/")]
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = sorted(path.stem for path in TARGETS.glob("*.json"))
    parser.add_argument("--targets", default=" ".join(known), help="names, or files, of targets")
    parser.add_argument("--files", default=FILES, help="files of test/e2e, each with /PIECES")
    parser.add_argument("-k", default="", help="as pytest has it")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--timeout", type=int, default=300, help="seconds for a test")
    parser.add_argument("--resume", action="store_true", help="go on with what --out has")
    parser.add_argument("--sample", type=int, default=0, help="so many pieces, by chance")
    parser.add_argument("--page", type=Path, help="write the page of docs/ to this file")
    parser.add_argument("--out", type=Path, default=Path("accel-sweep"), help="logs and results")
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    for old in [] if options.resume else options.out.glob("*.events"):
        old.unlink()
        old.with_suffix(".results").unlink(missing_ok=True)
    (options.out / "cpu").mkdir(exist_ok=True)
    files = [
        (Path(name).stem, int(parts or 1))
        for name, _, parts in (one.partition("/") for one in options.files.split())
    ]
    missing = [name for name, _ in files if not (HERE / f"{name}.py").exists()]
    if missing:
        parser.error(f"there is no {missing[0]}.py in test/e2e")
    # A target after the other: the first one's processes compile for the CPU what the others find.
    pieces = [
        Piece(
            target,
            name,
            f"{part}/{parts}",
            options.out / f"{Path(target).stem}.{name}.{part}.events",
        )
        for target in options.targets.split()
        for name, parts in files
        for part in range(parts)
    ]
    if options.sample:
        pieces = random.sample(pieces, min(options.sample, len(pieces)))
    lock = threading.Lock()

    def report(piece: Piece) -> None:
        count = Counter(outcome for outcome, _ in piece.outcomes.values())
        with lock:
            print(
                f"{piece.target} {piece.file} {piece.part}: {count['passed']} passed, {count['failed']} failed,"
                f" {piece.seconds:.0f} s {piece.trouble}",
                flush=True,
            )
            done = [one for one in pieces if one.seconds]
            (options.out / "summary.md").write_text(table(done) + "\n\n" + failures(done) + "\n")
            if options.page:
                options.page.write_text(page(done, LEFT_OUT))

    begin = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        for piece in pool.map(lambda one: run(one, options), pieces):
            report(piece)
    print((options.out / "summary.md").read_text())
    print(f"{time.monotonic() - begin:.0f} s")
    bad = any(p.trouble or any(is_failure(*one) for one in p.outcomes.values()) for p in pieces)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
