//===- PtxArithmetic.cpp - PTX that computes with numbers -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/assembly/PtxToArith.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tilebridge::ttl::ptx;

bool Translator::sum(const Instruction &instruction) {
  bool isSum = instruction.opcode == "add";
  return compute(
      instruction, 2, {"rn", "ftz", "wrap"},
      [&](Type type, bool, ValueRange in) -> Value {
        if (isa<FloatType>(type))
          return isSum ? arith::AddFOp::create(b, in[0], in[1]).getResult()
                       : arith::SubFOp::create(b, in[0], in[1]).getResult();
        return isSum ? arith::AddIOp::create(b, in[0], in[1]).getResult()
                     : arith::SubIOp::create(b, in[0], in[1]).getResult();
      });
}

/// mul and mad of integers keep the lower or the upper half, or all of it.
bool Translator::product(const Instruction &instruction) {
  bool isWide = instruction.has("wide"), isHigh = instruction.has("hi");
  return compute(instruction, 2, {"rn", "ftz", "lo", "hi", "wide"},
                 [&](Type type, bool isSigned, ValueRange in) -> Value {
                   if (isa<FloatType>(type))
                     return arith::MulFOp::create(b, in[0], in[1]);
                   if (!isWide && !isHigh)
                     return arith::MulIOp::create(b, in[0], in[1]);
                   unsigned width = type.getIntOrFloatBitWidth();
                   if (width > 32)
                     return {};
                   Value all = arith::MulIOp::create(
                       b, resize(in[0], 2 * width, isSigned),
                       resize(in[1], 2 * width, isSigned));
                   return isWide ? all : part(all, width, type);
                 });
}

bool Translator::multiplyAdd(const Instruction &instruction) {
  if (!instruction.has("lo") && !instruction.has("rn"))
    return false;
  return compute(instruction, 3, {"lo", "rn", "ftz"},
                 [&](Type type, bool, ValueRange in) -> Value {
                   if (isa<FloatType>(type))
                     return math::FmaOp::create(b, in[0], in[1], in[2]);
                   return arith::AddIOp::create(
                       b, arith::MulIOp::create(b, in[0], in[1]), in[2]);
                 });
}

bool Translator::fusedMultiplyAdd(const Instruction &instruction) {
  return compute(instruction, 3, {"rn", "ftz"},
                 [&](Type type, bool, ValueRange in) -> Value {
                   if (!isa<FloatType>(type))
                     return {};
                   return math::FmaOp::create(b, in[0], in[1], in[2]);
                 });
}

bool Translator::quotient(const Instruction &instruction) {
  bool isQuotient = instruction.opcode == "div";
  return compute(
      instruction, 2, {"rn", "approx", "full", "ftz"},
      [&](Type type, bool isSigned, ValueRange in) -> Value {
        if (isa<FloatType>(type))
          return isQuotient ? arith::DivFOp::create(b, in[0], in[1]) : Value();
        if (isQuotient)
          return isSigned ? arith::DivSIOp::create(b, in[0], in[1]).getResult()
                          : arith::DivUIOp::create(b, in[0], in[1]).getResult();
        return isSigned ? arith::RemSIOp::create(b, in[0], in[1]).getResult()
                        : arith::RemUIOp::create(b, in[0], in[1]).getResult();
      });
}

/// Of a number and NaN the number, but for `NaN`.
bool Translator::extremum(const Instruction &instruction) {
  bool isMax = instruction.opcode == "max", keepsNan = instruction.has("NaN");
  return compute(
      instruction, 2, {"ftz", "NaN"},
      [&](Type type, bool isSigned, ValueRange in) -> Value {
        Value x = in[0], y = in[1];
        if (isa<FloatType>(type)) {
          if (keepsNan)
            return isMax ? arith::MaximumFOp::create(b, x, y).getResult()
                         : arith::MinimumFOp::create(b, x, y).getResult();
          return isMax ? arith::MaxNumFOp::create(b, x, y).getResult()
                       : arith::MinNumFOp::create(b, x, y).getResult();
        }
        if (isSigned)
          return isMax ? arith::MaxSIOp::create(b, x, y).getResult()
                       : arith::MinSIOp::create(b, x, y).getResult();
        return isMax ? arith::MaxUIOp::create(b, x, y).getResult()
                     : arith::MinUIOp::create(b, x, y).getResult();
      });
}

bool Translator::unaryMinus(const Instruction &instruction) {
  return compute(instruction, 1, {"ftz"},
                 [&](Type type, bool, ValueRange in) -> Value {
                   if (isa<FloatType>(type))
                     return arith::NegFOp::create(b, in[0]);
                   return arith::SubIOp::create(
                       b, integer(type.getIntOrFloatBitWidth(), 0), in[0]);
                 });
}

