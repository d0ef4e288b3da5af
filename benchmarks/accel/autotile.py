# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the search for decisions with the simulation of every decision that there is.

    python benchmarks/accel/autotile.py [--target NAME] [--only WORD,WORD] [--json FILE]

For each kernel: the cycles that the compiler's own choice takes, those of what --autotile finds, and the fewest of all
decisions; how far the second is from the third; and how many seconds both searches take. The exit code is 1 where one is
farther than 5 % or takes more than 10 seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

MOST_ABOVE = 0.05
MOST_SECONDS = 10


def problems() -> dict:
    """Sizes that fill the grid of PEs a few times; blocks as their authors chose them for other machines."""
    import attention
    import cross_entropy
    import dropout
    import embedding
    import layer_norm
    import matmul
    import softmax
    import torch
    import vector_add

    return {
        "vector add": lambda: vector_add.case(1 << 20, block=2048),
        "dropout": lambda: dropout.case(1 << 18, block=1024),
        "softmax": lambda: softmax.case(512, 1000),
        "layer norm": lambda: layer_norm.forward_case(256, 1024),
        "cross entropy": lambda: cross_entropy.case(128, 1000),
        "embedding": lambda: embedding.case(512, 1000, 256, block=(64, 128)),
        "matmul f16": lambda: matmul.case(
            512, 512, 512, torch.float16, "kernel_desc", (128, 128, 64)
        ),
        "matmul bf16 by pointers": lambda: matmul.case(
            512, 256, 512, torch.bfloat16, "pointers", (128, 128, 32)
        ),
        "matmul f32 with tails": lambda: matmul.case(300, 500, 200, torch.float32, "pointers"),
        "attention": lambda: attention.case(1, 8, 256, 64, torch.float16),
    }


def search(case, how) -> tuple[dict | None, float]:
    """What a search finds for the launches of a case, none of which runs; and its seconds."""
    from tilebridge import accel

    tensors = case.inputs(0)
    begin = time.perf_counter()
    with accel.simulation(autotile=how):
        accel.do_bench(lambda: case.run(tensors))
    return accel.last_autotile(), time.perf_counter() - begin


def measure(case) -> dict:
    from tilebridge import accel

    # Triton's own work, and the lowering to the bridge IR, are not part of the search.
    tensors = case.inputs(0)
    case.run(tensors)
    own = accel.last_stats()["cycles"]
    found, seconds = search(case, True)
    best, exhaustive_seconds = search(case, "exhaustive")
    row = {
        "own": own,
        "decisions": best["decisions"],
        "found": found["simulated_cycles"],
        "seconds": seconds,
        "lowered": found["lowered"],
        "simulated": found["simulated"],
        "best": best["simulated_cycles"],
        "exhaustive_seconds": exhaustive_seconds,
        "decided": {
            key: found[key] for key in ("depth", "multicast", "assignment", "merge", "tiles")
        },
        "best_decided": {
            key: best[key] for key in ("depth", "multicast", "assignment", "merge", "tiles")
        },
    }
    row["above"] = row["found"] / row["best"] - 1
    return row


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--target", default="mtia-2i-like", help="the name of a target, or a file")
    parser.add_argument("--only", default="", metavar="WORDS", help="kernels that have a word")
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE")
    options = parser.parse_args(arguments)
    os.environ["TILEBRIDGE_TARGET"] = f"accel:{options.target}"

    rows, is_good = {}, True
    print(
        f"{'kernel':22} {'own':>9} {'found':>9} {'best':>9} {'above':>6} {'s':>6} {'all':>6} {'s':>7}"
    )
    for name, make in problems().items():
        if options.only and not any(word in name for word in options.only.split(",")):
            continue
        row = rows[name] = measure(make())
        is_good &= row["above"] <= MOST_ABOVE and row["seconds"] <= MOST_SECONDS
        print(
            f"{name:22} {row['own']:9.0f} {row['found']:9.0f} {row['best']:9.0f} {row['above']:6.1%} "
            f"{row['seconds']:6.1f} {row['decisions']:6} {row['exhaustive_seconds']:7.1f}",
            flush=True,
        )
    if options.json:
        Path(options.json).write_text(
            json.dumps({"target": options.target, "kernels": rows}, indent=1)
        )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
