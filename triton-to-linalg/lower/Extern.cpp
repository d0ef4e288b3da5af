//===- Extern.cpp - functions of libdevice and of AMD's libraries ---------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A function is known by its symbol alone: the file that Triton would link on a
// GPU has no code for a CPU, and need not exist.

#include "frontend/TTOps.h"
#include "triton-to-linalg/lower/ExternFunctions.h"
#include "triton-to-linalg/lower/Patterns.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::ttl;

static const ExternTable &externTable() {
  static const ExternTable table = [] {
    ExternTable functions;
    addFloatExterns(functions);
    addFloatPartExterns(functions);
    addIntegerExterns(functions);
    addCastExterns(functions);
    addDirectedExterns(functions);
    addSpecialExterns(functions);
    addBesselExterns(functions);
    return functions;
  }();
  return table;
}

/// Whether `type` is what the letter says; see ExternFunction::types. `chosen`
/// has the types that F and I stand for in this call, once they are known.
static bool fits(char letter, Type type, Type chosen[2]) {
  switch (letter) {
  case 'f':
    return type.isF32();
  case 'd':
    return type.isF64();
  case 's':
    return type.isInteger(16);
  case 'i':
    return type.isInteger(32);
  case 'l':
    return type.isInteger(64);
  default:
    break;
  }
  bool isFloat = letter == 'F';
  bool isOne = isFloat ? type.isF32() || type.isF64()
                       : type.isInteger(32) || type.isInteger(64);
  Type &known = chosen[isFloat ? 0 : 1];
  if (!known)
    known = type;
  return isOne && type == known;
}

static bool fits(const ExternFunction &function, Type result,
                 TypeRange operands) {
  StringRef letters = function.types;
  if (letters.size() != operands.size() + 1)
    return false;
  Type chosen[2];
  if (!fits(letters[0], getElementTypeOrSelf(result), chosen))
    return false;
  for (auto [letter, type] : llvm::zip_equal(letters.drop_front(), operands))
    if (!fits(letter, getElementTypeOrSelf(type), chosen))
      return false;
  return true;
}

/// What AMD's libraries and Triton's own names for them call otherwise.
static StringRef commonName(StringRef name) {
  if (name == "i0")
    return "cyl_bessel_i0";
  if (name == "i1")
    return "cyl_bessel_i1";
  return name == "pown" ? "powi" : name;
}

/// The function that `symbol` names for operands of these types; null if there
/// is none. Symbols are __nv_sinf and __nv_sin (NVIDIA's libdevice; __imf_ is
/// Intel's copy of its names), __ocml_sin_f32, __ockl_clz_u32 and
/// __triton_hip_rint (AMD's).
static const ExternFunction *findExtern(StringRef symbol, Type result,
                                        TypeRange operands) {
  auto lookUp = [&](StringRef name) -> const ExternFunction * {
    auto it = externTable().find(name);
    bool isIt = it != externTable().end() && fits(it->second, result, operands);
    return isIt ? &it->second : nullptr;
  };
  if (symbol.consume_front("__ocml_")) {
    if (!symbol.consume_back("_f32") && !symbol.consume_back("_f64"))
      return nullptr;
    return lookUp(commonName(symbol));
  }
  if (symbol.consume_front("__ockl_"))
    return lookUp(symbol);
  if (!symbol.consume_front("__nv_") && !symbol.consume_front("__imf_") &&
      !symbol.consume_front("__triton_hip_"))
    return nullptr;
  if (const ExternFunction *function = lookUp(symbol))
    return function;
  return symbol.consume_back("f") ? lookUp(symbol) : nullptr;
}

namespace {

struct ExternLowering : OpConversionPattern<tt::ExternElementwiseOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tt::ExternElementwiseOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    const ExternFunction *function =
        findExtern(op.getSymbol(), op.getType(), op->getOperandTypes());
    if (!function)
      return rewriter.notifyMatchFailure(op, "function is not known");
    Type element = getElementTypeOrSelf(op.getType());
    rewriter.replaceOp(
        op,
        mapElements(rewriter, op.getLoc(), op.getType(), adaptor.getOperands(),
                    [&](OpBuilder &b, Location loc, ValueRange in) {
                      ImplicitLocOpBuilder located(loc, b);
                      return function->build({located, in, element});
                    }));
    return success();
  }
};

} // namespace

bool ttl::isKnownExtern(StringRef symbol, Type result, TypeRange operands) {
  return findExtern(symbol, result, operands) != nullptr;
}

void ttl::populateExternPatterns(Converter converter,
                                 RewritePatternSet &patterns) {
  patterns.add<ExternLowering>(converter, patterns.getContext());
}
