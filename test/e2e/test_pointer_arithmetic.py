# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Offsets by any arithmetic: quotients, remainders, clamps, widths, strides of any kind; calls."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output
from test_pointers import check_forms


def int32(value):
    return np.asarray(value).astype(np.int64).astype(np.int32)


# ---------------------------------------------------------------- div and mod
@triton.jit
def divided_kernel(x, out, start, step, d, n, N: tl.constexpr, HOW: tl.constexpr):
    at = start + step * tl.arange(0, N)
    if HOW == "mod":
        place = at % d
    elif HOW == "div":
        place = at // d
    elif HOW == "both":
        place = (at % d) * 7 + at // d
    elif HOW == "twice":
        place = (at // 4) % d
    elif HOW == "mod_of_mod":
        place = (at % 40) % d
    elif HOW == "const":
        place = at % 12 + at // 12
    elif HOW == "unsigned":
        place = (at.to(tl.uint32) % tl.full([], d, tl.uint32)).to(tl.int64)
    elif HOW == "wide":
        place = at.to(tl.int64) % d + at.to(tl.int64) // d
    elif HOW == "shift":
        place = (at >> 2) + (at & 15)
    lanes = tl.arange(0, N)
    tl.store(out + lanes, tl.load(x + 200 + place, mask=lanes < n), mask=lanes < n)


def c_div(a, b):
    return (np.abs(a) // np.abs(b)) * np.sign(a) * np.sign(b)


def divided(how, at, d):
    """C's rounding towards zero, as Triton's integers have it."""

    def mod(a, b):
        return a - c_div(a, b) * b

    return {
        "mod": lambda: mod(at, d),
        "div": lambda: c_div(at, d),
        "both": lambda: mod(at, d) * 7 + c_div(at, d),
        "twice": lambda: mod(c_div(at, 4), d),
        "mod_of_mod": lambda: mod(mod(at, 40), d),
        "const": lambda: mod(at, 12) + c_div(at, 12),
        "unsigned": lambda: (at.astype(np.uint32) % np.uint32(d)).astype(np.int64),
        "wide": lambda: mod(at, d) + c_div(at, d),
        "shift": lambda: (at >> 2) + (at & 15),
    }[how]()


@pytest.mark.parametrize(
    "how",
    ["mod", "div", "both", "twice", "mod_of_mod", "const", "unsigned", "wide", "shift"],
)
@pytest.mark.parametrize(
    ("start", "step", "d"),
    [
        (0, 1, 16),
        (5, 1, 16),
        (37, 1, 8),
        (3, 2, 17),
        (-9, 1, 7),
        (60, -1, 13),
        (64, 1, 1),
        (0, 1, 100),
    ],
)
def test_quotients_and_remainders(how, start, step, d, rng):
    x, n, block = normal(rng, [900]), 29, 32
    out = output([block], torch.float32)
    at = start + step * np.arange(n)
    if how == "unsigned" and (at < 0).any():
        at = None
    if at is None:
        pytest.skip("an unsigned remainder of a negative number lies outside of the array")
    divided_kernel[(1,)](x, out, start, step, d, n, N=block, HOW=how)
    wanted = x.numpy()[200 + divided(how, at.astype(np.int64), d)]
    check_equal(out[:n], torch.from_numpy(wanted))
    assert out[n:].isnan().all()


@triton.jit
def wrapped_kernel(out, start, d, N: tl.constexpr, HOW: tl.constexpr):
    """Numbers that run over the end of 32 bits: what an offset would be, as values."""
    at = start + tl.arange(0, N)
    if HOW == "mod":
        place = at % d
    elif HOW == "div":
        place = at // d
    else:
        place = tl.where(at < 0, 1, 0) + tl.maximum(at, 0) % d
    tl.store(out + tl.arange(0, N), place)


@triton.jit
def wrapped_load_kernel(x, out, start, d, N: tl.constexpr):
    at = start + tl.arange(0, N)
    tl.store(out + tl.arange(0, N), tl.load(x + 1000 + at % d))


@pytest.mark.parametrize("d", [10, 64, 1000])
@pytest.mark.parametrize("start", [2**31 - 5, 2**31 - 64, -(2**31), -5])
def test_32_bits_wrap_around(start, d, rng):
    at = int32(start + np.arange(64, dtype=np.int64)).astype(np.int64)
    rest = at - c_div(at, d) * d
    for how, wanted in (
        ("mod", rest),
        ("div", c_div(at, d)),
        ("where", (at < 0) + np.maximum(at, 0) % d),
    ):
        out = torch.zeros(64, dtype=torch.int32)
        wrapped_kernel[(1,)](out, start, d, N=64, HOW=how)
        assert out.tolist() == wanted.tolist()
    x, out = normal(rng, [2001]), output([64], torch.float32)
    wrapped_load_kernel[(1,)](x, out, start, d, N=64)
    check_equal(out, x[torch.from_numpy(1000 + rest)])


# ---------------------------------------------------------------- facts
@triton.jit
def aligned_kernel(x, out, n, BLOCK: tl.constexpr):
    """Blocks that begin at multiples of their size never cross a multiple of 128."""
    pid = tl.program_id(0)
    tl.assume(pid < 1000)
    at = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at % 128) + tl.load(x + at // 256), mask=at < n)


@triton.jit
def known_mask_kernel(x, out, s, BLOCK: tl.constexpr):
    tl.assume(s > 0)
    for i in range(4):
        at = i * BLOCK + tl.arange(0, BLOCK)
        tl.store(
            out + at, tl.load(x + at * s, mask=at < 4 * BLOCK), mask=(at >= 0) & (at < 4 * BLOCK)
        )


def test_facts_keep_accesses_structured(rng):
    x, n = normal(rng, [1024]), 200
    out = output([n + 1], torch.float32)
    compiled = aligned_kernel[(4,)](x, out, n, BLOCK=64)
    at = torch.arange(n)
    check_equal(out[:n], x[at % 128].double() + x[at // 256])
    assert out[n].isnan()
    check_forms(compiled, ["subview"] * 3)
    out = output([256], torch.float32)
    compiled = known_mask_kernel[(1,)](x, out, 3, BLOCK=64)
    check_equal(out, x[: 256 * 3 : 3])
    check_forms(compiled, ["subview"] * 2)


# ---------------------------------------------------------------- clamps, loads, widths
@triton.jit
def clamped_kernel(x, idx, out, low, high, n, N: tl.constexpr, HOW: tl.constexpr):
    at = tl.arange(0, N)
    if HOW == "min":
        place = tl.minimum(at, high)
    elif HOW == "max":
        place = tl.maximum(at - 5, low)
    elif HOW == "both":
        place = tl.minimum(tl.maximum(at * 2 - 7, low), high)
    elif HOW == "loaded":
        place = tl.load(idx) + at
    elif HOW == "loaded_lanes":
        place = tl.minimum(tl.load(idx + at), high)
    elif HOW == "flipped":
        place = N - 1 - at
    elif HOW == "or":
        place = at | 4
    else:
        place = tl.where(at < high, at, 2 * at)
    tl.store(out + at, tl.load(x + place, mask=at < n, other=9.0))


@pytest.mark.parametrize(
    "how", ["min", "max", "both", "loaded", "loaded_lanes", "flipped", "or", "where"]
)
@pytest.mark.parametrize(("low", "high", "n"), [(0, 20, 32), (3, 3, 17), (0, 100, 31), (1, 11, 1)])
def test_clamps_and_loaded_offsets(how, low, high, n, rng):
    x, size = normal(rng, [200]), 32
    idx = torch.randint(0, 150, [size], generator=rng, dtype=torch.int32)
    at = np.arange(size)
    place = {
        "min": np.minimum(at, high),
        "max": np.maximum(at - 5, low),
        "both": np.minimum(np.maximum(at * 2 - 7, low), high),
        "loaded": int(idx[0]) + at,
        "loaded_lanes": np.minimum(idx.numpy(), high),
        "flipped": size - 1 - at,
        "or": at | 4,
        "where": np.where(at < high, at, 2 * at),
    }[how]
    out = output([size], torch.float32)
    clamped_kernel[(1,)](x, idx, out, low, high, n, N=size, HOW=how)
    check_equal(out, torch.from_numpy(np.where(at < n, x.numpy()[place], np.float32(9))))


@triton.jit
def far_kernel(x, out, far, n, N: tl.constexpr, M: tl.constexpr):
    """Rows further apart than 2^31 elements, by a 64-bit stride."""
    i = tl.arange(0, N)
    j = tl.arange(0, M)
    p = x + i[:, None] * far + j[None, :]
    tl.store(
        out + i[:, None] * M + j[None, :],
        tl.load(p, mask=(i[:, None] < n) & (j[None, :] < M - 1), other=0),
    )


def test_strides_beyond_32_bits():
    far = 2**31 + 100
    # Virtual memory only: a page is there where something is written.
    x = torch.from_numpy(np.zeros(3 * far + 64, dtype=np.int8))
    wanted = torch.zeros(4, 16, dtype=torch.int8)
    for i in range(3):
        row = torch.arange(1 + 20 * i, 17 + 20 * i, dtype=torch.int8)
        x[i * far : i * far + 16] = row
        wanted[i, :15] = row[:15]
    out = torch.zeros(4, 16, dtype=torch.int8)
    compiled = far_kernel[(1,)](x, out, far, 3, N=4, M=16)
    assert torch.equal(out, wanted)
    check_forms(compiled, ["subview", "subview"])


# ---------------------------------------------------------------- calls
@triton.jit(noinline=True)
def moved(p, by):
    return p + by


@triton.jit(noinline=True)
def chosen(p, q, which):
    first = p if which else q
    second = q if which else p
    return first, second


@triton.jit(noinline=True)
def sum_of(p, n, N: tl.constexpr):
    at = tl.arange(0, N)
    return tl.sum(tl.load(p + at, mask=at < n, other=0.0), axis=0)


@triton.jit
def calls_kernel(x, y, out, n, which, N: tl.constexpr):
    at = tl.arange(0, N)
    p = moved(x, 3)
    first, second = chosen(p, y, which)
    tl.store(out + at, tl.load(first + at, mask=at < n, other=0.0))
    tl.store(out + N + at, tl.load(second + at, mask=at < n, other=-1.0))
    tl.store(out + 2 * N, sum_of(first, n, N))


@triton.jit
def first_of(pair, which: tl.constexpr):
    return pair[which]


@triton.jit
def tuple_kernel(x, y, out, n, N: tl.constexpr):
    at = tl.arange(0, N)
    pair = (x + at, (y, at + 2))
    inner = first_of(pair, 1)
    tl.store(out + at, tl.load(first_of(pair, 0), mask=at < n, other=0.0))
    tl.store(out + N + at, tl.load(inner[0] + inner[1], mask=at < n, other=0.0))


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("n", [1, 13, 16])
def test_pointers_through_calls_and_tuples(n, which, rng):
    x, y = normal(rng, [20]), normal(rng, [20])
    out = output([33], torch.float32)
    calls_kernel[(1,)](x, y, out, n, which, N=16)
    first, second = (x[3:], y) if which else (y, x[3:])
    wanted = torch.zeros(33, dtype=torch.float64)
    wanted[:n], wanted[16 : 16 + n], wanted[16 + n : 32] = first[:n], second[:n], -1
    wanted[32] = first[:n].double().sum()
    check_equal(out, wanted, terms=16)
    out = output([32], torch.float32)
    compiled = tuple_kernel[(1,)](x, y, out, n, N=16)
    wanted = torch.zeros(32)
    wanted[:n], wanted[16 : 16 + n] = x[:n], y[2 : 2 + n]
    check_equal(out, wanted)
    check_forms(compiled, ["subview"] * 4)


# ---------------------------------------------------------------- backwards
@triton.jit
def backwards_kernel(x, keep, out, n, N: tl.constexpr, HOW: tl.constexpr):
    at = tl.program_id(0) * N + tl.arange(0, N)
    inside = at < n
    if HOW == "loaded":
        tl.store(out + at, tl.load(x + (n - 1 - at), mask=inside, other=0), mask=inside)
    elif HOW == "stored":
        tl.store(out + (n - 1 - at), tl.load(x + at, mask=inside, other=0), mask=inside)
    else:
        chosen = inside & (tl.load(keep + at, mask=inside, other=0) != 0)
        value = tl.load(x + (n - 1 - at), mask=chosen, other=7)
        tl.store(out + (n - 1 - at), value, mask=inside)


@pytest.mark.parametrize("how", ["loaded", "stored", "chosen"])
@pytest.mark.parametrize("n", [1, 31, 64, 257, 1000])
@pytest.mark.parametrize(
    "dtype", dtypes(torch.float32, torch.bfloat16, torch.int8, torch.bool, torch.int64)
)
def test_blocks_that_run_backwards(dtype, n, how, rng):
    x, out = normal(rng, [n], dtype), output([n], dtype)
    keep = torch.randint(0, 2, [n], generator=rng, dtype=torch.int8)
    backwards_kernel[(triton.cdiv(n, 128),)](x, keep, out, n, N=128, HOW=how)
    seven = torch.tensor(7).to(dtype)
    wanted = torch.where(keep.bool().flip(0), x, seven) if how == "chosen" else x.flip(0)
    assert torch.equal(out, wanted)


# ---------------------------------------------------------------- aliases
@triton.jit
def index_in_place_kernel(idx, x, out, N: tl.constexpr):
    """The result overwrites the next elements of its own indices."""
    at = tl.arange(0, N)
    tl.store(out + at, tl.load(x + tl.load(idx + at)))


@pytest.mark.parametrize("shift", [0, 1, 7, -3])
def test_results_over_their_own_indices(shift, rng):
    n = 64
    buffer = torch.randint(0, n, [n + 20], generator=rng, dtype=torch.int32)
    x = torch.randint(0, n, [n], generator=rng, dtype=torch.int32)
    wanted = buffer.clone()
    wanted[10 + shift : 10 + shift + n] = x[buffer[10 : 10 + n].long()]
    index_in_place_kernel[(1,)](buffer[10:], x, buffer[10 + shift :], N=n)
    assert torch.equal(buffer, wanted)
