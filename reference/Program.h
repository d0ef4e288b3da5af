//===- Program.h - one program while it runs -*- C++ -*- ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#pragma once

#include "reference/Datum.h"
#include "reference/Evaluate.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <array>
#include <functional>
#include <optional>

namespace tilebridge::reference {

/// The loops of an op of linalg while its body runs: their ranges, and where
/// each one is. One without a position goes over lanes, the last one fastest.
struct BodyLoops {
  llvm::SmallVector<int64_t> ranges;
  llvm::SmallVector<std::optional<int64_t>> at;

  explicit BodyLoops(llvm::ArrayRef<int64_t> ranges)
      : ranges(ranges), at(ranges.size()) {}
  void fix(llvm::ArrayRef<unsigned> loops, llvm::ArrayRef<int64_t> position) {
    for (auto [loop, value] : llvm::zip_equal(loops, position))
      at[loop] = value;
  }
};

class Program;
class Probe;

/// Runs one operation: reads its operands from the program and sets its
/// results. A failure has been reported at the operation.
using Handler =
    std::function<mlir::LogicalResult(Program &, mlir::Operation *)>;

/// What an operation does, by its class. A family of operations is one file.
class HandlerTable {
public:
  template <typename OpT> void add(Handler handler) {
    handlers[mlir::TypeID::get<OpT>()] = std::move(handler);
  }
  /// Null where the operation is not known.
  const Handler *find(mlir::Operation *op) const;

  /// All families.
  static const HandlerTable &all();

private:
  llvm::DenseMap<mlir::TypeID, Handler> handlers;
};

/// What all programs of a launch share.
struct LaunchState {
  const Launch &launch;
  Probe *probe = nullptr;
  /// Where an atomic access lets other programs run; false where the launch
  /// has ended meanwhile. Empty: programs run one after the other.
  std::function<bool()> pass;
  std::string *assertion = nullptr;
};

/// One program of the grid: the values it has computed, and the memory it may
/// touch.
class Program {
public:
  Program(const LaunchState &state, std::array<uint32_t, 3> id)
      : state(state), programId(id) {}

  /// Calls a function. Results are those of its `return`.
  mlir::LogicalResult call(mlir::func::FuncOp function,
                           llvm::ArrayRef<Datum> arguments,
                           llvm::SmallVectorImpl<Datum> &results);

  /// From now on values are those of this frame. For callers that run a
  /// function themselves, op by op.
  void useFrame(llvm::DenseMap<mlir::Value, Datum> &frame) { values = &frame; }

  /// Runs a block; `yielded` are the operands of its terminator.
  mlir::LogicalResult run(mlir::Block &block, llvm::ArrayRef<Datum> arguments,
                          llvm::SmallVectorImpl<Datum> &yielded);

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  const Datum &get(mlir::Value value) const;
  const Lanes &lanes(mlir::Value value) const { return get(value).lanes(); }
  const View &view(mlir::Value value) const { return get(value).view(); }
  /// A scalar as a signed number.
  int64_t integer(mlir::Value value) const;
  /// Constants of an op and its operands in the places of the dynamic ones.
  llvm::SmallVector<int64_t>
  integers(llvm::ArrayRef<mlir::OpFoldResult> values) const;

  void set(mlir::Value value, Datum datum);
  /// A number, or a block of the static shape of the value's type.
  void set(mlir::Value value, Lanes lanes);
  void setInteger(mlir::Value value, int64_t number) {
    set(value, Lanes{truncated(uint64_t(number), widthOf(value.getType()))});
  }

  //===--------------------------------------------------------------------===//
  // Memory. Offsets are in elements and include the view's own.
  //===--------------------------------------------------------------------===//

  mlir::FailureOr<uint64_t> load(mlir::Operation *op, const View &view,
                                 mlir::Type element, int64_t offset);
  mlir::LogicalResult store(mlir::Operation *op, const View &view,
                            mlir::Type element, int64_t offset, uint64_t bits);

  //===--------------------------------------------------------------------===//
  // The launch
  //===--------------------------------------------------------------------===//

  /// Lets other programs run, so that those that wait for one another progress.
  /// Fails where the launch has ended meanwhile.
  mlir::LogicalResult pass() {
    return mlir::success(!state.pass || state.pass());
  }
  void print(llvm::StringRef line) { state.launch.print(line); }
  /// Ends the launch: an assertion of the kernel is false.
  mlir::LogicalResult failAssertion(mlir::Operation *op,
                                    llvm::StringRef message);
  llvm::ArrayRef<uint32_t> id() const { return programId; }
  /// An error at an operation that names the program as well.
  mlir::InFlightDiagnostic error(mlir::Operation *op) const;

  /// Set while the body of an op of linalg runs.
  std::optional<BodyLoops> bodyLoops;

private:
  mlir::LogicalResult runOp(mlir::Operation *op);
  mlir::LogicalResult checkAccess(mlir::Operation *op, const View &view,
                                  mlir::Type element, int64_t offset,
                                  llvm::StringRef verb, uint64_t &address);

  const LaunchState &state;
  std::array<uint32_t, 3> programId;
  /// Of the function that runs now.
  llvm::DenseMap<mlir::Value, Datum> *values = nullptr;
  unsigned depth = 0;
};

/// The values of arguments of these types from the launch's slots.
llvm::SmallVector<Datum> readArguments(llvm::ArrayRef<mlir::Type> types,
                                       const Launch &launch);

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

void addIntegerHandlers(HandlerTable &table);
void addFloatHandlers(HandlerTable &table);
void addLibmHandlers(HandlerTable &table);
void addMathHandlers(HandlerTable &table);
void addCastHandlers(HandlerTable &table);
void addShapeHandlers(HandlerTable &table);
void addLinalgHandlers(HandlerTable &table);
void addReductionHandlers(HandlerTable &table);
void addViewHandlers(HandlerTable &table);
void addAccessHandlers(HandlerTable &table);
void addAtomicHandlers(HandlerTable &table);
void addControlFlowHandlers(HandlerTable &table);
void addHostHandlers(HandlerTable &table);

} // namespace tilebridge::reference
