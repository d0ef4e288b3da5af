# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions as products: pixels are rows at computed places, added up over the filter and its channels."""

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from support import at_end_of_memory


@triton.jit
def one_loop(
    x, w, y, bias, n_x, h_x, w_x, c_x, c_y, h_y, w_y,
    x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w, y_n, y_c, y_h, y_w,
    KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, DILATION: tl.constexpr,
    BM: tl.constexpr, BC: tl.constexpr, BN: tl.constexpr, HAS_BIAS: tl.constexpr,
):  # fmt: skip
    p = tl.program_id(0) * BM + tl.arange(0, BM)
    n = p // w_y // h_y
    ho = p // w_y % h_y
    wo = p % w_y
    co = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    blocks = tl.cdiv(c_x, BC)
    for i in range(KH * KW * blocks):
        c = i % blocks * BC + tl.arange(0, BC)
        kh = i // blocks // KW
        kw = i // blocks % KW
        hi = ho * STRIDE - PAD + kh * DILATION
        wi = wo * STRIDE - PAD + kw * DILATION
        inside = (n < n_x) & (hi >= 0) & (hi < h_x) & (wi >= 0) & (wi < w_x)
        pixels = x + (n * x_n + hi * x_h + wi * x_w)[:, None] + (c * x_c)[None, :]
        a = tl.load(pixels, mask=inside[:, None] & (c < c_x)[None, :], other=0.0)
        weights = w + (c * w_c)[:, None] + (co * w_o)[None, :] + kh * w_h + kw * w_w
        b = tl.load(weights, mask=(c < c_x)[:, None] & (co < c_y)[None, :], other=0.0)
        acc += tl.dot(a, b, input_precision="ieee")
    if HAS_BIAS:
        acc = tl.maximum(acc + tl.load(bias + co, mask=co < c_y, other=0.0)[None, :], 0.0)
    places = y + (n * y_n + ho * y_h + wo * y_w)[:, None] + (co * y_c)[None, :]
    tl.store(places, acc, mask=(n < n_x)[:, None] & (co < c_y)[None, :])


@triton.jit
def three_loops(
    x, w, y, bias, n_x, h_x, w_x, c_x, c_y, h_y, w_y,
    x_n, x_c, x_h, x_w, w_o, w_c, w_h, w_w, y_n, y_c, y_h, y_w,
    KH: tl.constexpr, KW: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, DILATION: tl.constexpr,
    BM: tl.constexpr, BC: tl.constexpr, BN: tl.constexpr, HAS_BIAS: tl.constexpr,
):  # fmt: skip
    p = tl.program_id(0) * BM + tl.arange(0, BM)
    n = p // (h_y * w_y)
    ho = p % (h_y * w_y) // w_y
    wo = p % w_y
    co = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for kh in range(KH):
        hi = ho * STRIDE - PAD + kh * DILATION
        for kw in range(KW):
            wi = wo * STRIDE - PAD + kw * DILATION
            inside = (n < n_x) & (hi >= 0) & (hi < h_x) & (wi >= 0) & (wi < w_x)
            for first in range(0, c_x, BC):
                c = first + tl.arange(0, BC)
                pixels = x + (n * x_n + hi * x_h + wi * x_w)[:, None] + (c * x_c)[None, :]
                a = tl.load(pixels, mask=inside[:, None] & (c < c_x)[None, :], other=0.0)
                weights = w + (c * w_c)[:, None] + (co * w_o)[None, :] + kh * w_h + kw * w_w
                b = tl.load(weights, mask=(c < c_x)[:, None] & (co < c_y)[None, :], other=0.0)
                acc += tl.dot(a, b, input_precision="ieee")
    if HAS_BIAS:
        acc = tl.maximum(acc + tl.load(bias + co, mask=co < c_y, other=0.0)[None, :], 0.0)
    places = y + (n * y_n + ho * y_h + wo * y_w)[:, None] + (co * y_c)[None, :]
    tl.store(places, acc, mask=(n < n_x)[:, None] & (co < c_y)[None, :])


FORMS = [one_loop, three_loops]


def launch(kernel, x, w, y, bias, stride, pad, dilation, blocks):
    m, c, n = blocks
    grid = (triton.cdiv(y.shape[0] * y.shape[2] * y.shape[3], m), triton.cdiv(y.shape[1], n))
    kernel[grid](
        x, w, y, bias, x.shape[0], x.shape[2], x.shape[3], x.shape[1], *y.shape[1:],
        *x.stride(), *w.stride(), *y.stride(), *w.shape[2:], stride, pad, dilation, m, c, n, bias is not None,
    )  # fmt: skip


def framed(tensor, value, channels_last=False):
    """The same elements among others, that are `value`, on all sides."""
    n, c, h, w = tensor.shape
    if channels_last:
        whole = torch.full((n, h + 2, w + 2, c + 3), value, dtype=tensor.dtype).permute(0, 3, 1, 2)
        part = whole[:, 1 : c + 1, 1:-1, 1:-1]
    else:
        whole = torch.full((n, c + 2, h + 2, w + 3), value, dtype=tensor.dtype)
        part = whole[:, 1:-1, 1:-1, 1 : w + 1]
    part.copy_(tensor)
    return whole, part


