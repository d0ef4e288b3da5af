//===- Scalars.cpp - arithmetic of numbers --------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Emitter.h"

#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace tilebridge::accel {

/// Functions of accel_numbers.h, by the op that each is.
static llvm::StringRef functionOf(llvm::StringRef op) {
  static const llvm::StringMap<llvm::StringRef> functions = {
      {"arith.addi", "add"},
      {"arith.subi", "sub"},
      {"arith.muli", "mul"},
      {"arith.divsi", "divs"},
      {"arith.divui", "divu"},
      {"arith.remsi", "rems"},
      {"arith.remui", "remu"},
      {"arith.floordivsi", "floordivs"},
      {"arith.ceildivsi", "ceildivs"},
      {"arith.ceildivui", "ceildivu"},
      {"arith.shli", "shl"},
      {"arith.shrsi", "shrs"},
      {"arith.shrui", "shru"},
      {"arith.maxsi", "maxs"},
      {"arith.minsi", "mins"},
      {"arith.maxui", "maxu"},
      {"arith.minui", "minu"},
      {"arith.andi", "bit_and"},
      {"arith.ori", "bit_or"},
      {"arith.xori", "bit_xor"},

      {"arith.maximumf", "maximum"},
      {"arith.minimumf", "minimum"},
      {"arith.maxnumf", "maxnum"},
      {"arith.minnumf", "minnum"},
      {"arith.remf", "rem"},
      {"math.absi", "abs_of"},
      {"math.absf", "fabs"},
      {"math.copysign", "copysign"},
      {"math.fma", "fma"},
      {"math.exp", "exp"},
      {"math.exp2", "exp2"},
      {"math.expm1", "expm1"},
      {"math.log", "log"},
      {"math.log2", "log2"},
      {"math.log10", "log10"},
      {"math.log1p", "log1p"},
      {"math.sqrt", "sqrt"},
      {"math.rsqrt", "rsqrt"},
      {"math.cbrt", "cbrt"},
      {"math.erf", "erf"},
      {"math.erfc", "erfc"},
      {"math.floor", "floor"},
      {"math.ceil", "ceil"},
      {"math.trunc", "trunc_of"},
      {"math.round", "round"},
      {"math.roundeven", "roundeven"},
      {"math.sin", "sin"},
      {"math.cos", "cos"},
      {"math.tan", "tan"},
      {"math.asin", "asin"},
      {"math.acos", "acos"},
      {"math.atan", "atan"},
      {"math.sinh", "sinh"},
      {"math.cosh", "cosh"},
      {"math.tanh", "tanh"},
      {"math.asinh", "asinh"},
      {"math.acosh", "acosh"},
      {"math.atanh", "atanh"},
      {"math.atan2", "atan2"},
      {"math.powf", "pow"},
      {"math.fpowi", "powi"},
      {"math.ipowi", "ipowi"},
      {"math.ctpop", "ctpop"},
      {"math.cttz", "cttz"},
      {"math.ctlz", "ctlz"},
      {"math.isnan", "is_nan"},
      {"math.isinf", "is_inf"},
      {"math.isfinite", "is_finite"},
      {"math.isnormal", "is_normal"}};
  return functions.lookup(op);
}

/// What scaled blocks consist of, as bits and as floats: it is only widened.
static bool isTiny(Type type) {
  return type.isIntOrFloat() && (type.getIntOrFloatBitWidth() == 4 ||
                                 type.getIntOrFloatBitWidth() == 6);
}

static bool isNumber(Type type) {
  return !cppType(type).empty() && !isa<TokenType>(type) && !isTiny(type);
}

template <typename OpT>
static Value binary(OpBuilder &b, Location loc, Type type,
                    ValueRange operands) {
  return OpT::create(b, loc, type, operands[0], operands[1]);
}

/// An operator of C++, where it means what the op does.
static Value emitOperator(OpBuilder &b, Operation *op, Type type,
                          ValueRange operands) {
  Location loc = op->getLoc();
  bool isIndex = op->getResult(0).getType().isIndex();
  if (isa<arith::AddFOp>(op) || (isIndex && isa<arith::AddIOp>(op)))
    return binary<emitc::AddOp>(b, loc, type, operands);
  if (isa<arith::SubFOp>(op) || (isIndex && isa<arith::SubIOp>(op)))
    return binary<emitc::SubOp>(b, loc, type, operands);
  if (isa<arith::MulFOp>(op) || (isIndex && isa<arith::MulIOp>(op)))
    return binary<emitc::MulOp>(b, loc, type, operands);
  if (isa<arith::DivFOp>(op))
    return binary<emitc::DivOp>(b, loc, type, operands);
  if (isa<arith::NegFOp>(op))
    return emitc::UnaryMinusOp::create(b, loc, type, operands[0]);
  if (isa<arith::SelectOp>(op))
    return emitc::ConditionalOp::create(b, loc, type, operands[0], operands[1],
                                        operands[2]);
  return nullptr;
}

