//===- AccessNote.cpp - why an access is no box of a view -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "triton-to-linalg/bridge/AccessNote.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilebridge;
using linalg_ext::AccessNote;

static constexpr llvm::StringLiteral formKey = "tilebridge.form";
static constexpr llvm::StringLiteral reasonKey = "tilebridge.reason";
static constexpr llvm::StringLiteral causeKey = "tilebridge.cause";

/// The note of this location itself; null where it has none.
static DictionaryAttr noteIn(Location loc) {
  auto fused = dyn_cast<FusedLocWith<DictionaryAttr>>(loc);
  return fused && fused.getMetadata().contains(reasonKey) ? fused.getMetadata()
                                                          : DictionaryAttr();
}

Location linalg_ext::withAccessNote(Location loc, const AccessNote &note) {
  Builder builder(loc.getContext());
  while (noteIn(loc) && cast<FusedLoc>(loc).getLocations().size() == 1)
    loc = cast<FusedLoc>(loc).getLocations().front();
  SmallVector<NamedAttribute, 3> entries = {
      builder.getNamedAttr(formKey, builder.getStringAttr(note.form)),
      builder.getNamedAttr(reasonKey, builder.getStringAttr(note.reason))};
  // As text: who looks for a place in a location must not find the cause's.
  if (!note.cause.empty())
    entries.push_back(
        builder.getNamedAttr(causeKey, builder.getStringAttr(note.cause)));
  return FusedLoc::get({loc}, builder.getDictionaryAttr(entries),
                       loc.getContext());
}

std::optional<AccessNote> linalg_ext::accessNoteOf(Location loc) {
  DictionaryAttr found;
  loc->walk([&](Location each) {
    found = noteIn(each);
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!found)
    return std::nullopt;
  auto textOf = [&](StringRef key) {
    auto text = found.getAs<StringAttr>(key);
    return text ? text.str() : std::string();
  };
  return AccessNote{textOf(formKey), textOf(reasonKey), textOf(causeKey)};
}
