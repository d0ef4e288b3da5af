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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from triton_suite import report, suites

HERE = Path(__file__).resolve().parents[1]


@dataclass
class Tutorial:
    name: str
    # "script", or "pytest" where the checks are test functions.
    how: str = "script"
    # What it prints when its check succeeded; where it asserts, its end says so.
    prints: str = ""
    # What it prints when its check failed.
    never: str = "❌"
    # Where the reference that it checks against is known to be wrong: what it ends with, and why that is.
    fails_with: str = ""
    reason: str = ""


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
    of one that had printed by then what its check found."""
    if tutorial.never in output:
        return False, "says that the results differ"
    if tutorial.prints and tutorial.prints not in output:
        return False, f"does not print '{tutorial.prints}'" if status == 0 else last_line(output)
    if status is None:
        return bool(
            tutorial.prints
        ), "its measurements were not waited for" if tutorial.prints else "did not end in time"
    if status and tutorial.fails_with and tutorial.fails_with in output:
        return True, tutorial.reason
    if status != 0:
        return False, last_line(output)
    return True, ""


def last_line(output: str) -> str:
    return next(
        (line.strip() for line in reversed(output.splitlines()) if line.strip()), "printed nothing"
    )


def run_one(
    tutorial: Tutorial,
    folder: Path,
    python: str,
    environment: dict[str, str],
    limit: float,
    log: Path,
) -> Outcome:
    command = [python, "-u", tutorial.name]
    if tutorial.how == "pytest":
        command = [
            python,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--tb=short",
            tutorial.name,
        ]
    started = time.monotonic()
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
        status: int | None
        try:
            status = process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
    passed, note = judge(tutorial, status, log.read_text(errors="replace"))
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
        for tutorial in load(HERE / "suites.toml"):
            if arguments.file and not any(part in tutorial.name for part in arguments.file):
                continue
            log = arguments.out / (tutorial.name + ".log")
            outcome = run_one(
                tutorial,
                tree / "python/tutorials",
                arguments.python,
                environment,
                arguments.tutorial_timeout,
                log,
            )
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
    text = ["## Triton's tutorials", "Unchanged, with their checks and their measurements.", ""]
    text += ["| tutorial | result | seconds |", "|---|---|--:|"]
    for outcome in outcomes:
        result = "passed" if outcome.passed else "failed"
        result += f": {report.escape(outcome.note)}" if outcome.note else ""
        text.append(f"| {outcome.name} | {result} | {outcome.seconds:.0f} |")
    return "\n".join(text) + "\n"
