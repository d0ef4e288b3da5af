# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Tilebridge under the name of its device, "cpu".

Programs ask by this name whether Triton can compile for CPUs: PyTorch's compiler looks for "cpu" among Triton's
backends, and TRITON_DEFAULT_BACKEND=cpu is how other backends for CPUs are chosen. Triton itself must find one backend
for a target, so this entry answers to the name and leaves every target to the entry "tilebridge".
"""
