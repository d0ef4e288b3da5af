//===- ProgramColumns.cpp - columns that programs have side by side -------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/merge/ProgramColumns.h"

#include "cpu-backend/emit/Growth.h"
#include "cpu-backend/emit/Plan.h"
#include "cpu-backend/emit/View.h"
#include "triton-to-linalg/bridge/BridgeAttrs.h"
#include "triton-to-linalg/bridge/LinalgExtDialect.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge;
using namespace tilebridge::cpu;
using linalg_ext::kProgramArguments;

namespace {
/// What is made only to ask how values grow.
class Scratch : public OpBuilder::Listener {
public:
  ~Scratch() override {
    for (Operation *op : llvm::reverse(made))
      if (op->use_empty())
        op->erase();
  }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    made.push_back(op);
  }

private:
  SmallVector<Operation *> made;
};
} // namespace

int64_t tilebridge::cpu::elementBytes(Type memref) {
  return llvm::divideCeil(cast<MemRefType>(memref).getElementTypeBitWidth(), 8);
}

/// Calls `see` with each view and the constant by which an offset of it grows
/// from program to program.
static void
forEachGrowth(func::FuncOp func, unsigned axis,
              function_ref<void(Operation *view, int64_t growth)> see) {
  Value id = func.getArguments().take_back(kProgramArguments)[axis];
  if (id.use_empty())
    return;
  Scratch scratch;
  func.walk([&](Operation *op) {
    SmallVector<OpFoldResult> offsets;
    if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op))
      offsets = cast.getMixedOffsets();
    else if (auto part = dyn_cast<memref::SubViewOp>(op))
      offsets = part.getMixedOffsets();
    else
      return;
    OpBuilder b(op);
    b.setListener(&scratch);
    for (OpFoldResult offset : offsets) {
      auto value = dyn_cast<Value>(offset);
      if (!value)
        continue;
      auto growth = growthOfProgram(b, op->getLoc(), value, id);
      if (auto constant = growth ? constantOf(*growth) : std::nullopt)
        see(op, *constant);
    }
  });
}

std::optional<ProgramColumns> tilebridge::cpu::findColumns(func::FuncOp func,
                                                           unsigned axis) {
  ProgramColumns found;
  forEachGrowth(func, axis, [&](Operation *view, int64_t growth) {
    int64_t bytes = elementBytes(view->getResult(0).getType());
    if (growth == 1)
      found.bytes = found.bytes ? std::min(found.bytes, bytes) : bytes;
  });
  return found.bytes ? std::optional(found) : std::nullopt;
}

/// Sizes of a view with rows of `width` elements that lie beside each other.
static bool hasRowsOf(int64_t width, MemRefType view) {
  int64_t last = view.getRank() - 1;
  return last > 0 && view.getDimSize(last) == width &&
         hasUnitStride(view, last) &&
         llvm::any_of(view.getShape().drop_back(),
                      [](int64_t size) { return size != 1; });
}

std::optional<ProgramColumns>
tilebridge::cpu::findNarrowBlocks(func::FuncOp func, unsigned axis) {
  // What goes through memory at the pace of rows gains from longer ones, up to
  // where the CPU follows them by itself.
  constexpr int64_t mostLines = 4;
  int64_t most = isSumOfRows(func) ? mostLines * lineBytes : lineBytes;
  ProgramColumns found;
  forEachGrowth(func, axis, [&](Operation *view, int64_t growth) {
    auto type = cast<MemRefType>(view->getResult(0).getType());
    int64_t bytes = elementBytes(type);
    bool isInLoop = view->getParentOfType<scf::ForOp>() != nullptr;
    if (growth < 2 || !llvm::isPowerOf2_64(growth) || found.width > growth ||
        !hasRowsOf(growth, type) || growth * bytes > most ||
        (growth * bytes >= lineBytes && !isInLoop))
      return;
    found.bytes = found.width == growth ? std::min(found.bytes, bytes) : bytes;
    found.width = growth;
  });
  return found.width ? std::optional(found) : std::nullopt;
}

bool tilebridge::cpu::readsRowsInLoop(func::FuncOp func) {
  bool found = false;
  func.walk([&](bufferization::ToTensorOp load) {
    auto type = cast<MemRefType>(load.getBuffer().getType());
    found |= load->getParentOfType<scf::ForOp>() && type.getRank() > 0 &&
             !(type.getRank() == 1 && hasUnitStride(type, 0));
  });
  return found;
}

bool tilebridge::cpu::isSumOfRows(func::FuncOp func) {
  bool isSum = false;
  bool isPlain = !anyInside(func, [&](Operation *op) {
    if (isa<scf::ForOp>(op))
      isSum |= anyInside(op, llvm::IsaPred<bufferization::ToTensorOp>) &&
               !mayWrite(op);
    return isa<scf::IfOp, scf::WhileOp>(op) ||
           isa<math::MathDialect, linalg_ext::LinalgExtDialect>(
               op->getDialect());
  });
  return isSum && isPlain && readsRowsInLoop(func);
}
