//===- Descriptor.cpp - transfers between memrefs as descriptors ----------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/plan/Descriptor.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilebridge::accel;

static_assert(ShapedType::kDynamic == unknownExtent);

Box tilebridge::accel::boxOf(MemRefType source, MemRefType dest,
                             ArrayRef<int64_t> most) {
  Box box;
  box.elementBytes = llvm::divideCeil(source.getElementTypeBitWidth(), 8);
  box.most.assign(most.begin(), most.end());
  for (auto [d, size] : llvm::enumerate(most))
    box.isExact.push_back(source.getDimSize(d) == size);
  auto stridesOf = [](MemRefType type, SmallVector<int64_t> &strides) {
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      strides.assign(type.getRank(), ShapedType::kDynamic);
  };
  stridesOf(source, box.sourceStrides);
  stridesOf(dest, box.destStrides);
  return box;
}

// A size that is not known is at most that of the buffer on the other side.
SmallVector<int64_t> tilebridge::accel::mostOf(Value source, Value dest) {
  auto boundOf = [](Value memref, int64_t d) {
    int64_t size = cast<MemRefType>(memref.getType()).getDimSize(d);
    // Of a part: that of the whole, where it has the same dimensions.
    while (ShapedType::isDynamic(size)) {
      auto view = memref.getDefiningOp<memref::SubViewOp>();
      if (!view || view.getSourceType().getRank() != view.getType().getRank())
        break;
      memref = view.getSource();
      size = view.getSourceType().getDimSize(d);
    }
    return size;
  };
  SmallVector<int64_t> most;
  for (int64_t d = 0; d < cast<MemRefType>(source.getType()).getRank(); ++d) {
    int64_t a = boundOf(source, d), b = boundOf(dest, d);
    most.push_back(ShapedType::isDynamic(a)   ? b
                   : ShapedType::isDynamic(b) ? a
                                              : std::min(a, b));
  }
  return most;
}

bool tilebridge::accel::isOneDescriptor(Value source, Value dest, Value rows,
                                        int64_t dim, bool pads,
                                        const DmaEngine &engine,
                                        Unknown unknown) {
  if (pads && !engine.padding)
    return false;
  SmallVector<int64_t> most = mostOf(source, dest);
  auto type = cast<MemRefType>(source.getType());
  if (unknown == Unknown::AtLeast)
    for (auto [d, size] : llvm::enumerate(most))
      if (size != 1 && type.isDynamicDim(d))
        size = 2;
  return isOneDescriptor(boxOf(type, cast<MemRefType>(dest.getType()), most),
                         rows ? std::optional(dim) : std::nullopt, engine);
}
