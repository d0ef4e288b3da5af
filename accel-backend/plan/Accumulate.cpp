//===- Accumulate.cpp - atomic additions of blocks as copies that add -----===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/plan/KernelLaunch.h"
#include "accel-backend/plan/LaneForms.h"
#include "accel-backend/plan/Passes.h"
#include "accel-backend/plan/Readings.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace tilebridge::accel {
#define GEN_PASS_DEF_ACCELACCUMULATEPASS
#include "accel-backend/plan/Passes.h.inc"
} // namespace tilebridge::accel

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::accel;
using linalg_ext::AtomicRMWOp;

namespace {
/// Where an atomic access is, counted from the start of an argument.
struct Place {
  Value memory;
  /// An index; null: 0.
  Value offset;
};
} // namespace

// The memory that offsets count from. What is no argument's has an offset that
// is not seen.
static std::optional<Place> placeOf(OpBuilder &builder, Location loc,
                                    Value base) {
  // A cast only hides what is known of a size.
  while (auto cast = base.getDefiningOp<memref::CastOp>())
    base = cast.getSource();
  if (isa<BlockArgument>(base))
    return Place{base, {}};
  Operation *op = base.getDefiningOp();
  if (isa<linalg_ext::ViewAddressOp>(op))
    return Place{base, {}};
  auto view = dyn_cast<memref::ReinterpretCastOp>(op);
  if (!view || !isa<BlockArgument>(view.getSource()))
    return std::nullopt;
  OpFoldResult stride = view.getMixedStrides().front();
  if (!isConstantIntValue(stride, 1))
    return std::nullopt;
  return Place{view.getSource(),
               getValueOrCreateConstantIndexOp(builder, loc,
                                               view.getMixedOffsets().front())};
}

// Whether the kernel sees what atomic accesses of other programs did: they then
// order what is written before them.
static bool observes(func::FuncOp kernel) {
  return kernel
      ->walk([](Operation *op) {
        auto rmw = dyn_cast<AtomicRMWOp>(op);
        bool sees = isa<linalg_ext::AtomicCASOp, linalg_ext::AtomicLoadOp>(op);
        return sees || (rmw && !rmw->use_empty()) ? WalkResult::interrupt()
                                                  : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
/// The first position of each dimension that takes part, and how many do.
struct Extents {
  SmallVector<OpFoldResult> low, sizes;
  bool isAll = true;
};
} // namespace

static Extents extentsOf(OpBuilder &builder, Location loc, const LaneForm &mask,
                         ArrayRef<int64_t> shape) {
  Extents result;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  for (auto [dim, size] : llvm::enumerate(shape)) {
    Value zero = number(0), all = number(size), low = zero, high = all;
    for (const LaneBound &bound : mask.bounds)
      if (bound.dim == dim && !bound.isUpper)
        low = builder.createOrFold<arith::MaxSIOp>(loc, bound.end, low);
    low = builder.createOrFold<arith::MinSIOp>(loc, low, all);
    // As the bounds of loads are written, which are often the same.
    for (const LaneBound &bound : mask.bounds) {
      if (bound.dim != dim || !bound.isUpper)
        continue;
      Value end = builder.createOrFold<arith::MaxSIOp>(loc, bound.end, low);
      high = builder.createOrFold<arith::MinSIOp>(loc, end, high);
    }
    Value count = builder.createOrFold<arith::SubIOp>(loc, high, low);
    if (dim == 0 && mask.base)
      count =
          builder.createOrFold<arith::SelectOp>(loc, mask.base, count, zero);
    result.low.push_back(getAsOpFoldResult(low));
    result.sizes.push_back(getAsOpFoldResult(count));
    result.isAll &= isConstantIntValue(result.low.back(), 0) &&
                    isConstantIntValue(result.sizes.back(), size);
  }
  return result;
}

namespace {
struct AccelAccumulatePass
    : accel::impl::AccelAccumulatePassBase<AccelAccumulatePass> {
  void runOnOperation() override {
    FailureOr<std::optional<KernelLaunch>> launch =
        KernelLaunch::of(getOperation());
    if (failed(launch))
      return signalPassFailure();
    if (!*launch)
      return;
    func::FuncOp kernel = (*launch)->kernel;
    bool isOrdered = observes(kernel);
    SmallVector<AtomicRMWOp> accesses;
    kernel.walk([&](AtomicRMWOp rmw) {
      auto kind = rmw.getKind();
      if (isa<RankedTensorType>(rmw.getType()) && rmw->use_empty() &&
          (kind == linalg_ext::AtomicKind::Add ||
           kind == linalg_ext::AtomicKind::FAdd))
        accesses.push_back(rmw);
    });
    for (AtomicRMWOp rmw : accesses)
      lower(rmw, (*launch)->target, isOrdered);
  }

  static void lower(AtomicRMWOp rmw, const Target &target, bool isOrdered) {
    Location loc = rmw.getLoc();
    OpBuilder builder(rmw);
    const DmaEngine *engine = target.findEngine(
        target.localMemory().name, nameOfMemory(rmw.getBase(), target));
    if (!engine || !engine->accumulate)
      return;
    auto refuse = [&](StringRef why) {
      rmw.emitRemark("is added element by element: ")
          << why << "; the engine '" << engine->name << "' adds blocks";
    };
    if (isOrdered && rmw.getSem() != linalg_ext::MemSem::Relaxed)
      return refuse("it orders what other atomic accesses of the kernel see");
    LaneForms forms(builder, loc);
    std::optional<LaneForm> offsets = forms.of(rmw.getOffset());
    std::optional<Place> place = placeOf(builder, loc, rmw.getBase());
    if (!offsets || !place)
      return refuse("its offsets are no strides of a block");

    auto type = cast<RankedTensorType>(rmw.getType());
    Value first = forms.toIndex(offsets->base);
    if (place->offset)
      first = builder.createOrFold<arith::AddIOp>(loc, place->offset, first);
    SmallVector<OpFoldResult> sizes, strides;
    for (auto [size, stride] :
         llvm::zip_equal(type.getShape(), offsets->strides)) {
      sizes.push_back(builder.getIndexAttr(size));
      strides.push_back(stride ? getAsOpFoldResult(forms.toIndex(stride))
                               : OpFoldResult(builder.getIndexAttr(0)));
    }
    Value view = memref::ReinterpretCastOp::create(
        builder, loc, place->memory, getAsOpFoldResult(first), sizes, strides);
    Value values = rmw.getValue(), mask = rmw.getMask();
    std::optional<LaneForm> bounds;
    if (mask)
      bounds = forms.of(mask);
    if (bounds) {
      mask = {};
      Extents box = extentsOf(builder, loc, *bounds, type.getShape());
      SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
      if (!box.isAll) {
        view = memref::SubViewOp::create(builder, loc, view, box.low, box.sizes,
                                         ones);
        values = tensor::ExtractSliceOp::create(builder, loc, values, box.low,
                                                box.sizes, ones);
      }
    }
    CopyOp::create(
        builder, loc, TypeRange(), values, view, /*rows=*/Value(),
        /*dim=*/uint64_t(0), /*scatter=*/false, ValueRange(),
        /*pad=*/Value(), mask,
        CombiningKindAttr::get(builder.getContext(), CombiningKind::Add),
        DenseI64ArrayAttr());
    if (isa<FloatType>(type.getElementType()))
      rmw.emitRemark("is one accumulating copy of the engine '")
          << engine->name
          << "': PEs add in any order, so float sums may differ in their last "
             "bits";
    rmw.erase();
  }
};
} // namespace
