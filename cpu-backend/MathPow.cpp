//===- MathPow.cpp - powers whose exponent is known -----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// `libdevice.pow(x, 2)` is what kernels for an RMS norm write: a call of the
// math library takes a hundred times as long as the product. A square of f32
// is rounded once either way. Longer products are computed as f64, and
// rounded to f32 once; of f64 they would be rounded more often than the
// library's power, and are left to it.
//===----------------------------------------------------------------------===//

#include "cpu-backend/MathPow.h"
#include "cpu-backend/MathVectors.h"
#include "cpu-backend/emit/Outside.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/TypeUtilities.h"

#include <limits>

using namespace mlir;
using namespace tilebridge::cpu;

static Value constant(ImplicitLocOpBuilder &b, Type type, double value) {
  TypedAttr attr = b.getFloatAttr(getElementTypeOrSelf(type), value);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, Attribute(attr));
  return arith::ConstantOp::create(b, attr);
}

/// What pow gives for -0 and for -infinity, unlike a root, is not negative.
static Value root(ImplicitLocOpBuilder &b, Value x) {
  Type type = x.getType();
  double infinity = std::numeric_limits<double>::infinity();
  Value isLeast = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x,
                                        constant(b, type, -infinity)),
        sum = arith::AddFOp::create(b, x, constant(b, type, 0.0));
  return arith::SelectOp::create(b, isLeast, constant(b, type, infinity),
                                 math::SqrtOp::create(b, sum));
}

/// x^n by products; n is -2, 3 or 4.
static Value product(ImplicitLocOpBuilder &b, Value x, double n) {
  Value square = arith::MulFOp::create(b, x, x);
  if (n == -2)
    return arith::DivFOp::create(b, constant(b, x.getType(), 1.0), square);
  return arith::MulFOp::create(b, square, n == 3 ? x : square);
}

/// A number of f32 as f64, the power of which becomes f32 again.
static bool isOfSingle(math::PowFOp power) {
  auto wide = power.getLhs().getDefiningOp<arith::ExtFOp>();
  return wide && getElementTypeOrSelf(wide.getIn().getType()).isF32() &&
         llvm::all_of(power->getUsers(), [](Operation *user) {
           auto narrow = dyn_cast<arith::TruncFOp>(user);
           return narrow &&
                  getElementTypeOrSelf(narrow.getOut().getType()).isF32();
         });
}

bool tilebridge::cpu::expandPower(math::PowFOp power) {
  auto exponent = dyn_cast_if_present<FloatAttr>(constantAttr(power.getRhs()));
  Type type = power.getType(), element = getElementTypeOrSelf(type);
  if (!exponent || !(element.isF32() || element.isF64()))
    return false;
  double n = exponent.getValueAsDouble();
  ImplicitLocOpBuilder b(power.getLoc(), power);
  Value x = power.getLhs(), result;
  if (element.isF64() && n == 2 && isOfSingle(power)) {
    Value narrow = x.getDefiningOp<arith::ExtFOp>().getIn(),
          square = arith::MulFOp::create(b, narrow, narrow);
    for (Operation *user : llvm::make_early_inc_range(power->getUsers())) {
      user->getResult(0).replaceAllUsesWith(square);
      user->erase();
    }
    power.erase();
    return true;
  }
  if (n == 1) {
    result = x;
  } else if (n == 2) {
    result = arith::MulFOp::create(b, x, x);
  } else if (n == -1) {
    result = arith::DivFOp::create(b, constant(b, type, 1.0), x);
  } else if (n == 0.5) {
    result = root(b, x);
  } else if (n == -2 || n == 3 || n == 4) {
    if (element.isF64()) {
      if (!isOfSingle(power))
        return false;
      result = product(b, x, n);
    } else {
      Type wide = withElement(type, b.getF64Type());
      result = arith::TruncFOp::create(
          b, type, product(b, arith::ExtFOp::create(b, wide, x), n));
    }
  } else {
    return false;
  }
  power.replaceAllUsesWith(result);
  power.erase();
  return true;
}
