# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A flat index that is taken apart into three dimensions, as torch.compile writes it."""

import numpy as np
import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import check_equal, dtypes, normal, output


@triton.jit
def permute_kernel(
    x, bias, out, first, n, s0, s1, s2, C0: tl.constexpr, C1: tl.constexpr, BLOCK: tl.constexpr
):
    """out[i] = x[i0 * s0 + i1 * s1 + i2 * s2] + bias[i1] + i1, i = first, first + 1, ..."""
    i = first + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i0, i1, i2 = i % C0, (i // C0) % C1, i // (C0 * C1)
    inside = i < n
    value = tl.load(x + i0 * s0 + i1 * s1 + i2 * s2, mask=inside, other=0.0)
    tl.store(out + i, value + tl.load(bias + i1, mask=inside, other=0.0) + i1, mask=inside)


def model(x, bias, first, n, strides, c0, c1):
    """C's quotients, which round to zero."""
    i = np.arange(first, n)
    quotient = lambda a, b: np.sign(a) * (np.abs(a) // b)  # noqa: E731
    i0, i1 = i - quotient(i, c0) * c0, quotient(i, c0)
    i1 = i1 - quotient(i1, c1) * c1
    at = i0 * strides[0] + i1 * strides[1] + quotient(i, c0 * c1) * strides[2]
    return at, i1


@pytest.mark.parametrize("block", [64, 256])
@pytest.mark.parametrize(
    "sizes",
    [
        (1024, 4),
        (64, 4),
        (64, 3),
        (16, 4),
        (16, 2),
        (16, 64),
        (32, 5),
        (8, 2),
        (48, 4),
        (7, 3),
        (1, 4),
        (4, 1),
        (256, 256),
        (300, 2),
    ],
    ids=str,
)
@pytest.mark.parametrize("first", [0, 64, 5, -128, -100])
def test_three_dimensions(sizes, first, block, rng):
    c0, c1 = sizes
    n = 1000
    # In memory the dimensions lie in another order, with space between.
    strides = (c1 + 3, 1, (c1 + 3) * c0 + 5)
    at, i1 = model(None, None, first, n, strides, c0, c1)
    before = max(-int(at.min()), 0)
    x = normal(rng, [before + int(at.max()) + 1])
    margin = max(-int(i1.min()), 0)
    bias = normal(rng, [margin + int(i1.max()) + 1])
    space = max(-first, 0)
    out = output([space + n], torch.float32)
    grid = (triton.cdiv(n - first, block),)
    permute_kernel[grid](
        x[before:], bias[margin:], out[space:], first, n, *strides, C0=c0, C1=c1, BLOCK=block
    )
    wanted = x.numpy()[before + at] + bias.numpy()[margin + i1] + i1.astype(np.float32)
    check_equal(out[space + first :], torch.from_numpy(wanted), tolerance=(1e-6, 1e-6))


@triton.jit
def norm_kernel(x, scale, out, C: tl.constexpr, G: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) * tl.load(scale + i // C // G))


@pytest.mark.compiled("the kernel's form is asked for")
@pytest.mark.parametrize("dtype", dtypes([torch.float32, torch.bfloat16]))
def test_quotient_of_a_quotient_is_a_box(dtype, rng):
    x, scale = normal(rng, [4096], dtype), normal(rng, [4], dtype)
    out = output([4096], dtype)
    kernel = norm_kernel[(8,)](x, scale, out, C=512, G=2, BLOCK=512)
    check_equal(out, (x.view(4, 1024) * scale[:, None]).reshape(-1))
    explained = tilebridge.explain(kernel)
    forms = {access["form"] for access in explained["accesses"]}
    assert forms == {"subview"}, explained


@triton.jit
def patches_kernel(
    x, scale, out, height, width, across, down, n,
    C: tl.constexpr, P: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Patches of P x P of images, one after the other; what is behind an image's edge is 0."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    within = i % (P * P)
    row, column = within // P, within % P
    patch = i // (P * P)
    channel, patch = patch % C, patch // C
    at_x, patch = patch % across, patch // across
    y, image = patch % down * P + row, patch // down
    column = at_x * P + column
    seen = inside & (y < height) & (column < width)
    value = tl.load(x + ((image * C + channel) * height + y) * width + column, mask=seen, other=0.0)
    tl.store(out + i, value * tl.load(scale + channel, mask=inside), mask=inside)


@pytest.mark.parametrize("dtype", dtypes([torch.float32, torch.float16]))
@pytest.mark.parametrize("patch", [2, 4, 7, 16, 32])
@pytest.mark.parametrize("size", [(64, 64), (50, 69), (1, 3)], ids=str)
def test_patches(patch, size, dtype, rng):
    """What the patch's row is made of is met where its image is found, later in the program."""
    channels, (height, width) = 3, size
    down, across = triton.cdiv(height, patch), triton.cdiv(width, patch)
    x, scale = normal(rng, [2, channels, height, width], dtype), normal(rng, [channels], dtype)
    n = 2 * down * across * channels * patch * patch
    out = output([n], dtype)
    patches_kernel[(triton.cdiv(n, 256),)](
        x, scale, out, height, width, across, down, n, C=channels, P=patch, BLOCK=256
    )
    behind = (0, across * patch - width, 0, down * patch - height)
    padded = torch.nn.functional.pad(x * scale[:, None, None], behind)
    wanted = padded.view(2, channels, down, patch, across, patch).permute(0, 2, 4, 1, 3, 5)
    assert torch.equal(out, wanted.reshape(-1))
