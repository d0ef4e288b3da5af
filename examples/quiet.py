# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sees to it that nothing but what is timed runs in this process.

Threads of a pool wait for more work actively before they sleep: those of NumPy's OpenBLAS about
20 ms after each product, those of OpenMP (PyTorch's and ours) about 10, in which they take a core
from whoever is called next. So

- `keep_pools_short()`, before NumPy is imported, tells OpenBLAS to wait a few hundred
  microseconds only: long enough for a product that follows at once;
- `wait_until_quiet()`, before anything is timed, waits until all other threads sleep.
"""

from __future__ import annotations

import os
import threading
import time

# OpenBLAS waits two to the power of this many cycles.
OPENBLAS_SPIN = "20"
LIMIT_SECONDS = 0.1
_PAUSE_SECONDS = 100e-6
_TASKS = "/proc/self/task"


def keep_pools_short() -> None:
    """Libraries read this when they are loaded; a value that the user has set stays."""
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", OPENBLAS_SPIN)


def running_threads() -> list[str]:
    """The names of this process's threads that run or wait for a core, without the calling one.

    Empty also where the system does not say.
    """
    own, found = str(threading.get_native_id()), []
    try:
        tasks = os.listdir(_TASKS)
    except OSError:
        return found
    for task in tasks:
        if task == own:
            continue
        try:
            with open(f"{_TASKS}/{task}/stat") as file:
                # "12 (name, with any characters) R ..."
                name, state = file.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue  # It has ended.
        if state.split(None, 1)[0] == "R":
            found.append(name)
    return found


def wait_until_quiet(limit: float = LIMIT_SECONDS) -> bool:
    """Whether all other threads slept, twice in a row, before `limit` seconds had passed."""
    end = time.perf_counter() + limit
    quiet = 0
    while quiet < 2:
        if time.perf_counter() > end:
            return False
        time.sleep(_PAUSE_SECONDS)
        quiet = 0 if running_threads() else quiet + 1
    return True
