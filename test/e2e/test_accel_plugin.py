# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--load-target: each thing that can be wrong with a plug-in has its message; unit.install builds one that works."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from accel_cpp_support import ROOT, TOOL

KERNEL = ROOT / "examples" / "accel-plugin" / "matmul.mlir"
ARGUMENTS = ["--grid", "2,2", "--arg", "f16[64,64]=random:1", "--arg", "f16[64,64]=random:2"]
ARGUMENTS += ["--arg", "f32[64,64]"]

START = """
#include "accel_plugin.h"
#include "llvm/Config/llvm-config.h"
#include <stdio.h>
static int refuse(const char *point, void *manager, char *error, size_t size) {
  (void)manager;
  return point[0] == 'e' ? (snprintf(error, size, "no %s", "pass"), 1) : 0;
}
static int refuse_silently(void *module, tilebridge_accel_write write, void *state, char *error, size_t size) {
  (void)module, (void)write, (void)state, (void)error, (void)size;
  return 7;
}
static const char *const served[] = {"hal", "sal", 0};
static const char *call(const tilebridge_accel_compute *op) {
  return op->op[7] == 'm' ? "my_product" : 0;
}
"""
END = """
const tilebridge_accel_plugin_info *tilebridge_accel_plugin(void) { return &info; }
"""


def library(tmp_path, fields=None, text=None):
    config = next(filter(None, map(shutil.which, ("llvm-config-22", "llvm-config"))), None)
    if not config:
        pytest.skip("llvm-config is not there")
    include = subprocess.run([config, "--includedir"], capture_output=True, text=True, check=True)
    info = f"static const tilebridge_accel_plugin_info info = {{{fields}}};"
    source, output = tmp_path / "my.c", tmp_path / "libmy.so"
    source.write_text(START + (text if text is not None else info + END))
    command = ["cc", "-shared", "-fPIC", "-w", f"-I{ROOT}/accel-backend/plugin"]
    subprocess.run([*command, f"-I{include.stdout.strip()}", source, "-o", output], check=True)
    return output


def compile_with(plugin, *words, target="grid-1x1"):
    done = subprocess.run(
        [
            TOOL,
            "compile",
            KERNEL,
            f"--target=accel:{target}",
            f"--load-target={plugin}",
            *ARGUMENTS,
            *words,
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in (0, 1, 2), done.stderr
    return done


def error_of(plugin, *words, **options):
    done = compile_with(plugin, *words, **options)
    assert done.returncode != 0
    return done.stderr


VALID = '1, 0, "my", LLVM_VERSION_STRING'


def test_a_file_that_is_not_there(tmp_path):
    assert "libnone.so: there is no such file to load as a plug-in" in error_of(
        tmp_path / "libnone.so"
    )


def test_a_file_that_is_no_library(tmp_path):
    file = tmp_path / "libtext.so"
    file.write_text("hello")
    assert "libtext.so: cannot be loaded as a plug-in: " in error_of(file)


def test_a_library_without_the_symbol(tmp_path):
    message = error_of(library(tmp_path, text=""))
    assert "it does not export 'tilebridge_accel_plugin'" in message


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ('2, 0, "my"', "it was built for version 2 of accel_plugin.h, this compiler has version 1"),
        ('1, 0, ""', "it has no name"),
        ('1, 0, "my", "14.0.6"', "it was built with LLVM 14.0.6, this compiler with LLVM "),
        ('1, 0, "my", 0, 0, 0, refuse', "does not say which LLVM it was built with"),
        (f'{VALID}, 0, 0, 0, 0, "x"', "it has one of the two"),
        (f"{VALID}, 0, served", "the plug-in 'my' serves hal, sal, not 'grid-1x1'"),
        (f'{VALID}, "{{}}"', "libmy.so:1:1: error: "),
    ],
)
def test_a_plugin_that_cannot_be_used(fields, message, tmp_path):
    assert message in error_of(library(tmp_path, fields))


def test_a_hook_that_fails(tmp_path):
    plugin = library(tmp_path, f'{VALID}, 0, 0, 0, 0, "text", refuse_silently')
    assert "the plug-in 'my' failed to emit 'text': it does not say why" in error_of(
        plugin, "--emit=text"
    )
    message = error_of(plugin, "--emit=txt")
    assert "there is no stage 'txt'" in message or "failed to emit" in message


def test_passes_that_cannot_be_added(tmp_path):
    plugin = library(tmp_path, f"{VALID}, 0, 0, refuse")
    message = error_of(plugin, "--emit=cpp")
    assert "the plug-in 'my' failed to add passes at 'emit': no pass" in message


def test_a_plugin_that_needs_no_mlir(tmp_path):
    plugin = library(tmp_path, '1, 0, "my", 0, 0, 0, 0, call')
    done = compile_with(plugin, "--emit=cpp")
    assert done.returncode == 0, done.stderr
    assert (
        'extern "C" void my_product(accel_pe *pe, accel::f16 *, int64_t, int64_t, int64_t'
        in done.stdout
    )
    assert (
        "my_product(pe, carried_2 + carried_2_offset, 32, 32, 32, 1, b_tile, 32, 32, 32, 1, sums, 32, 32, 32, 1);"
        in done.stdout
    )


def test_the_option_goes_with_accelerators(tmp_path):
    done = subprocess.run(
        [TOOL, "compile", KERNEL, "--target=cpu:x86-64", "--load-target=x.so"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "--load-target goes with --target=accel:NAME" in done.stderr
