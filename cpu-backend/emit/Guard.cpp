//===- Guard.cpp - stores over what the same nest reads ----------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A nest reads and writes element by element; the program reads whole tensors,
// then writes them. That is the same where memory that is written is not read,
// or only by the same iteration. What is not known when compiling is tested
// when running: if ranges overlap in another way, all stores of the nest go to
// scratch memory, and are copied, in the program's order, when the nest is
// done. The hot loop exists once.
//===----------------------------------------------------------------------===//

#include "cpu-backend/emit/Guard.h"
#include "cpu-backend/DecisionRemark.h"
#include "cpu-backend/emit/FunctionEmitter.h"
#include "cpu-backend/emit/JoinStores.h"
#include "cpu-backend/emit/MemoryTable.h"
#include "cpu-backend/emit/PlaceBounds.h"
#include "cpu-backend/emit/PlanGroups.h"

using namespace mlir;
using namespace tilebridge::cpu;

/// Different indices may be at one address.
static bool repeats(const View &view) {
  for (unsigned d = 0; d < view.shape.size(); ++d)
    if (mattersIn(view, d) && constantOf(view.strides[d]) == 0)
      return true;
  return false;
}

static bool isSameView(const View &a, const View &b) {
  if (sourceOf(a) != sourceOf(b) || a.offset != b.offset ||
      a.shape != b.shape || a.base.getType() != b.base.getType())
    return false;
  for (unsigned d = 0; d < a.shape.size(); ++d)
    if (mattersIn(a, d) && a.strides[d] != b.strides[d])
      return false;
  return true;
}

/// The reads of the nest: each view once for each way in which it is indexed.
static void addRead(SmallVectorImpl<std::pair<const View *, bool>> &reads,
                    const View *view, bool identity) {
  for (auto &[known, same] : reads)
    if (known == view && same == identity)
      return;
  reads.push_back({view, identity});
}

/// Elements of scratch memory are as far apart as those it stands for.
static bool leavesGaps(const View &scratch, int64_t size) {
  return llvm::all_of(llvm::enumerate(scratch.strides), [&](auto stride) {
    return !mattersIn(scratch, stride.index()) ||
           *constantOf(stride.value()) % size == 0;
  });
}

/// Sends the stores of the nest elsewhere where that is necessary; null: it
/// never is.
FailureOr<Value>
FunctionEmitter::guardStores(Nest &nest, SmallVectorImpl<NestOutput> &copies) {
  Location loc = nest.loc;
  SmallVector<NestOutput *> stores;
  SmallVector<std::pair<const View *, bool>> reads;
  // What gathers read in pieces, and where that is not known.
  llvm::MapVector<Operation *, View> rows;
  Value unsafe;
  Indices identity = identityIndices(nest.shape.size());
  auto visit = [&](Value value, ArrayRef<Index> at) {
    auto load = loads.find(value);
    if (load != loads.end() && !buffers.count(value))
      addRead(reads, load->second.get(), at == ArrayRef<Index>(identity));
    // Rows of another order are not what their places say, nor are elements of
    // a table.
    if (auto it = irregular.find(value);
        it != irregular.end() && !buffers.count(value)) {
      if (isReadInPieces(value.getDefiningOp())) {
        rows.try_emplace(value.getDefiningOp(), *it->second);
        return true;
      }
      addRead(reads, it->second.get(),
              it->second->rowDim < 0 && at == ArrayRef<Index>(identity) &&
                  tableSizeOf(value.getDefiningOp()) == 0);
    }
    return true;
  };
  for (NestOutput &output : nest.outputs) {
    if (output.isStore)
      stores.push_back(&output);
    if (output.tensor)
      walkCone(output.tensor, identity, nullptr, visit);
    if (output.mask)
      walkCone(output.mask, identity, nullptr, visit);
    if (output.reduce)
      for (Value operand : rootOperands(output.reduce))
        walkCone(operand, identity, nullptr, visit);
  }
  if (stores.empty())
    return Value();
  auto isUnsafe = [&](Value where) {
    unsafe =
        unsafe ? arith::OrIOp::create(rewriter, loc, unsafe, where) : where;
  };
  for (auto &[gather, row] : rows) {
    Value unknown;
    row = rowAround(*this, gather, row, unknown);
    if (unknown) {
      isUnsafe(unknown);
      nest.unknownPlaces = unsafe;
    }
    addRead(reads, &row, /*identity=*/false);
  }

  GuardBuilder guard(rewriter, loc);
  DenseMap<const View *, ByteRange> ranges;
  auto rangeOf = [&](const View *view) -> const ByteRange & {
    auto [it, isNew] = ranges.try_emplace(view);
    if (isNew)
      it->second =
          guard.rangeOf(view->rows ? withRowBounds(*view, loc) : *view);
    return it->second;
  };
  auto check = [&](const View *store, const View *other, bool isIdentity) {
    bool sameIsSafe = isIdentity && !repeats(*store);
    // A copy of what is read overlaps nothing.
    if (sameIsSafe && isSameView(*store, other->placed()))
      return;
    ByteRange first = rangeOf(store), second = rangeOf(other);
    isUnsafe(guard.overlap(*store, first, *other, second, sameIsSafe));
  };
  for (auto [i, store] : llvm::enumerate(stores)) {
    for (auto &[view, isIdentity] : reads)
      check(&store->view, view, isIdentity);
    for (NestOutput *earlier : ArrayRef(stores).take_front(i)) {
      auto gap = gapFilledBy(earlier->view, store->view);
      if (!gap || !gap->strides.empty())
        check(&store->view, &earlier->view, /*isIdentity=*/true);
    }
  }
  if (!unsafe)
    return Value();
  // Those that fill one another's gaps do so in scratch memory, too.
  SmallVector<View, 0> own, scratches;
  for (NestOutput *store : stores) {
    NestOutput copy;
    copy.view = store->view;
    copy.mask = store->mask;
    if (copy.mask && readsMemory(copy.mask, identity) &&
        failed(saveMask(copy, unsafe, loc)))
      return failure();
    copy.isStore = true;
    own.push_back(store->view);
    std::optional<FilledGap> behind;
    size_t leader = 0;
    for (; leader + 1 < own.size(); ++leader) {
      behind = gapFilledBy(own[leader], own.back());
      if (behind && leavesGaps(scratches[leader], behind->size))
        break;
      behind.reset();
    }
    View scratch = behind ? scratches[leader]
                          : scratchLike(store->view, loc, /*hasRoom=*/true);
    if (behind) {
      const View *redirected = &stores[leader]->view;
      OpFoldResult gap = rewriter.getIndexAttr(behind->distance);
      scratch.offset = addIndex(rewriter, loc, scratch.offset, gap);
      // Not its box: the other's may be another one.
      store->view.original = std::make_shared<const View>(own.back());
      store->view.base = redirected->base;
      store->view.strides = redirected->strides;
      store->view.offset = addIndex(rewriter, loc, redirected->offset, gap);
    } else {
      redirect(store->view, scratch, unsafe, loc);
    }
    scratches.push_back(scratch);
    copy.source = std::make_shared<View>(std::move(scratch));
    copies.push_back(std::move(copy));
  }
  return unsafe;
}

