# Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""What can go wrong, as exceptions. The codes are those of runtime/tilebridge.h."""


class TilebridgeError(RuntimeError):
    """Any error of Tilebridge's own."""


class ArtefactError(TilebridgeError):
    """A compiled kernel is damaged, or made for another machine or version."""


class CompileError(TilebridgeError):
    """A kernel cannot be compiled: the message has the place in the kernel's source, the reason and what to do."""


class KernelAssertionError(TilebridgeError, AssertionError):
    """An assertion in a kernel (tl.device_assert) failed during a launch."""


class EvaluationError(TilebridgeError):
    """The reference evaluator met an access outside of all arrays, or an operation that it does not know."""


BY_CODE = {
    1: ValueError,
    2: ArtefactError,
    3: OSError,
    4: CompileError,
    5: KernelAssertionError,
    6: MemoryError,
    7: TilebridgeError,
    8: EvaluationError,
}
