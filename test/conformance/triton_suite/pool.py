# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Worker processes: gives cases to them, ends those that hang, goes on after those that crash."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

# Cases a worker is given at a time: few, so that both end together; more where cases are many and short.
MOST_AT_ONCE = 8
# A second worker on one file pays for collecting it again.
CASES_FOR_A_SECOND_WORKER = 60
COLLECTION_SECONDS = 300
LOG_TAIL = 16000


@dataclass
class TestFile:
    """One test file and how far it is. `path` is relative to the folder that the workers run in; cases that were done
    before are named as in results, without the file."""

    __test__ = False  # for pytest, which would take it for a class of tests

    path: str
    done_before: set[str] = field(default_factory=set)
    collected: list[str] | None = None
    pending: deque[int] = field(default_factory=deque)
    sessions: int = 0
    starts: int = 0
    crashes_in_a_row: int = 0
    error: str = ""
    module_skip: str = ""

    def wants_a_worker(self) -> bool:
        if self.error or self.module_skip:
            return False
        if self.collected is None:
            return self.sessions == 0
        if self.sessions == 0:
            return bool(self.pending)
        return len(self.pending) > CASES_FOR_A_SECOND_WORKER


@dataclass
class Settings:
    python: str
    cwd: Path
    environment: dict[str, str]
    pytest_options: list[str]
    workers: int
    timeout: float
    # Which of a file's cases to run, given all of them.
    select: Callable[[list[str]], list[int]]
    # Called with (file, nodeid, result) for each case that ended.
    on_result: Callable[[TestFile, str, dict], None]


