# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What accel_sweep.py has found, as text and as a page of docs/."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from accel_comparison import TOLERANCE

HEAD = """# Kernels on every target

All example kernels ([examples/](../examples)), those of `scripts/demo.sh` with its blocks included, and the tests of the
language on the simulator of each target file in `accel-backend/targets`. Each launch runs on the CPU, and twice on the
simulator: transfers land at random times, and as late as their waits allow.
`scripts/accel-sweep.sh --jobs N --page docs/accel-sweep.md` writes this page.

A launch passes where both landings leave the same bytes (with atomic updates: the same up to a rounding), and these are
- **the CPU's bytes**; nothing else will do for kernels that move data, compare it, work on integers, or add and multiply
  element by element. Two NaN count as the same, whatever their payload, and of a maximum two zeros;
- **near the CPU's**, for kernels with sums over blocks, products of blocks, quotients or functions such as `exp`, whose order
  or formula each target has for itself: within {tolerances} of the element and of a part of the largest one.

What the simulator leaves is also what the test then compares with its own reference, which is computed in float64 for floats.
Where two results that are both within the reference's tolerance (`examples/harness.py`, `test_reductions.py`) are further apart
than that, as sums that cancel are, only **the reference** holds.

| column | |
|---|---|
| tests | that pass |
| bytes | of them: all launches leave the CPU's bytes |
| near | of them: some are near the CPU's |
| reference | of them: some are held by the reference alone |
| alone | of them: launches on more memory than is kept three times run on the simulator alone, which leaves the reference |
| no launch | of them: nothing is launched, such as tests of errors |
| refused | tests with a kernel that the target cannot run: one error, below |
| failed | all others |
| kernels, launches | different kernels that were compared, and launches of them |
"""
# What a target has no room for.
REFUSED = re.compile(r"error: '\w+' needs \d+ bytes of '\w+' memory at once")


def is_failure(outcome: str, message: str) -> bool:
    return outcome == "failed" and not REFUSED.search(message)


def category(outcome: str, message: str, held: dict[str, int]) -> str:
    """The column of a test: of its launches, the comparison that says least."""
    if outcome != "passed":
        return outcome if outcome != "failed" or is_failure(outcome, message) else "refused"
    return next((one for one in ("alone", "reference", "tolerance", "bits") if one in held), "none")


def table(pieces) -> str:
    by_target = defaultdict(list)
    for piece in pieces:
        by_target[piece.target].append(piece)
    lines = [
        "| target | tests | bytes | near | reference | alone | no launch | refused | failed | kernels | launches |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for target, own in sorted(by_target.items()):
        count = Counter(
            category(*outcome, piece.held.get(test, {}))
            for piece in own
            for test, outcome in piece.outcomes.items()
        )
        compared = [one for piece in own for one in piece.compared]
        kernels = {kernel for one in compared for kernel in one["kernels"]}
        launches = sum(one["launches"] for one in compared)
        columns = [count[one] for one in ("bits", "tolerance", "reference", "alone", "none")]
        columns = [sum(columns), *columns, count["refused"], count["failed"]]
        lines.append(
            f"| {target} | {' | '.join(map(str, columns))} | {len(kernels)} | {launches} |"
        )
    return "\n".join(lines)


def cause_of(message: str) -> str:
    """A message without what is one case's own."""
    return re.sub(r"0x[0-9a-f]+|[0-9a-f]{12,}|-?\d+(\.\d+)?(e[-+]?\d+)?", "#", message)[:160]


def failures(pieces) -> str:
    groups = defaultdict(list)
    for piece in pieces:
        for test, (outcome, message) in piece.outcomes.items():
            if is_failure(outcome, message):
                groups[cause_of(message)].append((piece.target, test, message))
    lines = []
    for cases in sorted(groups.values(), key=len, reverse=True):
        targets = ", ".join(f"{name} {n}" for name, n in Counter(c[0] for c in cases).most_common())
        lines.append(f"{len(cases)} failures ({targets}):\n  {cases[0][2][:400]}")
        lines += [f"  {target}: {test}" for target, test, _ in cases[:3]]
    lines += [f"{p.target} {p.file}: {p.trouble}" for p in pieces if p.trouble]
    return "\n".join(lines)


def refusals(pieces) -> list[str]:
    """A row for each test that is refused, with the targets and one of the messages."""
    found = defaultdict(dict)
    for piece in pieces:
        for test, (outcome, message) in piece.outcomes.items():
            if outcome == "failed" and not is_failure(outcome, message):
                reason = message[REFUSED.search(message).start() :].splitlines()[0]
                found[test][piece.target] = reason.removeprefix("error: ")
    return [
        f"| `{test}` | {', '.join(targets)} | {next(iter(targets.values()))} |"
        for test, targets in sorted(found.items())
    ]


def page(pieces, left_out: dict[str, str]) -> str:
    names = ", ".join(
        f"{share:g} ({str(dtype).removeprefix('torch.')})" for dtype, share in TOLERANCE.items()
    )
    text = HEAD.replace("{tolerances}", names) + "\n" + table(pieces) + "\n\n## Refused\n"
    rows = refusals(pieces)
    text += "None.\n"
    if rows:
        text = text.removesuffix("None.\n")
        text += (
            "| test | targets | the first one's message |\n|---|---|---|\n" + "\n".join(rows) + "\n"
        )
    text += "\n## Failed\n"
    found = failures(pieces)
    text += f"```\n{found}\n```\n" if found else "None.\n"
    text += "\n## Left out\n| test | reason |\n|---|---|\n"
    text += "".join(f"| `{test}` | {reason} |\n" for test, reason in left_out.items())
    return text
