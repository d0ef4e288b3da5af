//===- TranslateAssembly.cpp - inline PTX becomes arithmetic --------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "frontend/TTOps.h"
#include "triton-to-linalg/Passes.h"
#include "triton-to-linalg/Unsupported.h"
#include "triton-to-linalg/assembly/PtxToArith.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace tilebridge::ttl {
#define GEN_PASS_DEF_TRANSLATEASSEMBLYPASS
#include "triton-to-linalg/Passes.h.inc"
} // namespace tilebridge::ttl

using namespace mlir;
using namespace tilebridge;
using ttl::ptx::Translator;

namespace {

/// One value of the op, its elements in registers of one kind.
struct Elements {
  Type type;
  /// In one register, the first in the lowest bits.
  int64_t inRegister;
  int64_t registers;

  Elements(Type value, int64_t pack) : type(getElementTypeOrSelf(value)) {
    int64_t fitting = std::max<int64_t>(32 / type.getIntOrFloatBitWidth(), 1);
    inRegister = std::min(fitting, pack);
    registers = (pack + inRegister - 1) / inRegister;
  }
};

/// Bits of the register that a constraint asks for; 0 if it is not known.
unsigned registerBits(StringRef constraint) {
  return constraint == "r" || constraint == "f"   ? 32
         : constraint == "l" || constraint == "d" ? 64
         : constraint == "h"                      ? 16
         : constraint == "b"                      ? 1
                                                  : 0;
}

class AssemblyTranslation {
public:
  explicit AssemblyTranslation(tt::ElementwiseInlineAsmOp op)
      : op(op), pack(op.getPackedElementAttr().getInt()) {}

  LogicalResult run() {
    if (failed(readConstraints()) || failed(checkTypes()))
      return failure();
    auto parsed = ttl::ptx::parse(op.getAsmString());
    if (!parsed)
      return unsupported(llvm::toString(parsed.takeError()) +
                         " in its assembly");
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto shaped = op->getNumResults() > 0
                      ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                      : RankedTensorType();
    if (!shaped) {
      pack = 1;
      FailureOr<SmallVector<Value>> results =
          translate(b, *parsed, op.getArgs());
      if (failed(results))
        return failure();
      op->replaceAllUsesWith(*results);
      op->erase();
      return success();
    }
    if (op.getArgs().empty() || shaped.getNumElements() % pack != 0)
      return unsupported("its groups of " + Twine(pack) +
                         " elements do not fit blocks of " +
                         Twine(shaped.getNumElements()));
    auto map = tt::MapElementwiseOp::create(b, op->getResultTypes(),
                                            op.getArgs(), pack);
    Block *body = b.createBlock(&map.getScalarOp());
    for (Value argument : op.getArgs())
      for (int64_t i = 0; i < pack; ++i)
        body->addArgument(getElementTypeOrSelf(argument), op.getLoc());
    FailureOr<SmallVector<Value>> results =
        translate(b, *parsed, body->getArguments());
    if (failed(results)) {
      map->erase();
      return failure();
    }
    tt::MapElementwiseReturnOp::create(b, *results);
    op->replaceAllUsesWith(map.getResults());
    op->erase();
    return success();
  }

private:
  LogicalResult unsupported(const Twine &why) {
    return ttl::emitUnsupported(op, why,
                                "write the same with operations of tl, chosen "
                                "by tl.target_info or a constexpr");
  }

  LogicalResult readConstraints() {
    SmallVector<StringRef> parts;
    op.getConstraints().split(parts, ',', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts) {
      part = part.trim();
      // What an instruction clobbers is only what it writes, here.
      if (part.starts_with("~"))
        continue;
      bool isOutput = part.consume_front("=");
      part.consume_front("&");
      unsigned bits = registerBits(part);
      if (bits == 0)
        return unsupported("its constraint '" + part + "' is not known");
      (isOutput ? outputs : inputs).push_back(bits);
    }
    return success();
  }

  LogicalResult checkTypes() {
    auto count = [&](TypeRange types, size_t given) {
      int64_t registers = 0;
      for (Type type : types) {
        if (!getElementTypeOrSelf(type).isIntOrFloat())
          return unsupported("it works on pointers");
        registers += Elements(type, pack).registers;
      }
      if (static_cast<size_t>(registers) == given)
        return success();
      return unsupported("its values take " + Twine(registers) +
                         " registers, and its constraints name " +
                         Twine(given));
    };
    if (failed(count(op->getResultTypes(), outputs.size())))
      return failure();
    return count(op->getOperandTypes(), inputs.size());
  }

