# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory use of launches stays constant (hazard 16)."""

import os
import threading

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal, output

pytestmark = pytest.mark.compiled("measures the runtime")


@triton.jit
def busy_kernel(x, out, n, BLOCK: tl.constexpr):
    """Uses temporaries of every kind: tiles, a dot, a reduction, a loop, a masked tail."""
    i = tl.arange(0, BLOCK)
    tile = tl.load(x + i[:, None] * n + i[None, :], mask=i[:, None] < n, other=0.0)
    acc = tl.zeros([BLOCK, BLOCK], tl.float32)
    for _ in range(2):
        acc = tl.dot(tile, tl.trans(tile), acc)
    row = tl.sum(acc, axis=1)
    tl.store(out + tl.program_id(0) * BLOCK + i, row + tl.max(acc, axis=0), mask=i < n)


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def launch_many(times: int, programs: int) -> int:
    """Growth of the resident memory over `times` programs, after a first tenth of them."""
    n = 16
    x = torch.rand(64, 64)
    out = torch.zeros(programs * n)
    launches = max(1, times // programs)
    for _ in range(max(100, launches // 10)):
        busy_kernel[(programs,)](x, out, n, BLOCK=n)
    before = resident_bytes()
    for _ in range(launches):
        busy_kernel[(programs,)](x, out, n, BLOCK=n)
    return resident_bytes() - before


def test_hazard_16_programs_leave_nothing_behind():
    """A leak of one tile of a program, 1 KiB, would be 195 MiB."""
    assert launch_many(200_000, 1000) < 8 << 20


def test_hazard_16_launches_leave_nothing_behind():
    assert launch_many(20_000, 1) < 8 << 20


@pytest.mark.slow
def test_hazard_16_a_million_launches():
    assert launch_many(1_000_000, 1) < 16 << 20


@triton.jit
def large_block_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    value = tl.load(x + at)
    tl.store(out + at, value - tl.max(value, axis=0) + tl.cumsum(value, axis=0))


def test_large_temporaries(rng):
    """Blocks of half a MiB, several of them live: more than a thread's stack would like."""
    n = 1 << 17
    x = normal(rng, [n])
    out = output([n], torch.float32)
    for _ in range(3):
        large_block_kernel[(4,)](x, out, BLOCK=n)
    wanted = x.double() - x.double().max() + x.double().cumsum(0)
    check_equal(out, wanted, tolerance=(1e-4, 1e-2))


def test_launches_from_several_threads(rng):
    """Each thread has its own data and temporaries."""
    n = 16
    tensors = [(normal(rng, [64, 64]), torch.zeros(8 * n)) for _ in range(4)]
    failures = []
    # A simulator takes some milliseconds for each.
    is_simulated = os.environ.get("TILEBRIDGE_TARGET", "").startswith("accel:")
    launches = 10 if is_simulated else 200

    def work(x, out):
        try:
            tile = x.flatten()[: n * n].reshape(n, n).double()
            product = 2 * tile @ tile.T
            wanted = (product.sum(1) + product.amax(0)).repeat(8)
            for _ in range(launches):
                out.zero_()
                busy_kernel[(8,)](x, out, n, BLOCK=n)
                check_equal(out, wanted, tolerance=(1e-4, 1e-4))
        except BaseException as error:  # a thread's exception is otherwise lost
            failures.append(error)

    threads = [threading.Thread(target=work, args=t) for t in tensors]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]