def check(kernel, x, w, stride=1, pad=0, dilation=1, blocks=(64, 32, 32), bias=None, frame=False):
    wanted = torch.nn.functional.conv2d(
        x.double(), w.double(), None if bias is None else bias.double(), stride, pad, dilation
    )
    if bias is not None:
        wanted = wanted.relu()
    is_last = x.stride(1) == 1 and x.shape[1] > 1
    layout = torch.channels_last if is_last else torch.contiguous_format
    y = torch.full(wanted.shape, 7.0, dtype=x.dtype).to(memory_format=layout)
    around = None
    if frame:
        x = framed(x, torch.nan, is_last)[1]
        w = framed(w, torch.nan, is_last)[1]
        around, y = framed(y, 7.0, is_last)
    else:
        x = at_end_of_memory(x) if not is_last else x
    launch(kernel, x, w, y, bias, stride, pad, dilation, blocks)
    terms = w[0].numel()
    tolerance = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 2e-2}[x.dtype]
    np.testing.assert_allclose(
        y.double(), wanted, rtol=tolerance, atol=tolerance * terms**0.5, equal_nan=True
    )
    if around is not None:
        y.fill_(7.0)
        assert (around == 7).all()


def data(n, c, h, w, outputs, size, dtype=torch.float32, last=False):
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(n, c, h, w, generator=generator).to(dtype)
    weights = torch.randn(outputs, c, size, size, generator=generator).to(dtype)
    if last:
        x, weights = (t.to(memory_format=torch.channels_last) for t in (x, weights))
    return x, weights


# Images, channels, height, width, output channels, size of the filter, stride, padding, dilation.
SHAPES = {
    "same": (2, 64, 14, 14, 32, 3, 1, 1, 1),
    "valid": (2, 35, 13, 17, 40, 3, 1, 0, 1),
    "stride": (3, 32, 15, 15, 33, 3, 2, 1, 1),
    "far": (1, 37, 19, 23, 16, 3, 3, 2, 2),
    "pointwise": (2, 96, 9, 7, 65, 1, 1, 0, 1),
    "skips": (1, 64, 28, 28, 32, 1, 2, 0, 1),
    "wide": (1, 33, 3, 200, 32, 3, 1, 1, 1),
    "thin": (2, 32, 90, 1, 32, 3, 1, 1, 1),
    "one_channel": (2, 1, 12, 12, 5, 5, 1, 2, 1),
    "mostly_outside": (2, 32, 2, 2, 16, 5, 1, 4, 1),
    "dilated": (1, 64, 16, 16, 32, 3, 1, 2, 2),
    "one_pixel": (1, 48, 3, 3, 17, 3, 1, 0, 1),
}


@pytest.mark.parametrize("last", [False, True], ids=["planes", "channels_last"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kernel", FORMS, ids=["one_loop", "three_loops"])
def test_shapes(kernel, shape, last):
    *size, stride, pad, dilation = SHAPES[shape]
    check(kernel, *data(*size, last=last), stride, pad, dilation)


@pytest.mark.parametrize("last", [False, True], ids=["planes", "channels_last"])
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float16, torch.bfloat16], ids=["f32", "f16", "bf16"]
)
@pytest.mark.parametrize("kernel", FORMS, ids=["one_loop", "three_loops"])
def test_types(kernel, dtype, last):
    for shape in ("same", "stride", "valid"):
        *size, stride, pad, dilation = SHAPES[shape]
        x, w = data(*size, dtype, last)
        bias = torch.randn(w.shape[0], generator=torch.Generator().manual_seed(1)).to(dtype)
        check(kernel, x, w, stride, pad, dilation, bias=bias)