LogicalResult Emitter::emitConstant(Operation *op) {
  FailureOr<std::string> text =
      cppConstant(cast<arith::ConstantOp>(op).getValue());
  if (failed(text))
    return op->emitError("a constant of type ")
           << op->getResult(0).getType() << " cannot be emitted as C++";
  set(op->getResult(0), *text);
  return success();
}

/// Of accel_numbers.h.
static std::string directedName(linalg_ext::DirectedOp op) {
  llvm::StringRef direction =
      op.getRounding() == arith::RoundingMode::upward     ? "FE_UPWARD"
      : op.getRounding() == arith::RoundingMode::downward ? "FE_DOWNWARD"
                                                          : "FE_TOWARDZERO";
  std::string name =
      ("accel::directed_" + op.getFunction() + "<" + direction).str();
  // Conversions say what to.
  Type result = op->getResult(0).getType();
  if (op->getOperand(0).getType() != result)
    name += ", " + cppType(result);
  return name + ">";
}

Emitter::Outcome Emitter::emitScalar(Operation *op) {
  if (op->getNumResults() == 0 || !isNumber(op->getResult(0).getType()))
    return std::nullopt;
  if (isa<arith::ConstantOp>(op))
    return emitConstant(op);
  if (!llvm::all_of(op->getOperandTypes(), isNumber))
    return std::nullopt;
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalar(operand));
  Type type = emitcType(op->getResult(0).getType());
  Value result;
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp,
          arith::AddUIExtendedOp>(op)) {
    bool isSum = isa<arith::AddUIExtendedOp>(op);
    llvm::StringRef upper = isSum                             ? "accel::carry"
                            : isa<arith::MulSIExtendedOp>(op) ? "accel::mulhis"
                                                              : "accel::mulhiu";
    set(op->getResult(0),
        call(op->getLoc(), isSum ? "accel::add" : "accel::mul", type,
             operands));
    set(op->getResult(1),
        call(op->getLoc(), upper, emitcType(op->getResult(1).getType()),
             operands));
    return success();
  }
  if (auto libm = dyn_cast<linalg_ext::LibmOp>(op)) {
    result = call(op->getLoc(), ("accel::libm_" + libm.getFunction()).str(),
                  type, operands);
  } else if (auto directed = dyn_cast<linalg_ext::DirectedOp>(op)) {
    result = call(op->getLoc(), directedName(directed), type, operands);
  } else if (Value simple = emitOperator(b, op, type, operands)) {
    result = simple;
  } else if (llvm::StringRef function =
                 functionOf(op->getName().getStringRef());
             !function.empty()) {
    result = call(op->getLoc(), ("accel::" + function).str(), type, operands);
  } else {
    return std::nullopt;
  }
  set(op->getResult(0), result);
  return success();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

