# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""A plug-in of pytest that imports Inductor's tests where the PyTorch at hand is older or newer than they are.

Names that it does not have are made up: each is a decorator that changes nothing. They are printed.

With $TILEBRIDGE_INDUCTOR_PEER=1 the tests run with Inductor's backend in C++, to see which of them fail with that, too.
"""

from __future__ import annotations

import importlib
import os
import re
import sys


def import_tests() -> list[str]:
    missing = []
    while True:
        try:
            importlib.import_module("test_torchinductor")
            return missing
        except ImportError as e:
            match = re.match(r"cannot import name '(\w+)' from '([\w.]+)'", str(e))
            if not match:
                raise
            sys.modules.pop("test_torchinductor", None)
            setattr(importlib.import_module(match[2]), match[1], lambda *a, **k: lambda f: f)
            missing.append(f"{match[2]}.{match[1]}")


def use_peer() -> None:
    """Takes the setting that the tests are about from them."""
    from torch.utils._config_module import ConfigModule

    patch = ConfigModule.patch

    def patched(self, *args, **kwargs):
        return (
            patch(self, cpu_backend="cpp")
            if kwargs.get("cpu_backend")
            else patch(self, *args, **kwargs)
        )

    ConfigModule.patch = patched


def pytest_configure(config):
    if os.environ.get("TILEBRIDGE_INDUCTOR_PEER") == "1":
        use_peer()
    print("made up:", ", ".join(import_tests()) or "nothing", flush=True)
