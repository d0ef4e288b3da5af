//===- TableLanes.h - lanes that are picked from a small table ---*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "cpu-backend/emit/Emitter.h"

namespace tilebridge::cpu {

/// What a lane costs of the time of a simple instruction on a vector, whatever
/// the CPU is.
inline int64_t costOfTable(int64_t size, int64_t bits) {
  constexpr int64_t fewRegisters = 4 * 512;
  return size * bits <= fewRegisters ? 4 : 10;
}

/// Picks elements of a table that is in registers, by permutations.
class TableLanes {
public:
  TableLanes(mlir::OpBuilder &builder, mlir::Location loc,
             const EmitTarget &target)
      : b(builder), loc(loc), target(target) {}

  /// The longest table of elements of so many bits that is looked up sooner in
  /// registers than in memory; 0 where the CPU has no such permutations.
  static int64_t mostEntries(const EmitTarget &target, unsigned bits);

  /// Lane i is element `numbers[i]` of `table`, a vector of integers or floats;
  /// numbers, integers of any width, are below the length of the table, which
  /// is `mostEntries` at most.
  mlir::Value lookUp(mlir::Value table, mlir::Value numbers);

private:
  mlir::Value lookUpIntegers(mlir::Value table, mlir::Value numbers);
  mlir::Value lookUpHalves(mlir::Value table, mlir::Value numbers);
  mlir::Value withWidth(mlir::Value numbers, unsigned bits);
  mlir::Value pick(llvm::ArrayRef<mlir::Value> registers, int64_t entries,
                   mlir::Value numbers);
  mlir::Value call(llvm::StringRef name, mlir::ValueRange operands,
                   mlir::Type type);
  mlir::Value shuffled(mlir::Value lanes, llvm::ArrayRef<int64_t> order);
  mlir::Value constant(mlir::Type vector, int64_t value);
  bool isByBytes(mlir::Value lanes) const;

  mlir::OpBuilder &b;
  mlir::Location loc;
  const EmitTarget &target;
};

} // namespace tilebridge::cpu
