//===- PtxToArith.h - PTX instructions as arithmetic ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "triton-to-linalg/assembly/Ptx.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace tilebridge::ttl::ptx {

/// Runs a program's instructions as ops of arith and math. A register is an
/// integer of its width; instructions read it as the type in their name.
class Translator {
public:
  Translator(mlir::ImplicitLocOpBuilder &builder, const Program &program)
      : b(builder), program(program) {}

  /// Gives `$number` a width in bits and, if it is an input, its value.
  void bind(unsigned number, unsigned bits, mlir::Value value);
  /// What `$number` has in the end; null if nothing wrote it.
  mlir::Value valueOf(unsigned number);

  /// The error names the first instruction that has no translation.
  llvm::Error run();

private:
  using Values = llvm::SmallVector<mlir::Value>;
  /// Computes a result from operands of one type.
  using Compute = llvm::function_ref<mlir::Value(mlir::ValueRange)>;
  /// A translation that may not apply: the modifiers, or the operands.
  using Handler = bool (Translator::*)(const Instruction &);

  struct Register {
    unsigned bits;
    mlir::Value value;
  };

  // PtxToArith.cpp: registers.
  bool translate(const Instruction &instruction);
  /// A type of PTX; `isSigned` is left alone for floats. Null if unknown.
  mlir::Type typeOf(llvm::StringRef name, bool &isSigned);
  /// The halves of `f16x2` and `bf16x2`; null for other types.
  mlir::Type halfOf(llvm::StringRef name);
  mlir::Value read(const Operand &operand, mlir::Type type);
  bool write(const Instruction &, const Operand &operand, mlir::Value value,
             bool isSigned = false);
  mlir::Value bits(mlir::Value value);
  mlir::Value resize(mlir::Value value, unsigned bits, bool isSigned = false);
  mlir::Value part(mlir::Value value, unsigned from, mlir::Type type);
  mlir::Value join(mlir::ValueRange parts);
  mlir::Value integer(unsigned bits, uint64_t value);
  mlir::Value number(mlir::Type type, double value);
  /// Every modifier is one of these, but for the types at the end.
  static bool onlyHas(const Instruction &, unsigned types,
                      llvm::ArrayRef<llvm::StringRef> allowed);
  /// d = compute(operands), for each half of a pair.
  bool compute(const Instruction &, size_t operands,
               llvm::ArrayRef<llvm::StringRef> allowed,
               llvm::function_ref<mlir::Value(mlir::Type, bool isSigned,
                                              mlir::ValueRange)>
                   body);

  // PtxArithmetic.cpp
  bool sum(const Instruction &);
  bool product(const Instruction &);
  bool multiplyAdd(const Instruction &);
  bool fusedMultiplyAdd(const Instruction &);
  bool quotient(const Instruction &);
  bool extremum(const Instruction &);
  bool unaryMinus(const Instruction &);
  bool function(const Instruction &);
  bool copySign(const Instruction &);
  bool compare(const Instruction &);
  bool select(const Instruction &);

  // PtxBits.cpp
  bool move(const Instruction &);
  bool logic(const Instruction &);
  bool shift(const Instruction &);
  bool funnelShift(const Instruction &);
  bool permute(const Instruction &);
  bool lookup(const Instruction &);
  bool extractField(const Instruction &);
  bool insertField(const Instruction &);
  bool countBits(const Instruction &);

  // PtxConversions.cpp
  bool convert(const Instruction &);
  bool convertPair(const Instruction &);
  bool convertScales(const Instruction &);
  mlir::Value convertFloat(mlir::Value value, mlir::FloatType type,
                           bool towardZero);

  mlir::Value shifted(mlir::Value value, mlir::Value amount, bool left,
                      bool isSigned);

  mlir::ImplicitLocOpBuilder &b;
  const Program &program;
  llvm::StringMap<Register> registers;
};

} // namespace tilebridge::ttl::ptx