  /// The results, `pack` of each, from as many scalars of each operand.
  FailureOr<SmallVector<Value>> translate(ImplicitLocOpBuilder &b,
                                          const ttl::ptx::Program &program,
                                          ValueRange scalars) {
    Translator translator(b, program);
    for (auto [i, bits] : llvm::enumerate(outputs))
      translator.bind(i, bits, Value());
    size_t next = 0;
    for (Value argument : op.getArgs()) {
      Elements elements(argument.getType(), pack);
      for (int64_t i = 0; i < elements.registers; ++i) {
        int64_t first = i * elements.inRegister;
        int64_t size = std::min(elements.inRegister, pack - first);
        translator.bind(outputs.size() + next, inputs[next],
                        together(b, scalars.slice(first, size)));
        ++next;
      }
      scalars = scalars.drop_front(pack);
    }
    if (llvm::Error error = translator.run()) {
      (void)unsupported(llvm::toString(std::move(error)));
      return failure();
    }
    SmallVector<Value> results;
    next = 0;
    for (Type type : op->getResultTypes()) {
      Elements elements(type, pack);
      for (int64_t i = 0; i < pack; ++i) {
        Value whole = translator.valueOf(next + i / elements.inRegister);
        if (!whole)
          return unsupported("it does not write $" +
                             Twine(next + i / elements.inRegister));
        results.push_back(
            apart(b, whole, i % elements.inRegister, elements.type));
        if (!results.back())
          return unsupported("a register is too narrow for " +
                             Twine("its elements"));
      }
      next += elements.registers;
    }
    return results;
  }

  static Value toBits(ImplicitLocOpBuilder &b, Value value) {
    if (isa<IntegerType>(value.getType()))
      return value;
    return arith::BitcastOp::create(
        b, b.getIntegerType(value.getType().getIntOrFloatBitWidth()), value);
  }

  /// One integer of neighbours.
  static Value together(ImplicitLocOpBuilder &b, ValueRange elements) {
    unsigned width = elements.front().getType().getIntOrFloatBitWidth();
    if (elements.size() == 1)
      return elements.front();
    Type type = b.getIntegerType(width * elements.size());
    Value result;
    for (auto [i, element] : llvm::enumerate(elements)) {
      Value wide = arith::ExtUIOp::create(b, type, toBits(b, element));
      if (i != 0) {
        Value by = arith::ConstantOp::create(
            b, b.getIntegerAttr(type, static_cast<int64_t>(i * width)));
        wide = arith::ShLIOp::create(b, wide, by);
      }
      result = result ? arith::OrIOp::create(b, result, wide) : wide;
    }
    return result;
  }

  /// Element `which` of a register; null if the register ends before it.
  static Value apart(ImplicitLocOpBuilder &b, Value whole, int64_t which,
                     Type type) {
    unsigned width = type.getIntOrFloatBitWidth();
    if (whole.getType().getIntOrFloatBitWidth() < (which + 1) * width)
      return {};
    if (which != 0) {
      Value by = arith::ConstantOp::create(
          b, b.getIntegerAttr(whole.getType(),
                              static_cast<int64_t>(which * width)));
      whole = arith::ShRUIOp::create(b, whole, by);
    }
    Type bits = b.getIntegerType(width);
    if (whole.getType() != bits)
      whole = arith::TruncIOp::create(b, bits, whole);
    if (bits == type)
      return whole;
    return arith::BitcastOp::create(b, type, whole);
  }

  tt::ElementwiseInlineAsmOp op;
  int64_t pack;
  SmallVector<unsigned> outputs, inputs;
};

struct TranslateAssembly
    : ttl::impl::TranslateAssemblyPassBase<TranslateAssembly> {
  void runOnOperation() override {
    SmallVector<tt::ElementwiseInlineAsmOp> ops;
    getOperation()->walk(
        [&](tt::ElementwiseInlineAsmOp op) { ops.push_back(op); });
    for (tt::ElementwiseInlineAsmOp op : ops)
      if (failed(AssemblyTranslation(op).run()))
        return signalPassFailure();
  }
};

} // namespace
