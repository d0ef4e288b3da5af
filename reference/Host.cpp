//===- Host.cpp - print and assert ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Float.h"
#include "reference/Program.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;

namespace tilebridge::reference {

static void printNumber(llvm::raw_ostream &out, uint64_t bits, Type type,
                        bool isSigned, bool isHex) {
  if (auto real = dyn_cast<FloatType>(type))
    out << llvm::format(isHex ? "%a" : "%f", toDouble(bits, real));
  else if (isHex)
    out << "0x" << llvm::format_hex_no_prefix(bits, (widthOf(type) + 3) / 4);
  else if (isSigned && !type.isInteger(1))
    out << signedValue(bits, widthOf(type));
  else
    out << bits;
}

/// One line an element, as Triton prints it on a GPU: where it is in the block,
/// padded to the width of the largest index.
static void printValue(Program &program, linalg_ext::PrintOp op,
                       const std::string &programText, size_t number) {
  const Datum &datum = program.get(op.getValues()[number]);
  std::string operand = op.getValues().size() > 1
                            ? "(operand " + std::to_string(number) + ") "
                            : "";
  size_t lane = 0;
  forEachPosition(datum.shape(), [&](ArrayRef<int64_t> position) {
    std::string line;
    llvm::raw_string_ostream out(line);
    out << programText << " idx (";
    for (size_t i = 0; i < position.size(); ++i) {
      size_t digits = std::to_string(datum.shape()[i] - 1).size();
      out << (i ? ", " : "")
          << llvm::right_justify(std::to_string(position[i]), digits);
    }
    out << ")" << op.getPrefix() << operand;
    printNumber(out, datum.lanes()[lane++], datum.elementType(),
                op.getIsSigned()[number], op.getHex());
    out << "\n";
    program.print(line);
  });
}

static LogicalResult evaluatePrint(Program &program, Operation *op) {
  auto print = cast<linalg_ext::PrintOp>(op);
  std::string id = "pid (";
  for (mlir::Value one : {print.getPidX(), print.getPidY(), print.getPidZ()})
    id += std::to_string(program.lanes(one).front()) +
          (one == print.getPidZ() ? ")" : ", ");
  if (print.getValues().empty())
    program.print(id + print.getPrefix().str() + "\n");
  for (size_t i = 0; i < print.getValues().size(); ++i)
    printValue(program, print, id, i);
  return success();
}

static LogicalResult evaluateAssert(Program &program, Operation *op) {
  auto assertion = cast<linalg_ext::AssertOp>(op);
  for (uint64_t condition : program.lanes(assertion.getCondition()))
    if (!condition)
      return program.failAssertion(op, assertion.getMessage());
  return success();
}

static LogicalResult evaluateClock(Program &program, Operation *op) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  program.setInteger(
      op->getResult(0),
      std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  return success();
}

void addHostHandlers(HandlerTable &table) {
  table.add<linalg_ext::PrintOp>(evaluatePrint);
  table.add<linalg_ext::AssertOp>(evaluateAssert);
  table.add<linalg_ext::ClockOp>(evaluateClock);
}

} // namespace tilebridge::reference
