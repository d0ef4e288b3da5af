//===- AtomicGate.h - launches whose atomics nobody disturbs ----*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// An instruction that changes an element atomically takes as long as sixty
// others, and takes four elements at most. What is atomic for the GPU's scope,
// or a smaller one, is so for the programs of this process. While no other of
// its launches has atomic accesses, plain ones do: of a thread that runs alone,
// or of the one that has the guard of that memory.
//===----------------------------------------------------------------------===//

#pragma once

#include "runtime/Manifest.h"
#include "runtime/executable_abi.h"

namespace tilebridge::rt {

/// What the manifest's "atomics" says.
enum class Atomics { None, Guarded, Alone, Own };
Atomics atomicsOf(const Manifest &manifest);

/// Of a launch, while it runs. Kernels that may be alone end by themselves,
/// whatever others do: to wait for them is safe.
class AtomicGate {
public:
  /// Waits while another launch is alone. `isInline`: one thread begins it.
  AtomicGate(Atomics atomics, bool isInline);
  ~AtomicGate();
  AtomicGate(const AtomicGate &) = delete;
  AtomicGate &operator=(const AtomicGate &) = delete;

  /// Writes to a launch, and to its host, what the kernel may do.
  void describe(tb_launch_v1 &launch, tb_host_v1 &host, bool isInline) const;

private:
  void enterWithOthers();

  Atomics atomics;
  bool isAlone = false;
  unsigned process = 0; ///< counts forks: a child has no launches of others
};

} // namespace tilebridge::rt
