# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What the child processes of tests start from: multiprocessing's fork server imports this (see conformance_worker.py).

Triton's helper run_in_process ends whatever it ran with torch.cuda.synchronize(), for errors that a GPU has yet to report.
Without a GPU there is nothing to wait for, and the call must not be what the test sees as its result.
"""

from __future__ import annotations

import torch
import triton  # noqa: F401  (once here, and not in each child)

if not torch.cuda.is_available():
    torch.cuda.synchronize = lambda device=None: None
