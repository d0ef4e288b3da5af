//===- HostCalls.cpp - linalg_ext.print and linalg_ext.assert -------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Both call functions of the host (tb_host_v1), which they find through the
// launch. A thread-local variable of the kernel holds it, so that no function
// needs one more argument; tilebridge-cpu-entry sets it where it exists. A
// failed assertion ends the call of `run`: what follows it, which may rely on
// the condition, is not run.

#include "cpu-backend/HostState.h"
#include "cpu-backend/emit/Elements.h"
#include "cpu-backend/emit/Roots.h"
#include "runtime/executable_abi.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

namespace {

/// Declares and calls functions of C, and makes constants of text.
class HostCaller {
public:
  HostCaller(OpBuilder &builder, Operation *op)
      : b(builder), loc(op->getLoc()), module(op->getParentOfType<ModuleOp>()),
        pointer(LLVM::LLVMPointerType::get(builder.getContext())) {}

  Value text(StringRef content) {
    std::string name;
    for (unsigned i = 0; name.empty() || module.lookupSymbol(name); ++i)
      name = "tilebridge_text_" + std::to_string(i);
    OpBuilder atStart(module.getBodyRegion());
    std::string bytes = content.str();
    bytes.push_back('\0');
    LLVM::GlobalOp::create(
        atStart, loc, LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name,
        b.getStringAttr(bytes));
    return LLVM::AddressOfOp::create(b, loc, pointer, name);
  }

  /// Calls print (offset of the field) or fail of the host with a text.
  void callHost(size_t field, Value content) {
    Value launch = currentLaunch(b, loc, module);
    auto loadPointer = [&](Value base, size_t offset) {
      return loadField(b, loc, base, offset, pointer);
    };
    Value host = loadPointer(launch, offsetof(tb_launch_v1, host));
    Value function = loadPointer(host, field),
          state = loadPointer(host, offsetof(tb_host_v1, state));
    auto type = LLVM::LLVMFunctionType::get(
        LLVM::LLVMVoidType::get(b.getContext()), {pointer, pointer});
    LLVM::CallOp::create(b, loc, type, ValueRange{function, state, content});
  }

  Value address(StringRef variable, Type type) {
    return hostVariable(b, loc, module, variable, type);
  }

  LLVM::LLVMFuncOp function(StringRef name, Type result,
                            ArrayRef<Type> arguments, bool isVariadic = false) {
    if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      return known;
    OpBuilder atStart(module.getBodyRegion());
    return LLVM::LLVMFuncOp::create(
        atStart, module.getLoc(), name,
        LLVM::LLVMFunctionType::get(result, arguments, isVariadic));
  }

