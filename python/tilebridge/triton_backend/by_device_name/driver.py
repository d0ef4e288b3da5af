# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import os

from tilebridge.triton_backend import driver


class NamedDriver(driver.CPUDriver):
    @classmethod
    def is_active(cls) -> bool:
        """Only when asked for by this name: else the entry "tilebridge" is there."""
        return os.environ.get("TRITON_DEFAULT_BACKEND") == "cpu"
