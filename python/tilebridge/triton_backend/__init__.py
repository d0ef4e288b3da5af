# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""The Triton backend. Its modules `compiler` and `driver` are imported by `import triton`: they must be cheap and
must not raise, or Triton would break for everybody. So nothing native is loaded before the first kernel."""

NAME = "tilebridge"