  Type pointerType() const { return pointer; }

private:
  OpBuilder &b;
  Location loc;
  ModuleOp module;
  Type pointer;
};

/// The file, line and column that a location comes down to, innermost first.
FileLineColLoc placeOf(Location loc) {
  FileLineColLoc place;
  loc->walk([&](Location inner) {
    if (auto file = dyn_cast<FileLineColLoc>(inner)) {
      place = file;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return place;
}

/// A literal text within a format of printf.
std::string escaped(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '%' ? std::string("%%") : std::string(1, c);
  return result;
}

class PrintEmitter {
public:
  PrintEmitter(Emitter &emitter, linalg_ext::PrintOp op)
      : emitter(emitter), b(emitter.builder()), op(op), loc(op.getLoc()),
        host(b, op) {}

  LogicalResult emit() {
    for (Value id : {op.getPidX(), op.getPidY(), op.getPidZ()})
      programs.push_back(emitter.mapScalar(id));
    // The longest number is a double of 309 digits.
    size = 512 + static_cast<int64_t>(op.getPrefix().size());
    if (op.getValues().empty())
      return emitLine("pid (%u, %u, %u)" + escaped(op.getPrefix()) + "\n", {});
    for (auto [i, value] : llvm::enumerate(op.getValues())) {
      std::string operand = op.getValues().size() > 1
                                ? "(operand " + std::to_string(i) + ") "
                                : "";
      if (failed(emitValue(value, operand, op.getIsSigned()[i])))
        return failure();
    }
    return success();
  }

private:
  LogicalResult emitValue(Value value, const std::string &operand,
                          bool isSigned) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    Type element = type ? type.getElementType() : value.getType();
    ArrayRef<int64_t> shape = type ? type.getShape() : ArrayRef<int64_t>();
    std::string format = "pid (%u, %u, %u) idx (";
    for (auto [i, size] : llvm::enumerate(shape))
      format += (i ? ", %" : "%") +
                std::to_string(std::to_string(size - 1).size()) + "u";
    format += ")" + escaped(op.getPrefix()) + operand;
    bool isFloat = isa<FloatType>(element);
    if (isFloat)
      format += op.getHex() ? "%a\n" : "%f\n";
    else if (op.getHex())
      format += "0x%0" +
                std::to_string((element.getIntOrFloatBitWidth() + 3) / 4) +
                "llx\n";
    else
      format += isSigned && !element.isInteger(1) ? "%lld\n" : "%llu\n";

    Value buffer = type ? emitter.bufferOf(value) : Value();
    if (type && !buffer)
      return failure();
    return forEachElement(emitter, loc, shape, [&](Position at) {
      SmallVector<Value> arguments;
      for (Value index : at)
        arguments.push_back(
            arith::IndexCastOp::create(b, loc, b.getI32Type(), index));
      Value number = type ? loadElements(b, loc, buffer, at, element)
                          : emitter.mapScalar(value);
      arguments.push_back(toVariadic(number, isSigned && !op.getHex()));
      return emitLine(format, arguments);
    });
  }

  /// As C passes numbers to printf here: f64, or 64 bits.
  Value toVariadic(Value number, bool isSigned) {
    Type type = number.getType();
    if (type.isF64() || type.isInteger(64))
      return number;
    if (isa<FloatType>(type))
      return arith::ExtFOp::create(b, loc, b.getF64Type(), number);
    if (isSigned && !type.isInteger(1))
      return arith::ExtSIOp::create(b, loc, b.getI64Type(), number);
    return arith::ExtUIOp::create(b, loc, b.getI64Type(), number);
  }

  LogicalResult emitLine(const std::string &format, ArrayRef<Value> numbers) {
    Value memory = emitter.allocate(MemRefType::get({size}, b.getI8Type()));
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(b, loc, memory);
    address = arith::IndexCastOp::create(b, loc, b.getI64Type(), address);
    Value offset =
        memref::ExtractStridedMetadataOp::create(b, loc, memory).getOffset();
    address = arith::AddIOp::create(
        b, loc, address,
        arith::IndexCastOp::create(b, loc, b.getI64Type(), offset));
    Value line = LLVM::IntToPtrOp::create(b, loc, host.pointerType(), address);
    Type pointer = host.pointerType(), i64 = b.getI64Type();
    auto print = host.function("snprintf", b.getI32Type(),
                               {pointer, i64, pointer}, /*isVariadic=*/true);
    SmallVector<Value> arguments = {
        line, arith::ConstantIntOp::create(b, loc, i64, size),
        host.text(format)};
    arguments.append(programs);
    arguments.append(numbers.begin(), numbers.end());
    LLVM::CallOp::create(b, loc, print, arguments);
    host.callHost(offsetof(tb_host_v1, print), line);
    return success();
  }

  Emitter &emitter;
  OpBuilder &b;
  linalg_ext::PrintOp op;
  Location loc;
  HostCaller host;
  SmallVector<Value> programs;
  int64_t size = 0;
};

} // namespace

LogicalResult tilebridge::cpu::emitPrint(Emitter &emitter, Operation *op) {
  return PrintEmitter(emitter, cast<linalg_ext::PrintOp>(op)).emit();
}

LogicalResult tilebridge::cpu::emitAssert(Emitter &emitter, Operation *op) {
  auto assertion = cast<linalg_ext::AssertOp>(op);
  OpBuilder &b = emitter.builder();
  Location loc = op->getLoc();
  HostCaller host(b, op);
  // Programs look for these words, which a GPU's driver says.
  std::string message =
      "device-side assert failed: " + assertion.getMessage().str() + "\n";
  if (FileLineColLoc place = placeOf(loc))
    message = (place.getFilename().getValue() + ":" + Twine(place.getLine()) +
               ":" + Twine(place.getColumn()) + ": " + message)
                  .str();
  Value text = host.text(message);
  auto check = [&](Value condition) {
    Value failed = arith::XOrIOp::create(
        b, loc, condition,
        arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1));
    auto branch = scf::IfOp::create(b, loc, failed, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    host.callHost(offsetof(tb_host_v1, fail), text);
    Type pointer = host.pointerType();
    auto leave =
        host.function("longjmp", LLVM::LLVMVoidType::get(b.getContext()),
                      {pointer, b.getI32Type()});
    Value state =
        host.address(kReturnVariable, returnStateType(b.getContext()));
    LLVM::CallOp::create(b, loc, leave,
                         ValueRange{state, arith::ConstantIntOp::create(
                                               b, loc, b.getI32Type(), 1)});
  };
  auto type = dyn_cast<RankedTensorType>(assertion.getCondition().getType());
  if (!type) {
    check(emitter.mapScalar(assertion.getCondition()));
    return success();
  }
  Value buffer = emitter.bufferOf(assertion.getCondition());
  if (!buffer)
    return failure();
  // Nearly always all hold: whole vectors of them are asked.
  SmallVector<int64_t> steps(type.getShape());
  if (steps.empty()) {
    check(loadElements(b, loc, buffer, {}, b.getI1Type()));
    return success();
  }
  int64_t lanes = lanesAlong(steps.back(), emitter.target().vectorBits / 8);
  steps.back() /= lanes;
  return forEachElement(emitter, loc, steps, [&](Position step) {
    SmallVector<Value> at(step);
    at.back() = arith::MulIOp::create(
        b, loc, at.back(), arith::ConstantIndexOp::create(b, loc, lanes));
    Value each = loadElements(b, loc, buffer, at, b.getI1Type(), lanes);
    check(
        vector::ReductionOp::create(b, loc, vector::CombiningKind::AND, each));
    return success();
  });
}
