# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Finds and loads the native parts: the extension module and the runtime library."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import threading
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

from tilebridge import errors

RUNTIME = "libtilebridge_runtime.so"
# One for all versions of Python, but free-threaded ones have no stable ABI.
IS_FREE_THREADED = "t" in sys.abiflags
EXTENSION = "_launcher" + (EXTENSION_SUFFIXES[0] if IS_FREE_THREADED else ".abi3.so")


def lock_that_forks_wait_for() -> threading.Lock:
    """A lock that no other thread holds while os.fork runs, for the child could never take it. Who holds it must not
    fork."""
    lock = threading.Lock()
    os.register_at_fork(
        before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release
    )
    return lock


_loading = lock_that_forks_wait_for()


def library_dir() -> Path:
    """$TILEBRIDGE_LIB_DIR, else the folder _lib of this package, which the build fills."""
    return Path(os.environ.get("TILEBRIDGE_LIB_DIR") or Path(__file__).parent / "_lib")


def _how_to_build() -> str:
    return f"PYTHON={sys.executable} scripts/setup.sh" if IS_FREE_THREADED else "scripts/setup.sh"


def launcher() -> ModuleType:
    """The extension module, with the runtime loaded. Raises ImportError where they are not built."""
    with _loading:  # functools.cache alone lets two threads load it at once
        return _load()


@functools.cache
def _load() -> ModuleType:
    folder = library_dir()
    for name in (EXTENSION, RUNTIME):
        if not (folder / name).is_file():
            raise ImportError(
                f"{folder / name} is missing: build Tilebridge ({_how_to_build()}), or set TILEBRIDGE_LIB_DIR to the"
                " folder that holds its libraries"
            )
    spec = importlib.util.spec_from_file_location("tilebridge._launcher", folder / EXTENSION)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    module.initialize(str(folder / RUNTIME), errors.BY_CODE)
    return module
