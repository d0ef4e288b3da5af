//===- AccessText.cpp - a transfer, for the kernel's author ---------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/dialect/AccessText.h"

#include "accel-backend/dialect/AccelOps.h"
#include "accel-backend/dialect/TransferRoot.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilebridge::accel;
namespace json = llvm::json;

StringRef tilebridge::accel::nameIn(Location loc) {
  StringRef name;
  loc->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner)) {
      name = named.getName().getValue();
      return WalkResult::interrupt();
    }
    // Those of callers are other blocks' names.
    return isa<CallSiteLoc>(inner) ? WalkResult::interrupt()
                                   : WalkResult::advance();
  });
  return name;
}

std::string tilebridge::accel::placeIn(Location loc) {
  std::string line;
  loc->walk([&](Location each) {
    auto place = dyn_cast<FileLineColLoc>(each);
    if (!place)
      return WalkResult::advance();
    line =
        (place.getFilename().getValue() + ":" + Twine(place.getLine())).str();
    return WalkResult::interrupt();
  });
  return line;
}

/// The kernel's argument that a view is of, by its name or number.
static std::string tensorOf(Value memref) {
  auto argument = dyn_cast<BlockArgument>(transferRoot(memref));
  if (!argument ||
      !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return "";
  if (StringRef name = nameIn(argument.getLoc()); !name.empty())
    return name.str();
  return "argument " + std::to_string(argument.getArgNumber());
}

/// The form of what has no note.
template <typename TransferT>
static StringRef formOf(TransferT transfer, bool isLoad) {
  if (!transfer.getRows())
    return transfer.getMask() ? (isLoad ? "masked load" : "masked store")
                              : "subview";
  auto type = cast<ShapedType>(
      (isLoad ? transfer.getDest() : transfer.getSource()).getType());
  bool areElements = true;
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    areElements &= d == transfer.getDim() || size == 1;
  if (areElements)
    return isLoad ? "element gather" : "element scatter";
  return isLoad ? "row gather" : "row scatter";
}

AccessText::AccessText(Operation *transfer)
    : line(placeIn(transfer->getLoc())) {
  auto read = [&](auto op) {
    isLoad = isInChipMemory(op.getSource().getType());
    tensor = tensorOf(isLoad ? op.getSource() : op.getDest());
    note.form = formOf(op, isLoad).str();
  };
  if (auto start = dyn_cast<CopyStartOp>(transfer))
    read(start);
  else
    read(cast<CopyOp>(transfer));
  if (auto found = linalg_ext::accessNoteOf(transfer->getLoc()))
    note = *found;
}

json::Object AccessText::json() const {
  auto orNull = [](const std::string &text) {
    return text.empty() ? json::Value(nullptr) : json::Value(text);
  };
  json::Object object{{"line", orNull(line)},
                      {"tensor", orNull(tensor)},
                      {"direction", isLoad ? "load" : "store"},
                      {"form", note.form}};
  if (!note.reason.empty())
    object["reason"] = note.reason;
  if (!note.cause.empty())
    object["cause"] = note.cause;
  return object;
}
