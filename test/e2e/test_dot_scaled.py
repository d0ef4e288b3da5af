# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of block-scaled matrices: MXFP8, MXFP4, NVFP4, mixed, packed along either dimension."""

import itertools

import pytest
import torch
import triton
import triton.language as tl
from support import check_equal, normal, output

pytestmark = pytest.mark.compiled("rounds to the type of the products of a GPU")


@triton.jit
def scaled_kernel(
    a, a_scale, b, b_scale, c, out, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
    K: tl.constexpr, GROUP: tl.constexpr, A: tl.constexpr, B_TYPE: tl.constexpr,
    A_K_PACK: tl.constexpr, B_K_PACK: tl.constexpr, FAST: tl.constexpr,
):  # fmt: skip
    PACK_A: tl.constexpr = 2 if A == "e2m1" else 1
    PACK_B: tl.constexpr = 2 if B_TYPE == "e2m1" else 1
    AM: tl.constexpr = M if A_K_PACK else M // PACK_A
    AK: tl.constexpr = K // PACK_A if A_K_PACK else K
    BK: tl.constexpr = K // PACK_B if B_K_PACK else K
    BN: tl.constexpr = N if B_K_PACK else N // PACK_B
    G: tl.constexpr = K // GROUP
    x = tl.load(a + tl.arange(0, AM)[:, None] * AK + tl.arange(0, AK)[None, :])
    y = tl.load(b + tl.arange(0, BK)[:, None] * BN + tl.arange(0, BN)[None, :])
    if a_scale is not None:
        a_scale = tl.load(a_scale + tl.arange(0, M)[:, None] * G + tl.arange(0, G)[None, :])
    if b_scale is not None:
        b_scale = tl.load(b_scale + tl.arange(0, N)[:, None] * G + tl.arange(0, G)[None, :])
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    if B > 0:  # The same in a batch of B.
        x = tl.broadcast_to(x[None, :, :], (B, AM, AK))
        y = tl.broadcast_to(y[None, :, :], (B, BK, BN))
        if a_scale is not None:
            a_scale = tl.broadcast_to(a_scale[None, :, :], (B, M, G))
        if b_scale is not None:
            b_scale = tl.broadcast_to(b_scale[None, :, :], (B, N, G))
        z = tl.dot_scaled(x, a_scale, A, y, b_scale, B_TYPE)
        batch = tl.arange(0, B)[:, None, None]
        tl.store(out + batch * M * N + at[None, :, :], z)
    else:
        start = tl.load(c + at)
        z = tl.dot_scaled(
            x, a_scale, A, y, b_scale, B_TYPE, start, fast_math=FAST,
            lhs_k_pack=A_K_PACK, rhs_k_pack=B_K_PACK,
        )  # fmt: skip
        tl.store(out + at, z)


