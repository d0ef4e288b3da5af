# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The plugin inside Triton: when it is active, what it passes on, how it lives with threads and processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest
import tilebridge
import torch
import triton
import triton.language as tl
from support import normal
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled("is about the plugin")


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


def add(x, y, block=256):
    out = torch.full_like(x, float("nan"))
    add_kernel[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), BLOCK=block)
    return out


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def output_of(code: str, **environment: str) -> str:
    done = run_python(code, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


TELL_BACKEND = (
    "from triton.runtime import driver; print(driver.active.get_current_target().backend)"
)


def test_import_loads_nothing_native():
    # By the libraries' own names: the folder of the clone may be called tilebridge too.
    code = (
        "import triton; maps = open('/proc/self/maps').read();"
        "print([name for name in ('libtilebridge', '_launcher.abi3', 'libMLIR') if name in maps])"
    )
    assert output_of(code) == "[]"


def test_triton_imports_where_the_libraries_are_missing(tmp_path):
    assert output_of(TELL_BACKEND, TILEBRIDGE_LIB_DIR=str(tmp_path)) == "cpu"
    done = run_python(
        "import tilebridge; tilebridge.describe_threads()", TILEBRIDGE_LIB_DIR=str(tmp_path)
    )
    assert "ImportError" in done.stderr
    assert "TILEBRIDGE_LIB_DIR" in done.stderr


def test_is_selected_by_name():
    assert output_of(TELL_BACKEND, TRITON_DEFAULT_BACKEND="tilebridge") == "cpu"


ANOTHER_BACKEND = """
import triton.backends as backends
from triton.backends.driver import DriverBase
from tilebridge.triton_backend.driver import CPUDriver

class Other:
    @classmethod
    def is_active(cls):
        ANSWER

backends.backends["other"] = backends.Backend(object, Other)
print(CPUDriver.is_active())
"""


@pytest.mark.parametrize(
    ("answer", "active"),
    [
        ("return True", "False"),
        ("return False", "True"),
        ("raise RuntimeError('no driver')", "True"),
        # It does as this one does, and asks back.
        ("return not CPUDriver.is_active()", "True"),
    ],
)
def test_steps_aside_for_another_backend(answer, active):
    code = ANOTHER_BACKEND.replace("ANSWER", answer)
    assert output_of(code, TRITON_DEFAULT_BACKEND="").splitlines()[-1] == active


def test_named_backend_does_not_step_aside():
    code = ANOTHER_BACKEND.replace("ANSWER", "return True")
    assert output_of(code, TRITON_DEFAULT_BACKEND="tilebridge") == "True"
    assert output_of(code, TRITON_DEFAULT_BACKEND="nvidia") == "False"


def test_activate():
    code = f"import tilebridge; tilebridge.activate(); {TELL_BACKEND}"
    assert output_of(code, TRITON_DEFAULT_BACKEND="nvidia") == "cpu"


def test_shares_the_threads_of_pytorch():
    assert "torch" in tilebridge.describe_threads() or tilebridge.describe_threads() == "serial"
    code = (
        "import torch, tilebridge; torch.set_num_threads(1); print(tilebridge.describe_threads())"
    )
    assert output_of(code) == "serial"
    code = (
        "import torch, tilebridge; torch.set_num_threads(3); print(tilebridge.describe_threads())"
    )
    assert output_of(code).startswith("OpenMP with 3 threads")


def test_omp_num_threads_counts():
    code = "import tilebridge; print(tilebridge.describe_threads())"
    assert output_of(code, OMP_NUM_THREADS="1") == "serial"
    assert output_of(code, OMP_NUM_THREADS="3").startswith("OpenMP with 3 threads")


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COUNT_THREADS = """
import numpy, os, torch
torch.set_num_threads(THREADS)

from vector_add import add_kernel

def threads():
    return len(os.listdir("/proc/self/task"))

x = torch.from_numpy(numpy.ones(1 << 20, "f4"))  # PyTorch would start threads to fill it
before = threads()
for _ in range(3):
    add_kernel[(1 << 10,)](x, x, torch.empty_like(x), x.numel(), BLOCK=1024)
launched = threads() - before
torch.add(x, x)
torch.softmax(x.view(1024, 1024), 1)
print(launched, threads() - before)
"""


@pytest.mark.parametrize("threads", [1, 3])
def test_a_launch_and_pytorch_use_the_same_threads(threads):
    path = os.pathsep.join(filter(None, (str(EXAMPLES), os.environ.get("PYTHONPATH"))))
    code = COUNT_THREADS.replace("THREADS", str(threads))
    launched, together = map(int, output_of(code, PYTHONPATH=path).split())
    assert launched <= threads - 1
    assert together <= max(launched, threads - 1)
    if threads > 1:
        assert launched == threads - 1


def test_what_triton_keeps_of_a_kernel(rng):
    x = normal(rng, [100])
    kernel = add_kernel.warmup(x, x, x, 100, BLOCK=128, grid=(1,))
    assert {"ttir", "so"} <= set(kernel.asm)
    assert kernel.asm["so"].startswith(b"\x7fELF")
    assert kernel.metadata.name == "add_kernel"
    assert "tt.func public @add_kernel" in kernel.asm["ttir"]


def test_compiled_kernels_launch_without_jit(rng):
    x, y, out = normal(rng, [100]), normal(rng, [100]), torch.zeros(100)
    kernel = add_kernel.warmup(x, y, out, 100, BLOCK=128, grid=(1,))
    kernel[(1, 1, 1)](x, y, out, 100, 128)
    assert torch.equal(out, x + y)
    with pytest.raises(
        TypeError, match=r"'add_kernel' takes 5 arguments \(x, y, out, n, BLOCK\), given were 3"
    ):
        kernel[(1, 1, 1)](x, y, out)
    with pytest.raises(TypeError, match=r"argument 'y' \(\*fp32\) .* torch.float16"):
        kernel[(1, 1, 1)](x, y.half(), out, 100, 128)
    with pytest.raises(TypeError, match=r"the grid's dimension x must be an integer"):
        kernel[(1.5, 1, 1)](x, y, out, 100, 128)


def test_ttir_files_are_compiled(tmp_path, rng):
    x, y, out = normal(rng, [100]), normal(rng, [100]), torch.zeros(100)
    kernel = add_kernel.warmup(x, y, out, 100, BLOCK=128, grid=(1,))
    path = tmp_path / "add.ttir"
    path.write_text(kernel.asm["ttir"])
    again = triton.compile(str(path), target=triton.runtime.driver.active.get_current_target())
    again[(1, 1, 1)](x, y, out, 100)
    assert torch.equal(out, x + y)


def test_errors_name_the_place_in_the_source():
    @triton.jit
    def unsupported(x):
        value = tl.load(x)
        tl.store(x, tl.inline_asm_elementwise("nop", "=r,r", [value], tl.float32, True, 1))

    with pytest.raises(
        tilebridge.CompileError, match=rf"{os.path.basename(__file__)}:\d+:\d+: error: "
    ):
        unsupported[(1,)](torch.zeros(1))


Pair = namedtuple("Pair", ["pointer", "scale"])


@triton.jit
def every_kind_kernel(
    desc, pair, maybe, flag, half, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    value = desc.load([0, 0]) * pair[1] + half
    if flag:
        value += tl.load(pair[0])
    if maybe is not None:
        value += tl.load(maybe)
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    tl.store(out + rows[:, None] * COLUMNS + columns[None, :], value)


@pytest.mark.parametrize("maybe", [None, 3.0])
@pytest.mark.parametrize("flag", [True, False])
def test_every_kind_of_argument(maybe, flag, rng):
    x, one, out = normal(rng, [20, 32]), torch.tensor([10.0]), torch.zeros(16, 16)
    descriptor = TensorDescriptor.from_tensor(x, [16, 16])
    pair = Pair(one, 2.5)
    other = None if maybe is None else torch.tensor([maybe])
    every_kind_kernel[(1,)](descriptor, pair, other, flag, 0.5, out, ROWS=16, COLUMNS=16)
    expected = x[:16, :16] * 2.5 + 0.5 + (10 if flag else 0) + (maybe or 0)
    torch.testing.assert_close(out, expected)


@triton.jit
def scalar_kernel(out, h: tl.float16, b: tl.bfloat16, d: tl.float64, i: tl.int8, u: tl.uint16):
    tl.store(out, h.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, d)
    tl.store(out + 3, i.to(tl.float64))
    tl.store(out + 4, u.to(tl.float64))


def test_annotated_scalars():
    out = torch.zeros(5, dtype=torch.float64)
    scalar_kernel[(1,)](out, 1.1, 1.1, 1.1, -7, 65535)
    small = [torch.tensor(1.1, dtype=t).double().item() for t in (torch.float16, torch.bfloat16)]
    assert out.tolist() == [*small, 1.1, -7, 65535]


def test_a_forked_child_launches(rng):
    """PyTorch itself hangs there if it goes parallel; kernels run on one thread."""
    x, y = normal(rng, [50000]), normal(rng, [50000])
    out, expected = torch.zeros(50000), x + y

    def launch():
        add_kernel[(triton.cdiv(50000, 256),)](x, y, out, 50000, BLOCK=256)
        return out.numpy().tobytes() == expected.numpy().tobytes()

    assert launch()
    out.zero_()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        os._exit(0 if launch() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_hooks_are_called(rng):
    from triton import knobs

    seen = []

    def enter(metadata):
        seen.append(("enter", metadata.get()["name"]))

    def leave(metadata):
        seen.append(("exit", metadata.get()["name"]))

    x = normal(rng, [10])
    knobs.runtime.launch_enter_hook.add(enter)
    knobs.runtime.launch_exit_hook.add(leave)
    try:
        add(x, x)
    finally:
        knobs.runtime.launch_enter_hook.remove(enter)
        knobs.runtime.launch_exit_hook.remove(leave)
    add(x, x)
    assert seen == [("enter", "add_kernel"), ("exit", "add_kernel")]


@triton.jit
def print_kernel():
    tl.device_print("program", tl.program_id(0))


def test_prints_keep_their_order(capsys):
    print("before")
    print_kernel[(3,)]()
    print("after")
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "before"
    assert lines[-1] == "after"
    assert len(lines) == 5


def test_gluon_is_refused():
    from tilebridge.triton_backend.compiler import CPUBackend

    class Gluon:
        name = "GLUON"

    backend = CPUBackend(triton.runtime.driver.active.get_current_target())
    with pytest.raises(NotImplementedError, match="Gluon"):
        backend.add_stages({}, backend.parse_options({}), Gluon)


def test_num_warps_must_be_a_power_of_two(rng):
    x = normal(rng, [10])
    with pytest.raises(AssertionError, match="power of 2, not 3"):
        add_kernel[(1,)](x, x, x, 10, BLOCK=16, num_warps=3)


@pytest.mark.slow
def test_inductor_compiles_through_it():
    code = """
import torch
torch._inductor.config.cpu_backend = "triton"
x = torch.randn(64, 1000)
result = torch.compile(lambda x: torch.softmax(x, -1) * 2)(x)
torch.testing.assert_close(result, torch.softmax(x, -1) * 2)
print("done")
"""
    assert output_of(code).endswith("done")
