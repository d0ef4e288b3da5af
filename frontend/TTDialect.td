//===- TTDialect.td - the dialect tt -----------------------*- tablegen -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TILEBRIDGE_FRONTEND_TTDIALECT
#define TILEBRIDGE_FRONTEND_TTDIALECT

include "mlir/IR/OpBase.td"

def TT_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::tilebridge::tt";
  let summary = "Triton's tile IR, as the wheels 3.6 to 3.9 print it";
  let description = [{
    A program of this dialect works on blocks of data: a value is a scalar, a pointer, or a
    statically shaped tensor of either. Each instance of the launch grid runs the kernel once.

    One definition reads every version. Where two versions wrote the same thing differently an op has
    the attributes of both, and the pass `tilebridge-normalize` leaves only the newer ones.

    A comment `(XX1)` in a description numbers a constraint; the verifier's message begins with the
    same number.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::cf::ControlFlowDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect", "::tilebridge::tt::TTGDialect"
  ];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    // One a file of operations, so that each can be compiled alone.
    void registerTypesAndAttributes();
    void registerMemoryOps();
    void registerDescriptorOps();
    void registerShapeOps();
    void registerComputeOps();
    void registerRegionOps();
    void registerProgramOps();
    void registerFuncOps();
  }];
}

class TT_Op<string mnemonic, list<Trait> traits = []> : Op<TT_Dialect, mnemonic, traits>;

#endif
