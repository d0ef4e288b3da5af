# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs Triton's tutorials as they are: each is a program that checks itself, and most measure afterwards."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from conformance_tutorial import MEASURED, MEASURING

from triton_suite import report, suites
from triton_suite.pool import Pool, Settings, TestFile

HERE = Path(__file__).resolve().parents[1]
# Of the memory that is free when the cases of a tutorial start, the part that they may take: one that wants more gets
# an error from PyTorch, and the machine goes on.
MEMORY_PART = 0.9


@dataclass
class Tutorial:
    name: str
    # "script", or "pytest" where the checks are test functions.
    how: str = "script"
    # What it prints when its check succeeded; where it asserts, its end says so.
    prints: str = ""
    # What it prints when its check failed.
    never: str = "❌"
    # Where the reference that it checks against is wrong or too large: what it, or a case, ends with, and why that is.
    fails_with: str = ""
    reason: str = ""
    # For test functions: the seconds that a case may take, and how much memory the cases with this in their names need.
    case_seconds: float = 900
    gigabytes: dict[str, float] = field(default_factory=dict)


@dataclass
class Outcome:
    name: str
    passed: bool
    note: str
    seconds: float


def load(path: Path) -> list[Tutorial]:
    with path.open("rb") as file:
        return [Tutorial(name, **entry) for name, entry in tomllib.load(file)["tutorials"].items()]


def judge(tutorial: Tutorial, status: int | None, output: str) -> tuple[bool, str]:
    """Whether a tutorial succeeded, and what to say of it. A status of None: it was ended for time, which is no failure
    of one that had checked its results by then, and was measuring."""
    if tutorial.never in output:
        return False, "says that the results differ"
    if tutorial.prints and tutorial.prints not in output:
        return False, f"does not print '{tutorial.prints}'" if status == 0 else last_line(output)
    if status is None:
        if MEASURING not in output:
            return False, "did not end in time"
        return True, f"its measurements were ended after {output.count(MEASURED)} of them"
    if status and tutorial.fails_with and tutorial.fails_with in output:
        return True, tutorial.reason
    if status != 0:
        return False, last_line(output)
    return True, ""


def last_line(output: str) -> str:
    return next(
        (line.strip() for line in reversed(output.splitlines()) if line.strip()), "printed nothing"
    )


def run_script(
    tutorial: Tutorial,
    folder: Path,
    arguments: argparse.Namespace,
    environment: dict[str, str],
) -> Outcome:
    """Runs it to its end, or for the seconds that its checks, and then its measurements, are given."""
    log = arguments.out / (tutorial.name + ".log")
    command = [arguments.python, "-u", str(HERE / "conformance_tutorial.py"), tutorial.name]
    started = time.monotonic()
    deadline, measuring = started + arguments.tutorial_timeout, False
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        status: int | None = None
        try:
            while status is None and time.monotonic() < deadline:
                try:
                    status = process.wait(timeout=1)
                except subprocess.TimeoutExpired:
                    if not measuring and MEASURING in log.read_text(errors="replace"):
                        measuring = True
                        deadline = time.monotonic() + arguments.measure_seconds
        finally:
            if status is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    passed, note = judge(tutorial, status, log.read_text(errors="replace"))
    return Outcome(tutorial.name, passed, note, time.monotonic() - started)


