//===- Specialize.cpp - a kernel for one launch ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Specialize.h"

#include "accel-backend/dialect/AccelDialect.h"
#include "accel-backend/dialect/Assignment.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"
#include "accel-backend/plan/Tiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELSPECIALIZEPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge::accel;

static void makeConstant(func::FuncOp kernel, unsigned number, int64_t value) {
  Value argument = kernel.getArgument(number);
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  argument.replaceAllUsesWith(arith::ConstantOp::create(
      builder, argument.getLoc(),
      builder.getIntegerAttr(argument.getType(), value)));
}

static LogicalResult checkInteger(func::FuncOp kernel, unsigned number,
                                  int64_t value) {
  if (number >= kernel.getNumArguments())
    return kernel.emitError("has no argument ")
           << number << ": it has " << kernel.getNumArguments();
  auto type = dyn_cast<IntegerType>(kernel.getArgument(number).getType());
  if (!type)
    return kernel.emitError("argument ")
           << number << " is no integer but "
           << kernel.getArgument(number).getType();
  // Signed or unsigned: both are written as they are.
  unsigned width = type.getWidth();
  if (width < 64 && !llvm::isIntN(width, value) && !llvm::isUIntN(width, value))
    return kernel.emitError("argument ")
           << number << " of type " << type << " cannot be " << value;
  return success();
}

static LogicalResult setAttribute(func::FuncOp kernel, unsigned number,
                                  StringRef name, Attribute value) {
  if (number >= kernel.getNumArguments() ||
      !isa<MemRefType>(kernel.getArgument(number).getType()))
    return kernel.emitError("argument ")
           << number << " is no pointer: '" << name << "' says nothing of it";
  kernel.setArgAttr(number, name, value);
  return success();
}

LogicalResult tilebridge::accel::specialize(func::FuncOp kernel,
                                            const LaunchFacts &facts) {
  for (auto [number, value] : facts.integers)
    if (failed(checkInteger(kernel, number, value)))
      return failure();
  if (facts.grid)
    for (int64_t count : *facts.grid)
      if (count < 0 || count > INT32_MAX)
        return kernel.emitError("a grid of ")
               << count << " programs in one dimension";
  for (unsigned number : facts.noalias)
    if (failed(setAttribute(kernel, number, noaliasAttr,
                            UnitAttr::get(kernel.getContext()))))
      return failure();
  for (const auto &[number, memory] : facts.placed)
    if (failed(setAttribute(kernel, number, placedAttr,
                            StringAttr::get(kernel.getContext(), memory))))
      return failure();
  for (auto [number, value] : facts.integers) {
    Type type = kernel.getArgument(number).getType();
    int64_t known =
        llvm::SignExtend64(uint64_t(value), type.getIntOrFloatBitWidth());
    makeConstant(kernel, number, known);
    kernel.setArgAttr(number, valueAttr, IntegerAttr::get(type, known));
  }
  if (facts.mostDepth > 0)
    kernel->setAttr(mostDepthAttr,
                    IntegerAttr::get(IntegerType::get(kernel.getContext(), 64),
                                     facts.mostDepth));
  if (facts.isUnicast)
    kernel->setAttr(unicastAttr, UnitAttr::get(kernel.getContext()));
  if (!facts.merge.empty())
    kernel->setAttr(mergeAttr,
                    DenseI64ArrayAttr::get(kernel.getContext(), facts.merge));
  if (facts.grid)
    kernel->setAttr(gridAttr,
                    DenseI64ArrayAttr::get(kernel.getContext(), *facts.grid));
  if (facts.grid)
    for (unsigned d = 0; d < 3; ++d)
      makeConstant(kernel, kernel.getNumArguments() - 3 + d, (*facts.grid)[d]);
  return success();
}

namespace {
/// The pass writes its facts as `NUMBER=VALUE`.
struct AccelSpecializePass
    : tilebridge::accel::impl::AccelSpecializePassBase<AccelSpecializePass> {
  using AccelSpecializePassBase::AccelSpecializePassBase;

  LogicalResult initialize(MLIRContext *context) override {
    auto fail = [&](StringRef text) {
      return emitError(UnknownLoc::get(context))
             << "tilebridge-accel-specialize: '" << text << "'";
    };
    facts = {};
    if (!grid.empty()) {
      if (grid.size() > 3)
        return fail("grid") << " has more than three counts";
      facts.grid = {1, 1, 1};
      llvm::copy(grid, facts.grid->begin());
    }
    for (const std::string &text : arguments) {
      auto [number, value] = StringRef(text).split('=');
      std::pair<unsigned, int64_t> entry;
      if (number.getAsInteger(10, entry.first) ||
          value.getAsInteger(0, entry.second))
        return fail(text) << " is not NUMBER=INTEGER";
      facts.integers.insert(entry);
    }
    for (const std::string &text : placed) {
      auto [number, name] = StringRef(text).split('=');
      unsigned argument;
      if (number.getAsInteger(10, argument) || name.empty())
        return fail(text) << " is not NUMBER=MEMORY";
      facts.placed[argument] = name.str();
    }
    facts.noalias.insert(noalias.begin(), noalias.end());
    facts.mostDepth = mostDepth;
    facts.isUnicast = unicast;
    if (!merge.empty()) {
      facts.merge.assign(merge.begin(), merge.end());
      if (!readMerge(DenseI64ArrayAttr::get(context, facts.merge)))
        return fail("merge") << " wants three numbers above 0, at most 16 "
                                "together";
    }
    return success();
  }

  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (kernel->hasAttr("tilebridge.kernel") &&
          failed(specialize(kernel, facts)))
        return signalPassFailure();
  }

  LaunchFacts facts;
};
} // namespace
