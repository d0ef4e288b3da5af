//===- AccelDialect.cpp - the dialect accel -------------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccelDialect.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/Assignment.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilebridge::accel;

#include "accel-backend/dialect/AccelDialect.cpp.inc"
#include "accel-backend/dialect/AccelEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "accel-backend/dialect/AccelAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "accel-backend/dialect/AccelTypes.cpp.inc"

void AccelDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "accel-backend/dialect/AccelAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "accel-backend/dialect/AccelTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "accel-backend/dialect/AccelOps.cpp.inc"
      >();
}

bool tilebridge::accel::isInChipMemory(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && !memref.getMemorySpace();
}

LogicalResult
AssignmentAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                       AssignmentKind kind, ArrayRef<int64_t> values,
                       DenseIntElementsAttr table) {
  if (kind == AssignmentKind::Blocked &&
      (values.size() != 1 || values.front() < 1))
    return emitError() << "(c1) blocked: expects one value, above 0";
  if (kind == AssignmentKind::Grid) {
    bool fits = values.size() == 2 && values[0] != values[1];
    for (int64_t value : values)
      fits &= value >= -1 && value <= 2;
    if (!fits)
      return emitError() << "(c2) grid: expects two values, different, each a "
                            "dimension of the launch grid or -1";
  }
  if ((kind == AssignmentKind::Table) != (table != nullptr))
    return emitError()
           << "(c3) expects a table with the kind 'table', and only there";
  if (table) {
    ShapedType type = table.getType();
    if (type.getRank() != 3 || !type.getElementType().isInteger(32))
      return emitError() << "(c3) expects a table of i32 of rank 3, got "
                         << type;
  }
  if ((kind == AssignmentKind::Interleaved || kind == AssignmentKind::Table) &&
      !values.empty())
    return emitError() << "(c4) expects no values with the kind '"
                       << stringifyAssignmentKind(kind) << "'";
  return success();
}

LogicalResult AccelDialect::verifyOperationAttribute(Operation *op,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kernelAttr &&
      (!isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attribute.getValue())))
    return op->emitOpError("'accel.kernel' is a unit attribute of functions");
  if (name == targetAttr &&
      (!isa<ModuleOp>(op) || !isa<StringAttr>(attribute.getValue())))
    return op->emitOpError(
        "'accel.target' is the name of a target, on modules");
  if (name == depthAttr) {
    auto depth = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!depth || depth.getInt() < 1)
      return op->emitOpError("'accel.depth' is the number of buffers, at least "
                             "1, got ")
             << attribute.getValue();
  }
  if (name == mergeAttr &&
      (!isa<FunctionOpInterface, LoopLikeOpInterface>(op) ||
       !readMerge(attribute.getValue())))
    return op->emitOpError(
               "'accel.merge' is how many programs are run as one in each of "
               "three dimensions, at most 16 together, on kernels; got ")
           << attribute.getValue();
  return success();
}

LogicalResult AccelDialect::verifyRegionArgAttribute(Operation *op,
                                                     unsigned region,
                                                     unsigned argument,
                                                     NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name != noaliasAttr && name != placedAttr)
    return success();
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function || !isa<MemRefType>(function.getArgumentTypes()[argument]))
    return op->emitOpError()
           << "'" << name << "' is for arguments that are memory";
  if (name == placedAttr && !isa<StringAttr>(attribute.getValue()))
    return op->emitOpError("'accel.placed' is the name of a memory");
  return success();
}
