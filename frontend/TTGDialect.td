//===- TTGDialect.td - what TTIR uses of dialect ttg -------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_TTGDIALECT
#define TILEBRIDGE_FRONTEND_TTGDIALECT

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def TTG_Dialect : Dialect {
  let name = "ttg";
  let cppNamespace = "::tilebridge::tt";
  let summary = "the barrier of Triton's GPU dialect, the one op of it that occurs in TTIR";
}

def TTG_AddrSpace : I32BitEnumAttr<"AddrSpace", "memories that a barrier orders", [
  I32BitEnumAttrCase<"None", 0, "none">, I32BitEnumAttrCase<"Local", 1, "local">,
  I32BitEnumAttrCase<"GlobalRead", 2, "global_read">,
  I32BitEnumAttrCase<"GlobalWrite", 4, "global_write">,
  I32BitEnumAttrCase<"TensorRead", 8, "tensor_read">,
  I32BitEnumAttrCase<"TensorWrite", 16, "tensor_write">]> {
  let cppNamespace = "::tilebridge::tt";
  let separator = "|";
}

def TTG_BarrierOp : Op<TTG_Dialect, "barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for all threads of this program, and orders their accesses";
  let description = [{
    `addrSpace` names the memories whose accesses are ordered.

    ```mlir
    ttg.barrier all
    ttg.barrier local|global_read
    ```
  }];
  let arguments = (ins TTG_AddrSpace:$addrSpace);
  let hasCustomAssemblyFormat = 1;
}

#endif
