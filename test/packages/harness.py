# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs cases of a package in a child process and says of each what came of it.

A case is a function that takes a Check and compares tensors with it. The child writes a line of JSON when a case ends;
where the child dies or takes too long, the parent notes that of the case that ran and starts another child.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import traceback
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent

# Relative and absolute tolerance by the result's type.
TOLERANCE = {
    torch.float64: (1e-6, 1e-7),
    torch.float32: (1e-4, 1e-5),
    torch.float16: (4e-3, 4e-3),
    torch.bfloat16: (2e-2, 2e-2),
}

# What may come of a case, from good to bad.
OUTCOMES = ("passed", "refused", "mismatch", "error", "crash", "timeout")


class Refused(Exception):
    """The package's own code refuses the input, on any device: nothing of ours ran."""


class Check:
    """Collects what a case compared."""

    def __init__(self):
        self.compared = 0
        self.problems: list[str] = []
        self.refused: list[str] = []

    def close(self, label: str, actual, expected, rtol=None, atol=None, exact_dtype=True) -> None:
        if isinstance(expected, (tuple, list)):
            if len(actual) != len(expected):
                self.problems.append(f"{label}: {len(actual)} results for {len(expected)}")
                return
            for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
                self.close(f"{label}[{i}]", a, e, rtol, atol, exact_dtype)
            return
        if expected is None or not isinstance(expected, torch.Tensor):
            self.compared += 1
            if actual != expected:
                self.problems.append(f"{label}: {actual!r} for {expected!r}")
            return
        self.compared += 1
        if not isinstance(actual, torch.Tensor) or actual.shape != expected.shape:
            shape = list(actual.shape) if isinstance(actual, torch.Tensor) else actual
            self.problems.append(f"{label}: shape {shape} for {list(expected.shape)}")
            return
        if exact_dtype and actual.dtype != expected.dtype:
            self.problems.append(f"{label}: {actual.dtype} for {expected.dtype}")
            return
        r, a = TOLERANCE.get(actual.dtype, (0.0, 0.0))
        r, a = r if rtol is None else rtol, a if atol is None else atol
        try:
            torch.testing.assert_close(
                actual,
                expected.to(actual.dtype),
                rtol=r,
                atol=a,
                equal_nan=True,
                check_stride=False,
            )
        except AssertionError as e:
            self.problems.append(f"{label}: " + " ".join(str(e).split())[:300])


def describe(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    inside = [f for f in frames if "site-packages" in f.filename] or list(frames)
    where = ", ".join(f"{Path(f.filename).name}:{f.lineno}" for f in inside[-2:])
    return f"{type(error).__name__}: {' '.join(str(error).split())[:600]} [{where}]"


def run_case(function) -> dict:
    check = Check()
    started = time.time()
    try:
        torch.manual_seed(0)
        function(check)
    except Refused as e:
        check.refused.append(str(e))
    except Exception as e:
        return {
            "outcome": "error",
            "compared": check.compared,
            "detail": [describe(e), *check.problems][:4],
            "seconds": round(time.time() - started, 1),
        }
    if check.problems:
        outcome, detail = "mismatch", check.problems[:4]
    elif not check.compared:
        outcome, detail = "refused", check.refused[:4] or ["nothing was compared"]
    else:
        outcome, detail = "passed", check.refused[:4]
    return {
        "outcome": outcome,
        "compared": check.compared,
        "detail": detail,
        "seconds": round(time.time() - started, 1),
    }


def child(package: str, names: list[str]) -> None:
    """Runs the named cases; a line "> NAME" before each, a line of JSON after."""
    module = __import__(f"{package}_cases")
    cases = module.cases()
    for name in names:
        print(f"> {name}", file=sys.stderr, flush=True)
        result = {"case": name, **run_case(cases[name])}
        print("@" + json.dumps(result), flush=True)


def run_package(package: str, names: list[str], *, limit: float, report) -> list[dict]:
    """Runs all the cases of a package, each in at most `limit` seconds."""
    results: list[dict] = []
    left = list(names)
    while left:
        process = subprocess.Popen(
            [sys.executable, str(HERE / "harness.py"), package, *left],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONFAULTHANDLER": "1"},
        )
        done = _follow(process, left, limit, report)
        results += done
        left = left[len(done) :]
    return results


def _follow(process, left, limit, report) -> list[dict]:
    """Reads what a child prints until it ends, hangs or has done everything."""
    import threading

    tail: list[str] = []

    def drain():
        for line in process.stderr:
            tail.append(line)
            del tail[:-40]

    threading.Thread(target=drain, daemon=True).start()
    done: list[dict] = []
    while len(done) < len(left):
        timer = threading.Timer(limit if done else limit + 60, process.kill)
        timer.start()
        started = time.time()
        line = "start"
        while line and not line.startswith("@"):
            line = process.stdout.readline()
        timer.cancel()
        if line:
            done.append(json.loads(line[1:]))
        else:
            process.wait()
            seconds = round(time.time() - started, 1)
            late = seconds >= limit
            detail = (
                f"over {limit:.0f} s"
                if late
                else f"exit {process.returncode}: " + "".join(tail)[-600:]
            )
            done.append(
                {
                    "case": left[len(done)],
                    "outcome": "timeout" if late else "crash",
                    "compared": 0,
                    "detail": [detail],
                    "seconds": seconds,
                }
            )
            report(done[-1])
            return done
        report(done[-1])
    process.wait()
    return done


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    child(sys.argv[1], sys.argv[2:])
