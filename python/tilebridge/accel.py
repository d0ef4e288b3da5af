# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Kernels on the simulator of a DMA accelerator.

With TILEBRIDGE_TARGET=accel:mtia-2i-like in the environment, unmodified kernels run there. This module says what the last
launch took, and how launches are simulated:

    with tilebridge.accel.simulation(landing="random:1", trace=True):
        kernel[grid](...)
    print(tilebridge.accel.last_stats()["cycles"])
    open("trace.json", "w").write(tilebridge.accel.last_trace())

`@triton.autotune` asks a model of the machine there, in place of a clock: do_bench() below.
"""

from __future__ import annotations

import contextlib
import dataclasses
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
    autotile: bool | str = False  # True, or "exhaustive"
    estimate: bool = False  # Nothing runs.
    cpp: bool = False


_local = threading.local()


def _parse_landing(landing: str) -> int | None:
    if landing in ("", "late"):
        return None
    if landing.startswith(_RANDOM) and landing.removeprefix(_RANDOM).isdigit():
        return int(landing.removeprefix(_RANDOM))
    raise ValueError(f"landing is 'late' or 'random:SEED', not {landing!r}")


def settings() -> Settings:
    """Those of simulation(), else what TILEBRIDGE_LANDING, TILEBRIDGE_TRACE and TILEBRIDGE_AUTOTILE say."""
    chosen = getattr(_local, "settings", None)
    if chosen is not None:
        return chosen
    return Settings(
        _parse_landing(os.environ.get("TILEBRIDGE_LANDING", "")),
        trace=bool(os.environ.get("TILEBRIDGE_TRACE")),
        autotile=os.environ.get("TILEBRIDGE_AUTOTILE") == "1",
    )


@contextlib.contextmanager
def simulation(
    *,
    landing: str = "late",
    trace: bool = False,
    lowered: bool = False,
    autotile: bool | str = False,
    cpp: bool = False,
):
    """How this thread's launches in the block are simulated.

    `landing` says when transfers move their bytes, "late" (as late as what waits for them allows) or "random:SEED"; with
    `trace`, last_trace() gives a timeline, and with `lowered`, last_lowered() the IR that ran, with `cpp`, last_cpp() the
    same as C++. With `autotile` the sizes of parts of blocks, the number of buffers, multicast, how many neighbouring
    programs are one, and the mapping of the grid are searched, and last_autotile() says
    what was found; with "exhaustive" each decision that there is is simulated, which takes long.
    """
    if autotile not in (False, True, "exhaustive"):
        raise ValueError(f"autotile is True, False or 'exhaustive', not {autotile!r}")
    with _set(Settings(_parse_landing(landing), trace, lowered, autotile, cpp=cpp)):
        yield


@contextlib.contextmanager
def _set(chosen: Settings):
    before = getattr(_local, "settings", None)
    _local.settings = chosen
    try:
        yield
    finally:
        _local.settings = before


def do_bench(fn, warmup=None, rep=None, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Milliseconds that the model expects of the launches in `fn`, none of which runs; takes what triton.testing.do_bench does.

    What cannot be compiled for the machine, because its blocks do not fit, for one, takes for ever: an autotuner goes on
    to the next configuration.
    """
    from tilebridge import errors

    before, _local.estimated = getattr(_local, "estimated", None), []
    try:
        with _set(dataclasses.replace(settings(), estimate=True)):
            fn()
        time = sum(_local.estimated) / 1000
    except (errors.CompileError, errors.EvaluationError):
        time = float("inf")
    finally:
        _local.estimated = before
    if quantiles is not None:
        return [time] * len(quantiles) if len(quantiles) > 1 else time
    return [time] if return_mode == "all" else time


def _take(outputs: dict[str, bytes]) -> None:
    _local.outputs = outputs
    if "estimate" in outputs and getattr(_local, "estimated", None) is not None:
        _local.estimated.append(json.loads(outputs["estimate"])["expected_microseconds"])
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


def last_cpp() -> str | None:
    """The same as C++, which calls the interface of docs/accelerators.md."""
    return _last("cpp")


def last_autotile() -> dict | None:
    """What was searched for it, and found; None where nothing was."""
    found = _last("autotile")
    return None if found is None else json.loads(found)


def last_estimate() -> dict | None:
    """What the model expected of it; None but after do_bench()."""
    estimate = _last("estimate")
    return None if estimate is None else json.loads(estimate)


def targets() -> list[str]:
    """The names of the targets that come with Tilebridge."""
    from tilebridge import _native

    folder = _native.library_dir() / "targets"
    return sorted(path.stem for path in folder.glob("*.json"))