E2M1 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
FP8 = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
WIDE = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Side:
    """A matrix of `rows` x `depth` in its format: `block` as the kernel loads it, `values` in f64.

    The block of the right side is transposed.
    """

    def __init__(self, rng, rows, depth, group, kind, scales, k_pack, is_right):
        if kind in WIDE:
            stored = normal(rng, [rows, depth], WIDE[kind])
            values = stored.double()
        elif kind in FP8:
            stored = normal(rng, [rows, depth]).mul(4).to(FP8[kind])
            values, stored = stored.double(), stored.view(torch.uint8)
        else:
            codes = torch.randint(0, 16, [rows, depth], generator=rng)
            values = E2M1[codes].double()
            low, high = (codes[:, i::2] if k_pack else codes[i::2] for i in (0, 1))
            stored = (low | high << 4).to(torch.uint8)
        self.block = (stored.t() if is_right else stored).contiguous()
        shape = [rows, depth // group]
        if scales is None:
            self.scale = None
        elif scales == "e8m0":
            self.scale = torch.randint(120, 133, shape, generator=rng, dtype=torch.uint8)
            values = values * torch.exp2(self.scale.double() - 127).repeat_interleave(group, 1)
        else:
            self.scale = normal(rng, shape).abs().to(torch.float8_e4m3fn)
            values = values * self.scale.double().repeat_interleave(group, 1)
        self.values = values.t() if is_right else values


def run(
    rng, m, n, k, a, b, group=32, scales=("e8m0", "e8m0"), packs=(True, True), change=None,
    batch=0, fast=False,
):  # fmt: skip
    left = Side(rng, m, k, group, a, scales[0], packs[0], False)
    right = Side(rng, n, k, group, b, scales[1], packs[1], True)
    if change:
        change(left, right)
    start = torch.randint(-9, 9, [m, n], generator=rng).float()
    out = output([batch, m, n] if batch else [m, n], torch.float32)
    scaled_kernel[(1,)](
        left.block, left.scale, right.block, right.scale, start, out, B=batch, M=m, N=n, K=k,
        GROUP=group, A=a, B_TYPE=b, A_K_PACK=packs[0], B_K_PACK=packs[1], FAST=fast,
    )  # fmt: skip
    product = left.values @ right.values
    return out, product.expand(batch, m, n) if batch else product + start.double()


FORMATS = ["e2m1", "e4m3", "e5m2", "bf16", "fp16"]


@pytest.mark.parametrize(("a", "b"), list(itertools.product(FORMATS, FORMATS)))
def test_every_pair_of_formats(a, b, rng):
    scales = tuple(None if kind in WIDE else "e8m0" for kind in (a, b))
    out, wanted = run(rng, 32, 16, 64, a, b, scales=scales)
    check_equal(out, wanted, terms=2000)


@pytest.mark.parametrize("shape", [(16, 16, 32), (128, 64, 64), (8, 128, 256), (1, 2, 32)])
@pytest.mark.parametrize("scales", [("e8m0", None), (None, "e8m0"), (None, None)], ids=str)
@pytest.mark.parametrize(("a", "b"), [("e4m3", "e5m2"), ("e2m1", "e4m3"), ("e5m2", "e2m1")])
def test_scales_on_one_side(shape, scales, a, b, rng):
    out, wanted = run(rng, *shape, a, b, scales=scales)
    check_equal(out, wanted, terms=4000)


@pytest.mark.parametrize(
    ("a", "b", "packs"),
    [
        ("e2m1", "e2m1", (False, False)),
        ("e2m1", "e2m1", (True, False)),
        ("e2m1", "e2m1", (False, True)),
        ("e2m1", "e4m3", (False, True)),
        ("bf16", "e2m1", (True, False)),
    ],
)
@pytest.mark.parametrize("is_scaled", [True, False])
def test_packed_along_m_and_n(a, b, packs, is_scaled, rng):
    scales = tuple("e8m0" if is_scaled and kind not in WIDE else None for kind in (a, b))
    out, wanted = run(rng, 32, 64, 64, a, b, packs=packs, scales=scales)
    check_equal(out, wanted, terms=2000)


@pytest.mark.parametrize("packs", [(True, True), (False, True)])
def test_nvfp4(packs, rng):
    scales = ("e4m3", "e4m3")
    out, wanted = run(rng, 32, 32, 128, "e2m1", "e2m1", group=16, scales=scales, packs=packs)
    check_equal(out, wanted, terms=2000)


@pytest.mark.parametrize(("a", "b"), [("e4m3", "e4m3"), ("e2m1", "bf16"), ("e2m1", "e2m1")])
def test_batch(a, b, rng):
    scales = tuple(None if kind in WIDE else "e8m0" for kind in (a, b))
    out, wanted = run(rng, 16, 16, 64, a, b, scales=scales, batch=2)
    check_equal(out, wanted, terms=2000)


@pytest.mark.parametrize("fast", [False, True])
def test_scales_at_the_ends(fast, rng):
    """The least scale is 2^-127, and 255 is NaN for its whole group."""

    def change(left, right):
        left.scale[:] = 127
        right.scale[:] = 127
        left.scale[3, 0] = 0
        right.scale[7, 1] = 245
        left.scale[5, 1] = 255
        for side, is_right in ((left, False), (right, True)):
            values = side.block.t() if is_right else side.block
            values = values.contiguous().view(torch.float8_e4m3fn).double()
            scale = torch.exp2(side.scale.double() - 127)
            scale[side.scale == 255] = float("nan")
            values = values * scale.repeat_interleave(32, 1)
            side.values = values.t() if is_right else values

    out, wanted = run(rng, 16, 16, 64, "e4m3", "e4m3", change=change, fast=fast)
    assert out[5].isnan().all()
    assert out.isnan().sum() == 16
    check_equal(out, wanted, tolerance=(1e-3, 1e-5))
