"""What is computed from tables that are read at `i % w`, as channels-last norms do."""

import pytest
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

WIDTHS = [1, 2, 8, 16, 32, 64, 96, 100, 256, 1024]


@triton.jit
def norm(x, mean, var, out, root, n, W: tl.constexpr, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = i % W
    inside = i < n if MASKED else tl.full([BLOCK], True, tl.int1)
    a = tl.load(x + i, inside).to(tl.float32)
    m = tl.load(mean + c, inside)
    r = libdevice.rsqrt(tl.load(var + c, inside, other=3.0) / 7.0 + 1e-5)
    tl.store(out + i, ((a - m) * r).to(out.dtype.element_ty), inside)
    tl.store(root + i, r + tl.where(inside, 0.0, 1.0), inside)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("n", [1, 31, 1000, 1024, 4096, 4099, 5120])
def test_norm_of_channels(n, dtype):
    torch.manual_seed(n)
    for w in WIDTHS:
        x = torch.randn(n).to(dtype)
        # No more of a table is there than is read.
        mean, var = torch.randn(min(n, w)), torch.rand(min(n, w)) * 100
        c = torch.arange(n) % w
        root = (var.double()[c] / 7 + 1e-5).rsqrt()
        wanted = (x.double() - mean.double()[c]) * root
        for masked in (True, False) if n % 1024 == 0 else (True,):
            out, roots = torch.full((n + 64,), -1, dtype=dtype), torch.full((n + 64,), -1.0)
            norm[(triton.cdiv(n, 1024) + masked,)](x, mean, var, out, roots, n, w, 1024, masked)
            torch.testing.assert_close(roots[:n].double(), root, rtol=1e-6, atol=0)
            near = {torch.float32: 1e-6, torch.bfloat16: 2**-8, torch.float16: 2**-11}[dtype]
            torch.testing.assert_close(out[:n].double(), wanted, rtol=2 * near, atol=near)
            assert (out[n:] == -1).all()
            assert (roots[n:] == -1).all()


@triton.jit
def in_place(x, var, n, W: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    t = tl.load(var + i % W, inside)
    tl.store(x + i, tl.load(x + i, inside) + 1, inside)
    tl.store(x + i, tl.load(x + i, inside) / tl.sqrt(t), inside)


@pytest.mark.parametrize("n", [1024, 1000])
@pytest.mark.parametrize("w", [16, 32, 256])
def test_table_is_read_before_it_is_written(n, w):
    torch.manual_seed(w)
    x = torch.rand(n) + 1
    wanted = (x.double() + 1) / x.double()[torch.arange(n) % w].sqrt()
    in_place[(1,)](x, x, n, w, 1024)
    torch.testing.assert_close(x.double(), wanted, rtol=1e-6, atol=0)


@triton.jit
def chosen(x, var, out, n, lo, W: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i < n) & (i >= lo)
    r = 1 / tl.sqrt(tl.load(var + i % W, inside, other=4.0))
    tl.store(out + i, tl.load(x + i, i < n) * r, i < n)


@pytest.mark.parametrize(("n", "lo"), [(4096, 0), (4096, 1500), (3000, 70), (4096, 5000)])
@pytest.mark.parametrize("w", [16, 32, 64])
def test_other_masks(n, lo, w):
    torch.manual_seed(lo)
    x, var, out = torch.randn(n), torch.rand(w) + 1, torch.empty(n)
    i = torch.arange(n)
    wanted = x.double() / torch.where(i >= lo, var.double()[i % w], 4.0).sqrt()
    chosen[(triton.cdiv(n, 1024),)](x, var, out, n, lo, w, 1024)
    torch.testing.assert_close(out.double(), wanted, rtol=1e-6, atol=1e-7)


@triton.jit
def padded(var, out, n, end, W: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r = 1 / tl.sqrt(tl.load(var + i % W, i < end, other=4.0))
    tl.store(out + i, r, i < n)


@pytest.mark.parametrize("end", [0, 7, 16, 1024, 1025, 2048, 3001, 4096])
@pytest.mark.parametrize("w", [16, 32, 256])
def test_what_is_behind_the_mask(end, w):
    var, out = torch.rand(w) + 1, torch.empty(4096)
    i = torch.arange(4096)
    padded[(4,)](var, out, 4096, end, w, 1024)
    wanted = 1 / torch.where(i < end, var.double()[i % w], 4.0).sqrt()
    torch.testing.assert_close(out.double(), wanted, rtol=1e-6, atol=0)
