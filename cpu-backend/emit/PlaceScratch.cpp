//===- PlaceScratch.cpp - all buffers in one block of memory -----------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// A buffer lives from its first use to its last one in the block where it is
// allocated; a loop there counts as a whole. Buffers that never live at the
// same time may share memory. What programs keep for the next one of their
// thread lives always.
//===----------------------------------------------------------------------===//

#include "cpu-backend/Passes.h"
#include "cpu-backend/emit/ShareOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace tilebridge::cpu {
#define GEN_PASS_DEF_CPUPLACESCRATCHPASS
#include "cpu-backend/Passes.h.inc"
} // namespace tilebridge::cpu

using namespace mlir;

static constexpr uint64_t alignment = 64;

namespace {
struct Buffer {
  memref::AllocOp op;
  int64_t first, last;
  uint64_t size, offset = 0;
};

struct CpuPlaceScratchPass
    : tilebridge::cpu::impl::CpuPlaceScratchPassBase<CpuPlaceScratchPass> {
  void runOnOperation() override {
    // Callees first: what they need is part of what their callers need.
    SmallVector<func::FuncOp> open, done;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (failed(visit(func, open, done)))
        return signalPassFailure();
  }

  LogicalResult visit(func::FuncOp func, SmallVector<func::FuncOp> &open,
                      SmallVector<func::FuncOp> &done) {
    if (llvm::is_contained(done, func))
      return success();
    if (llvm::is_contained(open, func))
      return func.emitError(
          "calls itself; recursion is not supported by the CPU backend");
    open.push_back(func);
    SmallVector<std::pair<func::CallOp, func::FuncOp>> calls;
    func.walk([&](func::CallOp call) {
      if (auto callee =
              getOperation().lookupSymbol<func::FuncOp>(call.getCallee()))
        calls.push_back({call, callee});
    });
    for (auto [call, callee] : calls) {
      if (failed(visit(callee, open, done)))
        return failure();
      passScratch(call, callee);
    }
    open.pop_back();
    done.push_back(func);
    return func.isExternal() ? success() : place(func);
  }

  /// A callee's scratch is a buffer of the caller's.
  static void passScratch(func::CallOp call, func::FuncOp callee) {
    auto bytes = callee->getAttrOfType<IntegerAttr>("tilebridge.scratch_bytes");
    if (!bytes)
      return;
    OpBuilder builder(call);
    auto fixed = MemRefType::get({bytes.getInt()}, builder.getI8Type());
    Value buffer = memref::AllocOp::create(builder, call.getLoc(), fixed);
    auto open = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
    Value scratch =
        memref::CastOp::create(builder, call.getLoc(), open, buffer);
    call.getOperandsMutable().append(scratch);
  }

  static LogicalResult place(func::FuncOp func) {
    DenseMap<Operation *, std::pair<int64_t, int64_t>> position;
    int64_t counter = 0;
    number(func, counter, position);
    SmallVector<Buffer> buffers;
    WalkResult result = func.walk([&](memref::AllocOp op) {
      MemRefType type = op.getType();
      if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat()) {
        op.emitError("a buffer of this type has no fixed size");
        return WalkResult::interrupt();
      }
      uint64_t bytes = type.getNumElements() *
                       llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      auto [first, last] = liveRange(op, position);
      bool isZeroed = op->hasAttr(tilebridge::cpu::zeroedAttr);
      if (isZeroed || op->hasAttr(tilebridge::cpu::keptAttr)) {
        // What is zeroed lies at the beginning.
        first = isZeroed ? -2 : -1;
        last = std::numeric_limits<int64_t>::max();
      }
      buffers.push_back(
          {op, first, last,
           llvm::alignTo(std::max<uint64_t>(bytes, 1), alignment)});
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
    if (buffers.empty())
      return success();
    uint64_t total = assignOffsets(buffers);

    OpBuilder builder(func.getContext());
    auto scratchType =
        MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
    unsigned index = func.getNumArguments();
    auto attrs = builder.getDictionaryAttr(
        {builder.getNamedAttr("tilebridge.scratch", builder.getUnitAttr()),
         builder.getNamedAttr("llvm.noalias", builder.getUnitAttr())});
    if (failed(func.insertArgument(index, scratchType, attrs, func.getLoc())))
      return failure();
    Value scratch = func.getArgument(index);
    func->setAttr("tilebridge.scratch_bytes", builder.getI64IntegerAttr(total));
    for (Buffer &buffer : buffers) {
      builder.setInsertionPoint(buffer.op);
      Value offset = arith::ConstantIndexOp::create(builder, buffer.op.getLoc(),
                                                    buffer.offset);
      Value view = memref::ViewOp::create(builder, buffer.op.getLoc(),
                                          buffer.op.getType(), scratch, offset,
                                          ValueRange());
      buffer.op.replaceAllUsesWith(view);
      buffer.op.erase();
    }
    return success();
  }

  /// When an op begins and ends, its regions included.
  static void
  number(Operation *op, int64_t &counter,
         DenseMap<Operation *, std::pair<int64_t, int64_t>> &position) {
    int64_t begin = counter++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner, counter, position);
    position[op] = {begin, counter++};
  }

  /// Whether `result` of `user` is an address in the buffer `alias`, or is
  /// computed from one: tiles are loaded from addresses, which may be computed
  /// long before.
  static bool isAddress(Operation *user, Value alias, Value result) {
    if (isa<MemRefType>(alias.getType()))
      return isa<memref::ExtractAlignedPointerAsIndexOp>(user);
    return isa<IndexType, LLVM::LLVMPointerType>(result.getType()) ||
           result.getType().isSignlessInteger(64);
  }

  static std::pair<int64_t, int64_t> liveRange(
      Operation *op,
      const DenseMap<Operation *, std::pair<int64_t, int64_t>> &position) {
    auto [begin, end] = position.lookup(op);
    int64_t first = std::numeric_limits<int64_t>::max(), last = begin;
    SmallVector<Value> aliases(op->getResults());
    DenseSet<Value> seen;
    while (!aliases.empty()) {
      Value alias = aliases.pop_back_val();
      if (!seen.insert(alias).second)
        continue;
      for (Operation *user : alias.getUsers()) {
        Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
        if (!ancestor)
          continue;
        // A name for the buffer is no use of it.
        bool names =
            isa<memref::ReinterpretCastOp, memref::CastOp, memref::SubViewOp>(
                user);
        if (!names) {
          first = std::min(first, position.lookup(ancestor).first);
          last = std::max(last, position.lookup(ancestor).second);
        }
        for (Value result : user->getResults())
          if (isa<MemRefType>(result.getType()) ||
              isAddress(user, alias, result))
            aliases.push_back(result);
        // What leaves a region does so through its op.
        if (user->hasTrait<OpTrait::IsTerminator>())
          for (Value result : user->getParentOp()->getResults())
            if (isa<MemRefType>(result.getType()))
              aliases.push_back(result);
      }
    }
    return {std::min(first, last), last};
  }

  /// First fit, in the order in which buffers begin to live.
  static uint64_t assignOffsets(MutableArrayRef<Buffer> buffers) {
    SmallVector<Buffer *> order;
    for (Buffer &buffer : buffers)
      order.push_back(&buffer);
    llvm::stable_sort(order,
                      [](Buffer *a, Buffer *b) { return a->first < b->first; });
    SmallVector<Buffer *> live;
    uint64_t total = 0;
    for (Buffer *buffer : order) {
      llvm::erase_if(
          live, [&](Buffer *other) { return other->last < buffer->first; });
      llvm::sort(live,
                 [](Buffer *a, Buffer *b) { return a->offset < b->offset; });
      for (Buffer *other : live) {
        if (buffer->offset + buffer->size <= other->offset)
          break;
        buffer->offset = std::max(buffer->offset, other->offset + other->size);
      }
      live.push_back(buffer);
      total = std::max(total, buffer->offset + buffer->size);
    }
    return total;
  }
};
} // namespace