class Session:
    """One pytest process on one file."""

    def __init__(self, file: TestFile, settings: Settings):
        self.file = file
        self.settings = settings
        self.given: list[int] = []
        self.current: int | None = None
        self.timed_out = ""
        self.deadline = time.monotonic() + COLLECTION_SECONDS
        self.buffer = b""
        self.log = tempfile.TemporaryFile()
        to_child, self.write_fd = os.pipe()
        self.read_fd, from_child = os.pipe()
        self.process = subprocess.Popen(
            [
                settings.python,
                "-m",
                "pytest",
                file.path,
                "-p",
                "conformance_worker",
                *settings.pytest_options,
            ],
            cwd=settings.cwd,
            env={**settings.environment, "TILEBRIDGE_CONFORMANCE_FDS": f"{to_child},{from_child}"},
            pass_fds=(to_child, from_child),
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        os.close(to_child)
        os.close(from_child)
        file.sessions += 1
        file.starts += 1

    def send(self, **message) -> None:
        try:
            os.write(self.write_fd, (json.dumps(message) + "\n").encode())
        except BrokenPipeError:
            pass  # It is gone; the end of its output says so too.

    def receive(self) -> list[dict] | None:
        """The messages that are complete, or None at the end."""
        data = os.read(self.read_fd, 1 << 16)
        if not data:
            return None
        *lines, self.buffer = (self.buffer + data).split(b"\n")
        return [json.loads(line) for line in lines]

    def end_for_timeout(self, limit: float) -> None:
        self.timed_out = f"did not end within {limit:.0f} s"
        try:
            os.kill(self.process.pid, signal.SIGUSR1)
            time.sleep(0.5)  # for the stack to be written
        except ProcessLookupError:
            pass
        self.kill()

    def kill(self) -> None:
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def close(self) -> tuple[int, str]:
        """Exit status and the end of what it printed."""
        os.close(self.write_fd)
        os.close(self.read_fd)
        try:
            # A library's thread may keep a process that is done from ending.
            status = self.process.wait(timeout=60)
        except subprocess.TimeoutExpired:
            self.kill()
            status = self.process.wait()
        self.kill()  # children of the tests
        size = self.log.seek(0, os.SEEK_END)
        self.log.seek(max(0, size - LOG_TAIL))
        tail = self.log.read().decode(errors="replace")
        self.log.close()
        self.file.sessions -= 1
        return status, tail


def describe_status(status: int) -> str:
    if status >= 0:
        return f"the process ended with status {status}"
    try:
        return f"the process was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"the process was ended by signal {-status}"


class Pool:
    def __init__(self, files: list[TestFile], settings: Settings):
        self.files = files
        self.settings = settings
        self.selector = selectors.DefaultSelector()
        self.sessions: set[Session] = set()

    def run(self) -> None:
        try:
            while True:
                self._start_sessions()
                if not self.sessions:
                    return
                for key, _ in self.selector.select(timeout=0.5):
                    self._read(key.data)
                self._check_deadlines()
        finally:
            for session in self.sessions:
                session.kill()

    def _start_sessions(self) -> None:
        while len(self.sessions) < self.settings.workers:
            file = next((f for f in self.files if f.wants_a_worker()), None)
            if file is None:
                return
            session = Session(file, self.settings)
            self.sessions.add(session)
            self.selector.register(session.read_fd, selectors.EVENT_READ, session)

    def _read(self, session: Session) -> None:
        messages = session.receive()
        if messages is None:
            self._finish(session)
            return
        for message in messages:
            if "collected" in message:
                self._collected(session, message)
            elif "module_skipped" in message:
                session.file.module_skip = message["module_skipped"]
            elif "want" in message:
                self._give(session)
            elif "start" in message:
                session.current = message["start"]
                session.deadline = time.monotonic() + self.settings.timeout
            elif "done" in message:
                index = message.pop("done")
                session.given.remove(index)
                session.current = None
                session.file.crashes_in_a_row = 0
                self._record(session.file, index, message)

    def _collected(self, session: Session, message: dict) -> None:
        file = session.file
        session.deadline = time.monotonic() + self.settings.timeout
        if file.collected is None:
            if message["errors"]:
                file.error = "\n".join(message["errors"])
            file.collected = message["collected"]
            # Cases that are collected beside an error in one class are run all the same.
            file.pending.extend(
                i
                for i in self.settings.select(file.collected)
                if file.collected[i].split("::", 1)[1] not in file.done_before
            )
        elif file.collected != message["collected"]:
            file.error = "two workers collected different cases"
            session.kill()

    def _give(self, session: Session) -> None:
        pending = session.file.pending
        count = max(1, min(MOST_AT_ONCE, len(pending) // (2 * self.settings.workers)))
        taken = [pending.popleft() for _ in range(min(count, len(pending)))]
        session.given.extend(taken)
        # Without a case to run the deadline is for ending; it is set anew by each start.
        session.deadline = max(session.deadline, time.monotonic() + self.settings.timeout)
        session.send(run=taken)

    def _record(self, file: TestFile, index: int, result: dict) -> None:
        assert file.collected is not None
        self.settings.on_result(file, file.collected[index], result)

    def _check_deadlines(self) -> None:
        now = time.monotonic()
        for session in list(self.sessions):
            if now > session.deadline and not session.timed_out:
                limit = (
                    COLLECTION_SECONDS if session.file.collected is None else self.settings.timeout
                )
                session.end_for_timeout(limit)

    def _finish(self, session: Session) -> None:
        self.selector.unregister(session.read_fd)
        self.sessions.remove(session)
        status, tail = session.close()
        file = session.file
        if file.collected is None:
            if not file.module_skip:
                file.error = (
                    f"not collected: {session.timed_out or describe_status(status)}\n{tail}"
                )
            return
        if session.current is not None:
            outcome = "timeout" if session.timed_out else "crashed"
            message = session.timed_out or describe_status(status)
            session.given.remove(session.current)
            self._record(
                file,
                session.current,
                {
                    "outcome": outcome,
                    "type": outcome,
                    "message": message,
                    "where": "",
                    "log": tail,
                    "seconds": 0.0,
                },
            )
            file.crashes_in_a_row = 0
        elif session.given:
            file.crashes_in_a_row += 1
        file.pending.extendleft(reversed(session.given))
        if file.crashes_in_a_row > 2:
            file.error = f"its workers end before a case starts: {describe_status(status)}\n{tail}"
            print(file.path, file.error, file=sys.stderr)
