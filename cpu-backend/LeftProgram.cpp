//===- LeftProgram.cpp - what a program leaves to the next one ------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/LeftProgram.h"
#include "cpu-backend/ProgramLoop.h"
#include "cpu-backend/emit/ShareOperands.h"
#include "cpu-backend/merge/ProgramBatch.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

LeftProgram::LeftProgram(func::FuncOp kernel, OpBuilder &b, Location loc,
                         int64_t words, const llvm::SetVector<Value> &numbers)
    : kernel(kernel), b(b), loc(loc), numbers(numbers.getArrayRef()) {
  for (int dim = 0; dim < 3; ++dim)
    if (!idOf(dim).use_empty())
      dims.push_back(dim);
  state = allocate(b.getI64Type(), words, zeroedAttr);
  for (Value value : numbers)
    places.push_back(allocate(isa<FloatType>(value.getType()) ? value.getType()
                                                              : b.getI64Type(),
                              1, keptAttr));
}

Value LeftProgram::idOf(int dim) {
  return kernel.getArgument(kernel.getNumArguments() -
                            linalg_ext::kProgramArguments + dim);
}

Value LeftProgram::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value LeftProgram::constant64(int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 64);
}

Value LeftProgram::allocate(Type element, int64_t size, StringRef attr) {
  auto op = memref::AllocOp::create(b, loc, MemRefType::get({size}, element));
  op->setAttr(attr, b.getUnitAttr());
  return op;
}

void LeftProgram::setState(int64_t at, Value value) {
  memref::StoreOp::create(b, loc, value, state, constant(at));
}

Value LeftProgram::isRest() {
  Value zero = arith::ConstantIntOp::create(b, loc, 0, 32);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, idOf(0),
                               zero);
}

void LeftProgram::read(IRMapping &map) {
  auto read = [&](int64_t at) -> Value {
    return memref::LoadOp::create(b, loc, state, constant(at));
  };
  there = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, read(0),
                                constant64(0));
  for (int dim : dims) {
    Value id = arith::TruncIOp::create(b, loc, b.getI32Type(), read(dim + 1));
    map.map(idOf(dim), arith::SelectOp::create(b, loc, there, id, idOf(dim)));
  }
  for (auto [value, place] : llvm::zip_equal(numbers, places)) {
    Type type = value.getType();
    Value kept = memref::LoadOp::create(b, loc, place, constant(0));
    if (type.isIndex())
      kept = arith::IndexCastOp::create(b, loc, type, kept);
    else if (type.isInteger() && !type.isInteger(64))
      kept = arith::TruncIOp::create(b, loc, type, kept);
    map.map(value, kept);
  }
}

void LeftProgram::write() {
  for (auto [value, place] : llvm::zip_equal(numbers, places)) {
    Value kept = value;
    if (value.getType().isIndex())
      kept = arith::IndexCastOp::create(b, loc, b.getI64Type(), value);
    else if (value.getType().isInteger() && !value.getType().isInteger(64))
      kept = arith::ExtUIOp::create(b, loc, b.getI64Type(), value);
    memref::StoreOp::create(b, loc, kept, place, constant(0));
  }
  for (int dim : dims)
    setState(dim + 1,
             arith::ExtUIOp::create(b, loc, b.getI64Type(), idOf(dim)));
  setState(0, constant64(1));
}

void LeftProgram::clear() { setState(0, constant64(0)); }

func::FuncOp tilebridge::cpu::findLeavingKernel(ModuleOp module) {
  func::FuncOp kernel;
  for (auto function : module.getOps<func::FuncOp>()) {
    // Programs that run together, or alone, would be in no row.
    if (function->hasAttr(mergedCountAttr))
      return {};
    if (function->hasAttr("tilebridge.kernel"))
      kernel = function;
  }
  if (!kernel || kernel.isExternal() || kernel->hasAttr(deferredAttr) ||
      kernel.getNumArguments() < linalg_ext::kProgramArguments)
    return {};
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i)
    if (kernel.getArgAttr(i, "tilebridge.launch"))
      return {};
  return kernel;
}
