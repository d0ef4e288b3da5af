# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times several ways to do the same work, in turn.

- All runners of a problem run in rounds, each once a round, so that a change of the machine's speed
  meets all of them, and each round in another order, so that what the one before leaves in the
  caches does, too: JAX and NumPy have arrays of their own. The figure is the median over the rounds,
  the spread its quartiles.
- Before each one's turn all other threads of the process sleep (examples/quiet.py): those of
  another library's pool that still wait for work would take a core from the next one. Where they
  do not sleep in time, the figure says in how many rounds.
- In a round a runner is called so often that it takes a millisecond, after as many calls that are not
  timed: threads that slept are awake then, and what fits into a cache is there. What takes longer
  than a millisecond is called once before.
- Two forms of one kernel are compared by the ratio of their times in each round, in many rounds in
  which nobody else's turn lies between theirs (`pairs.compare_forms`).
- Memory is written once before anything is timed, so no page is touched first in a timed call. The
  C library is told to keep freed memory (`keep_freed_memory`): peers that return fresh arrays pay
  for their allocator, not for the system's new pages.
- Arrays are the same in every call: what fits into the last cache is warm there.
"""

from __future__ import annotations

import ctypes
import os
import random
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from quiet import keep_pools_short, wait_until_quiet

ROUND_SECONDS = 1e-3
# Such a call needs none before it: PyTorch multiplies bf16 without a unit for it a thousand times slower.
SLOW_SECONDS = 5.0


@dataclass(frozen=True)
class Timing:
    median: float
    low: float  # quartiles
    high: float
    least: float
    rounds: int
    disturbed: int  # rounds in which another thread of the process was still running

    def fields(self) -> dict:
        """As a result file has them."""
        return {
            "median_s": self.median,
            "low_s": self.low,
            "high_s": self.high,
            "least_s": self.least,
            "rounds": self.rounds,
            "disturbed": self.disturbed,
        }


def prepare_environment(threads: int) -> None:
    """Before PyTorch, NumPy and JAX are imported: how many threads they make, and which compiler."""
    keep_pools_short()
    os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ["OPENBLAS_NUM_THREADS"] = str(threads)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if threads == 1:
        flags = os.environ.get("XLA_FLAGS", "")
        single = "--xla_cpu_multi_thread_eigen=false"
        os.environ["XLA_FLAGS"] = f"{flags} {single}".strip()
    os.environ.setdefault("TRITON_DEFAULT_BACKEND", "tilebridge")


def keep_freed_memory() -> None:
    """Large blocks come from the heap and stay there (glibc; elsewhere nothing happens)."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return
    m_trim_threshold, m_mmap_max = -1, -4
    mallopt(m_mmap_max, 0)
    mallopt(m_trim_threshold, 2**31 - 1)


def _seconds(call: Callable[[], object], count: int) -> float:
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def time_in_turn(
    runners: dict[str, Callable[[], object]], rounds: int, budget: float
) -> dict[str, Timing]:
    """`budget` bounds the seconds for all of them, waiting not included; a runner gets three rounds at
    least, or one where it alone takes longer than that, or none but the call before them where that
    takes `SLOW_SECONDS`."""
    samples, disturbed = samples_in_turn(runners, rounds, budget)
    return {name: _timing(values, disturbed[name]) for name, values in samples.items()}


def samples_in_turn(
    runners: dict[str, Callable[[], object]],
    rounds: int,
    budget: float,
    least: int = 3,
    share_threads: bool = False,
) -> tuple[dict[str, list[float]], dict[str, int]]:
    """The times of each round, and in how many of them another thread still ran. Those that `share`
    their `threads`, and arrays, do not wait for one another's, nor begin with a call of a millisecond
    that is not timed."""
    counts, samples = {}, {name: [] for name in runners}
    first, disturbed = {}, dict.fromkeys(runners, 0)
    for name, call in runners.items():
        disturbed[name] += not wait_until_quiet()
        first[name] = _seconds(call, 1)
        if first[name] > SLOW_SECONDS:
            continue
        # The least of a few: the second call often finds its data in another core's cache.
        first[name] = _seconds(call, 1)
        for _ in range(4 if first[name] < ROUND_SECONDS else 0):
            first[name] = min(first[name], _seconds(call, 1))
        counts[name] = max(1, min(10000, int(ROUND_SECONDS / max(first[name], 1e-7))))
    slow = {name for name in runners if first[name] > min(budget, SLOW_SECONDS)}
    for name in slow:
        samples[name].append(first[name])
    names = [name for name in runners if name not in slow]
    for name in names:
        disturbed[name] = 0
    spent = 0.0
    for index in range(rounds):
        if index >= least and spent > budget:
            break
        for name in random.Random(index).sample(names, len(names)):
            if not share_threads:
                disturbed[name] += not wait_until_quiet()
            start = time.perf_counter()
            if not share_threads or counts[name] > 1:
                _seconds(runners[name], counts[name])
            samples[name].append(_seconds(runners[name], counts[name]))
            spent += time.perf_counter() - start
    return samples, disturbed


def quartiles(values: list[float]) -> tuple[float, float, float]:
    """The lower one, the median and the upper one."""
    ordered, last = sorted(values), len(values) - 1
    return ordered[last // 4], statistics.median(ordered), ordered[last - last // 4]


def _timing(values: list[float], disturbed: int) -> Timing:
    low, median, high = quartiles(values)
    return Timing(
        median=median,
        low=low,
        high=high,
        least=min(values),
        rounds=len(values),
        disturbed=disturbed,
    )
