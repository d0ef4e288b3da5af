//===- ExpandMath.cpp - elementary functions for vectors ------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// exp, exp2, log, log2, erf and tanh of f32 are written out (MathF32.cpp): they
// are the ones that softmax, attention and activations spend their time in, and
// inline they keep vectors of any length in registers. Other functions are
// calls of glibc's vector functions, a native vector at a time, or of libm.

#include "cpu-backend/MathF32.h"
#include "cpu-backend/MathF64.h"
#include "cpu-backend/MathMax.h"
#include "cpu-backend/MathPow.h"
#include "cpu-backend/MathReciprocal.h"
#include "cpu-backend/MathRemainder.h"
#include "cpu-backend/MathRoot.h"
#include "cpu-backend/MathVectors.h"
#include "cpu-backend/MathWhole.h"
#include "cpu-backend/Passes.h"
#include "triton-to-linalg/bridge/LinalgExtComputeOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

#include <dlfcn.h>

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUEXPANDMATHPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;

/// The name of the C function for f64; with an f at the end it is that of f32.
/// Empty for what LLVM does itself.
static StringRef libmName(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("math.acos", "acos")
      .Case("math.acosh", "acosh")
      .Case("math.asin", "asin")
      .Case("math.asinh", "asinh")
      .Case("math.atan", "atan")
      .Case("math.atan2", "atan2")
      .Case("math.atanh", "atanh")
      .Case("math.cbrt", "cbrt")
      .Case("math.cos", "cos")
      .Case("math.cosh", "cosh")
      .Case("math.erf", "erf")
      .Case("math.erfc", "erfc")
      .Case("math.exp", "exp")
      .Case("math.exp2", "exp2")
      .Case("math.expm1", "expm1")
      .Case("math.log", "log")
      .Case("math.log10", "log10")
      .Case("math.log1p", "log1p")
      .Case("math.log2", "log2")
      .Case("math.powf", "pow")
      .Case("math.sin", "sin")
      .Case("math.sinh", "sinh")
      .Case("math.tan", "tan")
      .Case("math.tanh", "tanh")
      .Default("");
}

/// Whether the C library of this machine has the vector function. Older ones
/// have only some.
static bool libmvecHas(const std::string &name) {
  static void *library = dlopen("libmvec.so.1", RTLD_LAZY | RTLD_LOCAL);
  return library && dlsym(library, name.c_str());
}

namespace {

/// Writes the calls that one op becomes.
class CallEmitter {
public:
  CallEmitter(ImplicitLocOpBuilder &builder, ModuleOp module,
              int64_t vectorBits, StringRef isa)
      : b(builder), module(module), vectorBits(vectorBits), isa(isa) {}

  /// The last operand has the type of the result.
  Value emit(StringRef function, ValueRange operands) {
    auto vector = dyn_cast<VectorType>(operands.back().getType());
    if (!vector)
      return callScalar(function, operands);
    // Vectors are taken apart as rank 1.
    auto flat =
        VectorType::get(vector.getNumElements(), vector.getElementType());
    SmallVector<Value> flatOperands;
    for (Value operand : operands)
      flatOperands.push_back(
          vector.getRank() == 1
              ? operand
              : vector::ShapeCastOp::create(
                    b, flat.clone(getElementTypeOrSelf(operand.getType())),
                    operand));
    Value result = emitFlat(function, flatOperands, flat);
    return vector.getRank() == 1
               ? result
               : vector::ShapeCastOp::create(b, vector, result);
  }

private:
  /// The letter of the vector functions for vectors of so many bits; none if
  /// this CPU or library has none.
  std::string vectorName(StringRef function, int64_t bits, int64_t lanes,
                         size_t operandCount) {
    char letter = bits == 512 ? 'e' : bits == 256 ? 'd' : 'b';
    if (isa.empty() || bits > vectorBits || letter > isa[0])
      return {};
    std::string name = (llvm::Twine("_ZGV") + llvm::Twine(letter) + "N" +
                        llvm::Twine(lanes) + std::string(operandCount, 'v') +
                        "_" + function + (bits == lanes * 32 ? "f" : ""))
                           .str();
    return libmvecHas(name) ? name : std::string();
  }

