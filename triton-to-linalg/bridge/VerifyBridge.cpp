//===- VerifyBridge.cpp - the contract of docs/bridge-ir.md as checks ------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"
#include "triton-to-linalg/bridge/Passes.h"
#include "triton-to-linalg/bridge/Permute.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tilebridge::linalg_ext {
#define GEN_PASS_DEF_VERIFYBRIDGEPASS
#include "triton-to-linalg/bridge/Passes.h.inc"
} // namespace tilebridge::linalg_ext

using namespace mlir;
using namespace tilebridge;

namespace {

//===----------------------------------------------------------------------===//
// (B1) Operations
//===----------------------------------------------------------------------===//

/// Dialects of which every op is bridge IR.
bool isWholeDialect(StringRef dialect) {
  return dialect == "arith" || dialect == "math" || dialect == "linalg_ext";
}

bool isBridgeOp(Operation *op) {
  if (isWholeDialect(op->getName().getDialectNamespace()))
    return true;
  return isa<
      ModuleOp, func::FuncOp, func::CallOp, func::ReturnOp, ub::PoisonOp,
      scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp, scf::YieldOp,
      scf::ConditionOp, bufferization::ToTensorOp,
      bufferization::MaterializeInDestinationOp, memref::CastOp,
      memref::ExtractAlignedPointerAsIndexOp, memref::ExtractStridedMetadataOp,
      memref::LoadOp, memref::ReinterpretCastOp, memref::StoreOp,
      memref::SubViewOp, memref::DimOp, tensor::CastOp, tensor::CollapseShapeOp,
      tensor::DimOp, tensor::EmptyOp, tensor::ExpandShapeOp, tensor::ExtractOp,
      tensor::ExtractSliceOp, tensor::FromElementsOp, tensor::InsertSliceOp,
      tensor::PadOp, tensor::SplatOp, tensor::YieldOp, linalg::BatchMatmulOp,
      linalg::BroadcastOp, linalg::FillOp, linalg::GenericOp, linalg::IndexOp,
      linalg::MatmulOp, linalg::ReduceOp, linalg::TransposeOp, linalg::YieldOp>(
      op);
}

LogicalResult checkOperation(Operation *op) {
  if (isBridgeOp(op))
    return success();
  return op->emitError("(B1) '")
         << op->getName() << "' is not part of the bridge IR";
}

//===----------------------------------------------------------------------===//
// (B2) to (B4) Functions
//===----------------------------------------------------------------------===//

LogicalResult checkProgramArguments(func::FuncOp op) {
  ArrayRef<Type> types = op.getArgumentTypes();
  auto isI32 = [](Type type) { return type.isInteger(32); };
  if (types.size() >= linalg_ext::kProgramArguments &&
      llvm::all_of(types.take_back(linalg_ext::kProgramArguments), isI32))
    return success();
  return op.emitError("(B2) the last ")
         << linalg_ext::kProgramArguments
         << " arguments of a function are the program's ids and their counts, "
            "all i32";
}

/// The number of arguments that one entry of a signature describes.
unsigned argumentsOf(StringRef entry) {
  return entry.starts_with("tensordesc<") ? 2 : 1;
}

/// Whether a name of Triton's, such as "fp16" or "u8", is that of a type. A
/// boolean in memory is a byte, and a pointer there is an address.
bool isNameOf(StringRef name, Type type, bool isInMemory) {
  if (isInMemory && name.starts_with("*"))
    return type.isInteger(64);
  if (isInMemory && (name == "i1" || name == "u1"))
    return type.isInteger(8);
  if (auto integer = dyn_cast<IntegerType>(type)) {
    unsigned bits = 0;
    bool isNumber = name.consume_front("i") || name.consume_front("u");
    return isNumber && !name.getAsInteger(10, bits) &&
           bits == integer.getWidth();
  }
  return llvm::TypeSwitch<Type, bool>(type)
      .Case<Float8E5M2Type>([&](auto) { return name == "fp8e5"; })
      .Case<Float8E4M3FNType>([&](auto) { return name == "fp8e4nv"; })
      .Case<Float8E5M2FNUZType>([&](auto) { return name == "fp8e5b16"; })
      .Case<Float8E4M3FNUZType>([&](auto) { return name == "fp8e4b8"; })
      .Case<BFloat16Type>([&](auto) { return name == "bf16"; })
      .Case<Float16Type>([&](auto) { return name == "fp16"; })
      .Case<Float32Type>([&](auto) { return name == "fp32"; })
      .Case<Float64Type>([&](auto) { return name == "fp64"; })
      .Default([](Type) { return false; });
}

/// Whether an argument is what an entry of the signature says.
bool isDescribed(Type type, StringRef entry) {
  auto view = dyn_cast<MemRefType>(type);
  if (entry.consume_front("*")) {
    entry.consume_front("k"); // constant
    return view && view.getRank() == 1 && view.isDynamicDim(0) &&
           isNameOf(entry, view.getElementType(), /*isInMemory=*/true);
  }
  if (!entry.consume_front("tensordesc<"))
    return isNameOf(entry, type, /*isInMemory=*/false);
  auto [name, shape] = entry.split('[');
  return view && view.getRank() == int64_t(shape.count(',') + 1) &&
         isNameOf(name, view.getElementType(), /*isInMemory=*/true);
}

LogicalResult checkSignature(func::FuncOp op) {
  auto signature = op->getAttrOfType<ArrayAttr>(linalg_ext::kSignatureAttr);
  if (!signature || !llvm::all_of(signature, llvm::IsaPred<StringAttr>))
    return op.emitError("(B4) a kernel has '")
           << linalg_ext::kSignatureAttr << "', an array of strings";
  ArrayRef<Type> types =
      op.getArgumentTypes().drop_back(linalg_ext::kProgramArguments);
  unsigned next = 0;
  for (auto entry : signature.getAsRange<StringAttr>()) {
    bool isDescriptor = argumentsOf(entry) == 2;
    unsigned end = next + argumentsOf(entry);
    if (end > types.size())
      return op.emitError(
          "(B4) the signature describes more arguments than the "
          "kernel has");
    if (!isDescribed(types[next], entry) ||
        (isDescriptor && !types[next + 1].isInteger(1)))
      return op.emitError("(B4) argument ")
             << next << " is " << types[next] << ", but the signature says "
             << entry;
    next = end;
  }
  if (next != types.size())
    return op.emitError("(B4) the signature describes ")
           << next << " arguments, but the kernel has " << types.size();
  return success();
}

LogicalResult checkFunction(func::FuncOp op) {
  if (failed(checkProgramArguments(op)))
    return failure();
  bool isKernel = op->hasAttr(linalg_ext::kKernelAttr);
  if (op.isExternal() || !op.getBody().hasOneBlock())
    return op.emitError("(B3) a function has a body of one block");
  if (isKernel != op.isPublic())
    return op.emitError("(B3) a function is public if, and only if, it is a "
                        "kernel");
  if (!isKernel)
    return success();
  if (op.getNumResults() != 0)
    return op.emitError("(B3) a kernel has no results");
  return checkSignature(op);
}

LogicalResult checkCall(func::CallOp op) {
  ValueRange operands = op.getOperands();
  auto function = op->getParentOfType<func::FuncOp>();
  ValueRange own = function.getArguments();
  if (operands.size() < linalg_ext::kProgramArguments ||
      own.size() < linalg_ext::kProgramArguments ||
      operands.take_back(linalg_ext::kProgramArguments) !=
          own.take_back(linalg_ext::kProgramArguments))
    return op.emitError("(B2) a call passes on the program's ids and their "
                        "counts as its last operands");
  return success();
}

//===----------------------------------------------------------------------===//
// (B5), (B6) Types
//===----------------------------------------------------------------------===//

bool isNumber(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() && integer.getWidth() >= 1 &&
           integer.getWidth() <= 64;
  if (auto floating = dyn_cast<FloatType>(type))
    return floating.getWidth() <= 64 && !isa<FloatTF32Type>(type);
  return isa<IndexType>(type);
}

/// Whether elements in memory may be of a type of numbers.
bool mayBeInMemory(Type type) {
  if (!isNumber(type))
    return false;
  if (isa<IndexType>(type))
    return true;
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits >= 8 && llvm::isPowerOf2_32(bits);
}

/// What no machine has room for, and no loop comes to an end of. Sizes that are
/// not known until the program runs count as 1.
bool isHuge(ArrayRef<int64_t> shape) {
  constexpr int64_t most = int64_t(1) << 28;
  int64_t count = 1;
  for (int64_t size : shape) {
    if (ShapedType::isDynamic(size) || size == 0)
      continue;
    if (size > most / count)
      return true;
    count *= size;
  }
  return false;
}

/// The part of memory that a box has is not known before the program runs;
/// every other tensor is static.
bool mayBeDynamic(Operation *op) {
  return isa<bufferization::ToTensorOp, tensor::ExtractSliceOp, tensor::CastOp>(
      op);
}

/// Why a value of this type is not bridge IR; empty if it is.
StringRef problemOf(Type type, bool mayBeDynamic) {
  if (isNumber(type))
    return "";
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    if (tensor.getEncoding() || !isNumber(tensor.getElementType()))
      return "(B5) a tensor has elements that are numbers, and no encoding";
    if (isHuge(tensor.getShape()))
      return "(B5) a tensor has at most 268435456 elements";
    if (!tensor.hasStaticShape() && !mayBeDynamic)
      return "(B5) only what is read from or written to a box has a dynamic "
             "shape";
    return "";
  }
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return "(B5) a value is a number, a ranked tensor or a ranked memref";
  if (!memref.isStrided() || memref.getMemorySpace())
    return "(B6) a memref has strides, and no memory space";
  if (!mayBeInMemory(memref.getElementType()))
    return "(B6) an element in memory is a number of 1, 2, 4 or 8 bytes: a "
           "boolean is an i8";
  return "";
}

