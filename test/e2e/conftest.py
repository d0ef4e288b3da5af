# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Set-up of all end-to-end tests: the seed, the markers, and what runs the kernels.

The tests run on the Tilebridge backend. With TRITON_INTERPRET=1 they run on Triton's interpreter
instead, which checks the tests themselves; `compiled` marks what it cannot do.
"""

from __future__ import annotations

import faulthandler
import os
import sys
import zlib
from pathlib import Path

import pytest
import torch
import triton

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

SEED = int(os.environ.get("TILEBRIDGE_TEST_SEED", "20261121"))
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"


def pytest_configure(config):
    for line in (
        "gpu: needs a GPU",
        "slow: takes more than ten seconds; scripts/test.sh --quick leaves it out",
        "compiled(reason): not for Triton's interpreter, which gets this wrong or lacks it",
        "whole: --share leaves out none of its cases",
    ):
        config.addinivalue_line("markers", line)


def pytest_report_header():
    how = "Triton's interpreter" if INTERPRETED else "the Tilebridge backend"
    return (
        f"Triton {triton.__version__}, PyTorch {torch.__version__}, kernels run on {how};"
        f" seed {SEED} (TILEBRIDGE_TEST_SEED)"
    )


def pytest_sessionstart(session):
    if INTERPRETED:
        return
    from triton.runtime import driver

    target = driver.active.get_current_target().backend
    if target != "cpu":
        pytest.exit(f"Triton's active backend is '{target}'; install python/ to test it", 3)


def pytest_addoption(parser):
    parser.addoption(
        "--share",
        type=int,
        default=1,
        metavar="N",
        help="of each test function every N-th case only, and --least cases besides",
    )
    parser.addoption("--least", type=int, default=2, metavar="CASES", help="with --share")


def leave_out(items: list, share: int, least: int) -> list:
    """Takes from `items`, and returns, all but `least` cases of each function and one in `share` of its others.

    Which ones is by their names: the same in each run, other ones with another Triton, and no pattern in the
    parameters.
    """
    cases: dict[str, list] = {}
    for item in items:
        if not item.get_closest_marker("whole"):
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = []
    for of_one in cases.values():
        of_one.sort(key=lambda item: zlib.crc32(f"{triton.__version__} {item.nodeid}".encode()))
        left_out += of_one[least + max(0, -(-(len(of_one) - least) // share)) :]
    names = {item.nodeid for item in left_out}
    items[:] = [item for item in items if item.nodeid not in names]
    return left_out


def pytest_collection_modifyitems(config, items):
    share, least = (config.getoption(name) for name in ("share", "least"))
    config.hook.pytest_deselected(items=leave_out(items, share, least))
    for item in items:
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason="no GPU"))
        compiled = item.get_closest_marker("compiled")
        if compiled and INTERPRETED:
            reason = compiled.args[0] if compiled.args else "needs the compiler"
            item.add_marker(pytest.mark.skip(reason=f"interpreter: {reason}"))


@pytest.fixture(autouse=True)
def no_hang(request):
    """A kernel that never ends cannot be interrupted: show where it was started and end the run."""
    limit = 600 if request.node.get_closest_marker("slow") else 300
    faulthandler.dump_traceback_later(limit, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def seed(request) -> int:
    """A seed that differs between tests and is the same in every run."""
    return (SEED + zlib.crc32(request.node.nodeid.encode())) % (1 << 31)


@pytest.fixture
def rng(seed) -> torch.Generator:
    return torch.Generator().manual_seed(seed)
