# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Runs a tutorial of Triton's as it is, and says where its checks end and its measurements begin.

usage: conformance_tutorial.py SCRIPT

The measurements time PyTorch beside Triton, at all sizes, and print nothing until the last one is done. Each is told as
it is made, so that whoever waits can tell a slow reference from a program that hangs.
"""

from __future__ import annotations

import functools
import runpy
import sys
import time

MEASURING = "conformance: the measurements begin"
MEASURED = "conformance: measured"


def announce(mark) -> None:
    """Makes the class of functions under triton.testing.perf_report say what it does."""
    run = mark.run

    @functools.wraps(run)
    def announced(self, *args, **kwargs):
        print(MEASURING, flush=True)
        function = self.fn

        def measured(*points, **named):
            started = time.perf_counter()
            value = function(*points, **named)
            seconds = time.perf_counter() - started
            print(f"{MEASURED} {named}: {value} in {seconds:.2f} s", flush=True)
            return value

        self.fn = measured
        try:
            return run(self, *args, **kwargs)
        finally:
            self.fn = function

    mark.run = announced


if __name__ == "__main__":
    from triton import testing

    announce(testing.Mark)
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