/// `tensor` is computed from what is in the memory of arguments.
bool FunctionEmitter::readsMemory(Value tensor, ArrayRef<Index> at) {
  bool result = false;
  walkCone(tensor, at, nullptr, [&](Value value, ArrayRef<Index>) {
    result |=
        !buffers.count(value) && (loads.count(value) || irregular.count(value));
    return !result;
  });
  return result;
}

/// The mask of a copy is computed before the nest's stores and the copies
/// before this one can change what it is computed from.
LogicalResult FunctionEmitter::saveMask(NestOutput &copy, Value condition,
                                        Location loc) {
  ArrayRef<int64_t> shape = copy.view.shape;
  Value memory = allocate(MemRefType::get(shape, rewriter.getI8Type()));
  View view = makeView(rewriter, loc, memory, shape);
  view.isBool = true;
  copy.maskSource = std::make_shared<View>(view);
  auto branch =
      scf::IfOp::create(rewriter, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
  return materialize(copy.mask, std::move(view), /*isCold=*/true);
}

/// Makes `view` one of `scratch` memory where `condition` holds.
void FunctionEmitter::redirect(View &view, const View &scratch, Value condition,
                               Location loc) {
  if (!view.original)
    view.original = std::make_shared<const View>(view);
  unsigned rank = view.shape.size();
  auto choose = [&](OpFoldResult there, OpFoldResult here) -> OpFoldResult {
    auto known = constantOf(here);
    if (there == here || (known && known == constantOf(there)))
      return here;
    return arith::SelectOp::create(rewriter, loc, condition,
                                   toValue(rewriter, loc, there),
                                   toValue(rewriter, loc, here))
        .getResult();
  };
  view.base = arith::SelectOp::create(rewriter, loc, condition, scratch.base,
                                      view.base);
  view.offset = choose(scratch.offset, view.offset);
  for (unsigned d = 0; d < rank; ++d)
    if (mattersIn(view, d))
      view.strides[d] = choose(scratch.strides[d], view.strides[d]);
}

LogicalResult FunctionEmitter::emitGuarded(Nest &nest) {
  SmallVector<NestOutput, 0> copies;
  FailureOr<Value> unsafe = guardStores(nest, copies);
  if (failed(unsafe))
    return failure();
  nest.redirected = *unsafe;
  if (*unsafe)
    Decision(nest.loc, "guarded")
        .report("may write what the same loops read at another place: the "
                "ranges are compared when the kernel runs, and where they "
                "overlap the block is computed in scratch memory first");
  if (failed(emitNest(nest)))
    return failure();
  if (!*unsafe)
    return success();
  auto branch =
      scf::IfOp::create(rewriter, nest.loc, *unsafe, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(branch.thenBlock()->getTerminator());
  for (NestOutput &copy : copies) {
    Nest back{nest.loc, nest.shape, {}, {}};
    back.isCold = true;
    back.outputs.push_back(std::move(copy));
    if (failed(emitNest(back)))
      return failure();
  }
  return success();
}
