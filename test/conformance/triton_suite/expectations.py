# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The list of what cannot pass on a CPU, expected.toml: which tests, why, and how they fail."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path


class ListError(Exception):
    """A file of the runner's own is not as it must be."""


@dataclass
class Expectation:
    """Tests that fail for a reason that is not Tilebridge's. One that fails in another way is still a failure."""

    tests: list[str]
    reason: str
    # Parts of the failure's text, one of which is in it; without them any failure is meant, and also a hang.
    fails_with: list[str] = field(default_factory=list)
    # False where the test would only hang or take the machine down: it counts as expected without being run.
    run: bool = True
    # Found while running.
    matched: int = 0
    passed: list[str] = field(default_factory=list)

    def __post_init__(self):
        self._patterns = [to_pattern(test) for test in self.tests]

    def names(self, nodeid: str) -> bool:
        return any(pattern.fullmatch(nodeid) for pattern in self._patterns)

    def explains(self, result: dict) -> bool:
        if not self.fails_with:
            return True
        text = f"{result.get('type', '')}: {result.get('message', '')}\n{result.get('log', '')}"
        return any(part in text for part in self.fails_with)


def to_pattern(text: str) -> re.Pattern[str]:
    """`*` stands for anything, all else for itself: the names of cases are full of brackets."""
    return re.compile(".*".join(re.escape(part) for part in text.split("*")))


def load(path: Path, suite: str) -> list[Expectation]:
    """The entries of a suite, "triton-3.9" or "triton-3.7"."""
    with path.open("rb") as file:
        document = tomllib.load(file)
    entries = []
    for number, entry in enumerate(document.get("expected", []), 1):
        entry = dict(entry)
        suites = entry.pop("suites", None)
        unknown = set(entry) - {"tests", "reason", "fails_with", "run"}
        if unknown:
            raise ListError(f"{path}: entry {number}: unknown keys: {', '.join(sorted(unknown))}")
        for key in ("tests", "reason"):
            if not entry.get(key):
                raise ListError(f"{path}: entry {number}: '{key}' is missing")
        if isinstance(entry.get("fails_with"), str):
            entry["fails_with"] = [entry["fails_with"]]
        if suites is None or suite in suites:
            entries.append(Expectation(**entry))
    return entries


def judge(expectations: list[Expectation], nodeid: str, result: dict) -> dict:
    """The result with what the list says about it: "expected" and why for a failure that is listed."""
    for entry in expectations:
        if not entry.names(nodeid):
            continue
        outcome = result["outcome"]
        if outcome in ("failed", "crashed", "timeout"):
            if entry.explains(result):
                entry.matched += 1
                return {**result, "outcome": "expected", "was": outcome, "reason": entry.reason}
        elif outcome == "passed":
            entry.passed.append(nodeid)
        # Else Triton skips it by itself, or it fails in another way: another entry may know that one.
    return result


def stale(expectations: list[Expectation], ran: list[str]) -> list[str]:
    """What the list says and this run does not bear out. `ran` are the files that ran whole."""
    lines = []
    for entry in expectations:
        here = [
            test
            for test in entry.tests
            if any(to_pattern(test.split("::")[0]).fullmatch(f) for f in ran)
        ]
        if not here:
            continue
        if entry.run and not entry.matched:
            lines.append(f"{', '.join(entry.tests)}: no failure of this kind ({entry.reason})")
        elif entry.passed and not entry.fails_with:
            lines.append(
                f"{', '.join(entry.tests)}: {len(entry.passed)} passed, such as {entry.passed[0]}"
            )
    return lines
