# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Persistent kernels: few programs that loop over tiles. Their tiles run as programs do, where nobody sees it."""

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output, small_numbers


@triton.jit
def place_of(tile, rows, columns, GROUP: tl.constexpr):
    """Row and column of a tile: groups of rows, in which rows count fastest."""
    first = tile // (GROUP * columns) * GROUP
    height = min(rows - first, GROUP)
    return first + tile % height, tile % (GROUP * columns) // height


@triton.jit
def product_kernel(
    a, b, c, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    PROGRAMS: tl.constexpr, ACC: tl.constexpr, HOW: tl.constexpr,
):  # fmt: skip
    """Each program computes every PROGRAMS-th tile; `twice` counts them twice, as Triton's tutorial does."""
    start = tl.program_id(0)
    batch = tl.program_id(1)
    rows_of_tiles = tl.cdiv(m, BM)
    columns_of_tiles = tl.cdiv(n, BN)
    if HOW == "descriptors":
        left = tl.make_tensor_descriptor(a + batch * m * k, [m, k], [k, 1], [BM, BK])
        right = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
        out = tl.make_tensor_descriptor(c + batch * m * n, [m, n], [n, 1], [BM, BN])
    behind = start - PROGRAMS
    for tile in tl.range(start, rows_of_tiles * columns_of_tiles, PROGRAMS, flatten=True):
        row, col = place_of(tile, rows_of_tiles, columns_of_tiles, GROUP)
        rows = row * BM + tl.arange(0, BM)
        cols = col * BN + tl.arange(0, BN)
        acc = tl.zeros((BM, BN), ACC)
        for begin in range(0, k, BK):
            if HOW == "descriptors":
                x = left.load([row * BM, begin])
                y = right.load([begin, col * BN])
            else:
                depth = begin + tl.arange(0, BK)
                x = tl.load(
                    a + batch * m * k + rows[:, None] * k + depth[None, :],
                    mask=(rows[:, None] < m) & (depth[None, :] < k),
                    other=0,
                )
                y = tl.load(
                    b + depth[:, None] * n + cols[None, :],
                    mask=(depth[:, None] < k) & (cols[None, :] < n),
                    other=0,
                )
            acc = tl.dot(x, y, acc, out_dtype=ACC)
        if HOW == "twice":
            behind += PROGRAMS
            row, col = place_of(behind, rows_of_tiles, columns_of_tiles, GROUP)
            rows = row * BM + tl.arange(0, BM)
            cols = col * BN + tl.arange(0, BN)
        if HOW == "descriptors":
            out.store([row * BM, col * BN], acc.to(c.dtype.element_ty))
        else:
            inside = (rows[:, None] < m) & (cols[None, :] < n)
            tl.store(c + batch * m * n + rows[:, None] * n + cols[None, :], acc, mask=inside)


@pytest.mark.parametrize("how", ["plain", "twice", "descriptors"])
@pytest.mark.parametrize("dtype", dtypes(torch.float32, torch.bfloat16, torch.float16, torch.int8))
@pytest.mark.parametrize("programs", [1, 2, 5, 16])
@pytest.mark.parametrize(("m", "n", "k"), [(128, 96, 64), (67, 101, 37), (1, 33, 16), (0, 32, 32)])
def test_products(m, n, k, programs, dtype, how, rng):
    if how == "descriptors" and n * dtype.itemsize % 16 + k * dtype.itemsize % 16 != 0:
        pytest.skip("descriptors have rows of multiples of 16 bytes")
    a, b = small_numbers(rng, [m, k], dtype), small_numbers(rng, [k, n], dtype)
    is_integer = dtype == torch.int8
    c = output([m, n], torch.int32 if is_integer else torch.float32)
    tiles = triton.cdiv(m, 32) * triton.cdiv(n, 32)
    product_kernel[(max(min(programs, tiles), 1),)](
        a, b, c, m, n, k, BM=32, BN=32, BK=32, GROUP=2, PROGRAMS=programs,
        ACC=tl.int32 if is_integer else tl.float32, HOW=how,
    )  # fmt: skip
    wanted = a.double() @ b.double()
    if is_integer:
        assert torch.equal(c, wanted.to(torch.int32))
    else:
        check_equal(c, wanted, terms=k * 4)


