# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs in processes of their own, so that a crash is a result like any other.

python test/random/fuzz.py --count 10000          so many programs, from seed 0 on
python test/random/fuzz.py --seconds 3600 --first 1000000
python test/random/fuzz.py --seed 17              one program, with its text and what is wrong
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from check import check
from generate import generate
from ir import Program
from native import Runtime
from shrink import shrink

SECONDS_A_PROGRAM = 120


def _outcome(program: Program | int, runtime: Runtime) -> str:
    """What is wrong with a program or with the program of a seed."""
    try:
        return check(generate(program) if isinstance(program, int) else program, runtime)
    except OverflowError:
        return ""  # It reaches farther than NumPy's memory: nothing to compare.
    except Exception as error:
        return "generator: " + "".join(traceback.format_exception(error)[-3:])


def _child(programs, runtime: Runtime, output: int) -> None:
    for program in programs:
        signal.alarm(SECONDS_A_PROGRAM)
        text = _outcome(program, runtime).encode()
        os.write(output, len(text).to_bytes(4, "little") + text[:60000])
    os._exit(0)


def outcomes(programs: list, runtime: Runtime) -> list[str]:
    """The outcomes of some programs; the last is of the one that ended the process, if one did."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        _child(programs, runtime, writing)
    os.close(writing)
    results = []
    with os.fdopen(reading, "rb") as stream:
        while header := stream.read(4):
            results.append(stream.read(int.from_bytes(header, "little")).decode())
    _, status = os.waitpid(child, 0)
    if status:
        name = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else str(status)
        results.append(f"crash: {name}" if name != "SIGALRM" else "hang")
    return results


def kind_of(outcome: str) -> str:
    """What has to stay the same while a program shrinks: numbers and names may change."""
    return re.sub(r"[0-9]+|'[^']*'|nan|inf", "#", outcome.split("\n")[0])[:80]


def minimize(program: Program, runtime: Runtime, outcome: str) -> Program:
    kind = kind_of(outcome)
    return shrink(program, lambda p: kind_of(outcomes([p], runtime)[0]) == kind)


def warm(runtime: Runtime) -> None:
    """Loads the compiler before processes are forked off."""
    runtime.run(b"module { tt.func public @nothing() { tt.return } }", 0, [])


def run(first: int, count: int, seconds: float, report, *, batch: int = 25) -> int:
    """Checks programs from a seed on; `report(seed, outcome, runtime)` hears of each that fails, and may end it."""
    runtime = Runtime()
    warm(runtime)
    start, seed = time.monotonic(), first
    while seed < first + count and time.monotonic() - start < seconds:
        if (seed - first) % 1000 < batch and seed > first:
            print(f"{seed - first} programs in {time.monotonic() - start:.0f} s", flush=True)
        seeds = list(range(seed, min(seed + batch, first + count)))
        results = outcomes(seeds, runtime)
        for at, outcome in zip(seeds, results, strict=False):
            if outcome and report(at, outcome, runtime):
                return at + 1 - first
        seed += len(results)
    return seed - first


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=10**9, help="how many programs")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long")
    parser.add_argument("--seed", type=int, help="this program alone")
    parser.add_argument("--save", default="random-failures", help="where small failing programs go")
    parser.add_argument("--failures", type=int, default=20, help="stop after so many")
    parser.add_argument("--no-shrink", action="store_true", help="only say what fails")
    options = parser.parse_args()
    failures = []

    def report(seed: int, outcome: str, runtime: Runtime) -> bool:
        failures.append(seed)
        print(f"seed {seed}: {outcome}", flush=True)
        if options.no_shrink or outcome.startswith("generator"):
            return len(failures) >= options.failures
        small = minimize(generate(seed), runtime, outcome)
        folder = Path(options.save)
        folder.mkdir(parents=True, exist_ok=True)
        after = outcomes([small], runtime)[0]
        text = small.text() + "".join(f"// {line}\n" for line in after.split("\n"))
        (folder / f"{seed}.ttir").write_text(text)
        print(f"  shrunk to {folder / f'{seed}.ttir'}: {after}", flush=True)
        return len(failures) >= options.failures

    if options.seed is not None:
        print(generate(options.seed).text())
        options.first, options.count = options.seed, 1
    start = time.monotonic()
    done = run(options.first, options.count, options.seconds, report)
    print(f"{done} programs, {len(failures)} failed, {time.monotonic() - start:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
