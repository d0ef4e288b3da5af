//===- SourceText.cpp - expressions and operations for the author ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/analysis/SourceText.h"

#include "frontend/TTOps.h"
#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;
using Kind = Expr::Kind;

/// Deeper sums and products say less than three dots.
static constexpr unsigned maxDepth = 4;

static std::string nameIn(Location loc) {
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return nameIn(call.getCallee());
  auto named = dyn_cast<NameLoc>(loc);
  return named ? named.getName().str() : "";
}

std::string ttl::nameOf(Value value) {
  if (auto id = value.getDefiningOp<tt::GetProgramIdOp>())
    return "pid(" + std::to_string(static_cast<int>(id.getAxis())) + ")";
  // Triton names everything in the statement that assigns a variable; the value
  // of the variable is what no other part of the statement uses.
  std::string name = nameIn(value.getLoc());
  bool isPart = llvm::any_of(value.getUsers(), [&](Operation *user) {
    return value.getDefiningOp() && nameIn(user->getLoc()) == name;
  });
  if (!name.empty() && !isPart)
    return name;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    std::string number = std::to_string(argument.getArgNumber());
    if (isa<FunctionOpInterface>(parent))
      return "arg" + number;
    auto loop = dyn_cast<scf::ForOp>(parent);
    return loop && loop.getInductionVar() == value ? "i" : "";
  }
  if (auto count = value.getDefiningOp<tt::GetNumProgramsOp>())
    return "num_programs(" + std::to_string(static_cast<int>(count.getAxis())) +
           ")";
  return "";
}

namespace {
/// An infix operator: how it is written, how tightly it binds, and whether its
/// right side needs parentheses at the same strength.
struct Infix {
  const char *text;
  int strength;
  bool isChain;
};

struct Text {
  std::string text;
  int strength = 9; // of what is written outermost; a name or number: 9
};
} // namespace

static std::string wrapped(const Text &part, int least) {
  return part.strength < least ? "(" + part.text + ")" : part.text;
}

static Text infix(const Infix &how, const Text &a, const Text &b) {
  return {wrapped(a, how.strength) + how.text +
              wrapped(b, how.strength + !how.isChain),
          how.strength};
}

static Text call(StringRef name, const Text &a, const Text &b) {
  return {(name + "(" + a.text + ", " + b.text + ")").str()};
}

static Text sum(const Text &a, const Text &b) {
  // A negative number is subtracted.
  if (b.text.size() > 1 && b.text[0] == '-' && b.strength == 9)
    return infix({" - ", 1, false}, a, {b.text.substr(1)});
  return infix({" + ", 1, true}, a, b);
}

static Text write(Value scalar, unsigned depth) {
  APInt constant;
  if (matchPattern(scalar, m_ConstantInt(&constant)))
    return {std::to_string(constant.getSExtValue())};
  if (std::string name = nameOf(scalar); !name.empty())
    return {name};
  Operation *op = scalar.getDefiningOp();
  if (!op)
    return {"?"};
  if (depth == maxDepth)
    return {"..."};
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(
          op))
    return write(op->getOperand(0), depth);
  if (isa<tt::LoadOp, memref::LoadOp>(op))
    return {"loaded value"};
  auto operand = [&](unsigned i) {
    return write(op->getOperand(i), depth + 1);
  };
  return llvm::TypeSwitch<Operation *, Text>(op)
      .Case([&](arith::AddIOp) { return sum(operand(0), operand(1)); })
      .Case([&](arith::SubIOp) {
        return infix({" - ", 1, false}, operand(0), operand(1));
      })
      .Case([&](arith::MulIOp) {
        return infix({"*", 2, true}, operand(0), operand(1));
      })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto) {
        return infix({" // ", 2, false}, operand(0), operand(1));
      })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto) {
        return infix({" % ", 2, false}, operand(0), operand(1));
      })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [&](auto) { return call("min", operand(0), operand(1)); })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [&](auto) { return call("max", operand(0), operand(1)); })
      .Default([](Operation *) { return Text{"?"}; });
}

static const char *textOf(arith::CmpIPredicate predicate) {
  using Pred = arith::CmpIPredicate;
  switch (predicate) {
  case Pred::eq:
    return " == ";
  case Pred::ne:
    return " != ";
  case Pred::slt:
  case Pred::ult:
    return " < ";
  case Pred::sle:
  case Pred::ule:
    return " <= ";
  case Pred::sgt:
  case Pred::ugt:
    return " > ";
  case Pred::sge:
  case Pred::uge:
    return " >= ";
  }
  return " ? ";
}

static Text write(const Expr *expr, unsigned depth) {
  if (depth == maxDepth && expr->operands[0])
    return {"..."};
  auto operand = [&](unsigned i) {
    return write(expr->operands[i], depth + 1);
  };
  switch (expr->kind) {
  case Kind::Constant:
    if (expr->width == 1)
      return {expr->constant.isZero() ? "False" : "True"};
    return {std::to_string(expr->constant.getSExtValue())};
  case Kind::Scalar:
    return write(expr->value, depth);
  case Kind::Element:
  case Kind::Lane: {
    std::string name = nameOf(expr->value);
    return {name.empty() ? "?" : name};
  }
  case Kind::Iota:
    return {"i"};
  case Kind::SExt:
  case Kind::ZExt:
  case Kind::Trunc:
    return write(expr->operands[0], depth);
  case Kind::Add:
    return sum(operand(0), operand(1));
  case Kind::Sub:
    return infix({" - ", 1, false}, operand(0), operand(1));
  case Kind::Mul:
    return infix({"*", 2, true}, operand(0), operand(1));
  case Kind::DivS:
  case Kind::DivU:
    return infix({" // ", 2, false}, operand(0), operand(1));
  case Kind::RemS:
  case Kind::RemU:
    return infix({" % ", 2, false}, operand(0), operand(1));
  case Kind::MinS:
  case Kind::MinU:
    return call("min", operand(0), operand(1));
  case Kind::MaxS:
    return call("max", operand(0), operand(1));
  case Kind::And:
    return infix({" and ", 0, true}, operand(0), operand(1));
  case Kind::Cmp:
    return infix({::textOf(expr->compare), 0, false}, operand(0), operand(1));
  case Kind::Select:
    return {operand(1).text + " if " + operand(0).text + " else " +
                operand(2).text,
            -1};
  }
  return {"?"};
}