@pytest.mark.parametrize("how", ["plain", "twice", "descriptors"])
def test_batches_along_y(how, rng):
    a, b = normal(rng, [3, 80, 64], torch.float32), normal(rng, [64, 96], torch.float32)
    c = output([3, 80, 96], torch.float32)
    product_kernel[(4, 3)](
        a, b, c, 80, 96, 64, BM=32, BN=32, BK=32, GROUP=2, PROGRAMS=4, ACC=tl.float32, HOW=how
    )
    check_equal(c, a.double() @ b.double(), terms=64 * 4)


def test_a_step_that_leaves_tiles_out(rng):
    """With fewer programs than a step has, some tiles are nobody's."""
    a, b = normal(rng, [128, 64], torch.float32), normal(rng, [64, 96], torch.float32)
    c = output([128, 96], torch.float32)
    c.fill_(7)
    product_kernel[(2,)](
        a, b, c, 128, 96, 64, BM=32, BN=32, BK=32, GROUP=1, PROGRAMS=3, ACC=tl.float32, HOW="plain"
    )
    wanted = a.double() @ b.double()
    wanted[:, 64:] = 7  # GROUP = 1: three tiles a row
    check_equal(c, wanted, terms=64 * 4)


@triton.jit
def powers_kernel(a, b, c, tiles, N: tl.constexpr, BK: tl.constexpr):
    """c = a @ b, again and again."""
    at = tl.arange(0, N)
    for _ in range(tl.program_id(0), tiles, tl.num_programs(0)):
        acc = tl.zeros((N, N), tl.float32)
        for start in range(0, N, BK):
            depth = start + tl.arange(0, BK)
            x = tl.load(a + at[:, None] * N + depth[None, :])
            acc = tl.dot(x, tl.load(b + depth[:, None] * N + at[None, :]), acc)
        tl.store(c + at[:, None] * N + at[None, :], acc)


def test_a_tile_reads_what_the_one_before_wrote(rng):
    """b and c are the same: each tile multiplies again, and the panels of the one before are old."""
    a = torch.randint(-1, 2, [32, 32], generator=rng).float()
    b = torch.randint(-1, 2, [32, 32], generator=rng).float()
    wanted = b.double()
    for _ in range(4):
        wanted = a.double() @ wanted
    powers_kernel[(1,)](a, b, b, 4, N=32, BK=16)
    assert torch.equal(b.double(), wanted)


@triton.jit
def shifted_kernel(x, out, tiles, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    """Each tile doubles what its program's tile before may have written."""
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        at = tile * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + at)
        tl.store(out + at + PROGRAMS * BLOCK, value * 2)


