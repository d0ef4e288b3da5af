# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the user can get wrong at a launch: always an error that says what to do, never a crash."""

import os

import pytest
import torch
import triton
import triton.language as tl
from support import normal, output
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled("asks for this backend's errors")


@triton.jit
def copy_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n), mask=at < n)


def copy(x, out, grid=(1,), n=16):
    copy_kernel[grid](x, out, n, BLOCK=16)


@pytest.mark.parametrize("grid", [(0,), (0, 3), (2, 0, 1)])
def test_empty_grid_runs_nothing(grid, rng):
    out = torch.full([16], 5.0)
    copy(normal(rng, [16]), out, grid)
    assert (out == 5).all()


@pytest.mark.parametrize("grid", [(-1,), (2, -3), (1, 1, -1)])
def test_negative_grid(grid, rng):
    out = torch.full([16], 5.0)
    with pytest.raises(Exception, match=r"kernel .copy_kernel.: the grid.s dimension . is -"):
        copy(normal(rng, [16]), out, grid)
    assert (out == 5).all()


@pytest.mark.parametrize("grid", [(1 << 31,), (1 << 40,), (1 << 20, 1 << 20, 1 << 30)])
def test_grid_too_large(grid, rng):
    out = torch.full([16], 5.0)
    with pytest.raises(Exception, match=r"kernel .copy_kernel.: the grid"):
        copy(normal(rng, [16]), out, grid)
    assert (out == 5).all()


def test_meta_tensor():
    out = torch.zeros(16)
    with pytest.raises(
        ValueError, match=r"argument 'x' .* on the device meta; .* move it there with \.cpu\(\)"
    ):
        copy(torch.empty(16, device="meta"), out)


class _ElsewhereTensor:
    """A tensor of another device, as PyTorch shows it."""

    dtype = torch.float32
    shape = (16,)

    def __init__(self, kind):
        self.device = torch.device(kind, 0)

    def data_ptr(self):
        return 0x7F0000000000

    def stride(self):
        return (1,)


@pytest.mark.parametrize("kind", ["cuda", "xpu"])
def test_tensor_on_a_gpu(kind):
    with pytest.raises(
        ValueError,
        match=rf"argument 'x' .* on the device {kind}:0; .* move it there with \.cpu\(\)",
    ):
        copy(_ElsewhereTensor(kind), torch.zeros(16))


@pytest.mark.parametrize("bad", ["text", object(), {"a": 1}, [1, 2], 1 + 2j])
def test_argument_of_no_known_type(bad):
    with pytest.raises(TypeError, match=f"argument of type: {type(bad).__name__}"):
        copy(bad, torch.zeros(16))


def test_wrong_argument_counts(rng):
    x = normal(rng, [16])
    with pytest.raises(TypeError):
        copy_kernel[(1,)](x, x, 16)
    with pytest.raises(TypeError):
        copy_kernel[(1,)](x, x, 16, 16, 16)
    with pytest.raises(Exception, match=r"(?i)unrecognised|unexpected|keyword"):
        copy_kernel[(1,)](x, x, 16, BLOCK=16, blocks=3)


def test_int_too_large(rng):
    with pytest.raises(Exception, match=r"(?i)int|large|range"):
        copy(normal(rng, [16]), torch.zeros(16), n=1 << 70)


@triton.jit
def pointer_and_scalar_kernel(x, n, out):
    tl.store(out, tl.load(x) + n)


def test_scalar_in_place_of_a_pointer(rng):
    with pytest.raises(Exception, match=r"pointer") as failure:
        pointer_and_scalar_kernel[(1,)](3.5, 1, torch.zeros(1))
    assert os.path.basename(__file__) in str(failure.value) or "x" in str(failure.value)


