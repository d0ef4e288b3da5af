//===- Atomics.h - atomic accesses of linalg_ext ----------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/LinearPieces.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace tilebridge::cpu {

/// What a kernel's manifest says of its atomics: see executable_abi.h.
llvm::StringRef describeAtomics(mlir::ModuleOp module);

/// Whether lanes of a row follow one another, as far as can be told: their
/// offsets are the sum of what counts along the row, and of what may be read.
bool followsRows(mlir::Value offsets);

/// The operands of any of the four ops.
struct AtomicAccess {
  mlir::Value base, offset, compare, value, mask, result;
  linalg_ext::MemSem order;
  std::optional<linalg_ext::AtomicKind> kind; ///< only for atomic_rmw
  bool isLoad = false;
};

class AtomicEmitter {
public:
  AtomicEmitter(FunctionEmitter &emitter, mlir::Operation *op);
  mlir::LogicalResult emit();

private:
  mlir::LogicalResult emitScalar();
  void emitAt(Position at);
  void findAddress();
  mlir::Value emitMasked(mlir::Value offset, mlir::Value compare,
                         mlir::Value value, mlir::Value mask);
  mlir::Value emitOne(mlir::Value offset, mlir::Value compare,
                      mlir::Value value);
  mlir::Value emitInstruction(mlir::Value offset, mlir::Value compare,
                              mlir::Value value);
  mlir::LogicalResult emitBlock();
  mlir::LogicalResult emitGuardedRows();
  mlir::LogicalResult putIntoMemory();
  /// The value found, and whether it was replaced.
  std::pair<mlir::Value, mlir::Value>
  exchange(mlir::Value pointer, mlir::Value compare, mlir::Value value);
  /// Exchanges until what was changed is what is found: that.
  mlir::Value change(mlir::Value pointer, mlir::Value first,
                     llvm::function_ref<mlir::Value(mlir::Value)> changed);
  mlir::Value loadBits(mlir::Value pointer, mlir::Type type);

  /// Elements of the buffer of an operand; null where there is none.
  mlir::Value load(mlir::Value buffer, Position at, mlir::Type type,
                   int64_t lanes = 0);
  /// Its address as an integer, and as a pointer.
  mlir::Value addressOf(mlir::Value offset);
  mlir::Value pointerTo(mlir::Value address);
  mlir::Value toBits(mlir::Value value);
  mlir::Value fromBits(mlir::Value value);

  // AtomicLanes.cpp: several lanes by one compare-and-exchange.
  int64_t lanesTogether() const;
  mlir::LogicalResult emitLanes(int64_t lanes);
  mlir::Value isAnyOfRow(Position row);
  void prefetchLater(Position at);
  mlir::Value areTogether(Position at, int64_t lanes);
  void emitTogether(Position at, int64_t lanes);
  mlir::Value exchangeLanes(mlir::Value address, mlir::Value value,
                            mlir::Value mask);
  mlir::Value followOneAnother(Position at, int64_t lanes);
  bool areVectors() const;
  mlir::Value combine(mlir::Value old, mlir::Value value);

  // AtomicGuards.cpp: plain accesses, where nobody disturbs them.
  bool mayBeGuarded() const;
  mlir::Value findGuards();
  void findGuardMask();
  mlir::Value isShared();
  mlir::LogicalResult emitGuarded();
  mlir::Value changeGuarded(mlir::Value offset, mlir::Value value);
  void changeRow(Position row);
  mlir::Value changeLanes(Position at, int64_t lanes, mlir::Value held);
  mlir::Value changeAt(Position at, mlir::Value held);
  void changeAlone(Position at, int64_t lanes);
  mlir::Value changePlainly(mlir::Value address, mlir::Value value);
  mlir::Value combineAny(mlir::Value old, mlir::Value value);
  mlir::Value guardOf(mlir::Value address);
  mlir::Value guardPointer(mlir::Value guard);
  void takeGuard(mlir::Value guard);
  void giveGuard(mlir::Value guard);
  mlir::Value changeGuard(mlir::Value held, mlir::Value guard);

  // AtomicRuns.cpp: rows whose lanes are known to follow one another.
  bool findReadsOfRows();
  mlir::FailureOr<bool> emitRuns();
  mlir::FailureOr<bool> changeRuns(Position row);
  mlir::Value changeRun(Position at, mlir::Value place, mlir::Value length,
                        mlir::Value held);
  void changeVectors(Position at, mlir::Value done, mlir::Value address,
                     mlir::Value count);

  // AtomicPieces.cpp: rows that end within the block.
  mlir::FailureOr<bool>
  emitPieces(llvm::function_ref<mlir::LogicalResult()> otherwise);
  mlir::FailureOr<mlir::Value> findPieces(mlir::Value table);
  bool mayBeSame(mlir::Value read) const;
  mlir::Value equalFrom(mlir::Value buffer, mlir::Value at, mlir::Value most);
  void changePieces(mlir::Value table, mlir::Value count);

  FunctionEmitter &emitter;
  mlir::OpBuilder &b;
  mlir::Operation *op;
  mlir::Location loc;
  AtomicAccess access;
  mlir::Type element, bits;
  mlir::RankedTensorType shaped; ///< of the offsets; null for a single one
  mlir::Value target;            ///< the memory of the results of a block
  mlir::Value start;             ///< the address of element 0
  mlir::Value launch, host;      ///< see executable_abi.h
  mlir::Value guards, guardMask;
  llvm::SetVector<mlir::Value> readsOfRows;
  /// Where rows may end within the block: those that may differ there.
  llvm::SmallVector<mlir::Value> readsOfPieces;
  bool isInPieces = false;
};

} // namespace tilebridge::cpu