std::string ttl::textOf(const Expr *expr) { return write(expr, 0).text; }

std::string ttl::textOf(Value scalar) { return write(scalar, 0).text; }

/// A bound without the steps that keep it within the block.
static const Expr *withoutClamps(const Expr *bound) {
  for (;;) {
    bool isMin = bound->kind == Kind::MinS || bound->kind == Kind::MinU;
    if ((isMin || bound->kind == Kind::MaxS) &&
        bound->operands[1]->isConstant())
      bound = bound->operands[0];
    else
      return bound;
  }
}

SmallVector<std::string> ttl::textsOf(const MaskForm &mask) {
  SmallVector<std::string> texts;
  for (auto [dim, bounds] : llvm::enumerate(mask.dims)) {
    std::string lane = "i" + std::to_string(dim);
    for (const Expr *low : bounds.lower)
      texts.push_back(lane + " >= " + textOf(withoutClamps(low)));
    for (const Expr *high : bounds.upper)
      texts.push_back(lane + " < " + textOf(withoutClamps(high)));
  }
  for (const Expr *condition : mask.conditions)
    texts.push_back(textOf(condition));
  for (const ResidualMask &part : mask.residuals)
    texts.push_back("(" + part.reason.text + ")");
  return texts;
}

std::string ttl::describe(Operation *op) {
  using Words = const char *;
  Words words =
      llvm::TypeSwitch<Operation *, Words>(op)
          // Loads are lowered before the accesses that they address.
          .Case<tt::LoadOp, tt::DescriptorLoadOp, tt::DescriptorGatherOp,
                bufferization::ToTensorOp, memref::LoadOp, tensor::PadOp,
                tensor::InsertSliceOp, linalg_ext::MaskedLoadOp,
                linalg_ext::GatherOp, linalg_ext::GatherRowsOp>(
              [](auto) -> Words { return "values loaded from memory"; })
          .Case<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AtomicLoadOp,
                linalg_ext::AtomicRMWOp, linalg_ext::AtomicCASOp,
                linalg_ext::AtomicLoadOp>(
              [](auto) -> Words { return "the result of an atomic access"; })
          .Case([](arith::MulIOp) -> Words { return "a product of tensors"; })
          .Case<arith::CmpIOp, arith::CmpFOp>(
              [](auto) -> Words { return "a comparison"; })
          .Case([](arith::SelectOp) -> Words { return "tl.where"; })
          .Case([](arith::XOrIOp) -> Words { return "'^'"; })
          .Case([](arith::AndIOp) -> Words { return "'&'"; })
          .Case([](arith::OrIOp) -> Words { return "'|'"; })
          .Case([](arith::ShLIOp) -> Words { return "'<<'"; })
          .Case<arith::ShRSIOp, arith::ShRUIOp>(
              [](auto) -> Words { return "'>>'"; })
          .Case<arith::DivSIOp, arith::DivUIOp>(
              [](auto) -> Words { return "'//'"; })
          .Case<arith::RemSIOp, arith::RemUIOp>(
              [](auto) -> Words { return "'%'"; })
          .Case<arith::MinSIOp, arith::MinUIOp>(
              [](auto) -> Words { return "tl.minimum"; })
          .Case<arith::MaxSIOp, arith::MaxUIOp>(
              [](auto) -> Words { return "tl.maximum"; })
          .Case<arith::FPToSIOp, arith::FPToUIOp>(
              [](auto) -> Words { return "a float that became an integer"; })
          .Case([](tt::ReduceOp) -> Words { return "a reduction"; })
          .Case([](tt::ScanOp) -> Words { return "a scan"; })
          .Case([](tt::CatOp) -> Words { return "tl.cat"; })
          .Case([](tt::JoinOp) -> Words { return "tl.join"; })
          .Case([](tt::SplitOp) -> Words { return "tl.split"; })
          .Case([](tt::ReshapeOp) -> Words { return "a reshape"; })
          .Case([](tt::GatherOp) -> Words { return "tl.gather"; })
          .Case([](tt::HistogramOp) -> Words { return "tl.histogram"; })
          .Case([](tt::IntToPtrOp) -> Words {
            return "integers that became pointers";
          })
          .Case([](tt::CallOp) -> Words {
            return "the result of a call that was not inlined";
          })
          .Case<scf::ForOp, scf::WhileOp>(
              [](auto) -> Words { return "the result of a loop"; })
          .Case<scf::IfOp, scf::IndexSwitchOp>(
              [](auto) -> Words { return "the result of a branch"; })
          .Default([](Operation *) -> Words { return nullptr; });
  return words ? words : "'" + op->getName().getStringRef().str() + "'";
}