Emitter::Outcome Emitter::emitCast(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() != 1)
    return std::nullopt;
  auto isEmitted = [&](Type type) {
    bool widens = isa<arith::TruncIOp, arith::BitcastOp, arith::ExtFOp>(op);
    return isNumber(type) || (widens && isTiny(type) && !cppType(type).empty());
  };
  if (!isEmitted(op->getResult(0).getType()) ||
      !isEmitted(op->getOperand(0).getType()))
    return std::nullopt;
  Value from = scalar(op->getOperand(0));
  Type type = emitcType(op->getResult(0).getType());
  std::string to = "<" + cppType(op->getResult(0).getType()) + ">";
  auto convert = [&](llvm::StringRef function) {
    set(op->getResult(0), call(op->getLoc(), ("accel::" + function).str() + to,
                               type, ValueRange{from}));
    return success();
  };
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
    return convert(cppType(op->getResult(0).getType()) == "int64_t" ||
                           !op->getOperand(0).getType().isIndex()
                       ? "sext"
                       : "trunc");
  if (isa<arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return convert("zext");
  if (isa<arith::TruncIOp>(op))
    return convert("trunc");
  if (isa<arith::FPToSIOp>(op))
    return convert("to_int");
  if (isa<arith::FPToUIOp>(op))
    return convert("to_uint");
  if (isa<arith::SIToFPOp>(op))
    return convert("from_int");
  if (isa<arith::UIToFPOp>(op))
    return convert("from_uint");
  if (isa<arith::BitcastOp>(op))
    return convert("bits");
  if (auto narrow = dyn_cast<arith::TruncFOp>(op)) {
    auto rounding =
        narrow.getRoundingmode().value_or(arith::RoundingMode::to_nearest_even);
    // A scale is computed as bits.
    if (isa<Float8E8M0FNUType>(narrow.getType()))
      return std::nullopt;
    if (rounding == arith::RoundingMode::toward_zero)
      return convert("truncated");
    if (rounding != arith::RoundingMode::to_nearest_even)
      return std::nullopt;
  }
  if (isa<arith::TruncFOp, arith::ExtFOp>(op)) {
    set(op->getResult(0), emitc::CastOp::create(b, op->getLoc(), type, from));
    return success();
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

static Value compared(OpBuilder &b, Location loc, emitc::CmpPredicate how,
                      Value x, Value y) {
  return emitc::CmpOp::create(b, loc, b.getI1Type(), how, x, y);
}

static Value inverted(OpBuilder &b, Location loc, Value value) {
  return emitc::LogicalNotOp::create(b, loc, b.getI1Type(), value);
}

/// An unordered comparison is the inverse of the other ordered one.
static Value compareFloats(OpBuilder &b, Location loc, arith::CmpFPredicate how,
                           Value x, Value y) {
  using P = arith::CmpFPredicate;
  using C = emitc::CmpPredicate;
  auto function = [&](llvm::StringRef name) {
    return emitc::CallOpaqueOp::create(b, loc, b.getI1Type(), name,
                                       ValueRange{x, y})
        .getResult(0);
  };
  switch (how) {
  case P::AlwaysFalse:
    return emitc::LiteralOp::create(b, loc, b.getI1Type(), "false");
  case P::AlwaysTrue:
    return emitc::LiteralOp::create(b, loc, b.getI1Type(), "true");
  case P::OEQ:
    return compared(b, loc, C::eq, x, y);
  case P::OGT:
    return compared(b, loc, C::gt, x, y);
  case P::OGE:
    return compared(b, loc, C::ge, x, y);
  case P::OLT:
    return compared(b, loc, C::lt, x, y);
  case P::OLE:
    return compared(b, loc, C::le, x, y);
  case P::UNE:
    return compared(b, loc, C::ne, x, y);
  case P::ORD:
    return function("accel::ordered");
  case P::UNO:
    return inverted(b, loc, function("accel::ordered"));
  case P::ONE:
    return function("accel::less_or_greater");
  case P::UEQ:
    return inverted(b, loc, function("accel::less_or_greater"));
  case P::UGT:
    return inverted(b, loc, compared(b, loc, C::le, x, y));
  case P::UGE:
    return inverted(b, loc, compared(b, loc, C::lt, x, y));
  case P::ULT:
    return inverted(b, loc, compared(b, loc, C::ge, x, y));
  case P::ULE:
    return inverted(b, loc, compared(b, loc, C::gt, x, y));
  }
  llvm_unreachable("all predicates are listed");
}

static Value compareIntegers(OpBuilder &b, Location loc,
                             arith::CmpIPredicate how, Value x, Value y) {
  using P = arith::CmpIPredicate;
  using C = emitc::CmpPredicate;
  auto function = [&](llvm::StringRef name, Value p, Value q) {
    return emitc::CallOpaqueOp::create(b, loc, b.getI1Type(), name,
                                       ValueRange{p, q})
        .getResult(0);
  };
  // A boolean that is true is -1.
  bool isBool = x.getType().isInteger(1);
  switch (how) {
  // Compilers warn of comparisons of comparisons.
  case P::eq:
    return isBool ? inverted(b, loc, function("accel::bit_xor", x, y))
                  : compared(b, loc, C::eq, x, y);
  case P::ne:
    return isBool ? function("accel::bit_xor", x, y)
                  : compared(b, loc, C::ne, x, y);
  case P::slt:
    return isBool ? function("accel::slt", x, y)
                  : compared(b, loc, C::lt, x, y);
  case P::sle:
    return isBool ? function("accel::sle", x, y)
                  : compared(b, loc, C::le, x, y);
  case P::sgt:
    return isBool ? function("accel::slt", y, x)
                  : compared(b, loc, C::gt, x, y);
  case P::sge:
    return isBool ? function("accel::sle", y, x)
                  : compared(b, loc, C::ge, x, y);
  case P::ult:
    return function("accel::ult", x, y);
  case P::ule:
    return function("accel::ule", x, y);
  case P::ugt:
    return function("accel::ult", y, x);
  case P::uge:
    return function("accel::ule", y, x);
  }
  llvm_unreachable("all predicates are listed");
}

Emitter::Outcome Emitter::emitCompare(Operation *op) {
  if (auto compare = dyn_cast<arith::CmpIOp>(op);
      compare && isNumber(compare.getLhs().getType())) {
    set(op->getResult(0),
        compareIntegers(b, op->getLoc(), compare.getPredicate(),
                        scalar(compare.getLhs()), scalar(compare.getRhs())));
    return success();
  }
  if (auto compare = dyn_cast<arith::CmpFOp>(op);
      compare && isNumber(compare.getLhs().getType())) {
    set(op->getResult(0),
        compareFloats(b, op->getLoc(), compare.getPredicate(),
                      scalar(compare.getLhs()), scalar(compare.getRhs())));
    return success();
  }
  return std::nullopt;
}

} // namespace tilebridge::accel
