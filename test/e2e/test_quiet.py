# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""examples/quiet.py: what runs in the process beside what is timed is seen, and waited for."""

import hashlib
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import quiet

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="no /proc")


@pytest.fixture
def busy():
    """A thread that computes until it is told to stop."""
    stop = threading.Event()

    def compute():
        while not stop.is_set():
            hashlib.pbkdf2_hmac("sha256", b"", b"", 5000)  # without Python's lock

    thread = threading.Thread(target=compute)
    thread.start()
    yield lambda: (stop.set(), thread.join())
    stop.set()
    thread.join()


def test_a_thread_that_runs_is_seen(busy):
    assert quiet.running_threads()
    assert not quiet.wait_until_quiet(0.05)
    busy()
    assert quiet.wait_until_quiet(10)


def test_the_end_of_a_thread_is_waited_for(busy):
    start = time.perf_counter()
    threading.Timer(0.1, busy).start()
    assert quiet.wait_until_quiet(10)
    assert time.perf_counter() - start >= 0.1


def test_a_sleeping_thread_is_quiet():
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert quiet.wait_until_quiet(10)
    finally:
        end.set()
        thread.join()


def test_what_the_user_has_set_stays():
    program = (
        "import os, quiet; quiet.keep_pools_short(); print(os.environ['OPENBLAS_THREAD_TIMEOUT'])"
    )
    folder = Path(quiet.__file__).parent
    for value, wanted in (("26", "26"), (None, quiet.OPENBLAS_SPIN)):
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_THREAD_TIMEOUT"}
        if value:
            environment["OPENBLAS_THREAD_TIMEOUT"] = value
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == wanted