@triton.jit
def chain_kernel(x, tiles, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        at = tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(x + at + PROGRAMS * BLOCK, tl.load(x + at) + 1)


def test_chains_of_tiles():
    block, programs, tiles = 4096, 3, 300
    x = output([(tiles + programs) * block], torch.int32)
    x.fill_(0)
    chain_kernel[(programs,)](x, tiles, BLOCK=block, PROGRAMS=programs)
    assert torch.equal(x, torch.arange(x.numel(), dtype=torch.int32) // (programs * block))


def test_chains_of_tiles_between_arguments():
    block, programs, tiles = 4096, 3, 12
    x = output([(tiles + programs) * block], torch.float32)
    x.fill_(1)
    out = output([(tiles + programs) * block], torch.float32)
    out.fill_(0)
    shifted_kernel[(programs,)](x, out, tiles, BLOCK=block, PROGRAMS=programs)
    assert torch.equal(out[programs * block :], torch.full([tiles * block], 2.0))
    # The same memory: a chain for each program.
    shifted_kernel[(programs,)](x, x, tiles, BLOCK=block, PROGRAMS=programs)
    wanted = torch.tensor(
        [2.0 ** (at // (programs * block)) for at in range((tiles + programs) * block)]
    )
    assert torch.equal(x, wanted)


@triton.jit
def rows_kernel(x, w, out, rows, n, eps, BLOCK: tl.constexpr):
    """RMS norm; the weights are read before the loop."""
    at = tl.arange(0, BLOCK)
    weight = tl.load(w + at, mask=at < n, other=0.0)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0)):
        value = tl.load(x + row * n + at, mask=at < n, other=0.0)
        scale = tl.rsqrt(tl.sum(value * value) / n + eps)
        tl.store(out + row * n + at, value * scale * weight, mask=at < n)


@pytest.mark.parametrize("programs", [1, 2, 7, 64])
@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(("rows", "n"), [(1, 7), (53, 130), (64, 256)])
def test_rows(rows, n, in_place, programs, rng):
    x, w = normal(rng, [rows, n]), normal(rng, [n])
    wide = x.double()
    wanted = wide * torch.rsqrt((wide * wide).mean(1, keepdim=True) + 1e-5) * w.double()
    out = x if in_place else output([rows, n], torch.float32)
    rows_kernel[(programs,)](x, w, out, rows, n, 1e-5, BLOCK=triton.next_power_of_2(n))
    check_equal(out, wanted, terms=n)


@triton.jit
def sums_kernel(x, sums, rows, N: tl.constexpr):
    """Each program adds up its own rows."""
    at = tl.arange(0, N)
    total = tl.zeros([N], tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        total += tl.load(x + row * N + at)
    tl.store(sums + tl.program_id(0) * N + at, total)


@triton.jit
def own_place_kernel(x, sums, rows, N: tl.constexpr, PROGRAMS: tl.constexpr, HOW: tl.constexpr):
    """Weighted sums in memory of the program's own, which is at its number or at a remainder."""
    at = tl.arange(0, N)
    for row in range(tl.program_id(0), rows, PROGRAMS):
        if HOW == "remainder":
            place = sums + row % PROGRAMS * N + at
        else:
            place = sums + tl.program_id(0) * N + at
        tl.store(place, tl.load(place) * 0.5 + tl.load(x + row * N + at))


@pytest.mark.parametrize("how", ["carried", "remainder", "number"])
def test_programs_that_have_something_of_their_own(how, rng):
    rows, n, programs = 501, 4096, 4
    x = normal(rng, [rows, n])
    sums = output([programs, n], torch.float32)
    sums.fill_(0)
    if how == "carried":
        sums_kernel[(programs,)](x, sums, rows, N=n)
    else:
        own_place_kernel[(programs,)](x, sums, rows, N=n, PROGRAMS=programs, HOW=how)
    wanted = torch.zeros([programs, n], dtype=torch.float64)
    for row in range(rows):
        wanted[row % programs] *= 1 if how == "carried" else 0.5
        wanted[row % programs] += x[row].double()
    check_equal(sums, wanted, terms=rows)


@triton.jit
def numbers_kernel(out, tiles, step, BLOCK: tl.constexpr):
    """Which tile is whose; the step is an argument."""
    at = tl.arange(0, BLOCK)
    for tile in range(tl.program_id(0), tiles, step):
        tl.store(out + tile * BLOCK + at, tile + tl.zeros([BLOCK], tl.int32))


@pytest.mark.parametrize("tiles", [0, 1, 5, 64, 1001])
@pytest.mark.parametrize("programs", [1, 3, 64])
def test_a_step_that_is_an_argument(programs, tiles):
    out = output([max(tiles, 1), 16], torch.int32)
    out.fill_(-1)
    numbers_kernel[(programs,)](out, tiles, programs, BLOCK=16)
    wanted = torch.arange(tiles, dtype=torch.int32)[:, None].expand(tiles, 16)
    assert torch.equal(out[:tiles], wanted)
    assert tiles > 0 or (out == -1).all()


@triton.jit
def strided_kernel(x, y, out, n, BLOCK: tl.constexpr, HOW: tl.constexpr):
    """Elements in steps of as many blocks as there are programs, or as a constant says."""
    start = tl.program_id(0) * BLOCK
    step: tl.constexpr = 6 * BLOCK
    if HOW == "count":
        for begin in range(start, n, tl.num_programs(0) * BLOCK):
            at = begin + tl.arange(0, BLOCK)
            inside = at < n
            tl.store(
                out + at, tl.load(x + at, mask=inside) - tl.load(y + at, mask=inside), mask=inside
            )
    elif HOW == "constant":
        for begin in range(start, n, step):
            at = begin + tl.arange(0, BLOCK)
            inside = at < n
            tl.store(
                out + at, tl.load(x + at, mask=inside) - tl.load(y + at, mask=inside), mask=inside
            )
    else:  # No multiple of a block: programs read some elements twice.
        for begin in range(start, n, step - 1):
            at = begin + tl.arange(0, BLOCK)
            inside = at < n
            tl.store(
                out + at, tl.load(x + at, mask=inside) - tl.load(y + at, mask=inside), mask=inside
            )


@pytest.mark.parametrize("how", ["count", "constant", "odd"])
@pytest.mark.parametrize("n", [0, 1, 64, 1000, 30011])
@pytest.mark.parametrize("in_place", [False, True])
def test_elements_in_steps_of_blocks(n, in_place, how, rng):
    x, y = normal(rng, [n]), normal(rng, [n])
    wanted = x.double() - y.double()
    if how == "odd":  # Blocks begin at multiples of 64 and at one less for each step.
        wanted = torch.zeros(n, dtype=torch.float64)
        for program in range(6):
            for begin in range(program * 64, n, 6 * 64 - 1):
                wanted[begin : begin + 64] = (x - y).double()[begin : begin + 64]
    # In place each element must be subtracted from once.
    out = x if in_place and how != "odd" else output([n], torch.float32)
    if out is not x:
        out.zero_()
    strided_kernel[(6,)](x, y, out, n, BLOCK=64, HOW=how)
    check_equal(out, wanted)


def test_fewer_programs_than_a_step_has(rng):
    x, y, out = normal(rng, [6400]), normal(rng, [6400]), output([6400], torch.float32)
    out.zero_()
    strided_kernel[(5,)](x, y, out, 6400, BLOCK=64, HOW="constant")
    wanted = (x.double() - y.double()).reshape(-1, 64)
    wanted[5::6] = 0
    check_equal(out.reshape(-1, 64), wanted)


@triton.jit
def hand_on(x, out, tile, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr, HOW: tl.constexpr):
    """A tile's numbers, increased, to the tile that the same program runs next."""
    if HOW == "remainder":
        at = tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + (at + PROGRAMS * BLOCK) % n, tl.load(x + at % n) + 1)
    else:
        for i in range(BLOCK):
            at = tile * BLOCK + i
            tl.store(out + at + PROGRAMS * BLOCK, tl.load(x + at) + 1)


@triton.jit
def places_chain_kernel(
    x, out, tiles, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr, HOW: tl.constexpr
):
    """Chains whose places are no blocks: remainders, or single numbers."""
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        hand_on(x, out, tile, n, BLOCK, PROGRAMS, HOW)


@pytest.mark.parametrize("how", ["remainder", "numbers"])
def test_chains_of_places(how):
    block, programs, tiles = 1024, 3, 300
    n = (tiles + programs) * block
    x = output([n], torch.int32)
    x.zero_()
    places_chain_kernel[(programs,)](x, x, tiles, n, BLOCK=block, PROGRAMS=programs, HOW=how)
    assert torch.equal(x, torch.arange(n, dtype=torch.int32) // (programs * block))


@triton.jit
def own_chain_kernel(x, tiles, n, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr, HOW: tl.constexpr):
    """The same of one argument."""
    for tile in range(tl.program_id(0), tiles, PROGRAMS):
        hand_on(x, x, tile, n, BLOCK, PROGRAMS, HOW)


@pytest.mark.parametrize("how", ["remainder", "numbers"])
def test_own_chains_of_places(how):
    block, programs, tiles = 1024, 3, 300
    n = (tiles + programs) * block
    x = output([n], torch.int32)
    x.zero_()
    own_chain_kernel[(programs,)](x, tiles, n, BLOCK=block, PROGRAMS=programs, HOW=how)
    assert torch.equal(x, torch.arange(n, dtype=torch.int32) // (programs * block))


@triton.jit
def next_kernel(out, tiles, BLOCK: tl.constexpr):
    """A counter that is a step ahead when it is used."""
    ahead = tl.program_id(0)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        ahead += tl.num_programs(0)
        tl.store(out + tile * BLOCK + tl.arange(0, BLOCK), ahead + tl.zeros([BLOCK], tl.int32))


def test_a_counter_that_is_ahead():
    tiles, programs = 100, 7
    out = output([tiles, 16], torch.int32)
    next_kernel[(programs,)](out, tiles, BLOCK=16)
    wanted = torch.arange(tiles, dtype=torch.int32)[:, None] + programs
    assert torch.equal(out, wanted.expand(tiles, 16))