/// Approximations are as exact as the functions are here.
bool Translator::function(const Instruction &instruction) {
  StringRef name = instruction.opcode;
  return compute(instruction, 1, {"approx", "rn", "ftz"},
                 [&](Type type, bool isSigned, ValueRange in) -> Value {
                   Value x = in[0];
                   if (!isa<FloatType>(type))
                     return name == "abs" && isSigned
                                ? math::AbsIOp::create(b, x)
                                : Value();
                   if (name == "abs")
                     return math::AbsFOp::create(b, x);
                   if (name == "ex2")
                     return math::Exp2Op::create(b, x);
                   if (name == "lg2")
                     return math::Log2Op::create(b, x);
                   if (name == "rcp")
                     return arith::DivFOp::create(b, number(type, 1), x);
                   if (name == "rsqrt")
                     return math::RsqrtOp::create(b, x);
                   if (name == "sqrt")
                     return math::SqrtOp::create(b, x);
                   if (name == "sin")
                     return math::SinOp::create(b, x);
                   if (name == "cos")
                     return math::CosOp::create(b, x);
                   return math::TanhOp::create(b, x);
                 });
}

/// The sign comes first, then the magnitude.
bool Translator::copySign(const Instruction &instruction) {
  return compute(instruction, 2, {},
                 [&](Type type, bool, ValueRange in) -> Value {
                   if (!isa<FloatType>(type))
                     return {};
                   return math::CopySignOp::create(b, in[1], in[0]);
                 });
}

static std::optional<arith::CmpIPredicate> integerPredicate(StringRef name,
                                                            bool isSigned) {
  using P = arith::CmpIPredicate;
  return llvm::StringSwitch<std::optional<P>>(name)
      .Case("eq", P::eq)
      .Case("ne", P::ne)
      .Case("lt", isSigned ? P::slt : P::ult)
      .Case("le", isSigned ? P::sle : P::ule)
      .Case("gt", isSigned ? P::sgt : P::ugt)
      .Case("ge", isSigned ? P::sge : P::uge)
      .Case("lo", P::ult)
      .Case("ls", P::ule)
      .Case("hi", P::ugt)
      .Case("hs", P::uge)
      .Default(std::nullopt);
}

static std::optional<arith::CmpFPredicate> floatPredicate(StringRef name) {
  using P = arith::CmpFPredicate;
  return llvm::StringSwitch<std::optional<P>>(name)
      .Case("eq", P::OEQ)
      .Case("ne", P::ONE)
      .Case("lt", P::OLT)
      .Case("le", P::OLE)
      .Case("gt", P::OGT)
      .Case("ge", P::OGE)
      .Case("equ", P::UEQ)
      .Case("neu", P::UNE)
      .Case("ltu", P::ULT)
      .Case("leu", P::ULE)
      .Case("gtu", P::UGT)
      .Case("geu", P::UGE)
      .Case("num", P::ORD)
      .Case("nan", P::UNO)
      .Default(std::nullopt);
}

/// p, or p|q: for one number the comparison and its negation, for a pair of
/// halves that of each.
bool Translator::compare(const Instruction &instruction) {
  bool isSigned = false;
  if (instruction.operands.size() != 3 || instruction.modifiers.size() < 2 ||
      !llvm::all_of(ArrayRef(instruction.modifiers).drop_front().drop_back(),
                    [](const std::string &m) { return m == "ftz"; }))
    return false;
  StringRef predicate = instruction.modifiers.front(),
            name = instruction.modifiers.back();
  Type half = halfOf(name);
  Type type = half ? b.getI32Type() : typeOf(name, isSigned);
  if (!type)
    return false;
  Value x = read(instruction.operands[1], type),
        y = read(instruction.operands[2], type);
  if (!x || !y)
    return false;
  auto holds = [&](Value left, Value right) -> Value {
    if (isa<FloatType>(left.getType())) {
      auto kind = floatPredicate(predicate);
      return kind ? arith::CmpFOp::create(b, *kind, left, right) : Value();
    }
    auto kind = integerPredicate(predicate, isSigned);
    return kind ? arith::CmpIOp::create(b, *kind, left, right) : Value();
  };
  Values results;
  if (half)
    for (unsigned from : {0u, 16u})
      results.push_back(holds(part(x, from, half), part(y, from, half)));
  else
    results.push_back(holds(x, y));
  if (!results.front())
    return false;
  const Operand &target = instruction.operands[0];
  bool isPair = target.kind == Operand::Group;
  if (isPair ? target.parts.size() != 2 : half != Type())
    return false;
  if (!isPair)
    return write(instruction, target, results.front());
  if (!half)
    results.push_back(arith::XOrIOp::create(b, results.front(), integer(1, 1)));
  return write(instruction, target.parts[0], results[0]) &&
         write(instruction, target.parts[1], results[1]);
}

bool Translator::select(const Instruction &instruction) {
  bool isSigned = false;
  if (!onlyHas(instruction, 1, {}) || instruction.operands.size() != 4)
    return false;
  Type type = typeOf(instruction.modifiers.back(), isSigned);
  if (!type)
    return false;
  Value yes = read(instruction.operands[1], type),
        no = read(instruction.operands[2], type),
        condition = read(instruction.operands[3], b.getI1Type());
  return yes && no && condition &&
         write(instruction, instruction.operands[0],
               arith::SelectOp::create(b, condition, yes, no));
}
