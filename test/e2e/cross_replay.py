# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches that `scripts/cross.sh --keep FOLDER` kept, on a machine with the CPU: python3 FOLDER/cross_replay.py

Needs nothing but Python. Exits with 1 where a launch leaves other bytes; of a kernel whose formulas round, where a number differs
by more than TOLERANCE of the largest one of its array.
"""

from __future__ import annotations

import array
import json
import lzma
import math
import os
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
TOLERANCE = {
    "torch.float64": 1e-12, "torch.float32": 1e-5, "torch.float16": 2e-3, "torch.bfloat16": 1.6e-2,
}  # fmt: skip


def numbers(data: bytes, dtype: str) -> list[float]:
    if dtype == "torch.bfloat16":
        halves = array.array("H", data)
        return array.array(
            "f", array.array("I", [half << 16 for half in halves]).tobytes()
        ).tolist()
    if dtype == "torch.float16":
        return [number for (number,) in struct.iter_unpack("<e", data)]
    return array.array("d" if dtype == "torch.float64" else "f", data).tolist()


def difference(actual: bytes, expected: bytes, arrays) -> float:
    """The largest one, in tolerances."""
    worst = 0.0
    for size, dtype in arrays:
        a, e = actual[:size], expected[:size]
        actual, expected = actual[size:], expected[size:]
        if a == e:
            continue
        if dtype not in TOLERANCE:
            return math.inf
        pairs = list(zip(numbers(a, dtype), numbers(e, dtype), strict=True))
        most = max((abs(y) for _, y in pairs if math.isfinite(y)), default=0)
        for x, y in pairs:
            if x == y or (x != x and y != y):
                continue
            gap = abs(x - y)
            worst = max(
                worst, gap / (most * TOLERANCE[dtype]) if gap < math.inf and most else math.inf
            )
    return worst


def replay(about_file: Path, work: Path) -> tuple[str, str]:
    """What became of it, and its test."""
    about = json.loads(about_file.read_text())
    data = lzma.decompress(about_file.with_suffix(".launch.xz").read_bytes())
    launch, expected = data[: about["bytes"]], data[about["bytes"] :]
    code, file = work / f"{about_file.stem}.so", work / f"{about_file.stem}.launch"
    code.write_bytes(lzma.decompress((HERE / about["code"]).read_bytes()))
    file.write_bytes(launch)
    done = subprocess.run(
        [HERE / "cross_launch", code, file], capture_output=True, text=True, check=False
    )
    actual = file.read_bytes()[about["header"] :]
    for used in (code, file):
        used.unlink()
    if done.returncode:
        return f"ended with {done.returncode}", f"{about['test']} {done.stderr.strip()}"
    if actual == expected:
        return "same bytes", about["test"]
    apart = difference(actual, expected, about["arrays"]) if about["rounds"] else math.inf
    if apart <= 1:
        return "rounded differently", about["test"]
    return "other bytes", f"{about['test']}: {apart:.3g} tolerances"


def main() -> int:
    with tempfile.TemporaryDirectory() as work, ProcessPoolExecutor(os.cpu_count()) as pool:
        files = sorted(HERE.glob("*.json"))
        results = list(pool.map(replay, files, [Path(work)] * len(files)))
    for outcome, count in Counter(outcome for outcome, _ in results).items():
        tests = sorted({test for found, test in results if found == outcome})
        print(f"{outcome}: {count} launches of {len(tests)} tests, the first: {tests[0]}")
        if outcome.startswith(("ended", "other bytes")):
            print("\n".join(tests[:20]))
    good = {"same bytes", "rounded differently"}
    return 0 if results and {outcome for outcome, _ in results} <= good else 1


if __name__ == "__main__":
    sys.exit(main())
