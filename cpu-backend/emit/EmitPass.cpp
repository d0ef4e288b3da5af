//===- EmitPass.cpp - the passes that plan and emit --------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/Atomics.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/SafeDivision.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUEMITPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge::cpu;

namespace {
struct CpuEmitPass : tilebridge::cpu::impl::CpuEmitPassBase<CpuEmitPass> {
  using CpuEmitPassBase::CpuEmitPassBase;

  void runOnOperation() override {
    if (vectorBits < 64 || !llvm::isPowerOf2_64(vectorBits)) {
      getOperation().emitError(
          "vector-bits must be a power of two, 64 at least");
      return signalPassFailure();
    }
    if (exchangeBytes != 8 && exchangeBytes != 16) {
      getOperation().emitError("exchange-bytes must be 8 or 16");
      return signalPassFailure();
    }
    EmitTarget target;
    target.vectorBits = vectorBits;
    target.hasBf16Pairs = bf16Pairs;
    target.hasI16Pairs = i16Pairs;
    target.hasI16PairSums = i16PairSums;
    target.hasByteLookups = byteLookups;
    target.hasTwoFmas = twoFmas;
    target.hasBf16Tiles = bf16Tiles;
    target.hasI8Tiles = i8Tiles;
    target.streamBytes = streamBytes;
    target.prefetchBytes = prefetchBytes;
    target.exchangeBytes = exchangeBytes;
    target.usesReciprocals = reciprocals;
    StringRef atomics = describeAtomics(getOperation());
    if (atomics != "none")
      getOperation()->setAttr(atomicsAttr,
                              StringAttr::get(&getContext(), atomics));
    bool onlyStreams = true;
    for (auto func :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      if (func.isExternal() || !isBridge(func))
        continue;
      Plan plan(func);
      FunctionEmitter emitter(func, target, plan);
      func::FuncOp emitted = emitter.run();
      if (!emitted)
        return signalPassFailure();
      onlyStreams &= emitter.hasOnlyStreams();
      func.erase();
    }
    // A CPU whose units do half of a vector of 512 bits a cycle gains nothing
    // from them but fewer instructions. Without arithmetic, memory is what
    // counts, and takes the smaller accesses better: on an AMD Zen 4, sums of
    // arrays in the last cache take 5 to 9 percent less time.
    if (onlyStreams && vectorBits == 512 && !twoFmas)
      getOperation()->setAttr(
          vectorBitsAttr,
          IntegerAttr::get(IntegerType::get(&getContext(), 32), 256));
    makeDivisionsSafe(getOperation(), vectorBits);
  }

  /// Functions without tensors are what they are to become.
  static bool isBridge(func::FuncOp func) {
    return anyInside(func, [](Operation *op) {
      auto isTensor = [](Type type) { return isa<TensorType>(type); };
      return llvm::any_of(op->getOperandTypes(), isTensor) ||
             llvm::any_of(op->getResultTypes(), isTensor) ||
             op->getName().getDialectNamespace() == "linalg_ext";
    });
  }
};
} // namespace