  Value emitFlat(StringRef function, ValueRange operands, VectorType type) {
    int64_t width = type.getElementTypeBitWidth(),
            lanes = type.getNumElements();
    // The widest native vector that is not mostly padding.
    int64_t bits = vectorBits;
    while (bits > 128 && bits / 2 >= lanes * width)
      bits /= 2;
    int64_t native = bits / width;
    bool uniform = llvm::all_of(operands.getTypes(),
                                [&](Type operand) { return operand == type; });
    std::string name = uniform
                           ? vectorName(function, bits, native, operands.size())
                           : std::string();
    bool scalar = name.empty();
    int64_t step = scalar ? 1 : native;
    auto pieceType = VectorType::get(step, type.getElementType());
    Value result = arith::ConstantOp::create(b, b.getZeroAttr(type));
    for (int64_t first = 0; first < lanes; first += step) {
      SmallVector<Value> pieces;
      for (Value operand : operands)
        pieces.push_back(piece(operand, first, step, pieceType));
      if (scalar) {
        Value lane = callScalar(function, pieces);
        result = vector::InsertOp::create(b, lane, result, first);
        continue;
      }
      Value part = call(name, pieces);
      if (first == 0 && lanes == step)
        return part;
      int64_t valid = std::min(step, lanes - first);
      if (valid < step)
        part = sliceLanes(b, part, 0, valid);
      result = vector::InsertStridedSliceOp::create(
          b, part, result, ArrayRef<int64_t>{first}, ArrayRef<int64_t>{1});
    }
    return result;
  }

  /// Lanes [first, first + count) of a vector, or one as a scalar. Beyond its
  /// end the last lane is repeated, so that padding takes no slow path that the
  /// data does not take.
  Value piece(Value operand, int64_t first, int64_t count, VectorType type) {
    int64_t lanes = cast<VectorType>(operand.getType()).getNumElements();
    if (count == 1)
      return vector::ExtractOp::create(b, operand, first);
    if (lanes == count)
      return operand;
    if (first + count <= lanes)
      return sliceLanes(b, operand, first, count);
    SmallVector<int64_t> lane;
    for (int64_t i = 0; i < count; ++i)
      lane.push_back(std::min(first + i, lanes - 1));
    return vector::ShuffleOp::create(b, operand, operand, lane);
  }

  Value callScalar(StringRef function, ValueRange operands) {
    bool isFloat = operands.back().getType().isF32();
    return call((function + (isFloat ? "f" : "")).str(), operands);
  }

  Value call(const std::string &name, ValueRange operands) {
    Type type = operands.back().getType();
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
    if (!function) {
      OpBuilder atStart(module.getBodyRegion());
      SmallVector<Type> types(operands.getTypes());
      function =
          LLVM::LLVMFuncOp::create(atStart, module.getLoc(), name,
                                   LLVM::LLVMFunctionType::get(type, types));
      auto none = LLVM::ModRefInfo::NoModRef;
      function.setMemoryEffectsAttr(LLVM::MemoryEffectsAttr::get(
          b.getContext(), {none, none, none, none, none, none}));
      function.setNoUnwind(true);
      function.setWillReturn(true);
    }
    return LLVM::CallOp::create(b, function, operands).getResult();
  }