@triton.jit
def unsupported_kernel(x, out, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    y = tl.inline_asm_elementwise("nop", "=r,r", [value], tl.float32, True, 1)
    tl.store(out + at, y)


def test_unsupported_op_names_file_and_line(rng):
    line = unsupported_kernel.fn.__code__.co_firstlineno + 4
    with pytest.raises(Exception, match="inline_asm") as failure:
        unsupported_kernel[(1,)](normal(rng, [8]), torch.zeros(8), N=8)
    assert f"{os.path.basename(__file__)}:{line}" in str(failure.value), str(failure.value)


@triton.jit
def behind_its_loop_kernel(x, out, N: tl.constexpr, B: tl.constexpr):
    total = tl.zeros((B,), tl.float32)
    for i in range(N):
        total += tl.load(x + i * B + tl.arange(0, B))
    tl.store(out + i * B + tl.arange(0, B), total)


def test_variable_behind_its_loop(rng, tmp_path, monkeypatch, capsys):
    """It has no value there, and LLVM would drop the loop's end with all that is undefined."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    monkeypatch.setenv("TILEBRIDGE_CACHE_DIR", str(tmp_path / "tilebridge"))
    x, out = normal(rng, [4, 16]), torch.zeros(4, 16)
    behind_its_loop_kernel[(1,)](x, out, 4, 16)
    torch.testing.assert_close(out[0], x.sum(0))
    assert torch.all(out[1:] == 0)
    line = behind_its_loop_kernel.fn.__code__.co_firstlineno + 5
    told = capsys.readouterr().err
    assert f"{os.path.basename(__file__)}:{line}:" in told, told
    assert "taken to be 0" in told, told


def test_an_error_leaves_the_next_launch_alone(rng):
    x, out = normal(rng, [16]), output([16], torch.float32)
    for _ in range(3):
        with pytest.raises(Exception, match="inline_asm"):
            unsupported_kernel[(1,)](x, out, N=16)
        copy(x, out)
        assert torch.equal(x, out)


@triton.jit
def assert_kernel(x, n, N: tl.constexpr):
    at = tl.arange(0, N)
    value = tl.load(x + at)
    tl.device_assert(value < n, "value too large")
    tl.store(x + at, value + 1)


def test_device_assert_is_an_exception(rng):
    x = torch.arange(16, dtype=torch.int32)
    assert_kernel[(1,)](x, 16, N=16, debug=True)
    assert x.tolist() == list(range(1, 17))
    with pytest.raises(RuntimeError, match=r"device-side assert.*value too large") as failure:
        assert_kernel[(1,)](x, 16, N=16, debug=True)
    assert os.path.basename(__file__) in str(failure.value)
    copy(normal(rng, [16]), torch.zeros(16))


@triton.jit
def descriptor_kernel(desc, out, BM: tl.constexpr, BN: tl.constexpr):
    tile = desc.load([0, 0])
    tl.store(out + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], tile)


def test_descriptor_of_another_block_is_another_kernel(rng):
    x = normal(rng, [16, 16])
    for bm, bn in ((8, 16), (16, 8), (4, 4)):
        out = output([bm, bn], torch.float32)
        descriptor_kernel[(1,)](TensorDescriptor.from_tensor(x, [bm, bn]), out, BM=bm, BN=bn)
        assert torch.equal(out, x[:bm, :bn])


def test_plain_tensor_in_place_of_a_descriptor(rng):
    with pytest.raises(Exception, match=r"load|descriptor"):
        descriptor_kernel[(1,)](normal(rng, [16, 16]), torch.zeros(64), BM=8, BN=8)


def test_numpy_array(rng):
    """Triton takes no arrays without data_ptr()."""
    x = normal(rng, [16]).numpy()
    with pytest.raises(TypeError, match=r"argument of type: .*ndarray"):
        copy(x, torch.zeros(16))


@triton.jit(debug=True)
def check_all_kernel(x, R: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, R)[:, None] * N + tl.arange(0, N)[None, :]
    tl.device_assert(tl.load(x + at) > 0, "must be positive")


@pytest.mark.compiled("the interpreter's assertions are Python's")
@pytest.mark.parametrize("shape", [(1, 1), (4, 1), (1, 8), (2, 64), (2, 256)])
def test_device_assert_sees_each_element(shape):
    x = torch.ones(shape)
    check_all_kernel[(1,)](x, R=shape[0], N=shape[1])
    for i in range(x.numel()):
        x.view(-1)[i] = 0
        with pytest.raises(RuntimeError, match="must be positive"):
            check_all_kernel[(1,)](x, R=shape[0], N=shape[1])
        x.view(-1)[i] = 1
