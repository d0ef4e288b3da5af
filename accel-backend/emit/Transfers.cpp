//===- Transfers.cpp - ops of the dialect accel ---------------------------===//
//
// Part of Tilebridge, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "accel-backend/emit/Emitter.h"

#include "accel-backend/abi/accel_abi.h"

#include "triton-to-linalg/bridge/LinalgExtMemoryOps.h"

using namespace mlir;

namespace tilebridge::accel {

/// Coordinates as ACCEL_ALONG_...: a coordinate that is named varies.
static std::string lineText(ArrayRef<int64_t> coordinates) {
  bool rows = llvm::is_contained(coordinates, 0),
       columns = llvm::is_contained(coordinates, 1);
  if (rows && columns)
    return "ACCEL_ALONG_COLUMN | ACCEL_ALONG_ROW";
  return rows ? "ACCEL_ALONG_COLUMN" : "ACCEL_ALONG_ROW";
}

static std::string enumerator(llvm::StringRef prefix, llvm::StringRef name) {
  return (prefix + name.upper()).str();
}

/// A transfer as one statement, and its token.
LogicalResult Emitter::emitTransfer(Operation *op) {
  // Both ops have the same operands.
  auto emit = [&](auto transfer) -> LogicalResult {
    if (!isa<MemRefType>(transfer.getSource().getType()) ||
        !isa<MemRefType>(transfer.getDest().getType()))
      return op->emitError(
          "a copy of tensors cannot be emitted as C++; bufferize it first");
    const View source = view(transfer.getSource()),
               dest = view(transfer.getDest());
    if (source.sizes.size() > ACCEL_MAX_RANK)
      return op->emitError("a copy of ")
             << source.sizes.size()
             << " dimensions cannot be emitted as C++: a transfer of "
                "accel_abi.h has at most "
             << ACCEL_MAX_RANK
             << "; load or store the block in parts of fewer dimensions";
    comment(op, "copy");
    SmallVector<Index> sizes = source.sizes;
    auto rows = transfer.getRows();
    int64_t dim = transfer.getDim();
    if (rows)
      sizes[dim] = view(rows).sizes[0];
    // Of rank 0: one element.
    SmallVector<Index> one = {Index(1)};
    bool isScalar = sizes.empty();
    auto listed = [&](ArrayRef<Index> values) {
      return braced(isScalar ? ArrayRef<Index>(one) : values);
    };
    std::string text = "accel::transfer(" + quoted(placeOf(op->getLoc())) +
                       ").box(" + listed(sizes) + ").from(" + source.address() +
                       ", " + listed(source.strides) + ").to(" +
                       dest.address() + ", " + listed(dest.strides) + ")";
    if (!transfer.getLow().empty()) {
      SmallVector<Index> low;
      for (Value value : transfer.getLow())
        low.push_back(index(value));
      if (!llvm::all_of(low, [](const Index &value) { return value.is(0); }))
        text += ".low(" + braced(low) + ")";
    }
    if (transfer.getPad())
      text +=
          ".pad(" + word(transfer.getPad()) + ", " + listed(dest.sizes) + ")";
    if (rows) {
      const View &list = view(rows);
      text += ".rows(" + list.address() + ", " + list.strides[0].str() + ", " +
              std::to_string(dim) + ")";
    }
    if (transfer.getScatter())
      text += ".scatter()";
    if (transfer.getMask()) {
      const View &mask = view(transfer.getMask());
      text += ".mask(" + mask.address() + ", " + braced(mask.strides) + ")";
    }
    if (auto kind = transfer.getAccumulate())
      text += ".accumulate(" +
              enumerator("ACCEL_", stringifyCombiningKind(*kind)) + ")";
    if (auto coordinates = transfer.getMulticast())
      text += ".multicast(" + lineText(*coordinates) + ")";
    text += ".start(pe)";
    if (isa<CopyOp>(op)) {
      line("accel_wait(pe, " + text + ");");
      return success();
    }
    std::string token = freshFor(op->getResult(0), "token");
    line("accel_token " + token + " = " + text + ";");
    set(op->getResult(0), token);
    return success();
  };
  if (auto transfer = dyn_cast<CopyOp>(op))
    return emit(transfer);
  return emit(cast<CopyStartOp>(op));
}

LogicalResult Emitter::emitProgram(ProgramOp op) {
  comment(op, "this PE's program");
  AssignmentAttr assignment = op.getAssignment();
  std::string counts = "{" + word(op.getCountX()) + ", " +
                       word(op.getCountY()) + ", " + word(op.getCountZ()) + "}";
  std::string name = fresh("program"), rest;
  for (int64_t value : assignment.getValues())
    rest += ", " + std::to_string(value);
  if (DenseIntElementsAttr table = assignment.getTable()) {
    std::string tableName = "table_" + std::to_string(facts.globals.size());
    ArrayRef<int64_t> shape = table.getType().getShape();
    std::string text = "// The program of each step, row and column of "
                       "PEs.\nstatic const int32_t " +
                       tableName + "[" +
                       std::to_string(table.getNumElements()) + "] = {";
    for (auto [number, entry] : llvm::enumerate(table.getValues<int32_t>()))
      text += (number % (shape[1] * shape[2]) ? " " : "\n    ") +
              std::to_string(entry) + ",";
    facts.globals.push_back(text + "\n};");
    rest = ", " + tableName + ", " + std::to_string(shape[0]);
  }
  line("const accel::program " + name + " = accel::" +
       stringifyAssignmentKind(assignment.getKind()).str() + "_program(pe, " +
       index(op.getStep()).str() + ", " + counts + rest + ");");
  set(op.getX(), name + ".x");
  set(op.getY(), name + ".y");
  set(op.getZ(), name + ".z");
  set(op.getActive(), name + ".active");
  return success();
}

LogicalResult Emitter::emitAtomic(AtomicOp op) {
  comment(op, "atomic");
  const View base = view(op.getBase()), offsets = view(op.getOffsets());
  Type element = cast<ShapedType>(op.getBase().getType()).getElementType();
  Type offsetType =
      cast<ShapedType>(op.getOffsets().getType()).getElementType();
  SmallVector<Index> at = openLoops(offsets.sizes);
  std::optional<View> old;
  if (op.getOld()) {
    old = view(op.getOld());
    line(old->pointer + "[" + old->at(at).str() + "] = " + old->element +
         "();");
  }
  if (op.getMask()) {
    const View &mask = view(op.getMask());
    open("if (" + mask.pointer + "[" + mask.at(at).str() + "])");
  }
  Value offset = load(op.getLoc(), offsets, offsets.at(at), offsetType);
  std::string name = fresh("offset");
  emitc::VerbatimOp::create(b, op.getLoc(), "//@ {} " + name,
                            ValueRange{offset});
  Index place = base.offset + Index(name) * base.strides[0];
  auto operand = [&](Value value) -> std::string {
    if (!value)
      return "nullptr";
    const View &from = view(value);
    return "&" + from.pointer + "[" + from.at(at).str() + "]";
  };
  bool isCas = op.getAction() == AtomicAction::CompareAndSwap;
  std::string action = op.getAction() == AtomicAction::Xchg ? "EXCHANGE"
                       : isCas ? "CAS"
                               : stringifyAtomicAction(op.getAction()).upper();
  line("accel_atomic(pe, ACCEL_ATOMIC_" + action + ", " +
       enumerator("ACCEL_", linalg_ext::stringifyMemSem(op.getSem())) +
       ", accel::type_of<" + cppType(element) + ">, &" + base.pointer + "[" +
       place.str() + "], " + operand(op.getValues()) + ", " +
       operand(op.getCompare()) + ", " + operand(op.getOld()) + ");");
  closeLoops(at, op.getMask() ? 1 : 0);
  return success();
}

LogicalResult Emitter::emitScalarAtomic(Operation *op) {
  std::string action, order, operands;
  Value base, offset, mask;
  if (auto rmw = dyn_cast<linalg_ext::AtomicRMWOp>(op)) {
    base = rmw.getBase(), offset = rmw.getOffset(), mask = rmw.getMask();
    std::string kind = linalg_ext::stringifyAtomicKind(rmw.getKind()).upper();
    action = "atomic(pe, ACCEL_ATOMIC_" + (kind == "EXCH" ? "EXCHANGE" : kind) +
             ", ";
    order = linalg_ext::stringifyMemSem(rmw.getSem()).str();
    operands = ", " + cppType(rmw.getValue().getType()) + "(" +
               word(rmw.getValue()) + ")";
  } else if (auto cas = dyn_cast<linalg_ext::AtomicCASOp>(op)) {
    base = cas.getBase(), offset = cas.getOffset();
    action = "atomic_cas(pe, ";
    order = linalg_ext::stringifyMemSem(cas.getSem()).str();
    std::string type = cppType(cas.getValue().getType());
    operands = ", " + type + "(" + word(cas.getCompare()) + "), " + type + "(" +
               word(cas.getValue()) + ")";
  } else if (auto read = dyn_cast<linalg_ext::AtomicLoadOp>(op)) {
    base = read.getBase(), offset = read.getOffset(), mask = read.getMask();
    action = "atomic_load(pe, ";
    order = linalg_ext::stringifyMemSem(read.getSem()).str();
  } else {
    auto write = cast<linalg_ext::AtomicStoreOp>(op);
    base = write.getBase(), offset = write.getOffset(), mask = write.getMask();
    action = "atomic_store(pe, ";
    order = linalg_ext::stringifyMemSem(write.getSem()).str();
    operands = ", " + cppType(write.getValue().getType()) + "(" +
               word(write.getValue()) + ")";
  }
  if (!offset.getType().isInteger(64))
    return op->emitError("an atomic access to a block of tensors cannot be "
                         "emitted as C++; bufferize it first");
  comment(op, "atomic");
  const View &memory = view(base);
  std::string text = "accel::" + action + enumerator("ACCEL_", order) + ", &" +
                     memory.pointer + "[" +
                     (memory.offset + index(offset) * memory.strides[0]).str() +
                     "]" + operands + ")";
  std::string name;
  if (op->getNumResults()) {
    name = freshFor(op->getResult(0), "old");
    line(memory.element + " " + name + " = " + memory.element + "();");
    set(op->getResult(0), name);
    text = name + " = " + text;
  }
  if (mask)
    open("if (" + word(mask) + ")");
  line(text + ";");
  closeLoops({}, mask ? 1 : 0);
  return success();
}

LogicalResult Emitter::emitReduceLine(ReduceLineOp op) {
  comment(op, "reduction over a line of PEs");
  const View &buffer = view(op.getBuffer());
  std::string target = op.getTarget() ? index(op.getTarget()).str() : "-1";
  line("accel::reduce_line(pe, " +
       enumerator("ACCEL_", stringifyCombiningKind(op.getKind())) + ", " +
       buffer.address() + ", " + braced(buffer.sizes) + ", " +
       braced(buffer.strides) + ", " + lineText(op.getCoordinates()) + ", " +
       target + ", " +
       enumerator("ACCEL_", stringifyLineAlgorithm(op.getAlgorithm())) + ", " +
       quoted(placeOf(op->getLoc())) + ");");
  return success();
}

Emitter::Outcome Emitter::emitAccel(Operation *op) {
  if (isa<CopyOp, CopyStartOp>(op))
    return emitTransfer(op);
  if (isa<WaitOp>(op)) {
    for (Value token : op->getOperands())
      line("accel_wait(pe, " + word(token) + ");");
    return success();
  }
  if (isa<CompletedOp>(op)) {
    set(op->getResult(0), "accel_token(ACCEL_COMPLETED)");
    return success();
  }
  if (auto id = dyn_cast<PeIdOp>(op)) {
    set(id, id.getCoordinate() ? "accel_pe_column(pe)" : "accel_pe_row(pe)");
    return success();
  }
  if (auto count = dyn_cast<PeCountOp>(op)) {
    set(count,
        count.getCoordinate() ? "accel_pe_columns(pe)" : "accel_pe_rows(pe)");
    return success();
  }
  if (auto program = dyn_cast<ProgramOp>(op))
    return emitProgram(program);
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    auto type = cast<MemRefType>(alloc.getMemref().getType());
    auto memory = dyn_cast_or_null<MemoryAttr>(type.getMemorySpace());
    if (!alloc.getOffset() || !memory || cppType(type.getElementType()).empty())
      return op->emitError("a buffer of type ")
             << type
             << " without a place cannot be emitted as C++; place buffers "
                "first";
    std::string element = cppType(type.getElementType()),
                name = freshFor(alloc, "buffer");
    std::string memoryName = memory.getName().getValue() == localMemory
                                 ? facts.localMemory
                                 : memory.getName().getValue().str();
    uint64_t bytes = type.getNumElements() *
                     llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    uint64_t &used = facts.memories[memoryName];
    used = std::max<uint64_t>(used, *alloc.getOffset() + bytes);
    line(element + " *const " + name + " = accel::buffer<" + element +
         ">(accel_memory(pe, " + quoted(memoryName) + "), " +
         std::to_string(*alloc.getOffset()) + "); // " + std::to_string(bytes) +
         " bytes");
    return set(alloc, FailureOr<View>(described(type, name)));
  }
  if (isa<DeallocOp>(op))
    return success();
  if (auto barrier = dyn_cast<BarrierOp>(op)) {
    line("accel_barrier(pe, " + lineText(barrier.getCoordinates()) + ", " +
         quoted(placeOf(op->getLoc())) + ");");
    return success();
  }
  if (auto reduction = dyn_cast<ReduceLineOp>(op))
    return emitReduceLine(reduction);
  if (auto atomic = dyn_cast<AtomicOp>(op))
    return emitAtomic(atomic);
  if (isa<linalg_ext::AtomicRMWOp, linalg_ext::AtomicCASOp,
          linalg_ext::AtomicLoadOp, linalg_ext::AtomicStoreOp>(op))
    return emitScalarAtomic(op);
  if (auto compute = dyn_cast<ComputeOp>(op))
    return emitCompute(compute);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op);
      structured && structured.hasPureBufferSemantics()) {
    SmallVector<View> outs;
    for (Value init : structured.getDpsInits())
      outs.push_back(view(init));
    return emitLinalg(structured, outs);
  }
  if (isa<linalg::IndexOp>(op)) {
    set(op->getResult(0),
        loopVariables[cast<linalg::IndexOp>(op).getDim()].str());
    return success();
  }
  return std::nullopt;
}

} // namespace tilebridge::accel
