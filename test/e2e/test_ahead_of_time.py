# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels compiled ahead of time: a shared object and a header, a program in C and in C++ that launches it, and nothing
but the runtime's library beside them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from tilebridge import _native
from triton.tools.tensor_descriptor import TensorDescriptor

pytestmark = pytest.mark.compiled("is about compiled kernels")

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = [name for name in ("clang-22", "cc") if shutil.which(name)][:1]


@triton.jit
def mix_kernel(x, half, rows, out, count, scale, offset, BM: tl.constexpr, BN: tl.constexpr):
    """Arguments of each kind: arrays of f32 and f16, a descriptor, an integer, a float, a wide integer."""
    row = tl.program_id(0) * BM
    block = rows.load([row, 0])
    at = row + tl.arange(0, BM)
    inside = at < count
    value = tl.load(x + at, mask=inside, other=0.0) * scale
    value += tl.load(half + at, mask=inside, other=0.0).to(tl.float32)
    total = tl.sum(block, axis=1) + value + offset.to(tl.float32)
    tl.store(out + at, total, mask=inside)


PROGRAM = r"""
#include "mix.h"
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 21, COLUMNS = 12 };

int main(int argc, char **argv) {
  tilebridge_kernel *kernel = NULL;
  float *x = (float *)aligned_alloc(64, 4096), *out = (float *)aligned_alloc(64, 4096);
  uint16_t *half = (uint16_t *)aligned_alloc(64, 4096);
  float *rows = (float *)aligned_alloc(64, 65536);
  tilebridge_descriptor descriptor;
  int i, k;
  if (argc != 2 || tilebridge_load_file(argv[1], &kernel) != TILEBRIDGE_OK) {
    fprintf(stderr, "%s\n", tilebridge_last_error());
    return 1;
  }
  for (i = 0; i < COUNT; ++i) {
    x[i] = (float)i;
    half[i] = 0x3c00; /* 1 */
    for (k = 0; k < COLUMNS; ++k)
      rows[i * COLUMNS + k] = (float)(i * 100 + k);
  }
  out[COUNT] = -7.0f;
  descriptor.pointer = rows;
  descriptor.rank = 2;
  descriptor.pad_with_nan = 0;
  descriptor.sizes[0] = COUNT;
  descriptor.sizes[1] = COLUMNS;
  descriptor.strides[0] = COLUMNS;
  descriptor.strides[1] = 1;
  if (mix_kernel_launch(kernel, 3, 1, 1, x, half, &descriptor, out, COUNT, 0.5f, 1000000000000, NULL) != TILEBRIDGE_OK) {
    fprintf(stderr, "%s\n", tilebridge_last_error());
    return 1;
  }
  for (i = 0; i < COUNT; ++i) {
    double wanted = i * 100.0 * COLUMNS + COLUMNS * (COLUMNS - 1) / 2 + 0.5 * i + 1 + 1e12;
    if (out[i] < wanted * 0.999999 || out[i] > wanted * 1.000001) {
      fprintf(stderr, "out[%d] is %g, wanted %g\n", i, (double)out[i], wanted);
      return 1;
    }
  }
  if (out[COUNT] != -7.0f)
    return 2;
  tilebridge_kernel_release(kernel);
  puts("right");
  return 0;
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ahead")
    tensor = torch.zeros(21, 12)
    kernel = mix_kernel.warmup(
        torch.float32,
        torch.float16,
        TensorDescriptor.from_tensor(tensor, [8, 16]),
        torch.float32,
        21,
        0.5,
        1 << 40,
        BM=8,
        BN=16,
        grid=(1,),
    )
    (folder / "mix.ttir").write_text(kernel.asm["ttir"])
    runtime = (_native.library_dir() / _native.RUNTIME).resolve()
    tool = ROOT / "build" / "bin" / "tilebridge"
    command = [tool, "compile", folder / "mix.ttir", "--target=cpu", "-o", folder / "mix.so"]
    subprocess.run([*command, f"--header={folder / 'mix.h'}"], check=True)
    # As it is installed, without the compiler's library.
    (folder / "include").mkdir()
    (folder / "include" / "tilebridge").symlink_to(ROOT / "runtime")
    (folder / "lib").mkdir()
    shutil.copy(runtime, folder / "lib" / _native.RUNTIME)
    return folder


@pytest.mark.skipif(not COMPILERS, reason="there is no C compiler")
@pytest.mark.parametrize("standard", ["c99", "c++17"])
def test_a_program_is_built_with_the_header_and_runs(compiled, standard):
    suffix = "c" if standard == "c99" else "cpp"
    source = compiled / f"program.{suffix}"
    source.write_text(PROGRAM)
    program = compiled / f"program-{suffix}"
    warnings = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
    # aligned_alloc is C11's, and in the C library whatever the standard.
    command = [COMPILERS[0], f"-std={standard}", "-D_ISOC11_SOURCE", *warnings]
    command += [f"-I{compiled / 'include'}", str(source), "-o", str(program)]
    command += [f"-L{compiled / 'lib'}", "-ltilebridge_runtime"]
    subprocess.run([*command, f"-Wl,-rpath,{compiled / 'lib'}"], check=True)
    environment = {k: v for k, v in os.environ.items() if k != "TILEBRIDGE_LIB_DIR"}
    done = subprocess.run(
        [program, compiled / "mix.so"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_header_names_the_arguments(compiled):
    text = (compiled / "mix.h").read_text()
    assert "float *x,\n" in text
    assert "uint16_t *half,\n" in text
    assert "const tilebridge_descriptor *rows,\n" in text
    assert "rows->strides[1]" in text
    assert "int64_t offset,\n" in text