def free_memory() -> int:
    """Bytes that can be had without taking them from other programs."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/meminfo does not say how much memory is available")


def judge_cases(tutorial: Tutorial, results: dict[str, dict]) -> tuple[bool, str]:
    counts: Counter = Counter()
    named: dict[str, list[str]] = {}
    for case, result in results.items():
        outcome = report.COLUMN[result["outcome"]]
        if outcome == "failed":
            if tutorial.fails_with and tutorial.fails_with in result.get("message", ""):
                outcome = tutorial.reason
            named.setdefault(outcome, []).append(case)
        counts[outcome] += 1
    notes = [f"{count} {outcome}" for outcome, count in sorted(counts.items())]
    notes += [f"{outcome}: {', '.join(sorted(cases))}" for outcome, cases in sorted(named.items())]
    return bool(counts["passed"]) and not counts["failed"], "; ".join(notes)


def run_cases(
    tutorial: Tutorial,
    folder: Path,
    arguments: argparse.Namespace,
    environment: dict[str, str],
) -> Outcome:
    """Runs its test functions as Triton's tests are run: a case that crashes or hangs costs that case."""
    started = time.monotonic()
    results: dict[str, dict] = {}

    def on_result(file: TestFile, nodeid: str, result: dict) -> None:
        results[nodeid.split("::", 1)[1]] = result
        print(f"{nodeid}: {result['outcome']} in {result['seconds']:.0f} s", flush=True)

    def select(names: list[str]) -> list[int]:
        """All but those that would only find out that there is too little memory, after minutes."""
        large = [part for part, size in tutorial.gigabytes.items() if size * 1e9 > memory]
        left_out = {i for i, name in enumerate(names) if any(part in name for part in large)}
        for i in left_out:
            failed = {"outcome": "failed", "seconds": 0.0, "message": tutorial.fails_with}
            results[names[i].split("::", 1)[1]] = failed
        return [i for i in range(len(names)) if i not in left_out]

    memory = int(free_memory() * MEMORY_PART)
    limit = {"TILEBRIDGE_CONFORMANCE_MEMORY": str(memory)}
    options = ["-p", "no:cacheprovider", "-c", str(folder.parents[1] / "pytest.ini"), "-q", "-s"]
    if arguments.keyword:
        options += ["-k", arguments.keyword]
    settings = Settings(
        python=arguments.python,
        cwd=folder,
        environment={**environment, **limit},
        pytest_options=options,
        workers=1,
        timeout=tutorial.case_seconds,
        select=select,
        on_result=on_result,
    )
    file = TestFile(tutorial.name)
    Pool([file], settings).run()
    lines = [json.dumps({"case": case, **result}) for case, result in results.items()]
    (arguments.out / (tutorial.name + ".jsonl")).write_text("\n".join(lines) + "\n")
    passed, note = judge_cases(tutorial, results)
    if file.error:
        passed, note = False, last_line(file.error)
    return Outcome(tutorial.name, passed, note, time.monotonic() - started)


def run(arguments: argparse.Namespace, environment_for: Callable) -> int:
    arguments.out.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="tilebridge-tutorials-"))
    outcomes = []
    try:
        tree = suites.stage(Path(arguments.triton), scratch / "triton")
        environment = environment_for(arguments, scratch)
        # Figures go to files, and a launch has all cores: nothing runs beside it.
        environment["MPLBACKEND"] = "Agg"
        environment["OMP_NUM_THREADS"] = str(os.cpu_count() or 1)
        # Memory is handled as in any program.
        for name in ("MALLOC_MMAP_MAX_", "MALLOC_TRIM_THRESHOLD_"):
            environment.pop(name, None)
        for tutorial in load(HERE / "suites.toml"):
            if arguments.file and not any(part in tutorial.name for part in arguments.file):
                continue
            run_one = run_cases if tutorial.how == "pytest" else run_script
            outcome = run_one(tutorial, tree / "python/tutorials", arguments, environment)
            outcomes.append(outcome)
            word = "passed" if outcome.passed else "failed"
            print(
                f"{outcome.name}: {word} in {outcome.seconds:.0f} s {outcome.note}".rstrip(),
                flush=True,
            )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    records = [vars(outcome) for outcome in outcomes]
    (arguments.out / "tutorials.json").write_text(json.dumps(records, indent=1) + "\n")
    if arguments.page:
        report.write_section(arguments.page, "tutorials", as_markdown(outcomes))
    return 0 if outcomes and all(outcome.passed for outcome in outcomes) else 1


def as_markdown(outcomes: list[Outcome]) -> str:
    text = [
        "## Triton's tutorials",
        "Unchanged, with their checks and the beginning of their measurements, which also time PyTorch.",
        "",
    ]
    text += ["| tutorial | result | seconds |", "|---|---|--:|"]
    for outcome in outcomes:
        result = "passed" if outcome.passed else "failed"
        result += f": {report.escape(outcome.note)}" if outcome.note else ""
        text.append(f"| {outcome.name} | {result} | {outcome.seconds:.0f} |")
    return "\n".join(text) + "\n"