LogicalResult checkType(Location loc, Type type, bool mayBeDynamic) {
  StringRef problem = problemOf(type, mayBeDynamic);
  if (problem.empty())
    return success();
  return emitError(loc) << problem << ", but here is " << type;
}

LogicalResult checkTypes(Operation *op) {
  for (Value result : op->getResults())
    if (failed(checkType(op->getLoc(), result.getType(), mayBeDynamic(op))))
      return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (failed(checkType(op->getLoc(), argument.getType(), false)))
          return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// (B7), (B8) Memory
//===----------------------------------------------------------------------===//

LogicalResult checkMemory(Operation *op) {
  if (auto read = dyn_cast<bufferization::ToTensorOp>(op))
    if (read.getRestrict() || read.getWritable())
      return op->emitError("(B7) memory that is read may be written by others: "
                           "neither 'restrict' nor 'writable' holds");
  if (auto write = dyn_cast<bufferization::MaterializeInDestinationOp>(op))
    if (!isa<MemRefType>(write.getDest().getType()) || !write.getWritable() ||
        write.getRestrict())
      return op->emitError(
          "(B8) a store goes to a memref that is 'writable' and "
          "not 'restrict'");
  return success();
}

//===----------------------------------------------------------------------===//
// (B9) to (B12) Values
//===----------------------------------------------------------------------===//

bool isTensorValue(Value value) { return isa<TensorType>(value.getType()); }

LogicalResult checkScalarArithmetic(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if ((dialect != "arith" && dialect != "math") || isa<arith::ConstantOp>(op))
    return success();
  if (llvm::any_of(op->getOperands(), isTensorValue) ||
      llvm::any_of(op->getResults(), isTensorValue))
    return op->emitError("(B9) arithmetic on tensors is the body of a "
                         "'linalg.generic'");
  return success();
}

bool addsNarrowFloats(linalg::LinalgOp op) {
  if (!isa<linalg::ReduceOp, linalg::MatmulOp, linalg::BatchMatmulOp>(*op))
    return false;
  return op->getRegion(0)
      .walk([](Operation *inner) {
        bool rounds =
            isa<arith::AddFOp, arith::MulFOp>(inner) &&
            inner->getResult(0).getType().getIntOrFloatBitWidth() < 32;
        return rounds ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

LogicalResult checkLinalg(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return op.emitError("(B10) an op of linalg works on tensors");
  bool mayBranch = isa<linalg::GenericOp>(*op);
  WalkResult walk =
      op->getRegion(0).walk<WalkOrder::PreOrder>([&](Operation *inner) {
        bool isBranch = isa<scf::SCFDialect>(inner->getDialect());
        if ((isBranch ? mayBranch : inner->getNumRegions() == 0) &&
            (isBranch || isMemoryEffectFree(inner)) &&
            llvm::none_of(inner->getOperands(),
                          [](Value v) { return isa<ShapedType>(v.getType()); }))
          return WalkResult::advance();
        inner->emitError(
            "(B10) the body of an op of linalg computes with scalars "
            "only; control flow in it is scf, in a 'linalg.generic'");
        return WalkResult::interrupt();
      });
  if (walk.wasInterrupted())
    return failure();
  if (addsNarrowFloats(op))
    return op.emitError("(B12) sums and products of floats narrower than f32 "
                        "are taken in f32, and rounded once");
  auto generic = dyn_cast<linalg::GenericOp>(*op);
  if (!generic)
    return success();
  if (generic.getNumParallelLoops() != generic.getNumLoops() ||
      !linalg_ext::keepsOrder(generic))
    return op.emitError(
        "(B11) a 'linalg.generic' is elementwise: all iterators "
        "parallel, all maps the identity");
  return success();
}

LogicalResult checkOp(Operation *op) {
  if (failed(checkOperation(op)) || failed(checkTypes(op)) ||
      failed(checkMemory(op)) || failed(checkScalarArithmetic(op)))
    return failure();
  if (auto function = dyn_cast<func::FuncOp>(op))
    return checkFunction(function);
  if (auto call = dyn_cast<func::CallOp>(op))
    return checkCall(call);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return checkLinalg(structured);
  return success();
}

struct VerifyBridge : linalg_ext::impl::VerifyBridgePassBase<VerifyBridge> {
  void runOnOperation() override {
    // One message for each op that breaks a rule; what is inside of it would
    // only repeat it.
    bool isBridge = true;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (succeeded(checkOp(op)))
        return WalkResult::advance();
      isBridge = false;
      return WalkResult::skip();
    });
    if (!isBridge)
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