@pytest.mark.parametrize("last", [False, True], ids=["planes", "channels_last"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("kernel", FORMS, ids=["one_loop", "three_loops"])
def test_what_lies_around_is_not_touched(kernel, dtype, last):
    for shape in ("same", "stride", "valid", "far"):
        *size, stride, pad, dilation = SHAPES[shape]
        check(kernel, *data(*size, dtype, last), stride, pad, dilation, frame=True)


@pytest.mark.parametrize(
    "blocks", [(16, 16, 16), (32, 64, 16), (128, 16, 64), (64, 128, 128), (256, 32, 32)]
)
@pytest.mark.parametrize("kernel", FORMS, ids=["one_loop", "three_loops"])
def test_blocks(kernel, blocks):
    for shape in ("same", "stride"):
        *size, stride, pad, dilation = SHAPES[shape]
        check(kernel, *data(*size), stride, pad, dilation, blocks)


@pytest.mark.parametrize(
    "shape",
    ["far", "skips", "wide", "thin", "one_pixel", "mostly_outside", "dilated", "pointwise"],
)
def test_pairs_of_channels(shape):
    """bf16: planes are packed as pairs, of channels-last rows may stay where they lie."""
    *size, stride, pad, dilation = SHAPES[shape]
    for last in (False, True):
        x, w = data(*size, torch.bfloat16, last)
        check(three_loops, x, w, stride, pad, dilation, frame=True)


@triton.jit
def chosen_pixels(
    x, w, y, width, jump, step, plane, apart, c, count, M: tl.constexpr, C: tl.constexpr,
    N: tl.constexpr,
):  # fmt: skip
    p = tl.program_id(0) * M + tl.arange(0, M)
    place = p // width * jump + p % width * step
    keep = (p % 7 != 3) & (p < count)
    n = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for first in range(0, c, C):
        k = first + tl.arange(0, C)
        mask = keep[:, None] & (k < c)[None, :]
        a = tl.load(x + place[:, None] * apart + k[None, :] * plane, mask=mask, other=2.0)
        b = tl.load(w + k[:, None] * N + n[None, :], mask=(k < c)[:, None], other=0.0)
        acc += tl.dot(a, b)
    tl.store(y + p[:, None] * N + n[None, :], acc, mask=(p < count)[:, None])


@pytest.mark.parametrize("last", [False, True], ids=["planes", "channels_last"])
@pytest.mark.parametrize("c", [0, 1, 45, 700])
@pytest.mark.parametrize("step", [1, 2, 3])
def test_chosen_pixels(step, c, last):
    """What is not there is no zero; no channels at all; some rows are whole."""
    generator = torch.Generator().manual_seed(7)
    count, width, m, n = 150, 40, 64, 32
    jump = width * step + 5
    pixels = 4 * jump
    x = torch.randn(pixels, max(c, 1), generator=generator).to(torch.bfloat16)
    w = torch.randn(max(c, 1), n, generator=generator).to(torch.bfloat16)
    p = torch.arange(count)
    a = x[p // width * jump + p % width * step].double()
    a[p % 7 == 3] = 2
    wanted = a[:, :c] @ w[:c].double()
    x = x if last else x.T.contiguous()
    x = at_end_of_memory(x)
    y = torch.full((count, n), 7.0)
    plane, apart = (1, max(c, 1)) if last else (pixels, 1)
    chosen_pixels[(triton.cdiv(count, m),)](
        x, w, y, width, jump, step, plane, apart, c, count, m, 32, n
    )
    np.testing.assert_allclose(y.double(), wanted, rtol=2e-2, atol=2e-2 * max(c, 1) ** 0.5)


def test_infinities_stay_where_they_are():
    """Pixels of one image that are no numbers count for their neighbours alone."""
    for kernel in FORMS:
        x, w = data(2, 32, 14, 14, 32, 3)
        x[0, 3, 5, 13] = torch.inf
        x[1, 7, 0, 0] = torch.nan
        x[0, 0, 13, 6] = -torch.inf
        check(kernel, x, w, pad=1)


@triton.jit
def stored_rows(
    x, out, places, count, out_c, M: tl.constexpr, N: tl.constexpr, IS_WHOLE: tl.constexpr
):
    rows = tl.arange(0, M)
    cols = tl.arange(0, N)
    at = tl.load(places + rows)
    block = tl.load(x + rows[:, None] * N + cols[None, :])
    mask = (at >= 0)[:, None] & (cols >= 0)[None, :]
    if not IS_WHOLE:
        mask = mask & (cols < count)[None, :]
    tl.store(out + at[:, None] + cols[None, :] * out_c, block * 2, mask=mask)


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.bfloat16, torch.int8, torch.int64, torch.float64]
)
@pytest.mark.parametrize("count", [None, 32, 29, 1, 0])
@pytest.mark.parametrize(
    "kind", ["run", "jump", "equal", "holes", "back", "none", "steps", "wrapped"]
)
def test_stored_rows(kind, count, dtype):
    m, n, size = 64, 32, 160
    places = torch.arange(m) + 5
    if kind == "jump":
        places[37:] += 11
    elif kind == "equal":
        places[20:30] = 25
    elif kind == "holes":
        places[::5] = -(1 << 40)
        places[16:32] = -1
    elif kind == "back":
        places = places.flip(0)
    elif kind == "none":
        places[:] = -3
    elif kind == "steps":
        places *= 2
    elif kind == "wrapped":
        places = (torch.arange(m) + 40) % 50
    x = torch.randint(-50, 50, (m, n), generator=torch.Generator().manual_seed(2)).to(dtype)
    out = torch.full((n, size), 3, dtype=dtype)
    wanted = out.clone()
    for row in range(m):
        if places[row] >= 0:
            wanted[:count, places[row]] = x[row, :count] * 2
    stored_rows[(1,)](x, out, places, count or 0, out.stride(0), m, n, count is None)
    assert torch.equal(out, wanted)
