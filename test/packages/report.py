# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Writes the page of results from the JSON files that run.py and inductor_suite.py left."""

from __future__ import annotations

import json
import re
from pathlib import Path

TITLES = {
    "liger": "liger-kernel",
    "gems": "flag-gems",
    "fla": "fla-core (flash linear attention)",
    "helion": "helion",
    "inductor": "torch.compile: models and FlexAttention",
    "suite": "torch.compile: Inductor's own tests",
}

HEADER = """# Other people's kernels

Kernels of packages from PyPI, unchanged, run on the CPU and are compared with PyTorch. This page is written by
`test/packages/run.py --write-docs` from the results of runs; [testing.md](testing.md) says how to make one.

- **passed**: everything that was compared is right, and at least one thing was.
- **refused**: the package's own Python code, or Triton's front end, takes none of the inputs, or the results are wrong
  by what the package's code says, on any device. Nothing of Tilebridge is at fault.
- **failed**: anything else: an error of Tilebridge, a wrong value, a crash, no end in time.
"""


def load(results: Path) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {}
    for path in sorted(results.glob("*-triton-*.json")):
        package = re.match(r"[a-z]+", path.name)[0]
        found.setdefault(package, []).append(json.loads(path.read_text()))
    return found


def merged(runs: list[dict]) -> dict:
    """The shards of a suite are one run."""
    return {**runs[0], "cases": [case for run in runs for case in run["cases"]]}


def counts(cases: list[dict]) -> tuple[int, int, int, int]:
    passed = sum(c["outcome"] in ("passed", "unexpected success") for c in cases)
    refused = sum(c["outcome"] in ("refused", "skipped", "expected failure") for c in cases)
    return len(cases), passed, refused, len(cases) - passed - refused


def clean(text: str) -> str:
    text = re.sub(r"/\S*/", "", text)  # no paths of a machine
    return text.replace("|", "\\|").replace("<", "&lt;")[:260]


def write(results: Path, page: Path) -> None:
    lines = [
        HEADER,
        "| package | version | Triton | cases | passed | refused or skipped | failed |",
    ]
    lines.append("|---|---|---|---|---|---|---|")
    details = []
    for package, runs in sorted(
        load(results).items(), key=lambda item: list(TITLES).index(item[0])
    ):
        run = merged(runs)
        total, passed, refused, failed = counts(run["cases"])
        lines.append(
            f"| {TITLES[package]} | {run['version']} | {run['triton']} | {total} | {passed} | {refused} | {failed} |"
        )
        rest = [
            c
            for c in run["cases"]
            if c["outcome"] not in ("passed", "skipped", "unexpected success", "expected failure")
        ]
        if run.get("sources"):
            details += ["", f"## {TITLES[package]}: sources", "", run["sources"]]
        if rest:
            details += [
                "",
                f"## {TITLES[package]}: what did not pass",
                "",
                "| case | outcome | cause |",
            ]
            details.append("|---|---|---|")
            details += [
                f"| `{c['case']}` | {c['outcome']} | {clean(c['detail'][0] if c['detail'] else '')} |"
                for c in sorted(rest, key=lambda c: c["case"])
            ]
        beyond = sum(c["outcome"] == "unexpected success" for c in run["cases"])
        if beyond:
            details += [
                "",
                f"{beyond} of the tests that passed are marked there as failing on Triton for CPUs.",
            ]
    page.write_text("\n".join(lines + details) + "\n")
    print(f"wrote {page}")