  ImplicitLocOpBuilder &b;
  ModuleOp module;
  int64_t vectorBits;
  StringRef isa;
};

struct ExpandMathPass
    : public tilebridge::cpu::impl::CpuExpandMathPassBase<ExpandMathPass> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    SmallVector<arith::MulFOp> products;
    SmallVector<arith::RemFOp> remainders;
    getOperation().walk([&](Operation *op) {
      if (isa<math::MathDialect>(op->getDialect()) ||
          isa<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp,
              arith::MinimumFOp, linalg_ext::LibmOp>(op))
        ops.push_back(op);
      if (auto product = dyn_cast<arith::MulFOp>(op))
        products.push_back(product);
      if (auto remainder = dyn_cast<arith::RemFOp>(op))
        remainders.push_back(remainder);
    });
    for (arith::MulFOp product : products)
      skipProductWithOne(product, vectorBits);
    for (arith::RemFOp remainder : remainders)
      expandRemainder(remainder, fma);
    if (f16Arithmetic)
      getOperation().walk(keepQuotientWide);
    // Before the steps that say so are written in another form.
    if (secondIfNan)
      numbers = findNumbers(ops);
    for (Operation *op : ops)
      if (failed(expand(op)))
        signalPassFailure();
  }

private:
  LogicalResult expand(Operation *op) {
    if (op->getNumResults() != 1)
      return success();
    Type element = getElementTypeOrSelf(op->getResult(0).getType());
    StringRef function = libmName(op);
    if (auto libm = dyn_cast<linalg_ext::LibmOp>(op))
      function = libm.getFunction();
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(op))
      return expandMaxNum(op);
    if (isa<arith::MaximumFOp, arith::MinimumFOp>(op))
      return expandMaximum(op);
    if (auto root = dyn_cast<math::SqrtOp>(op); root && rootEstimates) {
      expandRoot(root);
      return success();
    }
    if (auto power = dyn_cast<math::PowFOp>(op); power && expandPower(power))
      return success();
    if (isa<math::RsqrtOp>(op) && (element.isF32() || element.isF64()))
      return expandRsqrt(op);
    if (function.empty())
      return success();
    if (!element.isF32() && !element.isF64())
      return op->emitError("there is no '")
             << function << "' of type " << element
             << " on a CPU: expected f32 or f64 "
                "(tilebridge-cpu-expand-float-types makes f32 of narrower "
                "types)";
    ImplicitLocOpBuilder b(op->getLoc(), op);
    auto call = [&] {
      return CallEmitter(b, getOperation(), vectorBits, libmvec.getValue())
          .emit(function, op->getOperands());
    };
    Value result;
    bool isOfWhole = isa<math::Exp2Op>(op) && op->hasAttr(wholeAttr);
    if (element.isF32()) {
      MathF32 inlined(b, op->getResult(0).getType(),
                      {fma, scalef, freeUnderflow, vectorBits},
                      MathF32::roundedTo(op));
      Value x = op->getOperand(0);
      result =
          llvm::TypeSwitch<Operation *, Value>(op)
              .Case([&](math::ExpOp) { return inlined.exp(x); })
              .Case([&](math::Exp2Op) {
                return isOfWhole ? inlined.exp2OfWhole(x) : inlined.exp2(x);
              })
              .Case([&](math::LogOp) { return inlined.log(x); })
              .Case([&](math::Log2Op) { return inlined.log2(x); })
              .Case([&](math::Log10Op) { return inlined.log10(x); })
              .Case([&](math::ErfOp) { return inlined.erf(x); })
              .Case([&](math::TanhOp) { return inlined.tanh(x); })
              .Case<math::SinOp, math::CosOp>([&](Operation *) {
                return inlined.sinOrCos(x, isa<math::CosOp>(op), call);
              })
              .Default(Value());
    }
    if (isa<math::ExpOp>(op) && element.isF64() && scalef)
      result = expOfF64(b, op->getOperand(0), freeUnderflow);
    if (isOfWhole && element.isF64())
      result = powerOfWhole(b, op->getOperand(0), /*shifts=*/vectorBits > 128);
    if (!result)
      result = call();
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return success();
  }

  /// LLVM's functions, which tell -0 from +0: upstream's expansion to a
  /// comparison does not.
  LogicalResult expandMaximum(Operation *op) {
    Type type = op->getResult(0).getType();
    if (!LLVM::isCompatibleType(type))
      return success();
    bool isMaximum = isa<arith::MaximumFOp>(op);
    // A reduction that does not tell zeros apart, on x86.
    bool isFree = bitEnumContainsAll(cast<arith::ArithFastMathInterface>(op)
                                         .getFastMathFlagsAttr()
                                         .getValue(),
                                     arith::FastMathFlags::nsz);
    auto flags = isFree ? LLVM::FastmathFlags::nsz : LLVM::FastmathFlags::none;
    auto write = [&](OpBuilder &b, Value x, Value y) -> Value {
      if (isMaximum)
        return LLVM::MaximumOp::create(b, op->getLoc(), type, x, y, flags);
      return LLVM::MinimumOp::create(b, op->getLoc(), type, x, y, flags);
    };
    writeExtremum(op, /*mayReduce=*/isFree, write);
    return success();
  }

  /// LLVM's functions, which x86 computes by its own instruction, that gives y
  /// where one is NaN, and a selection of x where y is NaN. In a reduction y is
  /// the element: what asks for NaN stays off the chain of dependent results.
  /// (Written as comparisons and selections, LLVM would join the two.) Other
  /// CPUs follow IEEE 754-2008, where a signaling NaN is no missing number:
  /// they get the functions of 2019, for which LLVM makes it quiet before.
  LogicalResult expandMaxNum(Operation *op) {
    Type type = op->getResult(0).getType();
    if (!LLVM::isCompatibleType(type))
      return success();
    bool isMaximum = isa<arith::MaxNumFOp>(op);
    if (auto number = numbers.find(op); number != numbers.end()) {
      expandMaximumWithNumber(op, number->second);
      return success();
    }
    auto write = [&](OpBuilder &b, Value x, Value y) -> Value {
      if (!secondIfNan)
        return LLVM::CallIntrinsicOp::create(
                   b, op->getLoc(), type,
                   b.getStringAttr(isMaximum ? "llvm.maximumnum"
                                             : "llvm.minimumnum"),
                   ValueRange{y, x})
            .getResult(0);
      if (isMaximum)
        return LLVM::MaxNumOp::create(b, op->getLoc(), type, y, x);
      return LLVM::MinNumOp::create(b, op->getLoc(), type, y, x);
    };
    writeExtremum(op, /*mayReduce=*/true, write);
    return success();
  }

  /// By `write`, or as the step of a reduction where the CPU's own instruction
  /// does that.
  void
  writeExtremum(Operation *op, bool mayReduce,
                llvm::function_ref<Value(OpBuilder &, Value, Value)> write) {
    if (secondIfNan && mayReduce && expandReducedMaximum(op, vectorBits, write))
      return;
    OpBuilder b(op);
    op->getResult(0).replaceAllUsesWith(
        write(b, op->getOperand(0), op->getOperand(1)));
    op->erase();
  }

  /// Exact root, then a division: two roundings, and right for denormals,
  /// unlike the CPU's estimate.
  LogicalResult expandRsqrt(Operation *op) {
    if (rootEstimates && expandReciprocalRoot(cast<math::RsqrtOp>(op)))
      return success();
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Type type = op->getResult(0).getType();
    auto one = b.getFloatAttr(getElementTypeOrSelf(type), 1.0);
    Value root = math::SqrtOp::create(b, op->getOperand(0));
    TypedAttr ones = one;
    if (auto shaped = dyn_cast<ShapedType>(type))
      ones = DenseElementsAttr::get(shaped, Attribute(one));
    Value result =
        arith::DivFOp::create(b, arith::ConstantOp::create(b, ones), root);
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return success();
  }

  /// Which operands of maxima are never NaN.
  llvm::DenseMap<Operation *, unsigned> numbers;
};

} // namespace
