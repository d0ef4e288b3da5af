//===- Accesses.cpp - accesses by offset, row and mask ---===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "reference/Program.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

using namespace mlir;

namespace tilebridge::reference {

namespace {
/// Each lane of an access: whether it is done, and where.
struct Access {
  Program &program;
  Operation *op;
  const View &view;
  ArrayRef<int64_t> shape;
  llvm::function_ref<bool(ArrayRef<int64_t>, size_t lane)> isActive;
  llvm::function_ref<int64_t(ArrayRef<int64_t>, size_t lane)> offset;

  /// Reads into a block of `other`s.
  LogicalResult load(mlir::Value result, mlir::Value other) const {
    auto type = cast<RankedTensorType>(result.getType());
    Lanes lanes(type.getNumElements(), 0);
    if (other) {
      const Lanes &others = program.lanes(other);
      for (size_t i = 0; i < lanes.size(); ++i)
        lanes[i] = others[others.size() == 1 ? 0 : i];
    }
    if (failed(forEachLane([&](size_t lane, int64_t at) -> LogicalResult {
          auto bits = program.load(op, view, type.getElementType(), at);
          if (succeeded(bits))
            lanes[lane] = *bits;
          return bits;
        })))
      return failure();
    program.set(result, std::move(lanes));
    return success();
  }

  LogicalResult store(mlir::Value value) const {
    const Datum &datum = program.get(value);
    return forEachLane([&](size_t lane, int64_t at) {
      return program.store(op, view, datum.elementType(), at,
                           datum.lanes()[lane]);
    });
  }

private:
  LogicalResult
  forEachLane(llvm::function_ref<LogicalResult(size_t, int64_t)> access) const {
    LogicalResult result = success();
    size_t lane = 0;
    forEachPosition(shape, [&](ArrayRef<int64_t> position) {
      if (succeeded(result) && isActive(position, lane))
        result = access(lane, offset(position, lane));
      ++lane;
    });
    return result;
  }
};

bool isSet(Program &program, mlir::Value mask, size_t lane) {
  return !mask || program.lanes(mask)[lane] != 0;
}
} // namespace

//===----------------------------------------------------------------------===//
// Elements by offset
//===----------------------------------------------------------------------===//

template <typename OpT>
static Access
elementAccess(Program &program, OpT op,
              llvm::function_ref<bool(ArrayRef<int64_t>, size_t)> isActive,
              llvm::function_ref<int64_t(ArrayRef<int64_t>, size_t)> offset) {
  return {program,
          op,
          program.view(op.getBase()),
          program.get(op.getOffsets()).shape(),
          isActive,
          offset};
}

template <typename OpT, typename Body>
static LogicalResult withElements(Program &program, OpT op, Body body) {
  const Datum &offsets = program.get(op.getOffsets());
  unsigned width = widthOf(offsets.elementType());
  auto isActive = [&](ArrayRef<int64_t>, size_t lane) {
    return isSet(program, op.getMask(), lane);
  };
  auto offset = [&](ArrayRef<int64_t>, size_t lane) {
    return program.view(op.getBase()).offset +
           signedValue(offsets.lanes()[lane], width);
  };
  return body(elementAccess(program, op, isActive, offset));
}

static LogicalResult evaluateGather(Program &program, Operation *op) {
  auto gather = cast<linalg_ext::GatherOp>(op);
  return withElements(program, gather, [&](const Access &access) {
    return access.load(gather.getResult(), gather.getOther());
  });
}

static LogicalResult evaluateScatter(Program &program, Operation *op) {
  auto scatter = cast<linalg_ext::ScatterOp>(op);
  return withElements(program, scatter, [&](const Access &access) {
    return access.store(scatter.getValue());
  });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

template <typename OpT, typename Body>
static LogicalResult withRows(Program &program, OpT op, ArrayRef<int64_t> shape,
                              Body body) {
  const View &view = program.view(op.getView());
  const Lanes &rows = program.lanes(op.getRows());
  size_t dim = op.getDim();
  auto isActive = [&](ArrayRef<int64_t> position, size_t) {
    for (size_t i = 0; i < position.size(); ++i)
      if (i != dim && position[i] >= view.sizes[i])
        return false;
    return isSet(program, op.getRowmask(), position[dim]);
  };
  auto offset = [&](ArrayRef<int64_t> position, size_t) {
    SmallVector<int64_t> at(position);
    at[dim] = int64_t(rows[position[dim]]);
    return view.offsetOf(at);
  };
  return body(Access{program, op, view, shape, isActive, offset});
}

static LogicalResult evaluateGatherRows(Program &program, Operation *op) {
  auto gather = cast<linalg_ext::GatherRowsOp>(op);
  auto type = cast<RankedTensorType>(gather.getResult().getType());
  return withRows(program, gather, type.getShape(), [&](const Access &access) {
    return access.load(gather.getResult(), gather.getOther());
  });
}

static LogicalResult evaluateScatterRows(Program &program, Operation *op) {
  auto scatter = cast<linalg_ext::ScatterRowsOp>(op);
  auto type = cast<RankedTensorType>(scatter.getValue().getType());
  return withRows(program, scatter, type.getShape(), [&](const Access &access) {
    return access.store(scatter.getValue());
  });
}

//===----------------------------------------------------------------------===//
// Views with masks
//===----------------------------------------------------------------------===//

template <typename OpT, typename Body>
static LogicalResult withMask(Program &program, OpT op, Body body) {
  const View &view = program.view(op.getView());
  auto isActive = [&](ArrayRef<int64_t>, size_t lane) {
    return isSet(program, op.getMask(), lane);
  };
  auto offset = [&](ArrayRef<int64_t> position, size_t) {
    return view.offsetOf(position);
  };
  return body(Access{program, op, view, program.get(op.getMask()).shape(),
                     isActive, offset});
}

static LogicalResult evaluateMaskedLoad(Program &program, Operation *op) {
  auto load = cast<linalg_ext::MaskedLoadOp>(op);
  return withMask(program, load, [&](const Access &access) {
    return access.load(load.getResult(), load.getOther());
  });
}

static LogicalResult evaluateMaskedStore(Program &program, Operation *op) {
  auto store = cast<linalg_ext::MaskedStoreOp>(op);
  return withMask(program, store, [&](const Access &access) {
    return access.store(store.getValue());
  });
}

void addAccessHandlers(HandlerTable &table) {
  table.add<linalg_ext::GatherOp>(evaluateGather);
  table.add<linalg_ext::ScatterOp>(evaluateScatter);
  table.add<linalg_ext::GatherRowsOp>(evaluateGatherRows);
  table.add<linalg_ext::ScatterRowsOp>(evaluateScatterRows);
  table.add<linalg_ext::MaskedLoadOp>(evaluateMaskedLoad);
  table.add<linalg_ext::MaskedStoreOp>(evaluateMaskedStore);
}

} // namespace tilebridge::reference
