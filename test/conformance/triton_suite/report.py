# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The outcome of a run as a page, as JSON and as a few lines."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from triton_suite import causes, expectations

OUTCOMES = ("passed", "failed", "expected", "skipped")
# What a row counts an outcome as.
COLUMN = {
    "passed": "passed",
    "xpassed": "passed",
    "failed": "failed",
    "crashed": "failed",
    "timeout": "failed",
    "expected": "expected",
    "xfailed": "skipped",
    "skipped": "skipped",
}


@dataclass
class Row:
    path: str
    collected: int
    counts: Counter
    note: str = ""
    seconds: float = 0.0


@dataclass
class Run:
    suite: str
    sources: str
    about: dict[str, str]
    seconds: float
    workers: int
    whole: bool
    left_out: dict[str, str]
    # Whether cases that are missing are worth a word: they are not in a sample.
    whole_files: bool = True
    rows: list[Row] = field(default_factory=list)
    results: dict[str, dict] = field(default_factory=dict)
    stale: list[str] = field(default_factory=list)

    def add_file(
        self,
        file,
        results: dict[str, dict],
        listed: list[expectations.Expectation],
        collected: int = 0,
    ) -> None:
        counts: Counter = Counter()
        seconds = 0.0
        for case, result in results.items():
            name = f"{file.path}::{case}"
            judged = expectations.judge(listed, name, result)
            self.results[name] = judged
            counts[COLUMN[judged["outcome"]]] += 1
            seconds += result.get("seconds", 0.0)
        for nodeid in file.collected or []:
            name = f"{file.path}::{nodeid.split('::', 1)[1]}"
            entry = next((e for e in listed if not e.run and e.names(name)), None)
            if entry is not None and name not in self.results:
                self.results[name] = {
                    "outcome": "expected",
                    "was": "not run",
                    "reason": entry.reason,
                }
                counts["expected"] += 1
        note = file.error.strip().splitlines()[-1] if file.error else file.module_skip
        if file.error:
            judged = expectations.judge(
                listed,
                file.path,
                {"outcome": "failed", "type": "not collected", "message": file.error},
            )
            self.results[file.path] = judged
            counts[COLUMN[judged["outcome"]]] += 1
            if judged["outcome"] == "expected":
                note = judged["reason"]
        collected = max(collected, len(file.collected or []), sum(counts.values()))
        missing = collected - sum(counts.values())
        if missing > 0 and self.whole_files:
            note = f"{missing} cases were not run" + (f"; {note}" if note else "")
        self.rows.append(Row(file.path, collected, counts, note, seconds))

    @property
    def totals(self) -> Counter:
        return sum((row.counts for row in self.rows), Counter())

    def is_good(self) -> bool:
        return not self.totals["failed"] and not self.stale

    def summary(self) -> str:
        lines = []
        for cause in causes.group(self.results):
            lines.append(f"{len(cause.cases):5d}  {cause.kind}: {cause.text}")
            lines.append(f"       such as {cause.cases[0]}")
        lines += [f"expected.toml: {line}" for line in self.stale]
        totals = self.totals
        lines.append(
            f"{self.suite}: {sum(row.collected for row in self.rows)} collected, "
            + ", ".join(f"{totals[name]} {name}" for name in OUTCOMES)
            + f" in {self.seconds:.0f} s"
        )
        return "\n".join(lines)

    def as_json(self) -> dict:
        return {
            "suite": self.suite,
            "sources": self.sources,
            "about": self.about,
            "seconds": round(self.seconds, 1),
            "workers": self.workers,
            "whole": self.whole,
            "files": {
                row.path: {
                    "collected": row.collected,
                    **row.counts,
                    "note": row.note,
                    "seconds": round(row.seconds, 1),
                }
                for row in self.rows
            },
            "causes": [
                {"kind": c.kind, "text": c.text, "cases": c.cases}
                for c in causes.group(self.results)
            ],
            "expected": {
                n: r["reason"] for n, r in self.results.items() if r["outcome"] == "expected"
            },
            "skipped": {
                n: r.get("reason", "")
                for n, r in self.results.items()
                if COLUMN[r["outcome"]] == "skipped"
            },
            "stale": self.stale,
            "left_out": self.left_out,
        }

    def as_markdown(self) -> str:
        totals = self.totals
        about = self.about
        text = [
            f"## Triton's own tests, Triton {about['triton']}",
            f"Sources: {self.sources}. PyTorch {about['torch']}, Tilebridge {about['tilebridge']}."
            + (
                f" {self.workers} workers, {self.seconds / 60:.0f} minutes."
                if self.whole and self.seconds > 30
                else ""
            ),
            "",
            "| file | collected | passed | failed | expected | skipped |",
            "|---|--:|--:|--:|--:|--:|",
        ]
        for row in self.rows:
            counts = " | ".join(str(row.counts[name]) for name in OUTCOMES)
            text.append(f"| {row.path.removeprefix('unit/')} | {row.collected} | {counts} |")
        counts = " | ".join(f"**{totals[name]}**" for name in OUTCOMES)
        text.append(f"| **all** | **{sum(row.collected for row in self.rows)}** | {counts} |")
        for row in self.rows:
            if row.note:
                text += ["", f"`{row.path}`: {escape(row.note)}."]
        text += self._failures() + self._expected() + self._skipped() + self._left_out()
        return "\n".join(text) + "\n"

    def _failures(self) -> list[str]:
        groups = causes.group(self.results)
        if not groups:
            return ["", "### Failures", "None."]
        text = ["", "### Failures", "| cases | cause | where |", "|--:|---|---|"]
        for cause in groups:
            text.append(
                f"| {len(cause.cases)} | {escape(cause.kind)}: {escape(cause.text)} | {functions(cause.cases)} |"
            )
        return text

    def _by_reason(self, outcomes: tuple[str, ...]) -> dict[str, list[str]]:
        by_reason: dict[str, list[str]] = defaultdict(list)
        for name, result in self.results.items():
            if result["outcome"] in outcomes:
                reason = result.get("reason", "")
                by_reason[re.sub(r"\s+", " ", reason)].append(name)
        return dict(sorted(by_reason.items(), key=lambda item: (-len(item[1]), item[0])))

    def _expected(self) -> list[str]:
        groups = self._by_reason(("expected",))
        if not groups:
            return []
        text = [
            "",
            "### Expected",
            "What needs a GPU by its nature, from `test/conformance/expected.toml`.",
            "",
        ]
        text += ["| cases | reason | which |", "|--:|---|---|"]
        for reason, names in groups.items():
            text.append(f"| {len(names)} | {escape(reason)} | {functions(names)} |")
        return text

    def _skipped(self) -> list[str]:
        groups = self._by_reason(("skipped", "xfailed"))
        if not groups:
            return []
        text = ["", "### Skipped", "By Triton's own tests, each with the reason that it gives.", ""]
        text += ["| cases | reason | which |", "|--:|---|---|"]
        for reason, names in groups.items():
            text.append(f"| {len(names)} | {escape(causes.shorten(reason))} | {functions(names)} |")
        return text

    def _left_out(self) -> list[str]:
        if not self.left_out:
            return []
        by_reason: dict[str, list[str]] = defaultdict(list)
        for path, reason in self.left_out.items():
            by_reason[reason].append(path.removeprefix("unit/"))
        text = ["", "### Not run", "| files | reason |", "|---|---|"]
        for reason, paths in by_reason.items():
            text.append(f"| {', '.join(f'`{p}`' for p in paths)} | {escape(reason)} |")
        return text


def escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def functions(names: list[str]) -> str:
    """The functions among the cases, with counts; a function that has one case here by the case's own name."""
    by_function: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_function[name.split("[")[0]].append(name)
    parts = []
    for function, cases in by_function.items():
        shown = (cases[0] if len(cases) == 1 else function).split("::", 1)[-1]
        parts.append(f"`{shown}`" + (f" ×{len(cases)}" if len(cases) > 1 else ""))
    return ", ".join(parts).replace("|", "\\|")


def write_section(page: Path, name: str, text: str) -> None:
    """Replaces what is between the marks of a section; the rest of the page is not touched."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    old = page.read_text() if page.exists() else "# Conformance\n"
    block = f"{begin}\n{text}{end}"
    if begin in old and end in old:
        head, rest = old.split(begin, 1)
        new = head + block + rest.split(end, 1)[1]
    else:
        new = old.rstrip("\n") + f"\n\n{block}\n"
    page.write_text(new)
