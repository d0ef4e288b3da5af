//===- NestReport.cpp - what became of a nest, in words -------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/NestEmitter.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// The loops, their lanes, and what shares them.
void NestEmitter::report() const {
  // Of two versions of a nest the one for rows that lie apart tells of both.
  if (nest.isCold || nest.shape.empty() || isRest() || isWhole() ||
      (isVersion && rowsAtOnce.empty()) ||
      !Decision::isWanted(loc.getContext()))
    return;
  std::string text;
  llvm::raw_string_ostream out(text);
  out << shapeText(nest.shape);
  if (!nest.reduceDims.empty()) {
    out << ", reduced along ";
    llvm::interleaveComma(nest.reduceDims, out);
  }
  out << ": ";
  if (frame.lanes > 1)
    out << frame.lanes << " elements a step along dimension " << frame.vecDim;
  else
    out << "one element a step";
  if (vecReduced && frame.lanes > 1)
    out << ", a tree over the lanes behind the loop";
  if (!rowsAtOnce.empty())
    out << ", " << rowsAtOnce.size() << " rows at once"
        << (rowsAreFar ? " where they lie apart and come from memory" : "");
  // Of a store that goes without saying.
  SmallVector<int64_t> wanted;
  for (auto [d, range] : llvm::enumerate(ranges))
    if (restricted.count(d) &&
        !llvm::all_of(nest.outputs,
                      [](const NestOutput &output) { return output.isStore; }))
      wanted.push_back(d);
  for (int64_t d : wanted)
    out << ", of dimension " << d << " only what is stored in the end";
  if (mayBeWhole)
    out << ", without bounds where the block is whole";
  unsigned stores = 0, buffers = 0, reductions = 0;
  for (const NestOutput &output : nest.outputs)
    ++(output.reduce ? reductions : output.isStore ? stores : buffers);
  if (nest.outputs.size() > 1) {
    out << "; one nest for ";
    llvm::ListSeparator separator;
    auto part = [&](unsigned count, StringRef one) {
      if (count)
        out << separator << count << " " << one << (count > 1 ? "s" : "");
    };
    part(stores, "store");
    part(reductions, "reduction");
    part(buffers, "buffer");
  }
  Decision(loc, "loops")
      .fact("shape", nest.shape)
      .fact("lanes", frame.lanes)
      .fact("dimension", frame.vecDim)
      .fact("stores", stores)
      .fact("reductions", reductions)
      .fact("buffers", buffers)
      .fact("wanted", wanted)
      .fact("rowsAtOnce", static_cast<int64_t>(rowsAtOnce.size()))
      .report(text);
}

/// For each store, whether it may go around the caches.
void NestEmitter::reportStreams() const {
  if ((part && !part->tellsStreams) || !Decision::isWanted(loc.getContext()))
    return;
  for (const NestOutput &output : nest.outputs) {
    if (!output.isStore || output.source)
      continue;
    bool mayStream = llvm::any_of(
        large, [&](const auto &entry) { return entry.first == &output; });
    int64_t bits = output.view.elementType().getIntOrFloatBitWidth();
    StringRef why = !output.isWriteOnly
                        ? "the argument is read too, or other programs may "
                          "wait for what is written"
                    : output.mask ? "a mask chooses single elements"
                    : constantOf(output.view.strides[frame.vecDim]) != 1
                        ? "it is not contiguous along the lanes"
                    : bits % 8 != 0 ? "its elements are no bytes"
                                    : "its steps are too short";
    Decision told(output.storeLoc ? Location(output.storeLoc) : loc, "stores");
    if (mayStream)
      told.fact("streamBytes", fe.target().streamBytes)
          .report("around the caches in launches that read and write " +
                  Twine(fe.target().streamBytes >> 20) + " MiB or more here");
    else
      told.fact("reason", why).report("through the caches: " + why);
  }
}
