//===- Host.cpp - what a kernel prints, asserts and asks for --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Emitter.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

using namespace mlir;

namespace tilebridge::accel {

LogicalResult Emitter::emitPrint(Operation *op) {
  auto print = cast<linalg_ext::PrintOp>(op);
  comment(op, "print");
  facts.prints = true;
  std::string ids = "{" + word(print.getPidX()) + ", " + word(print.getPidY()) +
                    ", " + word(print.getPidZ()) + "}";
  std::string start = "accel::print(pe, accel::program_ids" + ids;
  if (print.getValues().empty())
    line(start + ", " + quoted(print.getPrefix()) + ");");
  for (auto [number, value] : llvm::enumerate(print.getValues())) {
    std::string prefix = print.getPrefix().str();
    std::string operand = print.getValues().size() > 1
                              ? "(operand " + std::to_string(number) + ") "
                              : "";
    std::string how =
        std::string(print.getIsSigned()[number] ? "true" : "false") + ", " +
        (print.getHex() ? "true" : "false");
    auto block = dyn_cast<ShapedType>(value.getType());
    if (!block) {
      std::string type = cppType(value.getType());
      assert(!type.empty() && "the value was emitted");
      line(start + ", " + quoted(" idx ()" + prefix + operand) + ", " + type +
           "(" + word(value) + "), " + how + ");");
      continue;
    }
    const View from = view(value);
    SmallVector<Index> at = openLoops(from.sizes);
    line(start + ", accel::position(" + braced(from.sizes) + ", " + braced(at) +
         "), " + quoted(prefix + operand) + ", " + from.pointer + "[" +
         from.at(at).str() + "], " + how + ");");
    closeLoops(at);
  }
  return success();
}

Emitter::Outcome Emitter::emitHost(Operation *op) {
  if (isa<linalg_ext::PrintOp>(op))
    return emitPrint(op);
  if (auto assertion = dyn_cast<linalg_ext::AssertOp>(op)) {
    comment(op, "assert");
    Value condition = assertion.getCondition();
    SmallVector<Index> at;
    std::string text;
    if (isa<ShapedType>(condition.getType())) {
      const View from = view(condition);
      at = openLoops(from.sizes);
      text = from.pointer + "[" + from.at(at).str() + "]";
    } else {
      text = word(condition);
    }
    open("if (!" + text + ")");
    line("accel_assert_failed(pe, " + quoted(assertion.getMessage()) + ", " +
         quoted(placeOf(op->getLoc())) + ");");
    closeLoops(at, 1);
    return success();
  }
  if (isa<linalg_ext::ClockOp>(op)) {
    set(op->getResult(0),
        call(op->getLoc(), "accel_clock", b.getI64Type(),
             ValueRange{literal(
                 emitc::OpaqueType::get(b.getContext(), "accel_pe *"), "pe")}));
    return success();
  }
  return std::nullopt;
}

} // namespace tilebridge::accel
