# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The pytest plug-in of a worker: runs the cases that the parent asks for, one after the other, and reports each.

It changes no test: what runs, in which order and how it ended is all that it has to do with. The two ends of the
conversation are lines of JSON on the file descriptors in $TILEBRIDGE_CONFORMANCE_FDS ("in,out").
"""

from __future__ import annotations

import faulthandler
import json
import multiprocessing
import os
import resource
import signal
import time
from collections import deque

import pytest

MESSAGE_CHARS = 2000


class Channel:
    def __init__(self, read_fd: int, write_fd: int):
        # A test's child process must not hold the parent's pipe open.
        os.set_inheritable(read_fd, False)
        os.set_inheritable(write_fd, False)
        self._in = os.fdopen(read_fd, "r")
        self._out = os.fdopen(write_fd, "w", buffering=1)

    def send(self, **message) -> None:
        self._out.write(json.dumps(message) + "\n")

    def receive(self) -> dict:
        line = self._in.readline()
        return json.loads(line) if line else {"run": []}


def describe_exception(excinfo) -> dict:
    """What a table of failures needs of an exception: its class, what it says, and where it was raised."""
    entry = excinfo.traceback[-1] if excinfo.traceback else None
    return {
        "type": type(excinfo.value).__name__,
        "message": str(excinfo.value)[:MESSAGE_CHARS],
        "where": f"{os.path.basename(str(entry.path))}:{entry.lineno + 1}" if entry else "",
    }


class Worker:
    def __init__(self, channel: Channel, timing: bool):
        self.channel = channel
        self.timing = timing
        self.collect_errors: list[str] = []
        self.case: dict = {}
        self.compilations: list[dict] = []

    def pytest_collectreport(self, report):
        if report.failed:
            self.collect_errors.append(str(report.longrepr))
        elif report.skipped:
            # A module that skips itself as a whole.
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
            self.channel.send(module_skipped=str(reason).removeprefix("Skipped: "))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        if self.timing:
            self._listen()
        items = session.items
        self.channel.send(
            collected=[item.nodeid for item in items],
            errors=[e[-MESSAGE_CHARS:] for e in self.collect_errors],
        )
        pending: deque[int] = deque()

        def take():
            if not pending:
                self.channel.send(want=True)
                pending.extend(self.channel.receive()["run"])
            return pending.popleft() if pending else None

        index = take()
        while index is not None:
            # The next case decides which fixtures of a module are torn down after this one.
            following = take()
            self.channel.send(start=index)
            self.case = {"outcome": "passed", "seconds": 0.0}
            self.compilations = []
            started = time.process_time()
            session.config.hook.pytest_runtest_protocol(
                item=items[index], nextitem=None if following is None else items[following]
            )
            self.case["seconds"] = round(self.case["seconds"], 4)
            # On a machine that does other things too, the time of the processor says more.
            self.case["cpu_seconds"] = round(time.process_time() - started, 4)
            if self.compilations:
                self.case["compilations"] = self.compilations
            self.channel.send(done=index, **self.case)
            index = following
        return True

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        case = self.case
        case["seconds"] += report.duration
        if case["outcome"] == "failed":
            return
        if hasattr(report, "wasxfail"):
            case.update(outcome="xfailed" if report.skipped else "xpassed", reason=report.wasxfail)
        elif report.failed:
            case.update(outcome="failed", phase=report.when)
            if call.excinfo is not None:
                case.update(describe_exception(call.excinfo))
            else:
                case.update(type="Failed", message=str(report.longrepr)[:MESSAGE_CHARS], where="")
        elif report.skipped:
            reason = (
                report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            )
            case.update(outcome="skipped", reason=reason.removeprefix("Skipped: "))

    def _listen(self):
        """Triton tells a listener how long the parts of a compilation took."""
        from triton import knobs

        def listener(*, src, metadata, metadata_group, times, cache_hit):
            entry = {
                "cached": cache_hit,
                "front end": times.ir_initialization,
                "store": times.store_results,
            }
            entry.update(dict(times.lowering_stages))
            self.compilations.append(entry)

        knobs.compilation.listener = listener


def pytest_configure(config):
    fds = os.environ.pop("TILEBRIDGE_CONFORMANCE_FDS", None)
    if fds is None:
        return
    # Before the parent ends a case that takes too long it asks where it is.
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    multiprocessing.set_forkserver_preload(["conformance_children"])
    memory = os.environ.pop("TILEBRIDGE_CONFORMANCE_MEMORY", "")
    if memory:
        resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))
    read_fd, write_fd = map(int, fds.split(","))
    timing = os.environ.pop("TILEBRIDGE_CONFORMANCE_TIMING", "") == "1"
    config.pluginmanager.register(
        Worker(Channel(read_fd, write_fd), timing), "tilebridge-conformance"
    )
