//===- Program.cpp - one program while it runs ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Program.h"

#include "reference/Probe.h"

#include <cstring>

using namespace mlir;

namespace tilebridge::reference {

const Handler *HandlerTable::find(Operation *op) const {
  auto found = handlers.find(op->getName().getTypeID());
  return found == handlers.end() ? nullptr : &found->second;
}

const HandlerTable &HandlerTable::all() {
  static const HandlerTable table = [] {
    HandlerTable result;
    addIntegerHandlers(result);
    addFloatHandlers(result);
    addLibmHandlers(result);
    addMathHandlers(result);
    addCastHandlers(result);
    addShapeHandlers(result);
    addLinalgHandlers(result);
    addReductionHandlers(result);
    addViewHandlers(result);
    addAccessHandlers(result);
    addAtomicHandlers(result);
    addControlFlowHandlers(result);
    addHostHandlers(result);
    return result;
  }();
  return table;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

LogicalResult Program::runOp(Operation *op) {
  const Handler *handler = HandlerTable::all().find(op);
  if (!handler)
    return op->emitError("the reference evaluator does not know '")
           << op->getName() << "'";
  if (failed((*handler)(*this, op)))
    return failure();
  if (state.probe)
    for (OpResult result : op->getResults())
      if (failed(state.probe->record(programId, result, get(result))))
        return failure();
  return success();
}

LogicalResult Program::run(Block &block, ArrayRef<Datum> arguments,
                           SmallVectorImpl<Datum> &yielded) {
  for (auto [argument, datum] : llvm::zip(block.getArguments(), arguments))
    set(argument, datum);
  for (Operation &op : block.without_terminator())
    if (failed(runOp(&op)))
      return failure();
  yielded.clear();
  for (mlir::Value value : block.back().getOperands())
    yielded.push_back(get(value));
  return success();
}

LogicalResult Program::call(func::FuncOp function, ArrayRef<Datum> arguments,
                            SmallVectorImpl<Datum> &results) {
  // Triton has no recursion, but IR can be written by hand.
  constexpr unsigned most = 100;
  if (depth == most)
    return function.emitError("calls are nested more than ")
           << most << " deep; recursion is not supported";
  llvm::DenseMap<mlir::Value, Datum> own;
  auto *callers = std::exchange(values, &own);
  ++depth;
  LogicalResult result = run(function.getBody().front(), arguments, results);
  --depth;
  values = callers;
  return result;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Datum &Program::get(mlir::Value value) const {
  return values->find(value)->second;
}

int64_t Program::integer(mlir::Value value) const {
  return signedValue(lanes(value).front(), widthOf(value.getType()));
}

SmallVector<int64_t> Program::integers(ArrayRef<OpFoldResult> given) const {
  SmallVector<int64_t> result;
  for (OpFoldResult one : given)
    if (auto attribute = dyn_cast<Attribute>(one))
      result.push_back(cast<IntegerAttr>(attribute).getInt());
    else
      result.push_back(integer(cast<mlir::Value>(one)));
  return result;
}

void Program::set(mlir::Value value, Datum datum) {
  (*values)[value] = std::move(datum);
}

void Program::set(mlir::Value value, Lanes lanes) {
  auto block = dyn_cast<RankedTensorType>(value.getType());
  set(value,
      Datum(getElementTypeOrSelf(value.getType()),
            block ? block.getShape() : ArrayRef<int64_t>(), std::move(lanes)));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

InFlightDiagnostic Program::error(Operation *op) const {
  InFlightDiagnostic diagnostic = op->emitError();
  diagnostic << "program (" << programId[0] << ", " << programId[1] << ", "
             << programId[2] << ") ";
  return diagnostic;
}

LogicalResult Program::checkAccess(Operation *op, const View &view,
                                   Type element, int64_t offset, StringRef verb,
                                   uint64_t &address) {
  unsigned bytes = bytesOf(element);
  address = view.address + uint64_t(offset) * bytes;
  ArrayRef<MemoryRange> arrays = state.launch.memory;
  if (!state.launch.isChecked)
    return success();
  auto isInside = [&](const MemoryRange &array) {
    uint64_t begin = reinterpret_cast<uint64_t>(array.begin);
    return address >= begin && array.size >= bytes &&
           address - begin <= array.size - bytes;
  };
  if (view.array == View::kAnyArray) {
    if (llvm::any_of(arrays, isInside))
      return success();
    return error(op) << verb << " " << bytes << " bytes at address 0x"
                     << llvm::utohexstr(address)
                     << ", which is in none of the arrays of the launch";
  }
  if (view.array == View::kNoArray)
    return error(op) << verb << " through a pointer to none of the arrays of "
                     << "the launch";
  const MemoryRange &array = arrays[view.array];
  if (isInside(array))
    return success();
  int64_t position = int64_t(address - reinterpret_cast<uint64_t>(array.begin));
  func::FuncOp kernel = findKernel(op->getParentOfType<ModuleOp>());
  return error(op) << verb << " element "
                   << llvm::divideFloorSigned(position, int64_t(bytes))
                   << " of the array of "
                   << describeArray(kernel, state.launch, view.array)
                   << ", which has " << array.size / bytes << " elements";
}

FailureOr<uint64_t> Program::load(Operation *op, const View &view, Type element,
                                  int64_t offset) {
  uint64_t address, bits = 0;
  if (failed(checkAccess(op, view, element, offset, "reads", address)))
    return failure();
  std::memcpy(&bits, reinterpret_cast<const void *>(address), bytesOf(element));
  return truncated(bits, widthOf(element));
}

LogicalResult Program::store(Operation *op, const View &view, Type element,
                             int64_t offset, uint64_t bits) {
  uint64_t address;
  if (failed(checkAccess(op, view, element, offset, "writes", address)))
    return failure();
  std::memcpy(reinterpret_cast<void *>(address), &bits, bytesOf(element));
  uint64_t watched = reinterpret_cast<uint64_t>(state.launch.watch);
  if (watched && watched >= address && watched - address < bytesOf(element) &&
      state.launch.note)
    state.launch.note(op, programId, bits);
  return success();
}

LogicalResult Program::failAssertion(Operation *op, StringRef message) {
  if (state.assertion->empty()) {
    op->getLoc()->walk([&](Location inner) {
      auto file = dyn_cast<FileLineColLoc>(inner);
      if (!file)
        return WalkResult::advance();
      *state.assertion =
          (file.getFilename().getValue() + ":" + Twine(file.getLine()) + ":" +
           Twine(file.getColumn()) + ": ")
              .str();
      return WalkResult::interrupt();
    });
    *state.assertion += message;
  }
  return failure();
}

} // namespace tilebridge::reference
