//===- Emitter.h - a function as a sequence of EmitC ------------*- C++ -*-===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// One block of EmitC becomes the body of a function of C++. Scalars are ops of
// EmitC, so that passes can fold and rewrite them; statements, loops and
// branches are verbatim lines, and refer to scalars by the names that Text.h
// gives them after the translation.
#pragma once

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/emit/View.h"

#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

#include <map>

namespace tilebridge::accel {

/// The type in C++ of a number; empty where there is none.
std::string cppType(mlir::Type type);
mlir::Type emitcType(mlir::Type type);
/// "kernel.py:27:14".
std::string placeOf(mlir::Location loc);
/// A literal of C++ for text.
std::string quoted(llvm::StringRef text);
/// An identifier of C++ like this name.
std::string identifier(llvm::StringRef name);
/// A number of this type in C++, as an operand of any function.
mlir::FailureOr<std::string> cppConstant(mlir::Attribute value);

/// What functions of one module have in common.
struct ModuleFacts {
  /// Tables of assignments and the like, before all functions.
  std::vector<std::string> globals;
  /// What the target's description calls a PE's local memory.
  std::string localMemory;
  /// Bytes used, by the name of the memory.
  std::map<std::string, uint64_t> memories;
  /// Types and names of the last function's parameters, but for the PE.
  std::vector<std::pair<std::string, std::string>> parameters;
  /// How many of them are the ids of a program, which the kernel has no use
  /// for.
  unsigned ids = 0;
  bool prints = false;
};

class Emitter {
public:
  Emitter(mlir::OpBuilder &builder, ModuleFacts &facts)
      : b(builder), facts(facts) {}

  /// The whole function, as an emitc.func at the builder's place.
  mlir::LogicalResult emitFunction(mlir::func::FuncOp function);

private:
  //===--- Values ----------------------------------------------------------===//
  /// A scalar as an operand of an op of EmitC, and as a word of C++.
  mlir::Value scalar(mlir::Value value);
  std::string word(mlir::Value value);
  Index index(mlir::Value value);
  Index index(mlir::OpFoldResult value);
  View &view(mlir::Value value) { return views.find(value)->second; }
  mlir::LogicalResult set(mlir::Value value, mlir::FailureOr<View> view);
  void set(mlir::Value value, mlir::Value scalar) { scalars[value] = scalar; }
  void set(mlir::Value value, llvm::StringRef text);
  /// A value of EmitC that is this text.
  mlir::Value literal(mlir::Type type, llvm::StringRef text);
  /// A new name like this one.
  std::string fresh(llvm::StringRef like);
  /// A name for a value, as its author called it if there is a name.
  std::string freshFor(mlir::Value value, llvm::StringRef otherwise);
  /// The view with what its type says in numbers.
  View described(mlir::ShapedType type, std::string pointer);
  /// Declares variables that hold a value of this type, or parameters.
  mlir::LogicalResult
  declare(mlir::Value value, llvm::StringRef like,
          std::vector<std::pair<std::string, std::string>> &variables);
  /// What is assigned to the variables of a value of this type.
  mlir::LogicalResult contents(mlir::Value value, mlir::Value like,
                               std::vector<std::string> &texts);
  mlir::LogicalResult assign(mlir::ValueRange from, mlir::ValueRange to);

  //===--- Text ------------------------------------------------------------===//
  void line(const llvm::Twine &text);
  void open(const llvm::Twine &text) { line(text + " {"); }
  void close() { line("}"); }
  /// Says which line of the kernel follows.
  void comment(mlir::Operation *op, llvm::StringRef what = "");
  mlir::Value call(mlir::Location loc, llvm::StringRef function,
                   mlir::Type type, mlir::ValueRange operands);

  //===--- Ops, by family --------------------------------------------------===//
  mlir::LogicalResult emitBlock(mlir::Block &block);
  mlir::LogicalResult emitOp(mlir::Operation *op);
  /// Each says by its optional whether it knows the op.
  using Outcome = std::optional<mlir::LogicalResult>;
  Outcome emitControl(mlir::Operation *op);
  Outcome emitScalar(mlir::Operation *op);
  Outcome emitCast(mlir::Operation *op);
  Outcome emitCompare(mlir::Operation *op);
  Outcome emitView(mlir::Operation *op);
  Outcome emitAccess(mlir::Operation *op);
  Outcome emitAccel(mlir::Operation *op);
  Outcome emitHost(mlir::Operation *op);
  Outcome emitTensor(mlir::Operation *op);
  Outcome emitTensorCompute(mlir::Operation *op);

  mlir::LogicalResult emitConstant(mlir::Operation *op);
  mlir::LogicalResult emitFor(mlir::scf::ForOp loop);
  mlir::LogicalResult emitWhile(mlir::scf::WhileOp loop);
  mlir::LogicalResult emitIf(mlir::scf::IfOp op);
  mlir::LogicalResult emitSwitch(mlir::scf::IndexSwitchOp op);
  mlir::LogicalResult emitCall(mlir::func::CallOp call);
  mlir::LogicalResult declareResults(mlir::Operation *op);
  mlir::LogicalResult emitLinalg(mlir::linalg::LinalgOp op,
                                 llvm::ArrayRef<View> outs);
  /// False where the op is no product of matrices that the ABI has.
  bool emitMatmul(mlir::linalg::LinalgOp op, const View &sums);
  mlir::LogicalResult emitTransfer(mlir::Operation *op);
  mlir::LogicalResult emitProgram(ProgramOp op);
  mlir::LogicalResult emitAtomic(AtomicOp op);
  mlir::LogicalResult emitScalarAtomic(mlir::Operation *op);
  mlir::LogicalResult emitCompute(ComputeOp op);
  mlir::LogicalResult emitReduceLine(ReduceLineOp op);
  mlir::LogicalResult emitPrint(mlir::Operation *op);

  /// The body of a region whose arguments are these scalars; what it yields.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emitBody(mlir::Block &body, mlir::ValueRange arguments);
  mlir::Value load(mlir::Location loc, const View &from, const Index &at,
                   mlir::Type type);
  void store(mlir::Location loc, mlir::Value value, const View &to,
             const Index &at);
  /// Opens loops over a box; their variables.
  llvm::SmallVector<Index> openLoops(llvm::ArrayRef<Index> sizes);
  /// Closes loops and other braces; the names of variables are free again.
  void closeLoops(llvm::ArrayRef<Index> variables, unsigned others = 0);
  /// A block on the stack, with its contents open.
  View temporary(mlir::ShapedType type, llvm::StringRef like);
  /// Copies elements of one type.
  void copy(mlir::Location loc, const View &from, const View &to,
            mlir::Type type);

  mlir::OpBuilder &b;
  ModuleFacts &facts;
  llvm::DenseMap<mlir::Value, mlir::Value> scalars;
  llvm::DenseMap<mlir::Value, View> views;
  /// Names of results of EmitC.
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::StringSet<> taken;
  /// Names of variables of loops that are over.
  llvm::StringSet<> finished;
  std::map<std::string, std::string> memoryPointers;
  /// Where loops leave off: what linalg.index is.
  llvm::SmallVector<Index> loopVariables;
  std::string lastPlace;
};

} // namespace tilebridge::accel
