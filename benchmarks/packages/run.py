# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times kernels of packages from PyPI, unchanged, against PyTorch's own operators: what nobody tuned us for.

    TRITON_DEFAULT_BACKEND=tilebridge python benchmarks/packages/run.py liger|gems|inductor [--only WORD,WORD]
                                                                        [--threads N] [--json FILE]

The packages are those of test/packages/requirements.txt; flag-gems wants Triton 3.7.1. "inductor" needs none: it is what
torch.compile writes in Triton, against what it writes in C++. Ours and the peer run in turn in one process, on tensors
of their own; a ratio is the peer's time by ours, of the least times. Results are not compared here:
test/packages does that. Memory is kept by the C library, else both sides mostly wait for new pages.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KEPT = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 32),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 33),
    "MALLOC_TOP_PAD_": str(1 << 28),
}


def least(*functions, budget: float) -> list[float]:
    """Seconds of each function, called in turn for `budget` seconds, three times at least."""
    best = [math.inf] * len(functions)
    begin, rounds = time.perf_counter(), 0
    while rounds < 3 or (time.perf_counter() - begin < budget and rounds < 100):
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
        rounds += 1
    return best


def timed(ours, peer, budget: float) -> dict:
    start = time.perf_counter()
    ours()
    first = time.perf_counter() - start
    peer()
    one, other = least(ours, peer, budget=budget)
    return {"ours_s": one, "peer_s": other, "ratio": other / one, "first_s": first}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("package", choices=["liger", "gems", "inductor"])
    parser.add_argument("--only", default="", help="cases whose name has one of these words")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float, default=0.3, help="seconds of timing a case")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    wanted = KEPT | {"OMP_NUM_THREADS": str(arguments.threads)}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        # The C library reads these when the process begins.
        os.environ.update(wanted)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    sys.path[:0] = [str(ROOT / "test" / "packages"), str(Path(__file__).resolve().parent)]
    import torch

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    module = __import__(f"{arguments.package}_speed")
    words = [word for word in arguments.only.split(",") if word]
    results = []
    print(f"The peer is {getattr(module, 'PEER', 'eager PyTorch')}.")
    print(f"{'case':58}{'ours ms':>10}{'peer ms':>10}{'ratio':>8}{'first s':>9}")
    for name, ours, peer in module.cases():
        if words and not any(word in name for word in words):
            continue
        try:
            result = {"name": name} | timed(ours, peer, arguments.budget)
        except Exception as error:  # A package's case that fails is a result.
            result = {"name": name, "error": f"{type(error).__name__}: {error}"[:300]}
            print(f"{name:58}{result['error'].splitlines()[0][:60]}", flush=True)
        else:
            print(
                f"{name:58}{result['ours_s'] * 1e3:10.3f}{result['peer_s'] * 1e3:10.3f}"
                f"{result['ratio']:8.2f}{result['first_s']:9.2f}",
                flush=True,
            )
        results.append(result)
    ratios = [r["ratio"] for r in results if "ratio" in r]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        slow = sum(ratio < 0.67 for ratio in ratios)
        print(f"{len(ratios)} cases, geometric mean {mean:.2f}, {slow} below 0.67")
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
