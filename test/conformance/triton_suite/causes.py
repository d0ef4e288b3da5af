# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Groups failures by cause: what is left of a message without the numbers, names and shapes of one case."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

LONGEST = 160


@dataclass
class Cause:
    kind: str
    text: str
    cases: list[str] = field(default_factory=list)

    @property
    def functions(self) -> Counter:
        return Counter(case.split("[")[0] for case in self.cases)


# What a line of a diagnostic of Tilebridge is: file:line:column: error: text.
_DIAGNOSTIC = re.compile(r"^.*?:\d+:\d+: error: (?P<text>.*)$", re.MULTILINE)

_REPLACEMENTS = [
    (re.compile(r"/[\w./+-]*/"), ""),  # folders
    (re.compile(r"0x[0-9a-fA-F]+"), "0x…"),
    (re.compile(r"tensor<[^>]*>+"), "tensor<…>"),
    (re.compile(r"vector<[^>]*>+"), "vector<…>"),
    (re.compile(r"memref<.*?>>?(?=[\s,')]|$)"), "memref<…>"),
    (re.compile(r"(?<![\w.])-?\d[\d_]*(\.\d+)?(e[+-]?\d+)?(?![\w])"), "N"),
]

# Comparisons of values print the values: all of these are one cause, told apart by the test.
_COMPARISONS = [
    re.compile(r"Not equal to tolerance"),
    re.compile(r"Tensor-likes are not (close|equal)"),
    re.compile(r"Arrays are not (almost )?equal"),
    re.compile(r"Scalars are not (close|equal)"),
    re.compile(r"^assert (torch\.allclose|np\.allclose|tensor|array)"),
    re.compile(r"^assert .*\bwhere .* = (torch\.)?(allclose|equal)\(", re.DOTALL),
]
WRONG_VALUES = "the values differ from the reference"


def cause_of(result: dict) -> tuple[str, str]:
    """(kind, text): equal for failures that are likely to have one reason."""
    kind = result.get("type", result["outcome"])
    message = result.get("message", "").strip()
    if result["outcome"] == "timeout":
        return "timeout", "did not end in time"
    if result["outcome"] == "crashed":
        return "crashed", message
    if kind == "AssertionError" and any(pattern.search(message) for pattern in _COMPARISONS):
        return "wrong values", WRONG_VALUES
    diagnostic = _DIAGNOSTIC.search(message)
    text = diagnostic.group("text") if diagnostic else _first_line(message)
    for pattern, replacement in _REPLACEMENTS:
        text = pattern.sub(replacement, text)
    return kind, shorten(text)


def _first_line(message: str) -> str:
    return next((line.strip() for line in message.splitlines() if line.strip()), "")


def shorten(text: str, limit: int = LONGEST) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def group(results: dict[str, dict]) -> list[Cause]:
    """The causes of the failures among the results, the most frequent first."""
    causes: dict[tuple[str, str], Cause] = {}
    for nodeid, result in results.items():
        if result["outcome"] in ("failed", "crashed", "timeout"):
            key = cause_of(result)
            causes.setdefault(key, Cause(*key)).cases.append(nodeid)
    return sorted(causes.values(), key=lambda cause: (-len(cause.cases), cause.kind, cause.text))
