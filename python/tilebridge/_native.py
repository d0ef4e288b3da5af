# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Finds and loads the native parts: the extension module and the runtime library."""

from __future__ import annotations

import functools
import importlib.util
import os
from pathlib import Path
from types import ModuleType

from tilebridge import errors

RUNTIME = "libtilebridge_runtime.so"
EXTENSION = "_launcher.abi3.so"


def library_dir() -> Path:
    """$TILEBRIDGE_LIB_DIR, else the folder _lib of this package, which the build fills."""
    return Path(os.environ.get("TILEBRIDGE_LIB_DIR") or Path(__file__).parent / "_lib")


@functools.cache
def launcher() -> ModuleType:
    """The extension module, with the runtime loaded. Raises ImportError where they are not built."""
    folder = library_dir()
    for name in (EXTENSION, RUNTIME):
        if not (folder / name).is_file():
            raise ImportError(
                f"{folder / name} is missing: build Tilebridge (scripts/setup.sh), or set TILEBRIDGE_LIB_DIR to the"
                " folder that holds its libraries"
            )
    spec = importlib.util.spec_from_file_location("tilebridge._launcher", folder / EXTENSION)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    module.initialize(str(folder / RUNTIME), errors.BY_CODE)
    return module
