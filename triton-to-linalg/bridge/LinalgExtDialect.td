//===- LinalgExtDialect.td - the dialect linalg_ext --------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_BRIDGE_LINALGEXTDIALECT
#define TILEBRIDGE_BRIDGE_LINALGEXTDIALECT

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def LinalgExt_Dialect : Dialect {
  let name = "linalg_ext";
  let cppNamespace = "::tilebridge::linalg_ext";
  let summary = "What the bridge IR needs and linalg lacks";
  let description = [{
    The operations that a tile program needs and that upstream's linalg, tensor and memref do not have: reductions and
    scans with any combiner, histogram, lookups within a block, memory accesses that are not boxes of a strided view,
    atomics, print and assert. docs/bridge-ir.md says where each is used.
  }];
}

// Where print and assert write to: the host. A resource of its own, so that they keep their order among
// themselves but do not stand in the way of moving loads and stores.
def LinalgExt_Host : Resource<"::tilebridge::linalg_ext::HostResource">;

class LinalgExt_Op<string mnemonic, list<Trait> traits = []> : Op<LinalgExt_Dialect, mnemonic, traits>;

#endif
