# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels on the simulator of a DMA accelerator.

With TILEBRIDGE_TARGET=accel:mtia-2i-like in the environment, unmodified kernels run there. This module says what the last
launch took, and how launches are simulated:

    with tilebridge.accel.simulation(landing="random:1", trace=True):
        kernel[grid](...)
    print(tilebridge.accel.last_stats()["cycles"])
    open("trace.json", "w").write(tilebridge.accel.last_trace())
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from dataclasses import dataclass

_RANDOM = "random:"


@dataclass(frozen=True)
class Settings:
    seed: int | None = None  # of transfers that land at random times; None: as late as they may
    trace: bool = False
    lowered: bool = False


_local = threading.local()


def _parse_landing(landing: str) -> int | None:
    if landing in ("", "late"):
        return None
    if landing.startswith(_RANDOM) and landing.removeprefix(_RANDOM).isdigit():
        return int(landing.removeprefix(_RANDOM))
    raise ValueError(f"landing is 'late' or 'random:SEED', not {landing!r}")


def settings() -> Settings:
    """Those of simulation(), else what TILEBRIDGE_LANDING and TILEBRIDGE_TRACE say."""
    chosen = getattr(_local, "settings", None)
    if chosen is not None:
        return chosen
    return Settings(
        _parse_landing(os.environ.get("TILEBRIDGE_LANDING", "")),
        trace=bool(os.environ.get("TILEBRIDGE_TRACE")),
    )


@contextlib.contextmanager
def simulation(*, landing: str = "late", trace: bool = False, lowered: bool = False):
    """How this thread's launches in the block are simulated.

    `landing` says when transfers move their bytes, "late" (as late as what waits for them allows) or "random:SEED"; with
    `trace`, last_trace() gives a timeline, and with `lowered`, last_lowered() the IR that ran.
    """
    before = getattr(_local, "settings", None)
    _local.settings = Settings(_parse_landing(landing), trace, lowered)
    try:
        yield
    finally:
        _local.settings = before


def _take(outputs: dict[str, bytes]) -> None:
    _local.outputs = outputs
    path = os.environ.get("TILEBRIDGE_TRACE")
    if path and "trace" in outputs:
        with open(path, "wb") as file:
            file.write(outputs["trace"])


def _last(what: str) -> str | None:
    data = getattr(_local, "outputs", {}).get(what)
    return None if data is None else data.decode()


def last_stats() -> dict | None:
    """The report of this thread's last launch: docs/accel-simulator.md; None where none has run to its end."""
    report = _last("report")
    return None if report is None else json.loads(report)


def last_trace() -> str | None:
    """Its timeline in Chrome's trace format, which https://ui.perfetto.dev opens."""
    return _last("trace")


def last_lowered() -> str | None:
    """The IR that it ran."""
    return _last("lowered")


def targets() -> list[str]:
    """The names of the targets that come with Tilebridge."""
    from tilebridge import _native

    folder = _native.library_dir() / "targets"
    return sorted(path.stem for path in folder.glob("*.json"))
